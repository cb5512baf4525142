"""Centroids of sets of records, from sums whose order does not matter, and distances of records to them.

Categories are counted, so no column of indicators is made. Distances are those of `encoding.encode_columns`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recipe import Recipe
from ..tables.columns import Column
from ..tables.records import Records
from .scales import Scale
from .strata import SparseSums, sparse_sums
from .survey import Key, Whole, keys_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNIT = 2.0**20  # standardized values are rounded to 1 / _UNIT before they are added: whole numbers add up exactly


def is_counted(column: Column) -> bool:
    """Whether a column has an indicator for each category, of which there are more than two."""
    return column.kind == "nominal" and len(column.categories) > 2


def encoded(column: Column, scales: Mapping[str, Scale]) -> Floats:
    """A column that is one column of the matrix: standardized, or one of two categories, missing in between."""
    if column.kind in ("nominal", "boolean"):
        return np.where(column.missing, 0.5, column.numbers)
    return scales[column.name].scaled(column.numbers)


@dataclass
class KeySums:
    """The sums of all quasi-identifiers over the records of each key, from pieces that come in any order."""

    recipe: Recipe
    whole: Whole
    sums: Counter[tuple[Key, str, int]] = field(default_factory=Counter)  # key, column, category: in units

    @property
    def _counted(self) -> dict[str, tuple[str, ...]]:
        """The columns with an indicator for each category."""
        kinds = {name: rule.kind for name, rule in self.recipe.columns.items()}
        return {n: c for n, c in self.whole.categories.items() if kinds[n] == "nominal" and len(c) > 2}

    def add(self, records: Records) -> None:
        """Take in some records."""
        code, keys = keys_of(records, self.recipe)
        for name in self.recipe.quasi:
            column = records.column(name)
            if is_counted(column):
                self._count(column, code, keys)
                continue
            whole = np.rint(encoded(column, self.whole.scales) * _UNIT).astype(np.int64)
            total = np.zeros(len(keys), np.int64)
            np.add.at(total, code, whole)
            for key, value in zip(keys, total.tolist(), strict=True):
                self.sums[key, name, 0] += value

    def _count(self, column: Column, code: Ints, keys: list[Key]) -> None:
        there = ~column.missing
        m = len(column.categories)
        pairs, counts = np.unique(code[there] * m + column.numbers[there].astype(np.int64), return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            self.sums[keys[pair // m], column.name, pair % m] += count

    @property
    def found(self) -> Counter[tuple[Key, str, int]]:
        """The sums."""
        return self.sums

    def merge(self, found: Counter[tuple[Key, str, int]]) -> None:
        """Take in the sums over other records."""
        self.sums.update(found)

    def of_strata(self, keys: Counter[Key], number: Mapping[tuple[Any, ...], int]) -> SparseSums:
        """The sums of strata over the records that are left, as columns of the matrix."""
        entries: Counter[tuple[int, str, int]] = Counter()
        for (key, name, category), value in self.sums.items():
            if key in keys and value:
                entries[number[key.stratum], name, category] += value
        first = self._first_columns()
        stratum = np.array([s for s, _, _ in entries], np.int64)
        column = np.array([first[name] + category for _, name, category in entries], np.int64)
        unit = {name: np.sqrt(0.5) if name in self._counted else 1.0 / _UNIT for name in self.recipe.quasi}
        unit |= {name: unit[name] * np.sqrt(weight) for name, weight in self.recipe.importance.items()}
        sums = np.array([total * unit[name] for (_, name, _), total in entries.items()])
        return sparse_sums(stratum, column, sums, len(number))

    def _first_columns(self) -> dict[str, int]:
        """The first column of the matrix that each quasi-identifier has."""
        out, at = {}, 0
        for name in self.recipe.quasi:
            out[name] = at
            at += len(self._counted.get(name, (name,)))
        return out


class Centroid:
    """The mean of some records, to which others are near or far."""

    def __init__(self, columns: Sequence[Column], scales: Mapping[str, Scale], importance: Mapping[str, float]) -> None:
        self._scales, self._importance = scales, importance
        self._means = [_shares(c) if is_counted(c) else float(encoded(c, scales).mean()) for c in columns]

    def squared_distances(self, columns: Sequence[Column]) -> Floats:
        """The squared distances of records to the mean."""
        out = np.zeros(len(columns[0].numbers))
        for column, mean in zip(columns, self._means, strict=True):
            if isinstance(mean, float):
                squares = np.square(encoded(column, self._scales) - mean)
            else:  # an indicator of sqrt(1/2) against shares times sqrt(1/2); none where missing
                code = np.where(column.missing, len(mean) - 1, column.numbers).astype(np.int64)
                squares = 0.5 * (np.where(column.missing, 0.0, 1.0) - 2.0 * mean[code] + float(np.square(mean).sum()))
            out += self._importance.get(column.name, 1.0) * squares
        return out


def _shares(column: Column) -> Floats:
    """The share of the records that have each category, and a last 0 for those that have none."""
    codes = column.numbers[~column.missing].astype(np.int64)
    return np.bincount(codes, minlength=len(column.categories) + 1) / len(column.numbers)
