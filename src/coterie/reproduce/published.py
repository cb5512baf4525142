"""Recompute published cells and judge each."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.registry import METHODS
from ..datasets import DATASETS, Dataset, casc_available, load_census
from ..errors import CoterieError
from ..microaggregation.api import microaggregate
from ..microaggregation.matrix import encode
from ..progress import bar, done, listening, more
from .exhaustive import optimal_sse

DRAWS = 25
MANY = 100  # for randomized methods, and for small sets
SAMPLES = 400  # of 15 records of Census: two-mu-approx-2006 drew ten, and did not say which
SMALL = ("normal-16", "clusters-5", "clusters-4")
CASC = ("census", "tarragona", "eia", "eia-10", "eia-600")
RAW = (
    "eia-600",
    "census-15",
    "line-11",
    "normal-16",
    "clusters-5",
    "clusters-4",
)  # the papers' figures are of values as they are
_BEST = {"v-mdav": "gamma=auto"}
AVERAGED = {"normal-16": 5}  # table 6 of mu-approx-2008 averages over five sets
CUT_OFF = (("mu-approx-2008", "examples 2 and 3"),)  # digits beyond the printed ones are dropped, not rounded


@dataclass(frozen=True)
class Cell:
    """A published number and ours."""

    paper: str
    table: str
    dataset: str
    measure: str
    method: str
    params: str
    k: int
    published: str
    match: str
    ours: float | None = None
    low: float | None = None  # of the draws, where there are several
    high: float | None = None
    mark: str = ""  # exact, close, range, variant; off, no data

    @property
    def digits(self) -> int:
        """How many decimals the paper prints."""
        return len(self.published.partition(".")[2])


class _Run(NamedTuple):
    """What one run of a method gives, by the names of the measures."""

    loss: float
    loss_euclidean: float
    sse: float
    gamma: float = float("nan")


def published() -> list[Cell]:
    """Every published cell, without ours."""
    text = files(__package__).joinpath("published.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))[1:]
    return [
        Cell(paper, table, dataset, measure, method, params, int(k), value, match)
        for paper, table, dataset, measure, method, params, k, value, match in rows
    ]


def reproduce(
    table: str | None = None, data: str | PathLike[str] | None = None, show_progress: bool = False
) -> list[Cell]:
    """Recompute the cells of the tables whose name ("mdav-star-2018 table 1") holds `table`; all without it."""
    wanted = [cell for cell in published() if table is None or table.lower() in f"{cell.paper} {cell.table}".lower()]
    if not wanted:
        known = sorted({f"{cell.paper} {cell.table}" for cell in published()})
        raise CoterieError(
            "--table must be part of a table's name.", f"'{table}'", f"the tables are {', '.join(known)}."
        )
    if data is not None and not casc_available(data):
        raise CoterieError("--data must be a folder that holds the files of all three CASC sets.", f"'{data}'")
    runs = _Runs(data)
    with bar(show_progress, "reproducing"):
        more(sum(map(_work, wanted)))
        return list(_judged(wanted, runs))


def _judged(cells: Sequence[Cell], runs: _Runs) -> Iterator[Cell]:
    for cell in cells:
        with listening(None):  # the runs' own steps are not the bar's
            judged = judge(runs.fill(cell))
        done(_work(cell))
        yield judged


def _work(cell: Cell) -> int:
    return _draws(cell)


def _draws(cell: Cell) -> int:
    """How many runs there are for a cell: several if the data, or what a method does, were drawn at random."""
    if cell.dataset.startswith("census-15"):
        return SAMPLES
    chance = any(method in METHODS and METHODS[method].randomized for method in _pair(cell))
    if cell.match == "simulated":
        return MANY if cell.dataset in SMALL else DRAWS
    return MANY if chance else 1


class _Runs:
    """Runs of methods on data sets, each done once."""

    def __init__(self, data: str | PathLike[str] | None) -> None:
        self._data = data
        self._casc = casc_available(data)
        self._load = cache(self._loaded)
        self._run = cache(self._ran)

    def fill(self, cell: Cell) -> Cell:
        """The cell with our number, or a mark that says why there is none."""
        census = cell.dataset.startswith("census-15")
        if (cell.match == "unpublished" and not census) or ((census or cell.dataset in CASC) and not self._casc):
            return replace(cell, mark="no data")
        if _draws(cell) == 1:
            return replace(cell, ours=self._value(cell, 0))
        values = [self._value(cell, draw) for draw in range(_draws(cell))]
        return replace(cell, ours=float(np.mean(values)), low=min(values), high=max(values))

    def _value(self, cell: Cell, draw: int) -> float:
        sets = AVERAGED.get(cell.dataset, 1)
        return float(np.mean([self._measure(cell, draw * sets + i) for i in range(sets)]))

    def _measure(self, cell: Cell, seed: int) -> float:
        dataset = "census-15" if cell.dataset.startswith("census-15") else cell.dataset
        if len(_pair(cell)) == 2:
            ours, other = (self._run(dataset, seed, method, _BEST.get(method, ""), cell.k) for method in _pair(cell))
            if cell.measure == "ratio":
                return ours.sse / other.sse
            return 100 * (ours.loss - other.loss) / other.loss  # "difference", in percent
        return float(getattr(self._run(dataset, seed, cell.method, cell.params, cell.k), cell.measure))

    def _loaded(self, name: str, seed: int) -> Dataset:
        if name == "census-15":
            return self._sample(seed)
        load = DATASETS[name]
        if name in CASC:
            return load(self._data)
        return load(seed) if load.__name__.startswith("make_") else load()

    def _ran(self, dataset: str, seed: int, method: str, params: str, k: int) -> _Run:
        gamma = params.removeprefix("gamma=").replace("?", "auto")
        own: dict[str, Any] = {"gamma": gamma} if params else {}
        X = self._load(dataset, seed if _is_drawn(dataset) else 0).X
        if method == "optimal":
            sse = optimal_sse(X, k, dataset not in RAW)
            return _Run(float("nan"), float("nan"), sse)
        r = microaggregate(X, k, method, standardize=dataset not in RAW, random_state=seed, **own)
        return _Run(r.loss, r.loss_euclidean, r.sse, r.params.get("gamma", float("nan")))

    def _sample(self, seed: int) -> Dataset:
        """15 records of Census, standardized as a whole, drawn at random."""
        census = load_census(self._data)
        rows = np.random.default_rng(seed).choice(len(census.X), 15, replace=False)
        return replace(census, name="census-15", X=encode(census.X, True).values[rows])


def _is_drawn(dataset: str) -> bool:
    return dataset == "census-15" or DATASETS[dataset].__name__.startswith("make_")


def _pair(cell: Cell) -> list[str]:
    """The methods of a cell: one, or two whose losses are compared."""
    return cell.method.split(" to ")


def judge(cell: Cell) -> Cell:
    """Mark the cell: what it is to the published one."""
    if cell.mark or cell.ours is None:
        return cell
    value = float(cell.published)
    half = 0.5 * 10.0**-cell.digits
    cut_off = half if (cell.paper, cell.table) in CUT_OFF else 0.0
    if cell.low is not None and cell.high is not None:  # the published one was rounded
        inside = cell.low - cut_off - half <= value <= cell.high - cut_off + half
        return replace(cell, mark="range" if inside else "off")
    if float(f"{cell.ours - cut_off:.{cell.digits}f}") == value:
        return replace(cell, mark="exact")
    if cell.match == "variant":
        return replace(cell, mark="variant")
    # differences are percentages already: close is a tenth of a point
    near = abs(cell.ours - value) <= (0.1 if cell.measure == "difference" else 0.01 * abs(value))
    return replace(cell, mark="close" if near and cell.match == "close" else "off")
