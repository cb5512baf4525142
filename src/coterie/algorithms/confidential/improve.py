"""Splitting again: what merging has made coarser than the guards ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels.watch import Watch
from .guards import part_of
from .k_first import k_first
from .merge import by_first_appearance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def split_again(X: Floats, k: int, labels: Ints, watch: Watch) -> Ints:
    """Groups that keep the guards, each of 2k records or more split by `k_first` as far as its parts keep them too.

    Every part lies within a group, so the SSE never grows. A group from which `k_first` makes one stays as it is.
    Costs what `k_first` costs on each group.
    """
    labels = by_first_appearance(labels)
    sizes = np.bincount(labels)
    out = labels.copy()
    g = len(sizes)
    for members in np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1]):
        if len(members) >= 2 * k:
            own = k_first(np.ascontiguousarray(X[members]), k, part_of(watch, members))
            out[members] = g + own
            g += int(own.max()) + 1
    return by_first_appearance(out)
