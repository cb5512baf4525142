"""Strata: sets of records that no group may cross, and what becomes of those with fewer than k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import PromiseError
from ..tables.columns import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def strata_of(columns: Sequence[Column], n: int) -> Ints:
    """The stratum of each record: equal values in all of these columns, missing being a value; numbered from 0."""
    out = np.zeros(n, np.int64)
    for column in columns:
        values = np.where(column.missing, np.inf, column.numbers)
        _, code = np.unique(values, return_inverse=True)
        _, out = np.unique(out * (int(code.max()) + 1) + code.reshape(-1), return_inverse=True)
        out = out.reshape(-1)
    return out


def refuse_small(strata: Ints, k: int, what: str, hint: str) -> None:
    """Refuse where a stratum has fewer than k records."""
    sizes = np.bincount(strata)
    small = sizes[(sizes > 0) & (sizes < k)]
    if len(small):
        got = f"{len(small)} of {np.count_nonzero(sizes)} with fewer than k = {k}, {small.sum()} records in all"
        raise PromiseError(what, got, hint)


def merge_small(X: Floats, strata: Ints, k: int) -> Ints:
    """Merge strata of fewer than k records, the smallest first, each with the one whose centroid is nearest.

    Of equally small or equally near ones the first counts. X holds all quasi-identifiers, the columns of strata too.
    """
    sizes = np.bincount(strata)
    sums = np.column_stack([np.bincount(strata, X[:, j], len(sizes)) for j in range(X.shape[1])])
    name = np.arange(len(sizes))
    alive = sizes > 0
    while True:
        small = np.flatnonzero(alive & (sizes < k))
        if not len(small) or alive.sum() == 1:
            return np.unique(name[strata], return_inverse=True)[1].reshape(-1)
        a = int(small[np.argmin(sizes[small])])
        others = np.flatnonzero(alive & (np.arange(len(sizes)) != a))
        centres = sums[others] / sizes[others, None]
        b = int(others[np.argmin(np.square(centres - sums[a] / sizes[a]).sum(axis=1))])
        sums[b] += sums[a]
        sizes[b] += sizes[a]
        alive[a] = False
        name[name == a] = b
