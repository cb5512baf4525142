"""Missing values as values of their own: records are told apart by which of their values are missing.

A group is all missing or none in a column. Where too few records have the same gaps, as few further cells as possible
are blanked, so that each pattern of gaps has at least k records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def patterns_of(missing: Flags) -> Ints:
    """The pattern of gaps of each record, numbered from 0 on."""
    if missing.shape[1] == 0:
        return np.zeros(len(missing), np.int64)
    return np.unique(np.packbits(missing, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def blanked(missing: Flags, X: Floats, k: int) -> Flags:
    """Which cells are missing once every pattern of gaps has at least k records (there are at least k in all).

    While a pattern has too few, the smallest is joined with another in the way that blanks the fewest cells: it moves
    to a pattern that has its gaps and more; or another lends it as many of its records as it needs, those nearest in X,
    and keeps k; or both become one. Of equally good ways the first counts.
    """
    found = _Patterns(missing)
    while len(found) > 1:
        a = found.smallest()
        if len(found.rows[a]) >= k:
            break
        b, lent = found.way(a, k)
        own, its = found.rows[a], found.rows[b]
        if lent < len(its):
            its = _nearest(X, own, its)
        union = found.gaps[a] | found.gaps[b]
        found.put(found.gaps[a], np.empty(0, np.int64))
        found.put(found.gaps[b], np.sort(its[lent:]))
        found.put(union, np.sort(np.concatenate([found.at(union), own, its[:lent]])))
    out = np.empty_like(missing)
    for gaps, members in zip(found.gaps, found.rows, strict=True):
        out[members] = gaps
    return out


class _Patterns:
    """The patterns of gaps, and the records of each. Those without records stay, and don't count."""

    def __init__(self, missing: Flags) -> None:
        pattern = patterns_of(missing)
        order = np.argsort(pattern, kind="stable")
        self.rows = np.split(order, np.cumsum(np.bincount(pattern))[:-1])
        self.gaps = missing[[part[0] for part in self.rows]]
        self._sizes = np.array([len(part) for part in self.rows])
        self._keys = [_key(gaps) for gaps in self.gaps]  # numbers in the order of patterns: present before missing
        self._place = {key: i for i, key in enumerate(self._keys)}

    def __len__(self) -> int:
        return int(np.count_nonzero(self._sizes))

    def at(self, gaps: Flags) -> Ints:
        """The records of a pattern."""
        i = self._place.get(_key(gaps))
        return np.empty(0, np.int64) if i is None else self.rows[i]

    def put(self, gaps: Flags, rows: Ints) -> None:
        """Let a pattern have these records."""
        key = _key(gaps)
        i = self._place.setdefault(key, len(self._keys))
        if i == len(self._keys):
            self._keys.append(key)
            self.rows.append(rows)
            self.gaps = np.vstack([self.gaps, gaps])
            self._sizes = np.append(self._sizes, 0)
        self.rows[i], self._sizes[i] = rows, len(rows)

    def smallest(self) -> int:
        """The pattern with the fewest records, of several the first."""
        fewest = self._sizes[self._sizes > 0].min()
        return min(np.flatnonzero(self._sizes == fewest).tolist(), key=self._keys.__getitem__)

    def way(self, a: int, k: int) -> tuple[int, int]:
        """The other pattern that a is joined with, and how many of its records come along: what blanks fewest cells."""
        others = np.flatnonzero(self._sizes)
        others = others[others != a]
        sizes, need = self._sizes[others], k - self._sizes[a]
        own = (self.gaps[others] & ~self.gaps[a]).sum(axis=1)  # cells of a record of a
        its = (~self.gaps[others] & self.gaps[a]).sum(axis=1)
        lent = np.stack([np.where(its == 0, 0, sizes), np.where(sizes - need >= k, need, sizes)])
        cells = self._sizes[a] * own + lent * its
        ways = np.argwhere(cells == cells.min()).tolist()
        return min(((int(others[j]), int(lent[i, j])) for i, j in ways), key=lambda way: (self._keys[way[0]], way[1]))


def _key(gaps: Flags) -> int:
    return int.from_bytes(np.packbits(gaps).tobytes(), "big")


def _nearest(X: Floats, rows: Ints, others: Ints) -> Ints:
    """The others, those nearest to the mean of the rows first."""
    distance = np.square(X[others] - X[rows].mean(axis=0)).sum(axis=1)
    return others[np.argsort(distance, kind="stable")]
