"""Merging: groups that fall short of a guard go into their neighbours, the worst first.

Source: Soria-Comas, Domingo-Ferrer, Sánchez, Martínez (2015), t-Closeness through microaggregation, IEEE TKDE,
doi 10.1109/TKDE.2015.2435777, arXiv 1512.02909.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import merging, tiles
from ...kernels.watch import Watch
from ..free import close_together
from ..groups import centroids

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def merge(X: Floats, k: int, labels: Ints, watch: Watch) -> Ints:
    """Merge groups until all have k records and meet all guards.

    While a group falls short, the one that does most is merged with the group whose centroid is nearest. What a group
    lacks: (k - size) / k, and for each guard (l - different values) / l, 1 - exp(entropy) / l, distance - t, where
    these are positive; added up. Groups are numbered by their lowest record, and equal ones go to the lower number. A
    merged group's centroid is the mean of the two, weighted by size.

    All guards are kept by a union of groups that keep them (the distances are convex in the group's distribution, the
    entropy is concave), so this ends well, at one group at worst, if and only if all records as one group meet the
    guards; otherwise it ends at that group.

    Each merge costs O(G p / 64) to find the neighbour among G groups and O(s log m) to judge s records. Memory is
    O(n p + n q) for q guards.
    """
    labels = by_first_appearance(labels)
    groups = _groups(X, labels, watch)
    merging.judge_all(watch, k, groups)
    left = len(groups.size)
    while left > 1 and groups.short[1] > 0:
        order = np.flatnonzero(groups.size)
        order = order[close_together(groups.centre[order], np.arange(len(order)))]
        left = merging.merge_worst(watch, k, groups, _shelf(groups.centre, order), left, max(1, 4 * left // 5))
    root = groups.into
    for g in range(len(root)):  # a group goes into a lower one
        root[g] = root[root[g]]
    return by_first_appearance(root[labels])


def by_first_appearance(labels: Ints) -> Ints:
    """The same groups, numbered in the order of their lowest record."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _groups(X: Floats, labels: Ints, watch: Watch) -> merging.Groups:
    """Every group by itself, its members in a list for each guard."""
    size = np.bincount(labels)
    after = np.full(watch.codes.shape, -1)
    head = np.empty((len(after), len(size)), np.int64)
    for g, codes in enumerate(watch.codes):
        order = np.lexsort((codes, labels))
        same = labels[order[1:]] == labels[order[:-1]]
        after[g, order[:-1][same]] = order[1:][same]
        head[g] = order[np.append(True, ~same)]
    width = 1 << (len(size) - 1).bit_length()
    short = np.zeros(2 * width)
    return merging.Groups(centroids(X, labels), size, np.arange(len(size)), head, after, short)


def _shelf(centre: Floats, order: Ints) -> merging.Shelf:
    """The centroids of these groups in tiles."""
    b, p = -(-len(order) // tiles.SIZE), centre.shape[1]
    shelf = merging.Shelf(
        values=np.empty((b, p, tiles.SIZE)),
        group=np.empty((b, tiles.SIZE), np.int64),
        filled=np.zeros(b, np.int64),
        box=np.empty((2, p, b)),
        place=np.full(len(centre), -1),
    )
    merging.shelve(shelf, centre, order)
    return shelf
