"""The records that no group has taken yet, under the questions that the methods ask of them."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import at_hand, exact_sum, growth, tiles, tree
from ..kernels import mdav_loops as mdav
from ..kernels import scan as few
from ..kernels.turns import Turn
from ..progress import done

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 6_000_000  # looks at a record: up to so many, scans take less time than tiles
UNCOMPILED = 16  # times as many, where tiles would have to be compiled for: scans take some tenths of a second longer
_COLUMNS = 5  # in more columns, only as many times more as makes this up
LOOSE = 0.25  # where searches open a larger share of the tiles, the tree saves nothing: they bound every tile at once
_AT_ONCE = (500, 20_000)  # records, at least and at most, between two chances to interrupt
_PAUSE = 0.25  # seconds between these, about
_LOOKS = 200_000_000  # the same for scans: values looked at


class FreeRecords:
    """The free records of X.

    Every answer is exact and equal distances go to the lowest index, so a method built on these questions gives
    the partition of its literal version. Whatever answers them (a tree over tiles today) can change behind this class.

    Costs, with n free records in p columns: a question walks down the tree to the tiles that bounds cannot rule out:
    few in low or clustered dimension, all of them, O(n p), in the worst case. How many it opens is counted; where that
    is a large share, the tree is left aside from the next time that the ranks close. Memory is O(n p).

    Parameters
    ----------
    X : ndarray of shape (n, p)
    keep_centroid : bool
        Whether `centroid` will be asked for; its sums are kept only then.
    """

    def __init__(self, X: Floats, *, keep_centroid: bool = False) -> None:
        self.X = X
        self._free = len(X)
        self._digits = np.zeros((X.shape[1] if keep_centroid else 0, exact_sum.DIGITS), np.int64)
        if keep_centroid:
            exact_sum.add_rows(self._digits, X)
        self._order = close_together(X, np.arange(len(X)))
        self._opened = 0.0  # the share of the tiles that searches opened
        self._pairs = 0  # farthest pairs that were asked for
        self._at_once, self._began = 4000.0, time.perf_counter()
        extent = float(np.max(X.max(axis=0) - X.min(axis=0)))
        self._scale = math.ldexp(1.0, max(-1000, min(1000, -math.frexp(extent)[1])))
        self._fill()

    def __len__(self) -> int:
        return self._free

    def is_free(self, record: int) -> bool:
        """Whether no group has taken this record."""
        return bool(self.tiles.place[record] >= 0)

    def remaining(self) -> Ints:
        """The free records, in order."""
        return np.flatnonzero(self.tiles.place >= 0)

    def centroid(self) -> Floats:
        """The mean of the free records: each column's exact sum, rounded once, over their number."""
        out = np.empty(self.X.shape[1])
        exact_sum.mean(self._digits, self._free, out)
        return out

    def farthest(self, point: Floats) -> int:
        """The free record farthest from a point."""
        return tiles.farthest(self.tiles, point)

    def farthest_pair(self) -> int:
        """The lowest record r at an end of a longest pair of free records; its partner is `farthest(X[r])`."""
        if self._pairs in (1, 2) or self._pairs % 8 == 0:  # the anchor is to be amid those that are left
            tiles.anchor_at(self.tiles, self.X[self.remaining()].mean(axis=0))
        self._pairs += 1
        outermost = np.argsort(-self.tiles.tree.box[1, -2])
        return tiles.farthest_pair(self.tiles, outermost)

    def take(self, records: Ints) -> None:
        """Take records out: they are free no longer."""
        tiles.remove(self.tiles, records)
        self._gone(len(records))

    def take_group(self, r: int, k: int) -> Ints:
        """Take r and the k - 1 free records nearest to it."""
        members = np.empty(k, np.int64)
        members[0] = r
        mdav.take_group(self.tiles, self.X, members)
        self._gone(k)
        return members

    def take_groups_from_the_centroid(self, k: int, sides: int, least: int, labels: Ints, g: int) -> int:
        """Take groups g, g + 1, ... by the rule of MDAV, while at least `least` are free; give the next group's number.

        Stops now and then before that, to close the ranks and to let others in.
        """
        until = self._until(least)
        after = mdav.groups_from_the_centroid(self.tiles, self.X, labels, g, k, sides, self._free, until)
        self._gone(k * (after - g))
        return after

    def take_groups_in_turn(self, order: Ints, at: int, k: int, gamma: float, labels: Ints, g: int) -> tuple[int, int]:
        """Take groups g, g + 1, ... around the free ones of order[at], ...; give the next turn and group."""
        until = self._until(k)
        turn = mdav.groups_in_turn(self.tiles, self.X, order, labels, Turn(at, g, self._free), k, gamma, until)
        self._gone(self._free - turn.free)
        return turn.at, turn.group

    def open_or_extend_in_turn(
        self, order: Ints, at: int, k: int, shelf: growth.Shelf, groups: growth.Groups, g: int
    ) -> tuple[int, int]:
        """The same by the rule of MDAV*."""
        until = self._until(k)
        turn = Turn(at, g, self._free)
        turn = growth.open_or_extend_in_turn(self.tiles, self.X, order, shelf, groups, turn, k, until)
        self._gone(self._free - turn.free)
        return turn.at, turn.group

    def _until(self, least: int) -> int:
        """How many may be free when a kernel comes back: Ctrl-C is heard soon, however long a question takes."""
        now = time.perf_counter()
        faster = min(2.0, max(0.25, _PAUSE / max(1e-9, now - self._began)))
        self._at_once = min(float(_AT_ONCE[1]), max(float(_AT_ONCE[0]), self._at_once * faster))
        self._began = now
        return max(least, self._full, self._free - int(self._at_once))

    def _gone(self, m: int) -> None:
        """Keep the books after m records have been taken."""
        self._free -= m
        if self._free < self._full:
            opened, might = self.tiles.opened
            self._opened = opened / max(1, might)
            self._order = self._order[self.tiles.place[self._order] >= 0]
            del self.tiles  # before the new ones are made
            self._fill()
        done(m)

    def _fill(self) -> None:
        """Put the free records, in their order, into new tiles."""
        t = max(1, -(-self._free // tiles.SIZE))  # one empty tile where nobody is left
        self._put(np.minimum(np.arange(t + 1) * tiles.SIZE, self._free))

    def _put(self, first: Ints) -> None:
        """Put the free records from the first of each tile to that of the next into new tiles."""
        p = self.X.shape[1]
        # Below so many, the ranks close: early where searches open many tiles, so that few places are empty
        self._full = self._free // 2 if 0.0 < self._opened < 0.05 else 4 * self._free // 5
        starts = levels(len(first) - 1)
        t, nodes = int(starts[1]), int(starts[-1])
        sample = self._order[:: 1 + self._free // 2**16]
        over = tree.Tree(
            box=np.empty((2, p + 2, t)),
            upper=np.empty((2, p + 1, nodes - t)),
            centre=np.empty((p, t)),
            lowest=np.empty(nodes, np.int64),
            starts=starts,
            levels=len(starts) - 1 if self._opened <= LOOSE else 1,
            bound=np.empty(nodes),
            away=np.empty(t),
            batch=np.empty(t + 1, np.int64),
        )
        self.tiles = tiles.Tiles(
            values=np.empty((t, p + 2, tiles.SIZE)),
            record=np.empty((t, tiles.SIZE), np.int64),
            filled=np.empty(t, np.int64),
            place=np.full(len(self.X), -1),
            anchor=self.X[sample].mean(axis=0) if self._free else np.zeros(p),
            shadow=np.zeros((t, p, tiles.SIZE), np.float32),
            scale=self._scale,
            digits=self._digits,
            middle=np.empty((t, p)),
            opened=np.zeros(2, np.int64),
            tree=over,
        )
        tiles.fill(self.tiles, self.X, self._order, first)


def levels(count: int) -> Ints:
    """The first node of each level of the tree over so many tiles, and the number of nodes."""
    starts = [0, count]
    while count > tree.FAN:
        count = -(-count // tree.FAN)
        starts.append(starts[-1] + count)
    return np.array(starts)


def close_together(X: Floats, records: Ints) -> Ints:
    """Order records so that every tile's worth of them lies close together.

    Halves the set again and again at the median of its widest column. This decides only how fast the answers
    are, so a sample is enough to tell which column is widest.
    """
    order = records.copy()
    stack = [(0, len(order))]
    while stack:
        a, b = stack.pop()
        if b - a <= tiles.SIZE:
            continue
        part = order[a:b]
        sample = X[part[:: max(1, (b - a) // 256)]]
        widest = np.argmax(sample.max(axis=0) - sample.min(axis=0))
        middle = tiles.SIZE * (-(-(b - a) // tiles.SIZE) // 2)
        order[a:b] = part[np.argpartition(X[:, widest][part], middle)]
        stack += [(a, a + middle), (a + middle, b)]
    return order


class FewRecords:
    """The free records of a small table, under the same questions: scans answer them.

    The kernels behind `FreeRecords` take seconds to compile, which a small job would pay for nothing.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        n, p = X.shape
        self.few = few.Few(
            values=X.T.copy(),
            record=np.arange(n),
            place=np.arange(n),
            left=np.array([n]),
            digits=np.zeros((p, exact_sum.DIGITS), np.int64),
            d2=np.empty(n),
        )
        exact_sum.add_rows(self.few.digits, X)

    def __len__(self) -> int:
        return int(self.few.left[0])

    def remaining(self) -> Ints:
        """The free records, in order."""
        return np.flatnonzero(self.few.place >= 0)

    def centroid(self) -> Floats:
        """The mean of the free records: each column's exact sum, rounded once, over their number."""
        out = np.empty(self.X.shape[1])
        exact_sum.mean(self.few.digits, len(self), out)
        return out

    def farthest(self, point: Floats) -> int:
        """The free record farthest from a point."""
        return few.farthest(self.few, point)

    def take(self, records: Ints) -> None:
        """Take records out: they are free no longer."""
        few.remove(self.few, self.X, records)
        done(len(records))

    def take_groups_from_the_centroid(self, k: int, sides: int, least: int, labels: Ints, g: int) -> int:
        """Take groups g, g + 1, ... by the rule of MDAV, while at least `least` are free; give the next number."""
        before = len(self)
        g = few.groups_from_the_centroid(self.few, self.X, labels, g, k, sides, self._until(least))
        done(before - len(self))
        return g

    def take_groups_in_turn(self, order: Ints, at: int, k: int, gamma: float, labels: Ints, g: int) -> tuple[int, int]:
        """Take groups g, g + 1, ... around the free ones of order[at], ...; give the next turn and group."""
        before = len(self)
        turn = Turn(at, g, before)
        turn = few.groups_in_turn(self.few, self.X, order, labels, turn, k, gamma, self._until(k))
        done(before - len(self))
        return turn.at, turn.group

    def open_or_extend_in_turn(self, order: Ints, at: int, k: int, labels: Ints, groups: few.Centroids) -> int:
        """The same by the rule of MDAV*; give the next turn."""
        before = len(self)
        at = few.open_or_extend_in_turn(self.few, self.X, order, at, labels, groups, k, self._until(k))
        done(before - len(self))
        return at

    def _until(self, least: int) -> int:
        """How many may be free when a kernel comes back, so that Ctrl-C is heard soon in any dimension."""
        return max(least, len(self) - max(1, _LOOKS // self.X.size))


def free_records(X: Floats, scans: int, *, tiled: Any, keep_centroid: bool = False) -> FewRecords | FreeRecords:
    """All records of X, in tiles or for so many scans, whichever takes less time.

    `tiled` is the kernel that is for tiles alone: where nobody has compiled it yet, scans are for larger tables too.
    """
    if may_be_scanned(X, scans, tiled):
        return FewRecords(X)
    return FreeRecords(X, keep_centroid=keep_centroid)


def may_be_scanned(X: Floats, scans: int, tiled: Any) -> bool:
    """Whether so many scans of all records take less time than tiles, or than compiling for these."""
    n, p = X.shape
    more = 1.0 if at_hand(tiled) else max(1.0, UNCOMPILED * min(1.0, _COLUMNS / p))
    return bool(scans * n <= more * FEW)
