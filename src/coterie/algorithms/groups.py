"""What the methods need to know of groups: centroids, distances, where leftovers go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import exact_sum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def squared_distances(X: Floats, point: Floats) -> Floats:
    """Squared distances of the rows of X to a point, summed column after column as in the kernels."""
    d2 = np.zeros(len(X))
    for j in range(X.shape[1]):
        d2 += (X[:, j] - point[j]) ** 2
    return d2


def centroids(X: Floats, labels: Ints) -> Floats:
    """The centroid of each group: exact sum, rounded once, over the size. Records labelled -1 belong to none."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 2))
    return exact_sum.group_means(X, order, starts)


def centroid(X: Floats) -> Floats:
    """The centroid of all records."""
    everyone: Floats = centroids(X, np.zeros(len(X), np.int64))[0]
    return everyone


def farthest_first(X: Floats) -> Ints:
    """All records, the farthest from the centroid of all first; of equally far ones the lowest index first."""
    return np.argsort(-squared_distances(X, centroid(X)), kind="stable")


def join_nearest_centroid(X: Floats, labels: Ints, rest: Ints) -> None:
    """Put each record of `rest` into the group whose centroid, as it is now, is nearest."""
    if len(rest) == 0:
        return
    centres = centroids(X, labels)
    labels[rest] = [int(np.argmin(squared_distances(centres, X[x]))) for x in rest]
