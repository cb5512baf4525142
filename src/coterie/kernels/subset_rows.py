"""Subset-row cuts: which groups count in them, and which of them a fractional solution violates."""

from __future__ import annotations

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
def coefficients(groups: Ints, start: Ints, member: Ints, met: Ints, found: Ints) -> None:
    """Write these cuts, group by group."""
    m = 0
    for g in range(groups.shape[0]):
        for step in (1, -1):
            for x in groups[g]:
                if x < 0:
                    break
                for z in range(start[x], start[x + 1]):
                    met[member[z]] += step
                    if step == 1 and met[member[z]] == 2:
                        found[m] = member[z]
                        m += 1


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


@kernel
def _columns_of(groups: Ints, n: int) -> tuple[Ints, Ints]:
    """The groups of each record: column[start[i]:start[i + 1]]."""
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
    return start, column


@kernel
def _all_three(groups: Ints, x: Floats, start: Ints, column: Ints, a: int, b: int, c: int) -> float:
    """How much three records are together."""
    total = 0.0
    for z in range(start[a], start[a + 1]):
        both = 0
        for i in groups[column[z]]:
            both += i in (b, c)
        if both == 2:
            total += x[column[z]]
    return total


@kernel
def violated_triples(groups: Ints, x: Floats, n: int, least: float, triples: Ints, excess: Floats) -> int:
    """Write the triples of which more than one pair, in sum, is together; give their number."""
    weight = _pair_weights(groups, x, n)
    start, column = _columns_of(groups, n)
    beside = np.empty(n, np.int64)
    m = 0
    for a in range(n):
        c = 0
        for b in range(a + 1, n):
            if weight[a, b] > 0.0:
                beside[c] = b
                c += 1
        for i in range(c):
            for j in range(i + 1, c):
                b, d = beside[i], beside[j]
                over = weight[a, b] + weight[a, d] + weight[b, d] - 1.0
                if over <= least or weight[b, d] == 0.0:
                    continue
                over -= 2.0 * _all_three(groups, x, start, column, a, b, d)
                if over > least and m < triples.shape[0]:
                    triples[m, 0], triples[m, 1], triples[m, 2] = a, b, d
                    excess[m] = over
                    m += 1
    return m
