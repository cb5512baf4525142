"""Parts of a table that are too large for a group, and how they are split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import small_parts as parts
from .md import md
from .mdav import mdav1

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 300  # up to so many records, a part is split record by record


def split_by_mdav1(X: Floats, part: Ints, k: int) -> Ints:
    """The groups of the parts, numbered anew: those of 2k records or more split one group at a time, as in MDAV."""
    return _split(X, part, k, "mdav1")


def split_by_md(X: Floats, part: Ints, k: int) -> Ints:
    """The same, split as in MD."""
    return _split(X, part, k, "md")


def _split(X: Floats, part: Ints, k: int, how: str) -> Ints:
    small, large = (parts.mdav1, mdav1) if how == "mdav1" else (parts.md, md)
    sizes = np.bincount(part)
    huge = np.flatnonzero(sizes > SMALL)
    order = np.argsort(part, kind="stable")
    order = order[~np.isin(part[order], huge)]
    starts = np.concatenate(([0], np.cumsum(np.delete(sizes, huge))))
    labels = np.empty(len(X), np.int64)
    g = small(X, order, starts, k, labels, 0)
    for h in huge:
        inside = np.flatnonzero(part == h)
        if len(inside) < 2 * k:
            own = np.zeros(len(inside), np.int64)
        elif (X[inside] == X[inside[0]]).all():
            own = _split_equal(len(inside), k, how)
        else:
            own = large(np.ascontiguousarray(X[inside]), k)
        labels[inside] = g + own
        g += int(own.max()) + 1
    return labels


def _split_equal(m: int, k: int, how: str) -> Ints:
    """What both methods make of m equal records: k at a time in order of their index, without a distance computed."""
    groups = m // k - 1 if how == "mdav1" else 2 * (m // (2 * k))
    labels = np.minimum(np.arange(m) // k, groups)
    if m - groups * k < k:  # MD: too few for a group of their own
        labels[groups * k :] = 0
    return labels
