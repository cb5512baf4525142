"""M-d: the minimum spanning tree without its longest edges, and MD inside parts that are still large.

Sources: Laszlo, Mukherjee (2005), Minimum spanning tree partitioning algorithm for microaggregation, IEEE Transactions
on Knowledge and Data Engineering 17(7), doi 10.1109/TKDE.2005.112; Domingo-Ferrer, Sebé, Solanas (2008), section 6,
doi 10.1016/j.camwa.2007.04.034.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import mst
from ..progress import done
from .neighbours import Neighbours
from .splitting import split_by_md

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tree(NamedTuple):
    """A spanning tree."""

    ends: Ints  # (n - 1, 2): the records at the ends of each edge, the lower first
    d2: Floats  # (n - 1,): its squared length


def m_d(X: Floats, k: int) -> Ints:
    """Cut the longest edges as long as both sides keep k records; split what has 2k or more."""
    tree = minimum_spanning_tree(X)
    longest_first = np.lexsort((tree.ends[:, 1], tree.ends[:, 0], -tree.d2))
    part = np.empty(len(X), np.int64)
    mst.cut(tree.ends, longest_first, k, part)
    labels = split_by_md(X, part, k)
    done(len(X))
    return labels


def minimum_spanning_tree(X: Floats) -> Tree:
    """The minimum spanning tree; of edges of equal length, the one with the lowest records is the shorter.

    Every round, each component but the largest draws its shortest edge, which halves their number, or nearly. A record
    looks beyond its nearest neighbours only when all of them are inside its own component and could have been nearer.
    """
    n = len(X)
    near = Neighbours(X)
    part, boss = np.arange(n), np.arange(n)
    shortest = mst.Shortest(np.full(n, np.inf), np.zeros(n, np.int64), np.zeros(n, np.int64))
    tree = Tree(np.empty((n - 1, 2), np.int64), np.empty(n - 1))
    nearest = near.nearest(min(n - 1, 8))
    count = 0
    while count < n - 1:
        near.shortest_edges(nearest, part, shortest)
        count = mst.join(shortest, boss, part, tree.ends, tree.d2, count)
    return tree
