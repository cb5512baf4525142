"""Information loss, by the model of Thaeter and Reischuk (2018), section 1, doi 10.18420/sicherheit2018_05.

The distortion of a release is the sum of the distances between the records and the centres released in their
place (definition 1.4); the diversity of the data, against which it is held, the sum of the distances to the
centre of all, or over all pairs of records. Their quotient is the information loss (definition 1.5). With means and
squared distances these are SSE, SST and L_SSE = 100 SSE / SST; with distances not squared, L_E = 100 SDE / SDT
(Domingo-Ferrer, Sebé, Solanas 2008, section 6).

Of a release, every kind of column has the distance that its centre is the nearest by: squares about means, absolute
differences of ranks about medians, changed categories about modes. So no group's centre is farther from its records
than the centre of all would be, and the loss is never above 100 %. For modes, it is 1 - lambda of Goodman and Kruskal
(1954), doi 10.1080/01621459.1954.10501231, the groups being what the category is predicted from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column, Columns, rounded
from .group_centres import centres_by_column, group_centres, means, records_at_once
from .standard_units import Scale, in_sds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def distortion(X: Floats, labels: Ints, centre: str = "mean", distance: str = "squared") -> float:
    """Sum of the distances of the records to their groups' centres."""
    return total(from_groups(X, labels, centre), distance)


def diversity(X: Floats, centre: str = "mean", distance: str = "squared", about: str = "centre") -> float:
    """Sum of the distances of the records to the centre of all (about="centre"), or over all pairs ("pairwise").

    Pairs of squared distances sum up to n times those to the mean; pairs of plain ones take O(n² p) time.
    """
    if about == "centre":
        return total(from_all(X, centre), distance)
    if distance == "squared":
        return len(X) * total(from_all(X, "mean"))
    from ..kernels.pairs import distances_after

    sums = np.empty(len(X))
    distances_after(X, sums)
    return math.fsum(sums)


def from_groups(X: Floats, labels: Ints, centre: str, order: Ints | None = None) -> Floats:
    """The squared distance of each record to the centre of its group; `order` as for `group_centres`."""
    return _squared(X, centres_by_column(X, labels, centre, order))


def from_all(X: Floats, centre: str) -> Floats:
    """The squared distance of each record to the centre of all."""
    everyone = np.broadcast_to(np.int64(0), len(X))
    columns = [X[:, j : j + 1] for j in range(X.shape[1])]  # one by one, as each is copied on the way
    if centre == "mean":
        middle = [means(x, np.array([len(X)])) for x in columns]
    else:
        middle = [group_centres(x, everyone, centre) for x in columns]
    return _squared(X, [(x[:, 0], everyone) for x in middle])


def _squared(X: Floats, centres: Sequence[tuple[Floats, Ints]]) -> Floats:
    """The squared distances to these centres: for each column the groups', and the group of each record."""
    d2, step = np.empty(len(X)), records_at_once(X)
    for a in range(0, len(X), step):
        b = a + step
        steps = X[a:b].copy()
        for j, (values, own) in enumerate(centres):
            steps[:, j] -= values[own[a:b]]
        np.einsum("ij,ij->i", steps, steps, out=d2[a:b])
    return d2


def total(d2: Floats, distance: str = "squared") -> float:
    """The sum of squared distances, or of their roots."""
    return float(np.sum(d2 if distance == "squared" else np.sqrt(d2)))


def percent(part: float, whole: float) -> float:
    """100 part / whole; 0 where there is nothing to lose."""
    return 100.0 * part / whole if whole > 0 else 0.0


class Distances(NamedTuple):
    """How far every record of a column lies from what was released, and from the column's centre.

    Both are 0 where the value is missing before or after: such cells are left out.
    """

    moved: Floats
    spread: Floats
    squared: bool  # or a mismatch, whose square is the same


