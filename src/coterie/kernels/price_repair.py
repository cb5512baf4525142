"""Prices lowered group by group, until none of the groups costs less than its records' prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def lower(pi: Floats, new: Floats, groups: Ints, cost: Floats, order: Ints, inside: NDArray[np.bool_]) -> None:
    """Lower the prices `new`, from `pi`, of records inside: each group in turn, as far as those before have not helped.

    groups : -1 after the last record; cost : their reduced costs under `pi`, below 0.
    """
    for g in order:
        lowered, mine = 0.0, 0
        for i in groups[g]:
            if i >= 0:
                lowered += pi[i] - new[i]
                mine += inside[i]
        left = -cost[g] - lowered
        if mine > 0 and left > 0.0:
            for i in groups[g]:
                if i >= 0 and inside[i]:
                    new[i] -= left / mine
