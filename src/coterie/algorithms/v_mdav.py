"""MDAV+ and V-MDAV: one group at a time around the record farthest from a fixed centroid.

Sources: Solanas, Martínez-Ballesté (2006), V-MDAV: a multivariate microaggregation with variable group size, COMPSTAT;
Thaeter, Reischuk (2018), Improving anonymization clustering, section 2, doi 10.18420/sicherheit2018_05.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels import mdav_loops
from ..progress import more
from .free import free_records
from .groups import farthest_first, join_nearest_centroid
from .registry import GAMMAS, Found


def mdav_plus(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Groups of k; leftovers join the group with the nearest centroid."""
    return _v_mdav(X, k, 0.0, farthest_first(X))


def v_mdav(
    X: NDArray[np.float64],
    k: int,
    *,
    gamma: float | Sequence[float] | str,
    loss: Callable[[NDArray[np.int64]], float],
) -> Found:
    """Groups that grow up to 2k - 1; of several gammas, the first that loses least."""
    order = farthest_first(X)
    if isinstance(gamma, float):
        return Found(_v_mdav(X, k, gamma, order), {"gamma": gamma})
    grid = GAMMAS if isinstance(gamma, str) else gamma
    more(len(X) * (len(grid) - 1))
    runs = ((_v_mdav(X, k, value, order), value) for value in grid)
    labels, best = min(runs, key=lambda run: loss(run[0]))  # of equal losses, the first
    return Found(labels, {"gamma": best, "tried": tuple(grid)})


def _v_mdav(X: NDArray[np.float64], k: int, gamma: float, order: NDArray[np.int64]) -> NDArray[np.int64]:
    labels = np.full(len(X), -1, np.int64)
    free = free_records(X, len(X) if gamma > 0.0 else len(X) // k, tiled=mdav_loops.groups_in_turn)
    g = at = 0
    while len(free) >= k:
        at, g = free.take_groups_in_turn(order, at, k, gamma, labels, g)
    join_nearest_centroid(X, labels, free.remaining())
    return labels
