"""Missing values as values of their own: records are told apart by which of their values are missing.

A group is all missing or none in a column. Where too few records have the same gaps, as few further cells as possible
are blanked, so that each pattern of gaps has at least k records. Which patterns are joined depends only on how many
records each has (`plan_blanking`); the values only decide which records one lends to another (`lending.blank`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Move(NamedTuple):
    """One step of a plan: the records of `small`, and some of those of `lender`, get the gaps of both, `union`.

    The three are numbers of patterns. No record is lent where the lender has all gaps of the small one, which is then
    the union; where some are lent and some kept, those nearest to the mean of the small pattern's records are lent.
    """

    small: int
    lender: int
    lent: int
    kept: int
    union: int

    @property
    def divides(self) -> bool:
        """Whether the records that are lent have to be chosen."""
        return self.lent > 0 and self.kept > 0


class Blanking(NamedTuple):
    """Moves after which every pattern has at least k records, if there are so many.

    `patterns` are those that the plan was made for, by their numbers, and then the unions that are none of them.
    """

    patterns: Flags
    moves: list[Move]


def plan_blanking(patterns: Flags, sizes: Ints, k: int) -> Blanking:
    """How patterns of gaps are joined until each has at least k records, from the number of records of each.

    While a pattern has too few, the smallest is joined with another in the way that blanks the fewest cells: it moves
    to a pattern that has its gaps and more; or another lends it as many of its records as it needs, and keeps k; or
    both become one. Ties go to the pattern that comes first, present before missing, column by column.

    A pattern with fewer than k records holds all records of some original patterns, and no others. So the mean of its
    records follows from the counts and sums of the original patterns. Proof: it holds at the start. A pattern that is
    divided keeps at least k records, and those it lends make up k with those of the small one: neither part is ever
    below k. All other patterns move whole, and a pattern that is joined from several is below k only if all of them
    were. No pattern loses records in another way, so none that has k falls below k, unless it is gone altogether.

    Parameters
    ----------
    patterns : ndarray of shape (m, p)
        Which values are missing; all different.
    sizes : ndarray of shape (m,)
        The number of records of each.
    k : int
        The fewest records of a pattern.
    """
    from ..kernels.bits import cheapest_partner

    state = _State(patterns, sizes)
    queue = [(int(n), *state.words[i].tolist(), i) for i, n in enumerate(sizes.tolist()) if 0 < n < k]
    heapq.heapify(queue)
    moves = []
    while queue and len(state.alive) > 1:
        size, *_, a = heapq.heappop(queue)
        if state.sizes[a] != size:  # joined since
            continue
        b, lent = cheapest_partner(state.words, state.sizes, state.alive, a, k)
        kept = int(state.sizes[b]) - lent
        union = state.place_of_union(a, b)
        moves.append(Move(a, b, lent, kept, union))
        state.put(a, 0)
        state.put(b, kept)
        state.put(union, int(state.sizes[union]) + size + lent)
        if state.sizes[union] < k:
            heapq.heappush(queue, (int(state.sizes[union]), *state.words[union].tolist(), union))
    return Blanking(state.patterns(patterns.shape[1]), moves)


def plan_joining(patterns: Flags, sizes: Ints, k: int, units: Sequence[set[int]]) -> Blanking:
    """How patterns of gaps are joined until the records of each are those of at least k units.

    While a pattern has too few units, the one with the fewest (of equal ones the first) is joined with another, both
    with the gaps of both, in the way that blanks the fewest cells; ties go to the pattern that comes first. Which
    records one could lend to another depends on their units, so none is lent. `units` are those of each pattern, k of
    them if it has more. O(m) for each of at most m steps.
    """
    state = _State(patterns, sizes)
    behind = {i: set(own) for i, own in enumerate(units)}
    moves = []
    while len(state.alive) > 1:
        alive = sorted(state.alive.tolist(), key=lambda i: state.words[i].tolist())
        a = min(alive, key=lambda i: len(behind[i]))
        if len(behind[a]) >= k:
            break
        words, others = state.words, np.array([i for i in alive if i != a])
        more = _ones(words[others] & ~words[a])
        fewer = _ones(words[a] & ~words[others])
        at = int(np.argmin(state.sizes[a] * more + state.sizes[others] * fewer))
        b = int(others[at])
        size, lent = int(state.sizes[a]), int(state.sizes[b]) if fewer[at] else 0
        union = state.place_of_union(a, b)
        moves.append(Move(a, b, lent, int(state.sizes[b]) - lent, union))
        both = behind.pop(a) | behind[b]
        state.put(a, 0)
        if lent:
            behind.pop(b)
            state.put(b, 0)
        state.put(union, int(state.sizes[union]) + size + lent)
        behind[union] = behind.get(union, set()) | both
    return Blanking(state.patterns(patterns.shape[1]), moves)


def _ones(words: NDArray[np.uint64]) -> Ints:
    """How many bits are set in each row."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1)
    return np.asarray(bits.sum(axis=1), np.int64)


class _State:
    """The patterns as bits, with room for unions, and how many records each has by now."""

    def __init__(self, patterns: Flags, sizes: Ints) -> None:
        self.words = _words(patterns)
        self.sizes = sizes.astype(np.int64)
        self._alive = np.flatnonzero(sizes)
        self._spot = {i: spot for spot, i in enumerate(self._alive.tolist())}
        self._count = len(sizes)
        self._place = {row.tobytes(): i for i, row in enumerate(self.words)}

    @property
    def alive(self) -> Ints:
        """The patterns that have records, in any order."""
        return self._alive[: len(self._spot)]

    def place_of_union(self, a: int, b: int) -> int:
        """The number of the pattern with the gaps of both: a new one, if there is none."""
        union = self.words[a] | self.words[b]
        i = self._place.setdefault(union.tobytes(), self._count)
        if i == self._count:
            self._count += 1
            if i == len(self.sizes):
                self.words = np.concatenate([self.words, np.zeros_like(self.words)])
                self.sizes = np.concatenate([self.sizes, np.zeros_like(self.sizes)])
            self.words[i] = union
        return i

    def put(self, i: int, size: int) -> None:
        """Let a pattern have this many records."""
        if size == 0:
            last = int(self.alive[-1])
            spot = self._spot.pop(i)
            self._alive[spot] = last
            if last != i:
                self._spot[last] = spot
        elif self.sizes[i] == 0:  # a move takes the small pattern away first: there is room
            spot = self._spot[i] = len(self._spot)
            self._alive[spot] = i
        self.sizes[i] = size

    def patterns(self, p: int) -> Flags:
        """All patterns by their numbers."""
        octets = self.words[: self._count].astype(">u8").view(np.uint8)
        return np.unpackbits(octets, axis=1, count=p).astype(bool)


def _words(patterns: Flags) -> NDArray[np.uint64]:
    """Rows of flags as words of 64 bits, which sort as the rows do."""
    m, p = patterns.shape
    octets = np.zeros((m, 8 * max(-(-p // 64), 1)), np.uint8)
    octets[:, : -(-p // 8)] = np.packbits(patterns, axis=1)
    return octets.view(">u8").astype(np.uint64)
