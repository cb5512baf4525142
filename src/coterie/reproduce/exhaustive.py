"""The papers' "optimal": the least SSE over all partitions of a small set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.subsets import least_sse, sse_of_all
from ..microaggregation.matrix import encode

MOST = 20  # records: memory and time grow as 2**n and 3**n


def optimal_sse(X: NDArray[np.float64], k: int, standardize: bool) -> float:
    """The SSE of the best partition into groups of at least k."""
    matrix = encode(np.asarray(X, np.float64), standardize)
    Z = matrix.values - matrix.values.mean(axis=0)
    n, p = Z.shape
    assert n <= MOST
    size = np.zeros(1 << n, np.int64)
    sse = sse_of_all(Z, np.zeros((1 << n, p)), np.zeros(1 << n), size)
    return least_sse(sse, size, k) * matrix.unit**2
