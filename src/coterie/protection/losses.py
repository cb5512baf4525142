"""The sums behind the information loss of a part: they add up over parts, and need no column of indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..measures.loss import percent
from ..tables.columns import Column
from .centroids import encoded, is_counted
from .encoding import category_numbers
from .scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TINY = np.finfo(float).tiny  # in place of 0 as the number of records of a group that has none


@dataclass
class Spread:
    """Squared distances to the groups' means, and what those to the mean of all are made of."""

    sse: float = 0.0
    weight: float = 0.0
    squares: float = 0.0
    totals: dict[str, Floats] = field(default_factory=dict)

    def add(self, other: Spread) -> None:
        """Take in the sums of another part."""
        self.sse += other.sse
        self.weight += other.weight
        self.squares += other.squares
        for name, total in other.totals.items():
            self.totals[name] = self.totals.get(name, 0.0) + total

    @property
    def sst(self) -> float:
        """The sum of squared distances to the mean of all."""
        means = sum(float(np.square(total).sum()) for total in self.totals.values())
        return max(0.0, self.squares - means / self.weight) if self.weight else 0.0

    @property
    def loss_percent(self) -> float:
        """100 SSE / SST."""
        return percent(self.sse, self.sst)


@dataclass(frozen=True, eq=False)
class PartLoss:
    """The sums of a part: every record counted once, and by its weight where there are weights.

    `by_importance` has every record once and every column by its importance, where one of these columns has another
    than 1: this is what the groups were formed by.
    """

    plain: Spread
    weighted: Spread | None
    by_importance: Spread | None = None

    @property
    def of_method(self) -> Spread:
        """What the groups were formed by."""
        return self.plain if self.by_importance is None else self.by_importance


def part_loss(
    columns: Sequence[Column],
    scales: Mapping[str, Scale],
    labels: Ints,
    weights: Floats | None,
    importance: Mapping[str, float] | None = None,
) -> PartLoss:
    """The sums of some records in their groups."""
    roots = {column.name: float(np.sqrt((importance or {}).get(column.name, 1.0))) for column in columns}
    equal = dict.fromkeys(roots, 1.0)
    return PartLoss(
        _spread(columns, scales, labels, None, equal),
        None if weights is None else _spread(columns, scales, labels, weights, equal),
        None if roots == equal else _spread(columns, scales, labels, None, roots),
    )


def _spread(
    columns: Sequence[Column],
    scales: Mapping[str, Scale],
    labels: Ints,
    w: Floats | None,
    roots: Mapping[str, float],
) -> Spread:
    """The sums, where each column is multiplied by its root."""
    sizes = _sums(labels, w)
    out = Spread(weight=float(sizes.sum()))
    for column in columns:
        root = roots[column.name]
        if is_counted(column):  # an indicator of sqrt(1/2) for each category, by counts alone
            codes = category_numbers(column)
            there = codes >= 0
            often = _sums(codes[there], None if w is None else w[there], len(column.categories))
            out.sse += root**2 * float(nominal_sse(codes, labels, len(column.categories), w).sum())
            out.squares += root**2 * 0.5 * float(often.sum())
            out.totals[column.name] = root * np.sqrt(0.5) * often
        else:
            z = root * encoded(column, scales)
            out.sse += float(_numeric_sse(z, labels, w, sizes).sum())
            out.squares += float(z @ z if w is None else w @ np.square(z))
            out.totals[column.name] = np.array([z.sum() if w is None else w @ z])
    return out


def nominal_sse(categories: Ints, labels: Ints, m: int, weights: Floats | None = None) -> Floats:
    """The SSE of each group in a nominal or boolean column of m categories, by true indicators, however many.

    `categories` are -1 where missing. The groups are numbered by `labels` from 0 on. With category c in n_c of a
    group's n records, it is (sum of n_c - sum of n_c² / n) / 2: indicators times 1/sqrt(2) have the squared length 1/2,
    and missing values are at 0. With weights, these are sums of weights.
    """
    there, sizes = categories >= 0, _sums(labels, weights)
    if m <= 2:  # a single indicator, 1/2 where missing
        return _numeric_sse(np.where(there, categories, 0.5), labels, weights, sizes)
    key, which = np.unique(labels[there] * m + categories[there], return_inverse=True)
    often = _sums(which.reshape(-1), None if weights is None else weights[there], len(key))
    squares = _sums(key // m, often * often, len(sizes)) / np.maximum(sizes, _TINY)
    return np.maximum(0.5 * (_sums(key // m, often, len(sizes)) - squares), 0.0)


def _numeric_sse(x: Floats, labels: Ints, w: Floats | None, sizes: Floats) -> Floats:
    total = np.maximum(sizes, _TINY)
    mean = _sums(labels, x if w is None else w * x) / total
    left = x - mean[labels]
    mean = _sums(labels, left if w is None else w * left) / total  # what the first pass left
    left -= mean[labels]
    return _sums(labels, np.square(left) if w is None else w * np.square(left))


def _sums(which: Ints, values: Floats | None, groups: int = 0) -> Floats:
    return np.bincount(which, values, groups).astype(np.float64)
