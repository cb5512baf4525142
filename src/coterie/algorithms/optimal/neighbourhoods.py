"""Neighbourhoods of a partition's groups: those that the columns of low reduced cost tie together.

Groups that are near in space are too many in more than a few dimensions, and most of them have nothing to exchange.
The linear program knows better: records that it would have together, and that are not, belong to groups that should be
set free together (Danna, Rothberg, Le Pape 2005, Exploring relaxation induced neighborhoods, after the same thought).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Neighbourhoods:
    """Which groups of a partition to set free together, in memory of the size of the columns."""

    def __init__(self, groups: Ints, n: int, columns: Ints, weight: Floats) -> None:
        """`weight`: how much a column ties the groups of any two of its records."""
        self._size = (groups >= 0).sum(axis=1)
        label = np.full(n + 1, -1)  # of nobody, in the end
        g, column = np.nonzero(groups >= 0)
        label[groups[g, column]] = g
        self._met, self._weight = label[columns], weight
        column, place = np.nonzero(columns >= 0)
        group = self._met[column, place]
        order = np.argsort(group, kind="stable")
        self._column = column[order]  # once for each record that it has in the group
        self._first = np.append(0, np.cumsum(np.bincount(group, minlength=len(groups))))

    def around(self, seed: int, records: int) -> Ints:
        """The groups that are tied most to this one and those before, until they have so many records."""
        tie = np.zeros(len(self._size))
        inside = [seed]
        while True:
            last = inside[-1]
            columns = self._column[self._first[last] : self._first[last + 1]]
            met = self._met[columns]
            many = np.broadcast_to(self._weight[columns][:, None], met.shape)
            tie += np.bincount(met[met >= 0], many[met >= 0], len(tie))
            tie[inside] = -1.0
            best = int(np.argmax(tie))
            if self._size[inside].sum() >= records or tie[best] <= 0.0:
                return np.array(inside)
            inside.append(best)
