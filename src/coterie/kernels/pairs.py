"""Sums over all pairs of records, in O(n p) memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel


@kernel
def distances_after(X: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Write for each record (a row of X) the sum of its distances to all later ones."""
    n, p = X.shape
    columns = np.ascontiguousarray(X.T)
    d2 = np.empty(n)
    for i in range(n):
        d2[i + 1 :] = 0.0
        for j in range(p):
            column, x = columns[j], X[i, j]
            for h in range(i + 1, n):
                step = column[h] - x
                d2[h] += step * step
        total = 0.0
        for h in range(i + 1, n):
            total += np.sqrt(d2[h])
        out[i] = total
