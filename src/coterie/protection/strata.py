"""Strata: sets of records that no group may cross, and what becomes of those with fewer than k."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class SparseSums(NamedTuple):
    """The sums of encoded columns in every stratum, without the zeros: a stratum has few of many categories.

    Those of stratum s are values[starts[s] : starts[s + 1]], of the columns at the same places, in ascending order.
    """

    starts: Ints
    columns: Ints
    values: Floats


def sparse_sums(stratum: Ints, column: Ints, value: Floats, strata: int) -> SparseSums:
    """The sums of `strata` strata from single entries in any order, at most one for each stratum and column."""
    order = np.lexsort((column, stratum))
    starts = np.concatenate(([0], np.cumsum(np.bincount(stratum, minlength=strata))))
    return SparseSums(starts, column[order], value[order])


def merge_small_strata(sizes: Ints, sums: Floats | SparseSums, k: int, units: Sequence[set[int]] | None = None) -> Ints:
    """The stratum in which each stratum ends, once all of them have at least k records, or only one is left.

    The smallest stratum below k is merged with the one whose centroid is nearest: squared differences, summed column by
    column. The nearest one survives, and counts with its new size and centroid from then on. Ties go to the lowest
    index, both for the smallest and for the nearest. Strata without records stay as they are.

    Parameters
    ----------
    sizes : ndarray of shape (m,)
        The number of records of each stratum.
    sums : ndarray of shape (m, p), or SparseSums
        The sums of the encoded columns over the records of each stratum.
    k : int
        The fewest records of a stratum.
    units : sequence of set, optional
        The units behind the records of each stratum, k of them if it has more. Strata must have k units then, and the
        smallest is the one with the fewest.

    Notes
    -----
    A merge looks at the sums other than 0 of all strata, of which there are never more than at the start. m strata of c
    columns, each spread by the encoding over any number of indicators, take O(m² c) short steps and O(m c) memory:
    10,000 strata that are categories of a nominal column, with three numeric and another nominal column, take a second.
    """
    rows = _Rows(sizes, sums)
    into = np.arange(len(sizes))
    behind = None if units is None else [set(own) for own in units]

    def heads(s: int) -> int:
        return int(rows.sizes[s]) if behind is None else len(behind[s])

    queue = [(heads(s), s) for s in rows.alive.tolist() if heads(s) < k]
    heapq.heapify(queue)
    while queue and len(rows.alive) > 1:
        size, a = heapq.heappop(queue)
        if into[a] != a or heads(a) != size:  # merged since, or grown
            continue
        b = rows.merge(a)
        into[a] = b
        if behind is not None:
            behind[b] |= behind[a]
        if heads(b) < k:
            heapq.heappush(queue, (heads(b), b))
    while not np.array_equal(into, into[into]):
        into = into[into]
    return into


class _Rows:
    """The strata that are left: their sums other than 0, and the same divided by their sizes."""

    def __init__(self, sizes: Ints, sums: Floats | SparseSums) -> None:
        if not isinstance(sums, SparseSums):
            stratum, column = np.nonzero(sums)
            sums = sparse_sums(stratum, column, sums[stratum, column], len(sizes))
        self.sizes = sizes.astype(np.int64)
        self.alive = np.flatnonzero(sizes)
        self._starts, self._columns, self._sums = sums.starts[:-1].copy(), sums.columns, sums.values
        self._counts = np.diff(sums.starts)
        self._room = self._counts.copy()
        self._end = len(self._columns)
        with np.errstate(invalid="ignore"):
            self._means = self._sums / np.repeat(self.sizes, self._counts)

    def _at(self, s: int) -> slice:
        return slice(self._starts[s], self._starts[s] + self._counts[s])

    def merge(self, a: int) -> int:
        """Add stratum a to the nearest other one, and give that."""
        from ..kernels.sparse_rows import add_rows, nearest_row

        b = nearest_row(a, self.alive, self._starts, self._counts, self._columns, self._means)
        own, its = self._at(a), self._at(b)
        most = self._counts[a] + self._counts[b]
        columns, sums = np.empty(most, np.int64), np.empty(most)
        n = add_rows(self._columns[its], self._sums[its], self._columns[own], self._sums[own], columns, sums)
        self.alive = self.alive[self.alive != a]
        self.sizes[b] += self.sizes[a]
        self._counts[a] = self._room[a] = 0
        if n > self._room[b]:
            self._move(b, 2 * n)
        self._counts[b] = n
        at = self._at(b)
        self._columns[at], self._sums[at], self._means[at] = columns[:n], sums[:n], sums[:n] / self.sizes[b]
        return b

    def _move(self, b: int, room: int) -> None:
        """Let row b, whose values are about to be replaced, have more room, at the end of all."""
        self._counts[b] = self._room[b] = 0
        if self._end + room > len(self._columns):
            self._pack(room)
        self._starts[b], self._room[b] = self._end, room
        self._end += room

    def _pack(self, room: int) -> None:
        """Give up the room of rows that are gone, and make as much anew as the others have."""
        ends = np.cumsum(self._room)
        starts = ends - self._room
        kept = np.repeat(self._starts - starts, self._room) + np.arange(ends[-1])
        more = len(kept) + room
        self._columns = np.concatenate([self._columns[kept], np.zeros(more, np.int64)])
        self._sums = np.concatenate([self._sums[kept], np.zeros(more)])
        self._means = np.concatenate([self._means[kept], np.zeros(more)])
        self._starts, self._end = starts, len(kept)
