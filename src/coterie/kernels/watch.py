"""What guards see in a group: different values, their entropy, their distance from the whole table.

Distances are sums of integers until the last division. With c(i) of a group's s records and C(i) of all n at value i or
below, the ordered distance is the sum over i of |n c(i) - s C(i)|, over s n (m - 1). Between two values of the group
c(i) stands still while C(i) rises, so the difference changes its sign at most once: a search finds where, and sums of
C, kept once for the table, give both sides. A group costs O(s log m), however many values the table has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HAIR = (
    1e-12  # a limit is kept with so much to spare, relative to it: another way to add up must come to the same verdict
)
_FINE = 2.0**40  # shortfalls of entropy are told apart to 2**-40: logarithms differ in the last digit between machines
_MOST = 9e18  # integers up to here are exact


class Watch(NamedTuple):
    """The conditions of q guards on n records, and what they know of the whole table; w: the most codes of a guard."""

    codes: Ints  # (q, n): the place of each record's value among the table's values; missing: after all of them
    values: Ints  # (q,): m, how many values there are, missing not counted
    below: Ints  # (q, w): how many of the table's records have this code or a lower one
    area: Ints  # (q, w + 1): the sum of `below` over all codes before this one
    ordered: NDArray[np.bool_]  # (q,): which of the two distances
    distinct: Ints  # (q,): l, or 0
    entropy: Floats  # (q,): l, or 0
    t: Floats  # (q,): t, or infinity


@kernel
def _first_at_least(below: Ints, a: int, b: int, s: int, target: int) -> int:
    """Give the first i in [a, b) where s * below[i] >= target, or b; fast where it is near a."""
    step = 1
    while a + step < b and s * below[a + step - 1] < target:
        a += step
        step *= 2
    b = min(b, a + step)
    while a < b:
        middle = (a + b) // 2
        if s * below[middle] < target:
            a = middle + 1
        else:
            b = middle
    return a


@kernel
def ordered_distance(codes: Ints, m: int, below: Ints, area: Ints) -> float:
    """Give the earth mover's distance, all steps from a value to the next being equal, of sorted codes to the table."""
    s, n = codes.shape[0], below[m - 1]
    if m == 1:
        return 0.0
    wide = float(s) * float(n) * float(m) > _MOST
    total, rough = 0, 0.0
    a = 0
    for c in range(s + 1):  # c of the group's values lie below those in [a, b)
        b = codes[c] if c < s else m
        if a < b:
            h = _first_at_least(below, a, b, s, n * c)
            if wide:
                rough += float(n * c) * (h - a) - float(s) * (area[h] - area[a])
                rough += float(s) * (area[b] - area[h]) - float(n * c) * (b - h)
            else:
                total += n * c * (2 * h - a - b) + s * (area[a] + area[b] - 2 * area[h])
            a = b
    return (rough if wide else float(total)) / (float(s) * float(n) * float(m - 1))


@kernel
def equal_distance(codes: Ints, below: Ints) -> float:
    """Give half the sum of the differences of shares, of sorted codes to the table; missing is a value like others."""
    s, n = codes.shape[0], below[-1]
    total, seen, i = 0, 0, 0
    while i < s:
        code, start = codes[i], i
        while i < s and codes[i] == code:
            i += 1
        all_of_it = below[code] - (below[code - 1] if code > 0 else 0)
        total += abs(n * (i - start) - s * all_of_it)
        seen += all_of_it
    return float(total + s * (n - seen)) / (2.0 * float(s) * float(n))


@kernel
def diversity(codes: Ints, m: int) -> tuple[int, float]:
    """Give how many different values sorted codes have, and exp of their entropy; missing ones don't count."""
    found, total, present, i = 0, 0.0, 0, 0
    while i < codes.shape[0] and codes[i] < m:
        code, start = codes[i], i
        while i < codes.shape[0] and codes[i] == code:
            i += 1
        found += 1
        total += (i - start) * math.log(i - start)
        present = i
    if present == 0:
        return 0, 0.0
    return found, math.exp(math.log(present) - total / present)


@kernel
def distance(watch: Watch, g: int, codes: Ints) -> float:
    """Give the distance of guard g's kind, of sorted codes to the table."""
    if watch.ordered[g]:
        return ordered_distance(codes, watch.values[g], watch.below[g], watch.area[g])
    return equal_distance(codes, watch.below[g])


@kernel
def lack(watch: Watch, g: int, codes: Ints) -> float:
    """Give by how much a group of these sorted codes falls short of guard g: 0 if it holds, at most 1 a condition."""
    short = 0.0
    if watch.t[g] < np.inf:
        short += max(0.0, distance(watch, g, codes) - watch.t[g] * (1.0 - HAIR))
    if watch.distinct[g] > 0 or watch.entropy[g] > 0.0:
        found, effective = diversity(codes, watch.values[g])
        if found < watch.distinct[g]:
            short += (watch.distinct[g] - found) / watch.distinct[g]
        if effective < watch.entropy[g] * (1.0 + HAIR):
            missed = 1.0 - effective / watch.entropy[g]
            short += max(1.0, math.floor(missed * _FINE + 0.5)) / _FINE
    return short


@kernel
def measure(watch: Watch, g: int, order: Ints, starts: Ints, out: Floats) -> None:
    """out: for each group order[starts[i]:starts[i + 1]], different values, exp of entropy, distance, shortfall.

    Members stand in the order of their codes.
    """
    for i in range(starts.shape[0] - 1):
        codes = watch.codes[g][order[starts[i] : starts[i + 1]]]
        found, effective = diversity(codes, watch.values[g])
        out[i, 0] = found
        out[i, 1] = effective
        out[i, 2] = distance(watch, g, codes)
        out[i, 3] = lack(watch, g, codes)
