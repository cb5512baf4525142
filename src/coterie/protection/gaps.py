"""Missing values as values of their own: records are told apart by which of their values are missing.

A group is all missing or none in a column. Where too few records have the same gaps, as few further cells as possible
are blanked, so that each pattern of gaps has at least k records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Gaps = tuple[bool, ...]


def patterns_of(missing: Flags) -> Ints:
    """The pattern of gaps of each record, numbered from 0 on."""
    if missing.shape[1] == 0:
        return np.zeros(len(missing), np.int64)
    return np.unique(np.packbits(missing, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


class _Way(NamedTuple):
    """A way to bring a small pattern to k records: the cells it blanks, the other pattern, how many of its records."""

    cells: int
    other: Gaps
    lent: int


def blanked(missing: Flags, X: Floats, k: int) -> Flags:
    """Which cells are missing once every pattern of gaps has at least k records (there are at least k in all).

    While a pattern has too few, the smallest is joined with another in the way that blanks the fewest cells: it moves
    to a pattern that has its gaps and more; or another lends it as many of its records as it needs, those nearest in X,
    and keeps k; or both become one. Of equally good ways the first counts.
    """
    rows = _rows_by_pattern(missing)
    while len(rows) > 1:
        a = min(rows, key=lambda gaps: (len(rows[gaps]), gaps))
        if len(rows[a]) >= k:
            break
        way = min(_ways(rows, a, k))
        own, its = rows.pop(a), rows.pop(way.other)
        if way.lent < len(its):
            its = _nearest(X, own, its)
            rows[way.other] = np.sort(its[way.lent :])
        union = tuple(x or y for x, y in zip(a, way.other, strict=True))
        rows[union] = np.sort(np.concatenate([rows.get(union, np.empty(0, np.int64)), own, its[: way.lent]]))
    out = np.empty_like(missing)
    for gaps, members in rows.items():
        out[members] = gaps
    return out


def _rows_by_pattern(missing: Flags) -> dict[Gaps, Ints]:
    pattern = patterns_of(missing)
    order = np.argsort(pattern, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(pattern))[:-1])
    return {tuple(missing[part[0]].tolist()): part for part in parts}


def _ways(rows: dict[Gaps, Ints], a: Gaps, k: int) -> list[_Way]:
    ways, few = [], len(rows[a])
    need = k - few
    for b, members in rows.items():
        if b == a:
            continue
        own = sum(y and not x for x, y in zip(a, b, strict=True))  # cells of a record of a
        its = sum(x and not y for x, y in zip(a, b, strict=True))
        size = len(members)
        for lent in {0 if its == 0 else size, need if size - need >= k else size}:
            ways.append(_Way(few * own + lent * its, b, lent))
    return ways


def _nearest(X: Floats, rows: Ints, others: Ints) -> Ints:
    """The others, those nearest to the mean of the rows first."""
    distance = np.square(X[others] - X[rows].mean(axis=0)).sum(axis=1)
    return others[np.argsort(distance, kind="stable")]
