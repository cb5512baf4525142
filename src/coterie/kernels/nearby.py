"""Neighbours found quickly, in time linear in n: most of the nearest records, but not surely all of them.

The records stand in an order in which every SIZE that follow one another, a block, lie close together, and so do
every SIZE blocks, a region. Each region looks for the nearest regions, each block for the nearest blocks in these, each
record for the nearest records in those.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]

SIZE = 64


@kernel
def boxes(low: Floats, high: Floats, out_low: Floats, out_high: Floats) -> None:
    """Give the box around every SIZE of the boxes (low, high), column by column; records are boxes, too."""
    p, n = low.shape
    for j in range(p):
        for t in range(out_low.shape[1]):
            least, most = np.inf, -np.inf
            for i in range(t * SIZE, min(n, (t + 1) * SIZE)):
                least = min(least, low[j, i])
                most = max(most, high[j, i])
            out_low[j, t] = least
            out_high[j, t] = most


@kernel
def _insert(near_d2: Floats, near: Small, d2: float, x: int) -> None:
    """Put (d2, x) into a list sorted by distance; the last one falls out."""
    i = near.shape[0] - 1
    while i > 0 and near_d2[i - 1] > d2:
        near_d2[i] = near_d2[i - 1]
        near[i] = near[i - 1]
        i -= 1
    near_d2[i] = d2
    near[i] = x


@kernel
def nearest_boxes(low: Floats, high: Floats, regions: Small, first: int, near: Small) -> None:
    """near[t]: boxes near to box first + t, nearest first; only those in the regions listed for its own are looked at.

    A row that has room for more than there are ends with -1. Boxes often touch: the distance between their centres
    decides, too.
    """
    p, t = low.shape
    d2, best_d2 = np.empty(SIZE), np.empty(near.shape[1])
    for a in range(first, first + near.shape[0]):
        row = near[a - first]
        row[:] = -1
        best_d2[:] = np.inf
        for region in regions[a // SIZE]:
            if region < 0:
                break
            start = region * SIZE
            w = min(SIZE, t - start)
            d2[:] = 0.0
            for j in range(p):
                lo, hi, least, most = low[j, start:], high[j, start:], low[j, a], high[j, a]
                for i in range(w):
                    gap = max(max(lo[i] - most, least - hi[i]), 0.0)
                    apart = 0.05 * ((lo[i] - most) + (hi[i] - least))
                    d2[i] += gap * gap + apart * apart
            for i in range(w):
                if d2[i] < best_d2[-1]:
                    _insert(best_d2, row, d2[i], start + i)


@kernel
def nearest_records(columns: Floats, low: Floats, high: Floats, blocks: Small, first: int, near: Small) -> None:
    """near[i]: records near to record first + i, nearest first, from the blocks listed for its own; not itself.

    A column in which all records of a block are as x, as the indicators of most categories are, adds nothing and is
    left out.
    """
    p, n = columns.shape
    d2, best_d2 = np.empty(SIZE), np.empty(near.shape[1])
    low, high = low.T.copy(), high.T.copy()  # box by box
    q, differs = np.empty(p), np.empty(p, np.int64)
    for x in range(first, first + near.shape[0]):
        row = near[x - first]
        row[:] = -1
        best_d2[:] = np.inf
        for j in range(p):
            q[j] = columns[j, x]
        for b in blocks[x // SIZE]:
            if b < 0:
                break
            below, used = 0.0, 0
            for j in range(p):
                gap = max(max(low[b, j] - q[j], q[j] - high[b, j]), 0.0)
                below += gap * gap
                differs[used] = j
                used += (low[b, j] != q[j]) | (high[b, j] != q[j])
            if below >= best_d2[-1]:
                continue
            start = b * SIZE
            w = min(SIZE, n - start)
            d2[:] = 0.0
            for j in differs[:used]:
                column, value = columns[j, start:], q[j]
                for i in range(w):
                    step = column[i] - value
                    d2[i] += step * step
            for i in range(w):
                if d2[i] < best_d2[-1] and start + i != x:
                    _insert(best_d2, row, d2[i], start + i)
