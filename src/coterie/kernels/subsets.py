"""The best of all partitions of a few records, by dynamic programming over their subsets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]


@kernel
def sse_of_all(X: Floats, sums: Floats, squares: Floats, size: NDArray[np.int64]) -> Floats:
    """Give the SSE of every subset of the rows of X, which should have mean 0; bit i of its number stands for row i."""
    n, p = X.shape
    out = np.zeros(1 << n)
    for i in range(n):
        for rest in range(1 << i):  # row i and the subset `rest` of the rows before it
            subset = rest | 1 << i
            size[subset] = size[rest] + 1
            squares[subset] = squares[rest]
            length = 0.0
            for j in range(p):
                sums[subset, j] = sums[rest, j] + X[i, j]
                squares[subset] += X[i, j] * X[i, j]
                length += sums[subset, j] * sums[subset, j]
            out[subset] = max(0.0, squares[subset] - length / size[subset])
    return out


@kernel
def least_sse(sse: Floats, size: NDArray[np.int64], k: int) -> float:
    """Give the least SSE of a partition into groups of k to 2k - 1 records; larger ones can always be split.

    The next group is one of the first record that has none.
    """
    everyone = sse.shape[0] - 1
    best = np.full(sse.shape[0], np.inf)
    best[0] = 0.0
    for done in range(everyone):
        if best[done] == np.inf:
            continue
        free = everyone & ~done
        first = free & -free
        others = free ^ first
        rest = others
        while True:  # every subset of the others
            group = rest | first
            left = size[free] - size[group]
            if k <= size[group] < 2 * k and (left == 0 or left >= k):
                best[done | group] = min(best[done | group], best[done] + sse[group])
            if rest == 0:
                break
            rest = (rest - 1) & others
    return float(best[everyone])
