"""Local search that improves any partition: large-neighbourhood search with simulated annealing.

A step pools the group of a record with a few neighbouring ones, rebuilds the pool with one group fewer, as many or one
more, moves and swaps records inside it while that gains, and keeps the result if it is better, or worse by a chance
that falls as the search goes on. What "worse" may cost is measured by the pool's own SSE: a temperature common to all
groups is too hot for most and too cold for a few where the data have heavy tails.

Records of groups that cost more have their turn more often. In large tables the groups are cut into regions, which
threads search on their own; every round cuts elsewhere. A step costs the same whatever n is, and steps grow with n.

Moves, swaps, dissolved and new groups: Mortazavi, Jalili (2015); large neighbourhoods: Shaw (1998).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..kernels import by_hand, nearby, search, unit_search
from ..progress import done, listening, state
from .free import close_together
from .limits import Limits
from .regions import cut, on_threads
from .splitting import split_by_mdav1

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Words = NDArray[np.uint64]


class Effort(NamedTuple):
    """How many turns records have."""

    few: int  # each of them, where there are few
    enough: int  # all of them: where there are more records, each has fewer turns
    many: int  # but not fewer than so many


EFFORTS = {"quick": Effort(400, 400_000, 40), "thorough": Effort(8_000, 24_000_000, 800)}

_POOLED = 30  # a pool has up to 2 + 30 // k groups, at most 9
_WIDE = 200  # columns: a step takes as long as there are columns, so with more of them fewer steps are made
_LARGE = 250  # above this k, a pool's distances take too much memory
_HEAT = 0.4  # at first, as part of the mean SSE of a pool's groups
_WORK = 40_000  # what is done between two looks at the clock, about 0.1 s
_LOOKS = 50  # at the partition, at most: whether it is the best so far; and the same number of times, regions are cut
_REGION = 1000  # groups of k in a region, about: of fewer, too many lie at a border
_SELDOM = 0.05  # of the turns that others have are left to groups that cost nothing
_SWEEPS = 3  # over all groups between two cuts, where there are not many more steps
_SECONDS_BY_HAND = 0.0004  # of a step, for each group in its pool, where Python itself runs the kernels
_GROUPS = 9  # in a pool, at most


class Reach(NamedTuple):
    """How many neighbours of each record there are, and in how many regions and blocks they are looked for."""

    near: int
    regions: int
    blocks: int


_FAR = Reach(12, 32, 48)


class Refined(NamedTuple):
    """A partition, what it took to find it, and its SSE."""

    labels: Ints
    steps: int
    sse: float


def steps_of(n: int, k: int, effort: str, columns: int = 1) -> int:
    """How many steps an effort has: some for each group, more where there are few; fewer where they take longer."""
    few, enough, many = EFFORTS[effort]
    turns = min(few * n, max(enough, many * n))
    steps = turns / k * min(1.0, 10 / k) if k <= _LARGE else turns * min(1.0, 500 / k)
    return math.ceil(steps * min(1.0, _WIDE / columns))


def refine(
    X: Floats,
    labels: Ints,
    k: int,
    *,
    effort: str,
    rng: np.random.Generator,
    limits: Limits,
    units: Ints | None = None,
) -> Refined:
    """Improve a partition into groups of at least k; all groups have k to 2k - 1 records then. Never worse than it was.

    With `units` (numbers from 0 on, -1 where not known), groups of at least k different units, of any size; above
    k = 250 these stay as they are. Deterministic for a seed and an effort ("quick" or "thorough"), unless `limits` end
    it; the number of threads changes nothing. Memory is O(n p).
    """
    n = len(X)
    labels = _normalized(labels, k)
    if units is None and np.bincount(labels).max() >= 2 * k:
        with listening(None):  # its progress is not this one's
            labels = split_by_mdav1(X, labels, k)
    partition = _Search(X, labels, k) if units is None else _UnitSearch(X, labels, k, units)
    before = partition.best
    if n < 2 * k or not partition.can_improve():
        done(n)
        return Refined(labels, 0, before)
    made, total, reported = 0, steps_of(n, k, effort, X.shape[1]), 0
    by_python = _SECONDS_BY_HAND * total * min(_GROUPS, n // k)
    with limits.interruptible():
        partition.prepare(rng, limits)
        with by_hand(by_python):
            for tasks in partition.rounds(total):
                for steps in on_threads(partition.advance, tasks):
                    made += steps
                    done(n * made // total - reported)
                    reported = n * made // total
                partition.keep_best()
                state(sse=partition.best)
    done(n - reported)
    partition.keep_best()
    after = partition.best_labels()
    sse = _sse(X, after, k)
    return Refined(after, made, sse) if sse < before else Refined(labels, made, before)


def _normalized(labels: Ints, k: int) -> Ints:
    """The same groups, numbered from 0 on."""
    group, size = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    if size.min() < k:
        few = f"{np.count_nonzero(size < k)} of {len(size)} groups with fewer than k = {k} records"
        raise CoterieError("Every group must have at least k records.", few)
    return group.reshape(-1).astype(np.int64)


def _members(labels: Ints, k: int, width: int = 0) -> tuple[Small, Ints]:
    """The records of each group, in rows with room for 2k - 1, and how many they are; room for n // k groups."""
    size = np.bincount(labels, minlength=max(1, len(labels) // k))
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(size) - size
    member = np.zeros((len(size), max(2 * k - 1, int(size.max()), width)), np.int32)
    member[labels[order], np.arange(len(labels)) - starts[labels[order]]] = order
    return member, size


def _sse(X: Floats, labels: Ints, k: int) -> float:
    """The SSE of a partition."""
    member, size = _members(labels, k)
    cost = np.empty(len(size))
    search.group_costs(X, member, size, cost)
    return math.fsum(cost)


class _Task(NamedTuple):
    """Steps from `first` on, made in one region while the whole search goes from `begin` to `end` (from 0 to 1)."""

    part: search.Partition
    first: int
    steps: int
    begin: float
    end: float
    state: Words


class _Search:
    """The state of the search. The records stand in an order in which neighbours are close in memory."""

    def __init__(self, X: Floats, labels: Ints, k: int, width: int = 0) -> None:
        self._k = k
        self._order = close_together(X, np.arange(len(X)))
        self._X = np.ascontiguousarray(X[self._order])
        label = labels[self._order]
        member, size = _members(label, k, width)
        self._part = search.Partition(
            X=self._X,
            near=np.empty((0, 0), np.int32),
            label=label,
            member=member,
            size=size,
            cost=np.empty(len(size)),
            owner=np.zeros(len(size), np.int32),
            turn=np.arange(len(X), dtype=np.int32),
            spare=np.empty(0, np.int64),
            counts=np.zeros(1, np.int64),
        )
        search.group_costs(self._X, member, size, self._part.cost)
        self.best, self._best_labels = math.fsum(self._part.cost), label.copy()

    def can_improve(self) -> bool:
        """Whether there is something to gain, and no squared distance too large for a float."""
        with np.errstate(over="ignore"):
            widest = float(np.square(np.ptp(self._X, axis=0)).sum())
        return self.best > 0.0 and math.isfinite(2 * widest * len(self._X))

    def prepare(self, rng: np.random.Generator, limits: Limits) -> None:
        """Find the neighbours and make room for centres."""
        k, (n, p) = self._k, self._X.shape
        self._rng = np.random.default_rng(int(rng.integers(2**63)))
        self._part = self._part._replace(near=near_records(self._X, _FAR))
        self._regions = max(1, n // (k * _REGION))
        self._most = min(9, 2 + _POOLED // k)
        self._centres = np.empty((len(self._part.size), p)) if k > _LARGE or self._regions > 1 else np.empty((0, p))
        if len(self._centres):
            search.centres(self._part, 0, len(self._centres), self._centres)
        self._room = threading.local()  # a pool for each thread
        self._limits, self._seconds = limits, limits.left()

    def rounds(self, total: int) -> Iterator[list[_Task]]:
        """What is to be done, round by round: the tasks of one have nothing to do with each other."""
        made, sweeps = 0, total * self._k / len(self._X)
        self._hottest = _HEAT * min(1.0, sweeps / 20)  # with few steps for each group there is less time to cool down
        count = _LOOKS if self._regions == 1 else min(_LOOKS, max(1, round(sweeps / _SWEEPS)))
        for r in range(count):
            if self.best <= 0.0 or self._limits.over():
                return
            weight = self._weights()
            parts = self._cut(weight)
            stop = total * (r + 1) // count
            worth = np.cumsum([weight[part.label[part.turn]].sum() for part in parts])
            until = np.rint(worth / worth[-1] * (stop - made)).astype(np.int64)
            tasks = [
                _Task(self._in_turn(part, weight), made, steps, made / total, stop / total, self._seed())
                for part, steps in zip(parts, np.diff(until, prepend=0).tolist(), strict=True)
            ]
            yield sorted(tasks, key=lambda task: -task.steps)  # the longest first: no thread waits long for another
            made = stop

    def _weights(self) -> Floats:
        """How often the records of each group have their turn: by the root of what they cost.

        If what a group costs above the least falls like one over the steps made about it, that is best.
        """
        each = self._part.cost / np.maximum(1, self._part.size)
        weights: Floats = _SELDOM + np.sqrt(each * (len(self._X) / self._part.cost.sum()))
        return weights

    def _cut(self, weight: Floats) -> list[search.Partition]:
        """The partition, region by region: each with its records and the numbers that it may give to new groups."""
        part, regions = self._part, self._regions
        used, unused = np.flatnonzero(part.size), np.flatnonzero(part.size == 0)
        if regions > 1:
            search.centres(part, 0, len(self._centres), self._centres)
            part.owner[used] = cut(self._centres[used], part.size[used] * weight[used], regions, self._rng)
        region = part.owner[part.label]
        records = np.bincount(region, minlength=regions)
        turns = np.split(np.argsort(region.astype(np.int16), kind="stable").astype(np.int32), np.cumsum(records)[:-1])
        room = records // self._k
        spare = room - np.bincount(part.owner[used], minlength=regions)
        numbers = np.split(unused, np.cumsum(spare))
        parts = []
        for r in np.flatnonzero(records):
            part.owner[numbers[r]] = r
            own = np.zeros(room[r], np.int64)
            own[: spare[r]] = numbers[r]
            parts.append(part._replace(turn=turns[r], spare=own, counts=spare[r : r + 1].copy()))
        return parts

    def _in_turn(self, part: search.Partition, weight: Floats) -> search.Partition:
        """A region with its records as often as their weights say, as many as before."""
        worth = np.cumsum(weight[part.label[part.turn]])
        at = (np.arange(len(worth)) + self._rng.random()) * (worth[-1] / len(worth))
        return part._replace(turn=part.turn[np.minimum(np.searchsorted(worth, at), len(worth) - 1)])

    def _seed(self) -> Words:
        return self._rng.integers(0, 2**64, 1, np.uint64)

    def advance(self, task: _Task, stop: Event) -> int:
        """Make the steps of a task, or those for which there is time; give how many."""
        made = 0
        while made < task.steps and not (stop.is_set() or self._limits.over()):
            heat = self._heat(task.begin + (task.end - task.begin) * made / task.steps)
            steps = min(task.steps - made, self._at_once(task))
            self._step(task, task.first + made, task.first + made + steps, heat)
            made += steps
        return made

    def _heat(self, progress: float) -> float:
        """It cools down as the steps are made, or as the time runs out if that comes first."""
        if math.isfinite(self._seconds):
            progress = max(progress, 1.0 - self._limits.left() / self._seconds)
        return self._hottest * (1.0 - progress) ** 2

    def _at_once(self, task: _Task) -> int:
        """How many steps are made before it cools down further."""
        k = self._k
        if k > _LARGE:
            return max(1, 100 * _WORK // k)
        return max(1, min(_WORK // (k * max(10, k)), task.steps // 2))

    def _step(self, task: _Task, first: int, stop: int, heat: float) -> None:
        k, window = self._k, min(len(task.part.turn), 1024)
        if k > _LARGE:
            search.exchanges(task.part, k, first, stop, window, self._centres, task.state)
        else:
            self._rebuild(task, search.Pace(k, window, self._most, heat), first, stop)

    def _rebuild(self, task: _Task, pace: search.Pace, first: int, stop: int) -> None:
        search.steps(task.part, self._pool(), pace, first, stop, task.state)

    def _pool(self) -> search.Pool:
        """This thread's pool: room for m records in h groups."""
        if not hasattr(self._room, "pool"):
            m, h, p = self._most * (2 * self._k - 1), self._most + 1, self._X.shape[1]
            self._room.pool = search.Pool(
                record=np.empty(m, np.int64),
                columns=np.empty((p, m)),
                D=np.empty((m, m)),
                group=np.empty(m, np.int64),
                R=np.empty((h, m)),
                W=np.empty(h),
                size=np.empty(h, np.int64),
                share=np.empty(m),
                weight=np.empty(m),
                entry=np.empty(h),
                swap=np.empty(m),
                old=np.empty(h, np.int64),
            )
        pool: search.Pool = self._room.pool
        return pool

    def keep_best(self) -> None:
        """Remember the partition if it is the best so far."""
        sse = float(self._part.cost.sum())
        if sse < self.best:
            self.best = sse
            self._best_labels[:] = self._part.label

    def best_labels(self) -> Ints:
        """The best partition so far, by the records' own order."""
        labels = np.empty_like(self._best_labels)
        labels[self._order] = np.unique(self._best_labels, return_inverse=True)[1].reshape(-1)
        return labels


class _UnitSearch(_Search):
    """The same under the rule that every group has k different units."""

    def __init__(self, X: Floats, labels: Ints, k: int, units: Ints) -> None:
        super().__init__(X, labels, k, width=3 * k)
        self._of = np.ascontiguousarray(units[self._order])

    def can_improve(self) -> bool:
        """As for others; large groups would take too long to look through."""
        return self._k <= _LARGE and super().can_improve()

    def _rebuild(self, task: _Task, pace: search.Pace, first: int, stop: int) -> None:
        pool = self._pool()
        if not hasattr(self._room, "units"):
            h, m = pool.R.shape
            self._room.units = unit_search.Units(
                of=self._of,
                place=np.full(int(self._of.max()) + 1, -1),
                unit=np.empty(m, np.int64),
                often=np.empty((h, m), np.int64),
                kinds=np.empty(h, np.int64),
            )
        unit_search.steps(task.part, pool, self._room.units, pace, first, stop, task.state)


def near_records(X: Floats, reach: Reach) -> Small:
    """Some records near to each, nearest first, where every 64 records that follow one another lie close together.

    Regions of 64 blocks of 64 records; surely the nearest where there are few of these.
    """
    n, size = len(X), nearby.SIZE
    columns = np.ascontiguousarray(X.T)
    levels = [(columns, columns)]
    for _ in range(2):
        low, high = levels[-1]
        shape = (X.shape[1], -(-low.shape[1] // size))
        levels.append((np.empty(shape), np.empty(shape)))
        nearby.boxes(low, high, *levels[-1])
    (block_low, block_high), (low, high) = levels[1:]
    everywhere = np.arange(-(-low.shape[1] // size), dtype=np.int32)
    regions = np.empty((low.shape[1], reach.regions), np.int32)
    nearby.nearest_boxes(low, high, np.tile(everywhere, (len(everywhere), 1)), 0, regions)
    blocks = np.empty((block_low.shape[1], reach.blocks), np.int32)
    for a in range(0, len(blocks), size):
        nearby.nearest_boxes(block_low, block_high, regions, a, blocks[a : a + size])
    near = np.empty((n, min(reach.near, n - 1)), np.int32)
    for a in range(0, n, size * size):
        nearby.nearest_records(columns, block_low, block_high, blocks, a, near[a : a + size * size])
    return near
