"""Subset-row cuts: which groups count in them, and which of them a fractional solution violates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def count_coefficients(groups: Ints, start: Ints, member: Ints, met: Ints, counts: Ints) -> None:
    """Write in how many cuts each group has two records or more. `met` is all zero, before and after."""
    for g in range(groups.shape[0]):
        counts[g] = 0
        for step in (1, -1):
            for x in groups[g]:
                if x < 0:
                    break
                for z in range(start[x], start[x + 1]):
                    met[member[z]] += step
                    counts[g] += step == 1 and met[member[z]] == 2


@kernel
def coefficients(groups: Ints, start: Ints, member: Ints, met: Ints, cut: Ints, value: Floats) -> None:
    """Write these cuts, group by group, and half of the number of the group's records in them, rounded down."""
    m = 0
    for g in range(groups.shape[0]):
        for counting in (True, False):
            for x in groups[g]:
                if x < 0:
                    break
                for z in range(start[x], start[x + 1]):
                    c = member[z]
                    if counting:
                        met[c] += 1
                        continue
                    if met[c] >= 2:
                        cut[m], value[m] = c, met[c] // 2
                        m += 1
                    met[c] = 0


@kernel
def _pair_weights(groups: Ints, x: Floats, n: int) -> Floats:
    """How much any two records are together."""
    weight = np.zeros((n, n))
    for g in range(groups.shape[0]):
        for i in groups[g]:
            if i < 0:
                break
            for j in groups[g]:
                if j < 0:
                    break
                weight[i, j] += x[g]
    return weight


class _Columns(NamedTuple):
    """The groups of each record: column[start[i]:start[i + 1]]."""

    start: Ints
    column: Ints


