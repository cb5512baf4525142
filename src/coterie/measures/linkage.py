"""Distance-based record linkage: how many released records are nearest to the very original they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import Linkage
from ..tables.columns import Column
from .risk import alone_if_unknown, classes
from .standard_units import Scale, gram, product

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PAIRS = 300_000_000  # distances computed, at most: a few seconds
AT_ONCE = 2**16  # records whose differences are held together
STRIP = 512  # released points between which the first axis makes no difference
BLOCK = 1024  # originals that they are compared with at a time
ROWS = 64  # released points that are compared at a time
MOST_PAIRS = 20_000_000  # originals that links may rightly find; beyond, only each record's own
TIE = 1e-9  # squared distances that differ by less than this part are equal


class _Points(NamedTuple):
    """Records as points: numbers in standard deviations, and codes of categories where a mismatch costs 1."""

    numbers: Floats
    codes: Ints


def distance_linkage(
    before: Sequence[Column],
    after: Sequence[Column],
    *,
    seed: int = 0,
    pairs: int = PAIRS,
    labels: tuple[Ints, Ints] | None = None,
    units: Ints | None = None,
) -> Linkage:
    """Link every released record to the nearest original one, and count the links that are right.

    Distances are Euclidean: amounts, moments and ranks of ordered categories in standard deviations of the original;
    squared, categories without order that differ cost 1, and so does a missing value against one that is
    there, besides the distance of that one to the mean. Where several originals are nearest, the link is
    right with probability 1 / ties if the true one is among them. Domingo-Ferrer and Torra 2003,
    doi 10.1023/A:1025666923033; the handbooks trace it to Pagliuca and Seri 1999.

    Released records with the same values are linked at once, and equal originals are one candidate that counts as often
    as it occurs. Only candidates that can be as near as the true one are looked at. If these would still be more
    than `pairs` comparisons, a sample of the released points is taken, with all their records; the originals are never
    sampled, for that would make links easier.

    Parameters
    ----------
    before, after : sequence of Column
        The quasi-identifiers; record i of both is the same record.
    seed : int
        Of the sample.
    pairs : int
        How many distances may be computed.
    labels : pair of ndarray, optional
        `risk.classes` of before and after, if they are known.
    units : ndarray, optional
        Whose records they are, -1 where that is not known. A link to any record of the same unit is right then.

    Returns
    -------
    Linkage
        `expected_correct` counts the links that are right, ties by their probability; `baseline_share` is what guessing
        at random gets right: 1 / n, or the mean share of the records that a unit has.
    """
    n = len(before[0].numbers) if before else 0
    if not n:
        return Linkage(0, False, None, None, None)
    own, group = labels or (classes(before), classes(after))
    original, released = _points(before, after)
    targets = _targets(original, released, group, units)
    candidates = _candidates(original, own)
    order = np.argsort(targets.along(candidates.axis), kind="stable")
    low, high = targets.ranges(candidates)
    most = len(order) * pairs // max(1, int((high - low).sum()))
    chosen = order
    if most < len(order):
        sample = np.random.default_rng(seed).choice(len(order), max(1, most), replace=False)
        chosen = order[np.sort(sample)]
    links = np.full(len(order), np.nan)
    for some in _near_each_other(chosen, targets.along(candidates.side_axis)):
        links[some] = _links(targets.take(some), candidates, int(low[some].min()), int(high[some].max()))
    right = 0.0
    for at in range(0, len(chosen), ROWS):
        found = links[chosen[at : at + ROWS]]
        right += float(np.sum(found[~np.isnan(found)]))
    records = int(targets.size[chosen].sum())
    guessed = 1.0 if units is None else float(_often(units).mean())
    return Linkage(records, len(chosen) < len(order), right, right / records, guessed / n)


def _often(units: Ints) -> Ints:
    """How many records the unit of each has."""
    who = alone_if_unknown(units)
    return np.bincount(who)[who]


def _points(before: Sequence[Column], after: Sequence[Column]) -> tuple[_Points, _Points]:
    """Both files as points in the same space."""
    n = len(before[0].numbers)
    numbers: list[tuple[Floats, Floats]] = []
    codes: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    for b, a in zip(before, after, strict=True):
        if not b.is_ordered:
            codes.append((_codes(b), _codes(a)))
            continue
        scale = Scale(b.numbers)
        if not scale.constant:
            numbers.append((np.nan_to_num(scale(b.numbers)), np.nan_to_num(scale(a.numbers))))
        if b.missing.any() or a.missing.any():
            numbers.append((b.missing.astype(np.float64), a.missing.astype(np.float64)))
    none, no_codes = np.zeros((n, 0)), np.zeros((n, 0), np.int32)
    first, second = (
        _Points(
            np.column_stack([none, *(pair[i] for pair in numbers)]),
            np.column_stack([no_codes, *(pair[i] for pair in codes)]),
        )
        for i in (0, 1)
    )
    return first, second


def _codes(column: Column) -> NDArray[np.int32]:
    return np.nan_to_num(column.numbers, nan=-1.0).astype(np.int32)


def _first(labels: Ints) -> Ints:
    """The first record of every class."""
    out = np.empty(int(labels.max()) + 1, np.int64)
    out[labels[::-1]] = np.arange(len(labels))[::-1]
    return out


def _near_each_other(chosen: Ints, side: Floats) -> Iterator[Ints]:
    """These targets, which are sorted along the first axis, some at a time: near each other on both axes."""
    for strip in range(0, len(chosen), STRIP):
        some = chosen[strip : strip + STRIP]
        some = some[np.argsort(side[some], kind="stable")]
        for at in range(0, len(some), ROWS):
            yield some[at : at + ROWS]


class _Candidates(NamedTuple):
    """The different originals, sorted along the axis on which they spread most."""

    numbers: Floats  # the rows that, times (y, 1), give the squared distance to y less that of y to 0
    codes: Ints
    often: Floats
    axis: Floats
    place: Floats  # on that axis
    side_axis: Floats  # the axis on which they spread most besides
    side: Floats

    def beside(self, low: int, high: int, least: float, most: float) -> Ints:
        """Of the candidates low to high, those in this range of the other axis."""
        return low + np.flatnonzero((self.side[low:high] >= least) & (self.side[low:high] <= most))


def _candidates(original: _Points, own: Ints) -> _Candidates:
    first, often = _first(own), np.bincount(own)
    x = original.numbers[first]
    axes = np.linalg.eigh(gram(x, x))[1] if x.shape[1] else np.zeros((0, 1))
    axis, other = axes[:, -1], axes[:, -min(2, axes.shape[1])]
    place = np.einsum("ij,j->i", x, axis)
    order = np.argsort(place, kind="stable")
    x = x[order]
    rows = np.column_stack([-2.0 * x, np.einsum("ij,ij->i", x, x)])
    side = np.einsum("ij,j->i", x, other)
    codes, counts = original.codes[first[order]], often[order].astype(np.float64)
    return _Candidates(rows, codes, counts, axis, place[order], other, side)


class _Targets(NamedTuple):
    """The different released points, and what is known of the originals of the records that share one."""

    numbers: Floats
    codes: Ints
    size: Ints  # records at the point
    nearest: Floats  # squared distance to the nearest of their originals: no link is longer
    among: Ints  # how many of their originals are as near as that
    slack: Floats  # squared distances that differ by less are equal
    coarse: Floats  # and by how much they may be wrong if computed as products

    def along(self, axis: Floats) -> Floats:
        """Where the points are on an axis."""
        place: Floats = np.einsum("ij,j->i", self.numbers, axis)
        return place

    def reach(self) -> Floats:
        """How far away a candidate that is as near can be on any axis."""
        distance: Floats = np.sqrt(self.nearest + self.slack) + 1e-9
        return distance

    def ranges(self, candidates: _Candidates) -> tuple[Ints, Ints]:
        """Which candidates, in their order, can be as near: those that are not farther on the axis alone."""
        place, reach = self.along(candidates.axis), self.reach()
        return np.searchsorted(candidates.place, place - reach), np.searchsorted(candidates.place, place + reach)

    def take(self, rows: Ints) -> _Targets:
        """Some of the points."""
        numbers, codes, size, nearest, among, slack, coarse = self
        return _Targets(numbers[rows], codes[rows], size[rows], nearest[rows], among[rows], slack[rows], coarse[rows])


class _Pairs(NamedTuple):
    """Originals that a link from a released point may rightly find, and for how many records of the point."""

    group: Ints
    record: Ints
    times: Ints


def _pairs(group: Ints, units: Ints | None) -> _Pairs:
    """Every record's own original; with units, those of all records of the same unit, unless these are very many."""
    n = len(group)
    own = _Pairs(group, np.arange(n), np.ones(n, np.int64))
    if units is None:
        return own
    who = alone_if_unknown(units)
    same, times = np.unique(group * (int(who.max()) + 1) + who, return_counts=True)
    groups, unit = np.divmod(same, int(who.max()) + 1)
    order, sizes = np.argsort(who, kind="stable"), np.bincount(who)
    if int(sizes[unit].sum()) > MOST_PAIRS:
        return own
    starts = (np.cumsum(sizes) - sizes)[unit]
    inside = np.arange(int(sizes[unit].sum())) - np.repeat(np.cumsum(sizes[unit]) - sizes[unit], sizes[unit])
    record = order[np.repeat(starts, sizes[unit]) + inside]
    return _Pairs(np.repeat(groups, sizes[unit]), record, np.repeat(times, sizes[unit]))


