"""Recompute published cells and judge each."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import NamedTuple

import numpy as np

from ..algorithms.registry import METHODS
from ..datasets import DATASETS, Dataset, casc_available
from ..errors import CoterieError
from ..partition import microaggregate
from ..progress import bar, done, listening, more

DRAWS = 25
CASC = ("census", "tarragona", "eia", "eia-10", "eia-600")
RAW = ("eia-600", "line-11", "normal-16", "clusters-5", "clusters-4")  # the papers' figures are of values as they are
_BEST = {"v-mdav": "gamma=auto"}
AVERAGED = {"normal-16": 5}  # table 6 of mu-approx-2008 averages over five sets


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
    mark: str = ""  # exact, close, range, variant; off, no method, no data

    @property
    def digits(self) -> int:
        """How many decimals the paper prints."""
        return len(self.published.partition(".")[2])


class _Run(NamedTuple):
    """What one run of a method gives, by the names of the measures."""

    loss: float
    loss_euclidean: float
    sse: float
    gamma: float


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
    return DRAWS if cell.match == "simulated" else 1


class _Runs:
    """Runs of methods on data sets, each done once."""

    def __init__(self, data: str | PathLike[str] | None) -> None:
        self._data = data
        self._casc = casc_available(data)
        self._load = cache(self._loaded)
        self._run = cache(self._ran)

    def fill(self, cell: Cell) -> Cell:
        """The cell with our number, or a mark that says why there is none."""
        if any(method not in METHODS for method in _pair(cell)):
            return replace(cell, mark="no method")
        if cell.match == "unpublished" or (cell.dataset in CASC and not self._casc):
            return replace(cell, mark="no data")
        if cell.match != "simulated":
            return replace(cell, ours=self._value(cell, 0))
        values = [self._value(cell, draw) for draw in range(DRAWS)]
        return replace(cell, ours=float(np.mean(values)), low=min(values), high=max(values))

    def _value(self, cell: Cell, draw: int) -> float:
        sets = AVERAGED.get(cell.dataset, 1)
        return float(np.mean([self._measure(cell, draw * sets + i) for i in range(sets)]))

    def _measure(self, cell: Cell, seed: int) -> float:
        if cell.measure == "difference":  # of one method's loss to another's, in percent of the latter
            ours, other = (
                self._run(cell.dataset, seed, method, _BEST.get(method, ""), cell.k) for method in _pair(cell)
            )
            return 100 * (ours.loss - other.loss) / other.loss
        return float(getattr(self._run(cell.dataset, seed, cell.method, cell.params, cell.k), cell.measure))

    def _loaded(self, name: str, seed: int) -> Dataset:
        load = DATASETS[name]
        if name in CASC:
            return load(self._data)
        return load(seed) if load.__name__.startswith("make_") else load()

    def _ran(self, dataset: str, seed: int, method: str, params: str, k: int) -> _Run:
        gamma = params.removeprefix("gamma=").replace("?", "auto")
        own = {"gamma": gamma} if params else {}
        X = self._load(dataset, seed).X
        r = microaggregate(X, k, method, standardize=dataset not in RAW, **own)  # type: ignore[arg-type]
        return _Run(r.loss, r.loss_euclidean, r.sse, r.params.get("gamma", float("nan")))


def _pair(cell: Cell) -> list[str]:
    """The methods of a cell: one, or two whose losses are compared."""
    return cell.method.split(" to ")


def judge(cell: Cell) -> Cell:
    """Mark the cell: what it is to the published one."""
    if cell.mark or cell.ours is None:
        return cell
    value = float(cell.published)
    if cell.low is not None and cell.high is not None:
        return replace(cell, mark="range" if cell.low <= value <= cell.high else "off")
    if float(f"{cell.ours:.{cell.digits}f}") == value:
        return replace(cell, mark="exact")
    if cell.match == "variant":
        return replace(cell, mark="variant")
    # differences are percentages already: close is a tenth of a point
    near = abs(cell.ours - value) <= (0.1 if cell.measure == "difference" else 0.01 * abs(value))
    return replace(cell, mark="close" if near and cell.match == "close" else "off")
