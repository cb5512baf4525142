"""What there is to say of a release that was written part by part: sums over all records, measures on some."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..facts.release import ColumnFacts, GroupingFacts, InputFacts, OutputFacts, ReleaseFacts
from ..measures.measure import measure
from ..measures.risk import Scenario
from ..recipe import Recipe
from ..tables.columns import Column
from .parts import Solved
from .release import RELEASED, kept_as_they_are, released_as_observed, told_by_groups
from .survey import Survey

Floats = NDArray[np.float64]


class Told:
    """What is added up while blocks are released."""

    def __init__(self, recipe: Recipe, k: int) -> None:
        self.recipe, self.k = recipe, k
        self.records = self.groups = self.constant = self.blocks = 0
        self.sse = self.squares = 0.0
        self.sizes: Counter[int] = Counter()
        self._sums: Any = 0.0
        self._by_weight: Any = 0.0
        self._weights: list[Floats] = []
        self._before: list[dict[str, Column]] = []
        self._after: list[dict[str, Column]] = []

    def add(self, one: Solved) -> None:
        """Take in a block."""
        sizes = np.bincount(one.labels)
        self.records += len(one.labels)
        self.groups += len(sizes)
        self.blocks += 1
        self.constant += one.constant
        self.sse += one.sse
        self.squares += one.squares
        self._sums = self._sums + one.sums
        self.sizes.update(sizes.tolist())
        self._before.append(one.before)
        self._after.append(one.after)
        if one.by_weight is not None and one.weights is not None:
            self._by_weight = self._by_weight + one.by_weight
            self._weights.append(one.weights)

    def finish(
        self, all_names: Sequence[str], names: list[str], seen: Survey, counts: Any, name: str, sha256: str
    ) -> None:
        """Take in what is known of the whole."""
        self.all_names, self.names, self.survey, self.input_name, self.sha256 = all_names, names, seen, name, sha256
        self.largest = int(np.max(counts))

    @property
    def sst(self) -> float:
        """The sum of squares about the mean of all."""
        return max(0.0, self.squares - float(np.square(self._sums).sum()) / self.records)

    @property
    def loss_weighted(self) -> float | None:
        """The loss with every record counted by its weight; None without weights."""
        if self.recipe.weights is None:
            return None
        sse, weight, squares = self._by_weight[:3].tolist()
        sst = squares - float(np.square(self._by_weight[3:]).sum()) / weight
        return 100.0 * sse / sst if sst > 0 else 0.0

    @property
    def weights(self) -> Floats | None:
        """The weights of the records that measures are taken from."""
        return np.concatenate(self._weights) if self._weights else None

    def sampled(self) -> tuple[dict[str, Column], dict[str, Column]]:
        """The columns of the groups that measures are taken from, before and after."""
        return _joined(self._before), _joined(self._after)


def _joined(parts: list[dict[str, Column]]) -> dict[str, Column]:
    out = {}
    for name, first in parts[0].items():
        every = sorted({c for part in parts for c in part[name].categories}) if first.kind == "nominal" else None
        categories = first.categories if every is None else tuple(every)
        numbers = [_renumbered(part[name], categories) for part in parts]
        out[name] = Column(name, first.kind, np.concatenate(numbers), categories)
    return out


def _renumbered(column: Column, categories: tuple[str, ...]) -> Floats:
    if column.categories == categories or column.kind != "nominal":
        return column.numbers
    place = {c: float(i) for i, c in enumerate(categories)}
    codes = np.array([place[c] for c in column.categories] + [np.nan])
    return codes[np.where(column.missing, -1, column.numbers).astype(np.int64)]


def facts_of(told: Told) -> ReleaseFacts:
    """The facts, as those of a release in memory."""
    recipe = told.recipe
    before, after = told.sampled()
    scenarios = [Scenario(name, tuple(s.quasi), s.k) for name, s in recipe.promises.items()]
    confidential = recipe.of_role("confidential")
    measures = measure(
        before, after, scenarios=scenarios, confidential=confidential, weights=told.weights, seed=recipe.seed or 0
    )
    some = len(next(iter(before.values())).numbers)
    return ReleaseFacts(
        coterie=__version__,
        created=datetime.date.today().isoformat(),
        engine="duckdb",
        recipe=recipe.as_dict(),
        input=InputFacts(told.input_name, told.records, len(told.all_names)),
        output=OutputFacts(None, told.records, len(told.names), 0, 0, recipe.shuffle),
        columns=tuple(_column(told, name) for name in told.all_names),
        groupings=(_grouping(told),),
        measures=measures,
        notes=tuple(_notes(told, some)),
        verdict=None,
    )


def _column(told: Told, name: str) -> ColumnFacts:
    rule = told.recipe.columns[name]
    how = {"identifier": "dropped", "quasi": RELEASED.get(str(rule.kind), "")}.get(rule.role, "as it was")
    if rule.role == "quasi" and told.recipe.centre == "medoid":
        how = "medoid"
    gaps = told.survey.gaps.get(name)
    return ColumnFacts(name, rule.role, rule.kind, how, False, gaps, None if gaps else gaps)


def _grouping(told: Told) -> GroupingFacts:
    recipe = told.recipe
    return GroupingFacts(
        name=" + ".join(recipe.promises),
        quasi=recipe.quasi,
        k=told.k,
        method=recipe.method.name,
        params={**recipe.method.params, "blocks": told.blocks, "block_size": told.largest},
        groups=told.groups,
        sizes={size: told.sizes[size] for size in sorted(told.sizes)},
        sse=told.sse,
        sst=told.sst,
        loss_percent=100.0 * told.sse / told.sst if told.sst > 0 else 0.0,
        loss_weighted_percent=told.loss_weighted,
        constant_records=told.constant,
        bound=None,
    )


def _notes(told: Told, some: int) -> list[str]:
    recipe = told.recipe
    out = [
        f"Measures of loss, utility and risk were taken on {some:,} of {told.records:,} records, in whole groups. "
        "Records that are unique there need not be unique among all.",
        "Rows are in a random order within each part of the file; parts follow each other by values of masked columns.",
    ]
    if told.constant:
        out.append(told_by_groups(told.constant))
    out += released_as_observed(recipe)
    if others := recipe.of_role("other"):
        out.append(kept_as_they_are(len(others)))
    if not recipe.shuffle:
        out[1] = "Rows are not shuffled, which may tell who they are."
    return out
