"""t-closeness first: every group takes records from each block of the sorted confidential values.

Source: Soria-Comas, Domingo-Ferrer, Sánchez, Martínez (2015), IEEE TKDE (t-closeness first),
doi 10.1109/TKDE.2015.2435777.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.watch import HAIR, Watch
from .free_blocks import FreeBlocks
from .merge import merge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Cut(NamedTuple):
    """Blocks of sorted records, and how many of each a group takes; the surplus lies in the middle block."""

    size: int  # of a group
    groups: int
    surplus: int  # so many groups take a record more, from the middle block
    blocks: int

    @property
    def middle(self) -> int:
        """The block that holds the surplus."""
        return self.blocks // 2

    def quotas(self, more: int = 0) -> Ints:
        """How many records a group takes from each block, evenly; `more` from the middle one."""
        quotas = np.diff(np.arange(self.blocks + 1) * self.size // self.blocks)
        quotas[self.middle] += more
        return quotas

    def ends(self) -> Ints:
        """How many records lie before each block, and in all."""
        sizes = self.quotas() * self.groups
        sizes[self.middle] += self.surplus
        return _sums(sizes)


def t_first(X: Floats, k: int, watch: Watch, g: int, *, one_each: bool = False) -> Ints:
    """Groups that keep t on the column of guard g, whose values have an order, by construction.

    The records are sorted by their values (ties by index) and cut into blocks. Groups form around the record farthest
    from the centroid of what remains and the one farthest from that, in turn. Each takes from every block its quota of
    free records, those nearest to its seed; while the middle block has a surplus, one more from there. The size is the
    least for which `worst_distance` is at most t. Other guards are kept by merging.

    In the paper (`one_each`) there are as many blocks as records in a group. Where k is larger than t asks for, fewer
    blocks keep t as well, and leave more choice: here, their number is the least that does.

    Each group costs a search of the tiles, O(n p / 64) at least; each cut tried, O(m), in every stratum.
    """
    cut = choose_cut(watch, g, k, one_each)
    labels = np.zeros(len(X), np.int64)
    if cut.groups > 1:
        place = np.empty(len(X), np.int64)
        place[np.argsort(watch.codes[g], kind="stable")] = np.arange(len(X))
        free = FreeBlocks(X, np.searchsorted(cut.ends(), place, side="right") - 1)
        r = -1
        for group in range(cut.groups):
            r = free.farthest(free.centroid() if group % 2 == 0 else X[r])
            labels[free.take_some_of_each(r, cut.quotas(int(group < cut.surplus)))] = group
    return merge(X, k, labels, watch)


def choose_cut(watch: Watch, g: int, k: int, one_each: bool) -> Cut:
    """The least size of groups, at least k, and then the fewest blocks, that keep t; one group of all where none does.

    Where the surplus is not less than the number of groups, there is a larger size with as many groups: the paper
    enlarges k' for that.
    """
    n = watch.codes.shape[1]
    before = np.cumsum(np.bincount(watch.codes[g], minlength=watch.values[g]))

    def keeps(cut: Cut) -> bool:
        return bool(worst_distance(watch, g, cut, before) <= watch.t[g] * (1 - HAIR))

    size = k
    while n // size >= 2:
        cut = Cut(size, n // size, n % size, size)
        if cut.surplus < cut.groups and keeps(cut):
            fewer = () if one_each else (cut._replace(blocks=blocks) for blocks in range(1, size))
            return next(filter(keeps, fewer), cut)
        size += max(1, size // 1000)
    return Cut(n, 1, 0, n)


def worst_distance(watch: Watch, g: int, cut: Cut, before: Ints) -> float:
    """The largest distance from the table that a group which takes its quota from each block can have.

    `before` is how many of the records that are cut have each value or a lower one. A value up to which b records go
    has all that the group took from the blocks before record b at or below it, and none to all of what it took from the
    block in which b lies. Choosing a later record takes one off the group's count at the values passed. The table's
    cumulative share rises from value to value, so this makes the sum of differences smaller at first and larger then,
    never the other way round: it is largest if all records of a block were the first ones, or all the last. Two sums
    for each block bound the distance as it is verified, over the different values of the table, whatever the ties. (The
    paper's is over ranks of records, as if there were none.) Without ties and surplus, and with one record from each
    block, it is (n - k') / (2 (n - 1) k'), the paper's bound, which gives its k' = n / (2 (n - 1) t + 1), rounded up.
    """
    m = int(watch.values[g])
    if m == 1:
        return 0.0
    share = watch.below[g, : m - 1] / watch.below[g, -1]
    ends = cut.ends()
    block = np.searchsorted(ends, before[: m - 1], side="right") - 1
    sure = ends[block] == before[: m - 1]
    found = 0.0
    for more in (0, 1) if cut.surplus else (0,):
        taken = _sums(cut.quotas(more)) / (cut.size + more)
        total = np.abs(share - taken[block])[sure].sum()
        at, unsure = block[~sure], share[~sure]
        none, all_of_it = (np.bincount(at, np.abs(unsure - taken[at + i]), cut.blocks) for i in (0, 1))
        found = max(found, float(total + np.maximum(none, all_of_it).sum()) / (m - 1))
    return found


def _sums(sizes: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes)))
