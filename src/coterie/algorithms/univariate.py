"""The optimal partition of one column, and every column on its own.

Sources: Hansen, Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions on
Knowledge and Data Engineering 15(4), doi 10.1109/TKDE.2003.1209020; individual ranking: Defays, Nanopoulos (1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import line
from ..progress import done
from .guarantee import Guarantee
from .registry import Found

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COSTS = {"sse": line.SSE, "absolute": line.ABSOLUTE, "maximal": line.MAXIMAL}
_AT_ONCE = 200_000  # values between two chances to interrupt


def univariate(X: Floats, k: int, *, cost: str) -> Found:
    """The groups of k to 2k - 1 neighbouring values that cost least."""
    labels = _optimal(np.ascontiguousarray(X[:, 0]), k, cost)
    done(len(X))
    why = "the best partition of numbers has groups of neighbours, and dynamic programming tries them all"
    return Found(labels, {}, Guarantee(1.0, why) if cost == "sse" else None)


def individual_ranking(X: Floats, k: int, *, cost: str) -> Ints:
    """A partition for each column, labels[:, column]: the optimal one of that column alone."""
    labels = np.empty(X.shape, np.int64)
    for j in range(X.shape[1]):
        labels[:, j] = _optimal(np.ascontiguousarray(X[:, j]), k, cost)
        done(len(X) * (j + 1) // X.shape[1] - len(X) * j // X.shape[1])
    return labels


def _optimal(x: Floats, k: int, cost: str) -> Ints:
    n, which = len(x), _COSTS[cost]
    order, x = _sorted(x)
    sides = line.Sides(
        left=np.zeros(2 * k),
        right=np.zeros(k),
        left_m2=np.zeros(2 * k),
        right_m2=np.zeros(k),
        f=np.where(np.arange(2 * k) == k, 0.0, np.inf),
        ends=np.empty(k),
        inverse=1.0 / np.maximum(1, np.arange(2 * k)),
    )
    sizes = np.empty(n + 1, np.int32)
    step = k * max(1, _AT_ONCE // k)
    for start in range(k, n + 1, step):
        line.optimal_sizes(x, k, which, sizes, sides, start, start + step)
    labels = np.empty(n, np.int64)
    line.label(order, sizes, labels)
    return labels


def _sorted(x: Floats) -> tuple[Ints, Floats]:
    """The records in order of value, and the values; equal values in order of index, on every machine."""
    order = np.argsort(x)
    y = x[order]
    return (np.argsort(x, kind="stable") if (y[1:] == y[:-1]).any() else order), y