@kernel
def _columns_of(groups: Ints, n: int) -> _Columns:
    """The groups of each record."""
    start = np.zeros(n + 1, np.int64)
    for g in range(groups.shape[0]):
        for i in groups[g]:
            if i >= 0:
                start[i + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    place = start[:n].copy()
    column = np.empty(start[n], np.int64)
    for g in range(groups.shape[0]):
        for i in groups[g]:
            if i >= 0:
                column[place[i]] = g
                place[i] += 1
    return _Columns(start, column)


@kernel
def _all_three(groups: Ints, x: Floats, columns: _Columns, a: int, b: int, c: int) -> float:
    """How much three records are together."""
    start, column = columns.start, columns.column
    total = 0.0
    for z in range(start[a], start[a + 1]):
        both = 0
        for i in groups[column[z]]:
            both += i in (b, c)
        if both == 2:
            total += x[column[z]]
    return total


@kernel
def violated_triples(groups: Ints, x: Floats, n: int, least: float, paths: bool, triples: Ints, excess: Floats) -> int:
    """Write the triples whose cut is violated by more than `least`; give their number.

    All three pairs are together in part. For paths, the second and the third need not: each comes once for its first.
    """
    weight = _pair_weights(groups, x, n)
    columns = _columns_of(groups, n)
    beside = np.empty(n, np.int64)
    m = 0
    for a in range(n):
        c = 0
        for b in range(0 if paths else a + 1, n):
            if weight[a, b] > 0.0 and a != b:
                beside[c] = b
                c += 1
        for i in range(c):
            for j in range(i + 1, c):
                b, d = beside[i], beside[j]
                over = weight[a, b] + weight[a, d] + weight[b, d] - 1.0
                if over <= least or (weight[b, d] == 0.0 and not paths):
                    continue
                over -= 2.0 * _all_three(groups, x, columns, a, b, d)
                if over > least and m < triples.shape[0]:
                    triples[m, 0], triples[m, 1], triples[m, 2] = a, b, d
                    excess[m] = over
                    m += 1
    return m


@kernel
def _gains(groups: Ints, x: Floats, columns: _Columns, met: Ints, at: Ints, beside: Ints, m: int, gain: Floats) -> None:
    """Write into gain[a, b] by how much two of the m records beside a set raise its cut's left-hand side.

    met : how many of the set's records each group has. at : 1 + the place of a record in `beside`, or 0.

    Half of a group's records in the set, rounded down, grows by 1 with two records more; with one, if it was odd.
    """
    start, column = columns.start, columns.column
    for a in range(m):
        for b in range(m):
            gain[a, b] = 0.0
    for a in range(m):
        for z in range(start[beside[a]], start[beside[a] + 1]):
            g = column[z]
            alone = x[g] if met[g] % 2 == 1 else 0.0
            gain[a, a] += alone
            for i in groups[g]:
                if i >= 0 and at[i] > a + 1:
                    gain[a, at[i] - 1] += x[g] - 2.0 * alone
    for a in range(m):
        for b in range(a + 1, m):
            gain[a, b] += gain[a, a] + gain[b, b]


@kernel
def _around(groups: Ints, columns: _Columns, chosen: Ints, c: int, beside: Ints) -> int:
    """Write the records that are in a group with one of the c chosen; give their number."""
    start, column = columns.start, columns.column
    m = 0
    for a in range(c):
        for z in range(start[chosen[a]], start[chosen[a] + 1]):
            for i in groups[column[z]]:
                new = i >= 0
                for b in range(c):
                    new = new and chosen[b] != i
                for b in range(m):
                    new = new and beside[b] != i
                if new and m < beside.shape[0]:
                    beside[m] = i
                    m += 1
    return m


@kernel
def _count(columns: _Columns, met: Ints, i: int, step: int) -> None:
    """Record i enters the set, or leaves it."""
    start, column = columns.start, columns.column
    for z in range(start[i], start[i + 1]):
        met[column[z]] += step


@kernel
def _best_two(gain: Floats, m: int) -> tuple[int, int]:
    """The pair of m records that gains most, the first of equals; -1 if there is none."""
    best, first, second = -1.0, -1, -1
    for a in range(m):
        for b in range(a + 1, m):
            if gain[a, b] > best:
                best, first, second = gain[a, b], a, b
    return first, second


@kernel
def _left_hand_side(x: Floats, columns: _Columns, met: Ints, chosen: Ints, c: int) -> float:
    """The left-hand side of the cut on the c chosen records. A group counts once, for the first of its records."""
    start, column = columns.start, columns.column
    total = 0.0
    for a in range(c):
        for z in range(start[chosen[a]], start[chosen[a] + 1]):
            g = column[z]
            if met[g] > 0:
                total += x[g] * (met[g] // 2)
                met[g] = -met[g]
    for a in range(c):
        for z in range(start[chosen[a]], start[chosen[a] + 1]):
            met[column[z]] = abs(met[column[z]])
    return total


@kernel
def grow_sets(groups: Ints, x: Floats, n: int, triples: Ints, sets: Ints, excess: Floats) -> None:
    """Grow each triple by the two records that raise its cut's left-hand side most, as long as the sets have room.

    sets : (m, 3 + 2j). excess : (m, j), by how much each step's cut is violated.
    """
    columns = _columns_of(groups, n)
    met, at = np.zeros(groups.shape[0], np.int64), np.zeros(n, np.int64)
    beside, gain = np.empty(64, np.int64), np.empty((64, 64))
    for t in range(triples.shape[0]):
        chosen, c = sets[t], 3
        for i in range(3):
            chosen[i] = triples[t, i]
            _count(columns, met, chosen[i], 1)
        for j in range(excess.shape[1]):
            excess[t, j] = -1.0
        for j in range(excess.shape[1]):
            m = _around(groups, columns, chosen, c, beside)
            for a in range(m):
                at[beside[a]] = a + 1
            _gains(groups, x, columns, met, at, beside, m, gain)
            for a in range(m):
                at[beside[a]] = 0
            first, second = _best_two(gain, m)
            if first < 0:
                break
            chosen[c], chosen[c + 1] = beside[first], beside[second]
            _count(columns, met, chosen[c], 1)
            _count(columns, met, chosen[c + 1], 1)
            c += 2
            excess[t, j] = _left_hand_side(x, columns, met, chosen, c) - c // 2
        for a in range(c):
            _count(columns, met, chosen[a], -1)
