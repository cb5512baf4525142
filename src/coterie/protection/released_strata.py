"""What is released in the columns of strata: their own values, or the centres of strata that were merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recipe import Recipe
from ..tables.columns import Column
from ..tables.gathering import Gather
from ..tables.records import Records
from .cells import Divided
from .centres import centres_of_groups
from .centroids import Centroid
from .scales import Totals, as_float
from .survey import Whole, keys_of, weights_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def released_strata(recipe: Recipe, divided: Divided, whole: Whole, gather: Gather, medoid: bool) -> dict[str, Floats]:
    """For every column of strata, the number that is released in each stratum.

    A stratum that was merged is known by the values that it was merged from, each as often as it comes, or by weight.
    With `medoid` it gets those of them that are nearest to its mean.
    """
    kinds = list(divided.stratum)
    number = np.array([divided.stratum[values] for values in kinds], np.int64)
    columns = [_column(name, recipe, whole, [values[j] for values in kinds]) for j, name in enumerate(recipe.within)]
    often = _weights(kinds, recipe, divided, gather) if divided.merged else np.ones(len(kinds))
    if medoid:
        chosen = _medoids(columns, number, often, whole, recipe.importance)
        return {column.name: column.numbers[chosen] for column in columns}
    return {column.name: _released(column, number, often, whole) for column in columns}


def _released(column: Column, number: Ints, often: Floats, whole: Whole) -> Floats:
    """What is released in each stratum in a column: its own value, or the centre of several, rounded as the rest."""
    name = column.name
    centres = centres_of_groups(column, number, often, whole.steps.get(name, 0.0), whole.overall.get(name))
    low, high = np.full(len(centres), np.nan), np.full(len(centres), np.nan)
    np.fmin.at(low, number, column.numbers)
    np.fmax.at(high, number, column.numbers)
    return np.where(low == high, low, centres)


def _column(name: str, recipe: Recipe, whole: Whole, values: list[Any]) -> Column:
    """A column of strata with one record for each different stratum."""
    kind, categories = str(recipe.columns[name].kind), whole.categories.get(name, ())
    if kind == "nominal":
        place: Mapping[Any, float] = {text: float(i) for i, text in enumerate(categories)}
        values = [None if value is None else place[value] for value in values]
    if kind == "ordinal":
        categories = recipe.columns[name].order or ()
    return Column(name, kind, np.array([np.nan if v is None else v for v in values], np.float64), categories)


def _weights(kinds: list[tuple[Any, ...]], recipe: Recipe, divided: Divided, gather: Gather) -> Floats:
    """How many records each different stratum has, or their weight."""
    place = {values: i for i, values in enumerate(kinds)}
    if recipe.weights is None:
        counts = np.zeros(len(kinds))
        for key, count in divided.keys.items():
            counts[place[key.stratum]] += count
        return counts
    found = gather([*recipe.quasi, recipe.weights.column], _StratumWeights(recipe, divided, place))
    return np.array([as_float(total) for total in found.totals.sums])


class _StratumWeights:
    """The weight of the records of each different stratum."""

    def __init__(self, recipe: Recipe, divided: Divided, place: Mapping[tuple[Any, ...], int]) -> None:
        self._recipe, self._divided, self._place = recipe, divided, place
        self.totals = Totals([0] * len(place))

    def add(self, records: Records) -> None:
        """Take in some records."""
        code, keys = keys_of(records, self._recipe)
        left = self._divided.keys
        where = np.array([self._place[key.stratum] if key in left else -1 for key in keys], np.int64)[code]
        weights = weights_of(records, self._recipe)
        assert weights is not None
        self.totals.add(where[where >= 0], weights[where >= 0])

    @property
    def found(self) -> Totals:
        """The weights."""
        return self.totals

    def merge(self, found: Totals) -> None:
        """Take in the weights of other records."""
        self.totals.merge(found)


def _medoids(
    columns: Sequence[Column], number: Ints, often: Floats, whole: Whole, importance: Mapping[str, float]
) -> Ints:
    """For each stratum, which of those that it was merged from is nearest to its mean; ties go to the first."""
    out = []
    for stratum in range(int(number.max()) + 1):
        rows = np.flatnonzero(number == stratum)
        own = [column.at(rows) for column in columns]
        repeated = [column.at(np.repeat(np.arange(len(rows)), often[rows].astype(np.int64))) for column in own]
        distance = Centroid(repeated, whole.scales, importance).squared_distances(own)
        out.append(int(rows[np.argmin(np.round(distance, 12))]))
    return np.array(out, np.int64)
