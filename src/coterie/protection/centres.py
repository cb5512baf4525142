"""What is released for a group, by the kind of the column: the same value for all its records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column, rounded

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def centres_of_groups(
    column: Column, labels: Ints, weights: Floats | None, step: float, overall: Floats | None = None
) -> Floats:
    """The centre of each group, from the values that are present; NaN where none is.

    Numbers and dates: the (weighted) mean, rounded half to even to a multiple of `step`, if that is not 0. Ordinal: the
    (weighted) median category, the lower of two. Nominal and boolean: the most frequent category; of equally frequent
    ones that which is more frequent in the whole table (`overall`, where these records are a part), then the first.
    """
    there = np.flatnonzero(~column.missing)
    groups = int(labels.max()) + 1
    x, g = column.numbers[there], labels[there]
    w = np.ones(len(there)) if weights is None else weights[there]
    if column.kind == "ordinal":
        centre = _medians(x, g, w, groups)
    elif column.kind in ("nominal", "boolean"):
        centre = _modes(x, g, w, groups, overall)
    else:
        centre = rounded(_means(x, g, w, groups), step)
    return centre + 0.0  # no negative zero


def _means(x: Floats, g: Ints, w: Floats, groups: int) -> Floats:
    """Weighted means, in two passes (offsets are no harm), within the values of their group."""
    out = np.full(groups, np.nan)
    if not len(x):
        return out
    order = np.argsort(g, kind="stable")
    x, g, w = x[order], g[order], w[order]
    starts = np.flatnonzero(np.concatenate(([True], g[1:] != g[:-1])))
    sizes = np.diff(np.append(starts, len(g)))
    total = np.add.reduceat(w, starts)
    mean = np.add.reduceat(x * (w / np.repeat(total, sizes)), starts)
    mean += np.add.reduceat((x - np.repeat(mean, sizes)) * (w / np.repeat(total, sizes)), starts)
    out[g[starts]] = np.clip(mean, np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts))
    return out


def _medians(x: Floats, g: Ints, w: Floats, groups: int) -> Floats:
    out = np.full(groups, np.nan)
    order = np.lexsort((x, g))
    x, g = x[order], g[order]
    share = w[order] / np.bincount(g, w[order], groups)[g]  # of its group: light groups stand beside heavy ones
    upto = np.cumsum(share)
    enough = upto - np.concatenate(([0.0], upto))[np.searchsorted(g, g)] >= 0.5 - 1e-9
    at = np.flatnonzero(enough)
    first = at[np.concatenate(([True], g[at][1:] != g[at][:-1]))] if len(at) else at
    out[g[first]] = x[first]
    return out


def _modes(x: Floats, g: Ints, w: Floats, groups: int, overall: Floats | None) -> Floats:
    out = np.full(groups, np.nan)
    if not len(x):
        return out
    code = x.astype(np.int64)
    m = int(code.max()) + 1
    key, which = np.unique(g * m + code, return_inverse=True)
    often = np.round(np.bincount(which.reshape(-1), w) / np.bincount(g, w, groups)[key // m], 12)
    whole: Floats = np.bincount(code, w, m) if overall is None else overall  # type: ignore[assignment]
    order = np.lexsort((key % m, -whole[key % m], -often, key // m))
    key = key[order]
    first = np.concatenate(([True], key[1:] // m != key[:-1] // m))
    out[key[first] // m] = key[first] % m
    return out


def medoids(X: Floats, labels: Ints) -> Ints:
    """For each group, the record that is nearest to the group's mean; ties go to the lowest index."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    Z = X[order]
    mean = np.repeat(np.add.reduceat(Z, starts, axis=0) / sizes[:, None], sizes, axis=0)
    distance = np.round(np.square(Z - mean).sum(axis=1), 12)
    nearest: Ints = order[np.lexsort((order, distance, labels[order]))][starts]
    return nearest