def _targets(original: _Points, released: _Points, group: Ints, units: Ints | None = None) -> _Targets:
    pairs, first, size = _pairs(group, units), _first(group), np.bincount(group)
    d2 = np.empty(len(pairs.record))
    for at in range(0, len(d2), AT_ONCE):  # some at a time: the differences of all would be another table
        own, point = pairs.record[at : at + AT_ONCE], first[pairs.group[at : at + AT_ONCE]]
        steps = original.numbers[own] - released.numbers[point]
        apart = np.count_nonzero(original.codes[own] != released.codes[point], axis=1)
        d2[at : at + AT_ONCE] = np.einsum("ij,ij->i", steps, steps) + apart
    y = released.numbers[first]
    nearest = np.full(len(first), np.inf)
    np.minimum.at(nearest, pairs.group, d2)
    yy = np.einsum("ij,ij->i", y, y)
    slack = TIE * nearest + 1e-14 * np.sqrt((1.0 + yy) * nearest)  # a coordinate is known to 1e-16 of its size
    coarse = slack + 1e-13 * (1.0 + yy + nearest)
    near = d2 <= (nearest + slack)[pairs.group]
    among = np.bincount(pairs.group[near], pairs.times[near], minlength=len(first)).astype(np.int64)
    return _Targets(y, released.codes[first], size, nearest, among, slack, coarse)


