"""The centres of groups: the mean, or the median of every column."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 2**16  # values that are averaged or measured together: few enough for the processor's caches


def group_centres(X: Floats, labels: Ints, centre: str, order: Ints | None = None) -> Floats:
    """The centre of each group, a row a group: the mean, or the median of every column.

    `order` are the records `by_group`, where they are known.
    """
    sizes = np.bincount(labels)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    out = np.empty((len(sizes), X.shape[1]))
    if centre == "mean":
        order = by_group(labels) if order is None else order
        cuts = np.searchsorted(starts, np.arange(0, len(X), records_at_once(X))).tolist()
        for a, b in pairwise([*cuts, len(sizes)]):
            if a < b:  # else one group goes on
                out[a:b] = means(X.take(order[starts[a] : starts[b]], axis=0), sizes[a:b])
        return out
    for j in range(X.shape[1]):
        x = X[np.lexsort((X[:, j], labels)), j]
        low, high = x[starts[:-1] + (sizes - 1) // 2], x[starts[:-1] + sizes // 2]
        out[:, j] = low + (high - low) / 2
    return out


def means(x: Floats, sizes: Ints) -> Floats:
    """The mean of each group, where the records stand group after group.

    It takes a second pass over what the first left (offsets are no harm) and stays within its group's values: equal
    values have exactly that value as their mean.
    """
    starts, m = np.cumsum(sizes) - sizes, sizes[:, None]
    mean = np.add.reduceat(x, starts, axis=0) / m
    mean += np.add.reduceat(x - np.repeat(mean, sizes, axis=0), starts, axis=0) / m
    return np.clip(mean, np.minimum.reduceat(x, starts, axis=0), np.maximum.reduceat(x, starts, axis=0))


def records_at_once(X: Floats) -> int:
    """How many records are averaged or measured together."""
    return max(1, AT_ONCE // int(X.shape[1]))


def by_group(labels: Ints) -> Ints:
    """The records group after group, each group's in their order: a stable argsort, in a third of its time."""
    bits = len(labels).bit_length()
    keys = np.left_shift(labels, bits, dtype=np.int64)  # no group is empty, so a label has no more bits
    keys |= np.arange(len(labels))
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


def centres_by_column(X: Floats, labels: Ints, centre: str, order: Ints | None = None) -> list[tuple[Floats, Ints]]:
    """For each column the centres of the groups, and the group of each record: labels[:, j], where columns differ."""
    if labels.ndim == 1:
        centres = group_centres(X, labels, centre, order)
        return [(centres[:, j], labels) for j in range(X.shape[1])]
    groups = [labels[:, j] - labels[:, j].min() for j in range(X.shape[1])]
    return [(group_centres(X[:, j : j + 1], group, centre)[:, 0], group) for j, group in enumerate(groups)]