def distances(before: Column, after: Column, weights: Floats | None = None, step: float | None = None) -> Distances:
    """The distances behind the loss of one column.

    Amounts and moments: squared differences in standard deviations (ddof 0) of the original, about the mean, rounded to
    a multiple of `step` as released means are (whole numbers, unless it is given, in an integer column). Ordered
    categories: absolute differences of ranks, in standard deviations, about the median category. Others: 1 where the
    category changed, and where it is not the most frequent one. A constant column moves by nothing and has no
    spread. With weights the centre is the weighted one.
    """
    both = ~(before.missing | after.missing)
    x, y = before.numbers[both], after.numbers[both]
    w = None if weights is None else weights[both]
    out = Distances(np.zeros(len(both)), np.zeros(len(both)), before.kind != "ordinal")
    if not len(x):
        return out
    if not before.is_ordered:
        out.moved[both] = x != y
        out.spread[both] = x != _mode(x, w)
        return out
    scaled = in_sds(x, y)
    if scaled is None:
        return out
    zx, zy = scaled
    ddof = math.sqrt(len(x) / (len(x) - 1))
    if before.kind == "ordinal":
        out.moved[both] = np.abs(zy - zx) * ddof
        out.spread[both] = np.abs(zx - _median(zx, w)) * ddof
    else:
        step = (1.0 if before.kind == "integer" else 0.0) if step is None else step
        out.moved[both] = ((zy - zx) * ddof) ** 2
        out.spread[both] = ((zx - _mean(x, zx, w, step)) * ddof) ** 2
    return out


def _mode(x: Floats, w: Floats | None) -> int:
    return int(np.bincount(x.astype(np.int64), w).argmax())


def _median(x: Floats, w: Floats | None) -> float:
    order = np.argsort(x, kind="stable")
    upto = np.cumsum(np.ones(len(x)) if w is None else w[order])
    return float(x[order[np.searchsorted(upto, 0.5 * upto[-1] * (1 - 1e-12))]])


def _mean(x: Floats, zx: Floats, w: Floats | None, step: float) -> float:
    """The mean of zx, which are the values x in standard deviations, where that of x is rounded to a step."""
    mean = float(np.average(zx, weights=w))
    if step == 0.0:
        return mean
    scale = Scale(x)
    return float(scale(rounded(np.array([(mean * scale.sd + scale.mean) * scale.unit]), step))[0])


class Sums(NamedTuple):
    """The losses of a release, and what they are made of."""

    sse: float
    sst: float
    loss_percent: float
    loss_euclidean_percent: float


def sums(
    before: Columns,
    after: Columns,
    names: Sequence[str],
    weights: Floats | None = None,
    steps: Mapping[str, float] | None = None,
    importance: Mapping[str, float] | None = None,
) -> Sums:
    """SSE, SST and the losses of a release, over these columns together, from the records before and after.

    The loss is 100 SSE / SST: the sum of the `distances` of each record to what was released in its place, against
    those to the centre of all. L_E = 100 SDE / SDT takes the roots of each record's sums, with ranks squared. With
    weights, record i counts weights[i] times. `steps` are what means are rounded to. With `importance`, the distances
    in a column count by its weight, 1 where it has none.
    """
    n = len(before[names[0]].numbers) if names else 0
    moved, spread, far, wide = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for name in names:
        one = distances(before[name], after[name], weights, (steps or {}).get(name))
        times = (importance or {}).get(name, 1.0)
        moved += times * one.moved
        spread += times * one.spread
        far += times * (one.moved if one.squared else one.moved**2)
        wide += times * (one.spread if one.squared else one.spread**2)
    w = np.ones(n) if weights is None else weights
    sse, sst = float(w @ moved), float(w @ spread)
    return Sums(sse, sst, percent(sse, sst), percent(float(w @ np.sqrt(far)), float(w @ np.sqrt(wide))))


def column_loss(before: Column, after: Column, step: float | None = None) -> float | None:
    """The loss of one column in percent, as in `sums`; None if it is constant."""
    one = distances(before, after, step=step)
    sst = float(one.spread.sum())
    return 100.0 * float(one.moved.sum()) / sst if sst > 0 else None


def mismatch(before: Column, after: Column) -> float | None:
    """The share of records whose category changed, of those that have one before and after."""
    both = ~(before.missing | after.missing)
    return float(np.mean(before.numbers[both] != after.numbers[both])) if both.any() else None


def changed(before: Column, after: Column) -> int:
    """How many records have another value than before, of those that have one before and after."""
    both = ~(before.missing | after.missing)
    return int(np.count_nonzero(before.numbers[both] != after.numbers[both]))
