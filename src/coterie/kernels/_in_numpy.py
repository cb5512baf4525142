"""Kernels whose loops take longest where Python runs them, written for NumPy: the same numbers, bit for bit.

Columns are added in the same order, and NumPy neither reorders nor contracts; equal distances are settled as there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exact_sum import GRID
from .nearby import SIZE
from .tree import NOBODY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]


def _distances(values: Floats, count: int, q: Floats, d2: Floats) -> None:
    d2[:count] = 0.0
    for column, x in zip(values, q, strict=True):
        step = column[:count] - x
        d2[:count] += step * step


def _farthest(few: Any, q: Floats) -> int:
    count = int(few.left[0])
    if count == 0:
        return NOBODY
    _distances(few.values, count, q, few.d2)
    d2 = few.d2[:count]
    return int(few.record[:count][d2 == d2.max()].min())


def _nearest(few: Any, q: Floats, near_d2: Floats, near: Ints) -> None:
    count, m = int(few.left[0]), len(near)
    _distances(few.values, count, q, few.d2)
    record, d2 = few.record[:count], few.d2[:count]
    at = np.flatnonzero(d2 <= np.partition(d2, m - 1)[m - 1]) if count > m else np.arange(count)
    at = at[np.lexsort((record[at], d2[at]))][:m]
    near_d2[:], near[:] = np.inf, NOBODY
    near_d2[: len(at)], near[: len(at)] = d2[at], record[at]


def _rounded(digits: Ints, scratch: Ints) -> float:
    del scratch
    total = sum(int(digits[i]) << 32 * int(i) for i in np.flatnonzero(digits))
    size, bits = abs(total), abs(total).bit_length()
    lead = size << 64 - bits if bits <= 64 else size >> bits - 64 | (size & (1 << bits - 64) - 1 != 0)
    value = math.ldexp(float(lead), bits - 64 - GRID)
    return -value if total < 0 else value


def _nearest_boxes(low: Floats, high: Floats, regions: Small, first: int, near: Small) -> None:
    for a in range(first, first + len(near)):
        others = _listed(regions[a // SIZE], low.shape[1])
        d2 = np.zeros((1, len(others)))
        for lo, hi in zip(low, high, strict=True):
            below, above = lo[others] - hi[a], lo[a] - hi[others]
            gap = np.maximum(np.maximum(below, above), 0.0)
            apart = 0.05 * (below + (hi[others] - lo[a]))
            d2 += gap * gap + apart * apart
        _keep_nearest(d2, others, near[a - first : a - first + 1])


def _nearest_records(columns: Floats, low: Floats, high: Floats, blocks: Small, first: int, near: Small) -> None:
    del low, high
    for a in range(first, first + len(near), SIZE):
        records = np.arange(a, min(a + SIZE, first + len(near)))
        others = _listed(blocks[a // SIZE], columns.shape[1])
        d2 = np.zeros((len(records), len(others)))
        for column in columns:
            step = column[others] - column[records, None]
            d2 += step * step
        d2[others == records[:, None]] = np.inf
        _keep_nearest(d2, others, near[a - first : a - first + SIZE])


def _listed(boxes: Small, n: int) -> Ints:
    """What is in some boxes, box after box, up to the first -1."""
    count = int(np.argmax(boxes < 0)) if (boxes < 0).any() else len(boxes)
    within = (boxes[:count, None].astype(np.int64) * SIZE + np.arange(SIZE)).ravel()
    return within[within < n]


def _keep_nearest(d2: Floats, others: Ints, near: Small) -> None:
    """Fill each row with the nearest, of equally near ones the first; those at infinity are nobody."""
    order = np.argsort(d2, axis=1, kind="stable")[:, : near.shape[1]]
    found = np.where(np.take_along_axis(d2, order, axis=1) < np.inf, others[order], -1)
    near[:] = -1
    near[:, : found.shape[1]] = found


IN_NUMPY: dict[str, Callable[..., Any]] = {
    "scan.distances": _distances,
    "scan.farthest": _farthest,
    "scan.nearest": _nearest,
    "exact_sum._rounded": _rounded,
    "nearby.nearest_boxes": _nearest_boxes,
    "nearby.nearest_records": _nearest_records,
}
