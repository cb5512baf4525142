"""Factors as stars: edges that someone needs, and a factor to start from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def squared_lengths(X: Floats, edges: Ints) -> Floats:
    """Squared distances, bit for bit those of the kernels."""
    d2 = np.zeros(len(edges))
    for j in range(X.shape[1]):
        step = X[edges[:, 0], j] - X[edges[:, 1], j]
        d2 += step * step
    return d2


def without_spare(edges: Ints, d2: Floats, low: Ints) -> Ints:
    """Drop edges, the longest first, that neither end needs: stars remain, and every edge ends in a leaf of its own."""
    degree = np.bincount(edges.ravel(), minlength=len(low)).tolist()
    need = low.tolist()
    kept = []
    for i in np.argsort(-d2, kind="stable").tolist():
        u, v = edges[i].tolist()
        if degree[u] > need[u] and degree[v] > need[v]:
            degree[u] -= 1
            degree[v] -= 1
        else:
            kept.append(i)
    return edges[sorted(kept)]


def nearest_factor(X: Floats, nearest: Ints, low: Ints, high: Ints) -> Ints:
    """Join everyone who needs an edge to the nearest; where too many meet, the farthest of them pair off.

    Two leaves of a star lie, squared, at most twice the sum of their edges apart: this weighs little more than the
    distances to the nearest, which every factor must pay half of.
    """
    lone = np.flatnonzero(low)
    edges = np.unique(np.sort(np.column_stack([lone, nearest[lone]]), axis=1), axis=0)
    edges = without_spare(edges, squared_lengths(X, edges), low)
    edges = edges[np.argsort(-squared_lengths(X, edges), kind="stable")]
    degree = np.bincount(edges.ravel(), minlength=len(low)).tolist()
    kept = []
    waiting: dict[int, int] = {}  # a centre's leaf that is to be paired off
    for u, v in edges.tolist():
        centre, leaf = (u, v) if degree[u] > high[u] or u in waiting else (v, u)
        if centre in waiting:
            kept.append([waiting.pop(centre), leaf])
            degree[centre] -= 2
        elif degree[centre] > high[centre]:
            waiting[centre] = leaf
        else:
            kept.append([u, v])
    return np.sort(np.array(kept, np.int64), axis=1)


def completed(X: Floats, edges: Ints, x: Floats, low: Ints, high: Ints) -> Ints | None:
    """A factor near a fractional solution: its whole edges, then the shortest that help; None if that fails."""
    taken = edges[x > 1.0 - 1e-6]
    degree = np.bincount(taken.ravel(), minlength=len(low))
    if np.any(degree > high):
        return None
    bare = degree < low
    helpful = edges[bare[edges[:, 0]] | bare[edges[:, 1]]]
    more = []
    for u, v in helpful[np.argsort(squared_lengths(X, helpful), kind="stable")].tolist():
        needed = degree[u] < low[u] or degree[v] < low[v]
        if needed and degree[u] < high[u] and degree[v] < high[v]:
            more.append([u, v])
            degree[u] += 1
            degree[v] += 1
    if np.any(degree < low):
        return None
    return np.concatenate([taken, np.array(more, np.int64).reshape(-1, 2)])
