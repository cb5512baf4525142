"""From the cuts of a kd-tree to the block of each record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def follow(X: Floats, column: Ints, value: Floats, left: Ints, right: Ints, out: Ints) -> None:
    """Write the block of each record, led by the cuts from the first on; a child below 0 is -1 - a block."""
    for i in range(X.shape[0]):
        at = 0
        while at >= 0:
            at = left[at] if X[i, column[at]] <= value[at] else right[at]
        out[i] = -1 - at
