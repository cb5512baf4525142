"""The default: the best of what fits the size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..progress import more
from .mdav import mdav, mdav1
from .mdav_star import mdav_star
from .registry import Found
from .vmdav import v_mdav

SMALL = 10_000


def auto(X: NDArray[np.float64], k: int, *, loss: Callable[[NDArray[np.int64]], float]) -> Found:
    """Run mdav*, and up to SMALL records also mdav, mdav1 and v-mdav over its gammas; keep what loses least."""
    found = [Found(mdav_star(X, k), {"method": "mdav*"})]
    if len(X) <= SMALL:
        more(3 * len(X))
        found.append(Found(mdav(X, k), {"method": "mdav"}))
        found.append(Found(mdav1(X, k), {"method": "mdav1"}))
        grown = v_mdav(X, k, gamma="auto", loss=loss)
        found.append(Found(grown.labels, {"method": "v-mdav", **grown.chosen}))
    return min(found, key=lambda f: loss(f.labels))
