"""Windows: whole groups of a partition that lie close together, cut by planes that turn from round to round.

What is best for records depends on those around them, hardly on others far away. So prices can be learnt window by
window. A window has a halo, the records that may share a group with its own. Windows whose halos do not meet the other
can be solved at the same time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BALANCE = 0.35, 0.65  # where a plane cuts: not always in the middle, so that those of two rounds differ everywhere
_AT_ONCE = 65_536  # records whose neighbours are looked at together


def cut_windows(X: Floats, groups: Ints, size: int, turn: int) -> list[Ints]:
    """The groups of each window: as few windows as cuts leave, each of at most `size` records, or one group.

    Records are turned at random before they are cut, the same way for the same `turn`; the first is not turned.
    """
    rng = np.random.default_rng(turn)
    p = X.shape[1]
    places = X[groups[:, 0]]
    if turn and p > 1:
        places = places @ np.linalg.qr(rng.standard_normal((p, p)))[0]
    many = (groups >= 0).sum(axis=1)
    windows: list[Ints] = []
    waiting = [np.arange(len(groups))]
    while waiting:
        part = waiting.pop()
        if len(part) == 1 or many[part].sum() <= size:
            windows.append(part)
            continue
        widest = int(np.argmax(places[part].var(axis=0)))
        part = part[np.argsort(places[part, widest], kind="stable")]
        at = int(len(part) * rng.uniform(*_BALANCE)) if turn else len(part) // 2
        at = min(max(at, 1), len(part) - 1)
        waiting += [part[at:], part[:at]]
    return windows


def group_of(groups: Ints, n: int) -> Ints:
    """The group of each record."""
    own = np.empty(n, np.int64)
    g, column = np.nonzero(groups >= 0)
    own[groups[g, column]] = g
    return own


def window_of(groups: Ints, windows: list[Ints], n: int) -> Ints:
    """The window of each record."""
    of_group = np.empty(len(groups), np.int64)
    for w, part in enumerate(windows):
        of_group[part] = w
    return of_group[group_of(groups, n)]


def halo(near: Ints, records: Ints) -> Ints:
    """The records that are among the nearest of these, and not of them."""
    around = np.unique(near[records])
    return np.setdiff1d(around, records, assume_unique=True)


def batches(near: Ints, own: Ints, windows: int) -> list[Ints]:
    """Windows that can be solved at the same time, none of which has records of another in its halo.

    Greedy colouring: each window goes to the first batch that has none of its neighbours.
    """
    pairs = np.empty(0, np.int64)
    for a in range(0, len(near), _AT_ONCE):
        one, other = np.repeat(own[a : a + _AT_ONCE], near.shape[1]), own[near[a : a + _AT_ONCE]].ravel()
        apart = one != other
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        pairs = np.unique(np.append(pairs, low * windows + high))
    low, high = np.divmod(pairs, windows)
    colour = np.zeros(windows, np.int64)
    order = np.argsort(high, kind="stable")  # the neighbours of each window that come before it
    before = np.split(low[order], np.searchsorted(high[order], np.arange(1, windows)))
    for w in range(1, windows):
        taken = np.unique(colour[before[w]])
        colour[w] = int(np.argmax(np.append(taken, -1) != np.arange(len(taken) + 1)))
    return [np.flatnonzero(colour == c) for c in range(int(colour.max()) + 1)]
