"""The sums behind the information loss of a part: they add up over parts, and need no column of indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..measures.loss import percent
from ..tables.columns import Column
from .centroids import encoded, is_counted
from .scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    """The sums of a part: every record counted once, and by its weight where there are weights."""

    plain: Spread
    weighted: Spread | None


def part_loss(columns: Sequence[Column], scales: Mapping[str, Scale], labels: Ints, weights: Floats | None) -> PartLoss:
    """The sums of some records in their groups."""
    ones = np.ones(len(labels))
    return PartLoss(
        _spread(columns, scales, labels, ones), None if weights is None else _spread(columns, scales, labels, weights)
    )


def _spread(columns: Sequence[Column], scales: Mapping[str, Scale], labels: Ints, w: Floats) -> Spread:
    out = Spread(weight=float(w.sum()))
    size = np.bincount(labels, w).astype(np.float64)
    for column in columns:
        if is_counted(column):
            _add_counted(out, column, labels, w, size)
            continue
        z = encoded(column, scales)
        mean = np.bincount(labels, w * z) / size
        out.sse += float((w * np.square(z - mean[labels])).sum())
        out.squares += float((w * np.square(z)).sum())
        out.totals[column.name] = np.array([(w * z).sum()])
    return out


def _add_counted(out: Spread, column: Column, labels: Ints, w: Floats, size: Floats) -> None:
    """A nominal column: an indicator of sqrt(1/2) for each category, by counts alone."""
    there, m = ~column.missing, len(column.categories)
    codes, groups, own = column.numbers[there].astype(np.int64), labels[there], w[there]
    pairs, where = np.unique(groups * m + codes, return_inverse=True)
    often = np.bincount(where.reshape(-1), own, len(pairs))
    out.sse += 0.5 * float(own.sum() - (np.square(often) / size[pairs // m]).sum())
    out.squares += 0.5 * float(own.sum())
    out.totals[column.name] = np.sqrt(0.5) * np.bincount(codes, own, m)
