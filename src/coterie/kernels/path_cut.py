"""The best cut of an order of the records into groups of k to 2k - 1 that follow one another.

Dynamic program: the least SSE of the first j records is that of the first j - m plus the SSE of the m after them, for
the best m. Source: Hansen, Mukherjee (2003), doi 10.1109/TKDE.2003.1209020; for several columns Domingo-Ferrer,
Martínez-Ballesté, Mateo-Sanz, Sebé (2006), doi 10.1007/s00778-006-0007-0.

Only differences between the 2k totals in use matter. So the least of them is taken off all, again and again: a costly
group at the beginning does not drown the decisions after it. A group's SSE is built up record by record (Welford),
about one of them: it only grows, and no offset cancels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def best_last_groups(X: Floats, order: Ints, k: int, total: Floats, last: Ints, first: int, stop: int) -> float:
    """last[j], for j = first to stop - 1: the size of the last group in the best cut of the first j records.

    Of equally good ones the smaller. 0 where there is no cut, or where it would leave less than k records.
    total[j % (2k)]: the least SSE of the first j records, less all that was taken off. Gives what is taken off here.
    """
    n, p = order.shape[0], X.shape[1]
    mean = np.empty(p)
    taken = 0.0
    for j in range(first, stop):
        least, size = np.inf, 0
        if j >= k and (j <= n - k or j == n):
            sse = 0.0
            mean[:] = 0.0
            origin = X[order[j - 1]]  # the mean about it: an offset common to all is gone at once
            for m in range(1, min(2 * k - 1, j) + 1):
                x = X[order[j - m]]
                share = 1.0 / m
                d2 = 0.0
                for c in range(p):
                    step = (x[c] - origin[c]) - mean[c]
                    mean[c] += step * share
                    d2 += step * step
                sse += d2 * ((m - 1) * share)
                if m >= k and total[(j - m) % (2 * k)] + sse < least:
                    least, size = total[(j - m) % (2 * k)] + sse, m
        total[j % (2 * k)] = least
        last[j] = size
        if j >= 2 * k:
            base = np.min(total)
            taken += base
            for i in range(2 * k):
                total[i] -= base
    return taken
