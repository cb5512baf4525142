"""Information loss, by the model of Thaeter and Reischuk (2018), section 1, doi 10.18420/sicherheit2018_05.

The distortion of a release is the sum of the distances between the records and the centres released in their
place (definition 1.4); the diversity of the data, against which it is held, the sum of the distances to the
centre of all, or over all pairs of records. Their quotient is the information loss (definition 1.5). With means and
squared distances these are SSE, SST and L_SSE = 100 SSE / SST; with distances not squared, L_E = 100 SDE / SDT
(Domingo-Ferrer, Sebé, Solanas 2008, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column, Columns
from .group_centres import AT_ONCE, centres_by_column, group_centres, means
from .standard_units import in_sds

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


def from_groups(X: Floats, labels: Ints, centre: str) -> Floats:
    """The squared distance of each record to the centre of its group."""
    return _squared(X, centres_by_column(X, labels, centre))


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
    d2 = np.empty(len(X))
    for a in range(0, len(X), AT_ONCE):
        b = a + AT_ONCE
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


class Steps(NamedTuple):
    """How far every record of a column lies, squared, from what was released, and from the column's centre.

    Both are 0 where the value is missing before or after: such cells are left out.
    """

    moved: Floats
    spread: Floats


def steps(before: Column, after: Column, weights: Floats | None = None) -> Steps:
    """The squared distances behind the loss of one column, in the encoding that the methods group by.

    Amounts, moments and the ranks of ordered categories are taken in standard deviations (ddof 0) of the original; in a
    nominal or boolean column a mismatch costs 1, so a category is an indicator times 1/sqrt 2. A constant column moves
    by nothing and has no spread. With weights the centre is the weighted one.
    """
    both = ~(before.missing | after.missing)
    x, y = before.numbers[both], after.numbers[both]
    w = None if weights is None else weights[both]
    out = Steps(np.zeros(len(both)), np.zeros(len(both)))
    if not len(x):
        return out
    if not before.is_ordered:
        codes = x.astype(np.int64)
        p = np.bincount(codes, w) / (len(x) if w is None else w.sum())
        out.moved[both] = x != y
        out.spread[both] = 0.5 - p[codes] + 0.5 * np.sum(p * p)
        return out
    scaled = in_sds(x, y)
    if scaled is not None:
        zx, zy = scaled
        ddof = len(x) / (len(x) - 1)
        out.moved[both] = (zy - zx) ** 2 * ddof
        out.spread[both] = (zx - np.average(zx, weights=w)) ** 2 * ddof
    return out


class Sums(NamedTuple):
    """The losses of a release, and what they are made of."""

    sse: float
    sst: float
    loss_percent: float
    loss_euclidean_percent: float


def sums(before: Columns, after: Columns, names: Sequence[str], weights: Floats | None = None) -> Sums:
    """SSE, SST and the losses of a release, over these columns together, from the records before and after.

    L_SSE = 100 SSE / SST and L_E = 100 SDE / SDT, as above, of each record to what was released in its place. With
    weights, record i counts weights[i] times, and SST is about the weighted centre.
    """
    n = len(before[names[0]].numbers) if names else 0
    moved, spread = np.zeros(n), np.zeros(n)
    for name in names:
        one = steps(before[name], after[name], weights)
        moved += one.moved
        spread += one.spread
    w = np.ones(n) if weights is None else weights
    sse, sst = float(w @ moved), float(w @ spread)
    return Sums(sse, sst, percent(sse, sst), percent(float(w @ np.sqrt(moved)), float(w @ np.sqrt(spread))))


def column_loss(before: Column, after: Column) -> float | None:
    """100 SSE / SST of one column; None if it is constant. Above 100 if the centre of all would be nearer."""
    one = steps(before, after)
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