def _links(targets: _Targets, candidates: _Candidates, low: int, high: int) -> Floats:
    """The expected number of right links of the records at each target, which need the candidates low to high.

    NaN where a stranger is nearer than all of their originals.
    """
    ties = np.zeros(len(targets.size))
    still = np.arange(len(ties))  # those with no stranger nearer than their own, so far
    y = np.column_stack([targets.numbers, np.ones(len(ties))])
    bound = targets.nearest - np.einsum("ij,ij->i", targets.numbers, targets.numbers)
    side, reach = targets.along(candidates.side_axis), targets.reach()
    all_near = candidates.beside(low, high, float((side - reach).min()), float((side + reach).max()))
    for at in range(0, len(all_near), BLOCK):
        block = all_near[at : at + BLOCK]
        d2 = product(candidates.numbers[block], np.ascontiguousarray(y[still].T))
        for j in range(candidates.codes.shape[1]):
            d2 += candidates.codes[block, j][:, None] != targets.codes[still, j]
        beaten = d2.min(axis=0) < (bound - targets.coarse)[still]
        near_enough = d2 <= np.where(beaten, -np.inf, (bound + targets.coarse)[still])
        column, row = np.divmod(np.flatnonzero(near_enough), d2.shape[1])  # in one dimension, several times as fast
        if len(row):  # few: these are computed anew, without products that cancel
            near = _distances(targets, still[row], candidates, block[column]) - targets.nearest[still[row]]
            slack = targets.slack[still[row]]
            beaten[row[near < -slack]] = True
            tied = near <= slack
            ties[still] += np.bincount(row[tied], candidates.often[block[column[tied]]], minlength=len(still))
        if beaten.any():
            still = still[~beaten]
            if not len(still):
                break
    links = np.full(len(ties), np.nan)
    links[still] = targets.among[still] / ties[still]
    return links


def _distances(targets: _Targets, rows: Ints, candidates: _Candidates, columns: Ints) -> Floats:
    """The squared distance of each of these pairs."""
    steps = targets.numbers[rows] + 0.5 * candidates.numbers[columns, :-1]
    apart = np.count_nonzero(targets.codes[rows] != candidates.codes[columns], axis=1)
    return np.asarray(np.einsum("ij,ij->i", steps, steps) + apart, np.float64)
