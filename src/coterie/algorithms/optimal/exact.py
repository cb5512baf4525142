"""A provably optimal partition: column generation, cuts, and branching until the gap closes or the effort ends."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...progress import listening, state
from ..limits import Limits
from ..refine import refine
from .branching import Branching
from .dive_schedule import Dives
from .lower_bound import CLOSE, Proven, Scaled, proven, scaled, split, whole
from .master import best_partition, group_costs
from .relaxation import CUT_K, Relaxation

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# No bound becomes invalid by these: they decide how tight it gets, and how soon. No source gives them. What they reach
# on the CASC sets at k = 2 to 10 is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
# groups that branching may have to do with; of more than the second, one dives for a better partition before; of more
# than the third, cuts go on
_LIST, _SHORT, _FEW = 1_000_000, 50_000, 20_000
_LIST_NODES, _FEW_NODES = 200_000_000, 1_000_000  # of the search for them
_AGAIN = 0.7  # of the gap at which they were too many: time to look again
_SMALL = 500  # records: among so few it is worth looking early (on EIA, k = 10, the look took as long as the proof)
_NARROW, _NARROW_NODES = (0.5, 0.25, 0.1, 0.03), 100  # parts of the gap: of fewer groups, some better partition
_HEURISTIC_NODES = 200  # of branching among some of the groups
_BRANCH_NODES = 10_000  # of branching among all that matter
_ROUNDS = 5000  # of linear programs, in all
_SEARCHES = 3  # thorough ones where there are no dives: the second takes Census at k = 10 from 11.405 to 11.387
_SEARCH_PART = 0.1  # of the time that is left, for each of these


class Solved(NamedTuple):
    """The best partition found, what is proven, and whether that proves it optimal."""

    labels: Ints
    proven: Proven
    optimal: bool


def exact(X: Floats, k: int, *, rng: np.random.Generator, limits: Limits, start: Ints) -> Solved:
    """Improve a partition until it is proven optimal, or nothing that is tried helps. Deterministic without limits."""
    del rng  # the searches have their own seed
    problem = scaled(X, k, start, limits)
    if problem is None:
        return Solved(start, Proven(0.0, "optimal", 0.0, 0), True)
    if len(X) < 2 * k:
        return Solved(start, whole(problem), True)
    search = _Search(problem, k, limits)
    with limits.interruptible():
        search.run()
    return search.result()


class _Search:
    """The state of the search: the best partition and the best bound, at any time."""

    def __init__(self, problem: Scaled, k: int, limits: Limits) -> None:
        self._problem, self._k, self._limits = problem, k, limits
        self._groups = problem.groups
        self._value = math.fsum(group_costs(problem.X, problem.groups).tolist())
        self._bound = problem.bound
        self._steps = 0
        self._cuts = False
        self._tried = math.inf  # the gap at which all groups that matter were too many

    def run(self) -> None:
        """Relax, dive, list, branch."""
        self._tell()
        if self._done():
            return
        X, k, limits = self._problem.X, self._k, self._limits
        many = k > CUT_K and len(X) > _SMALL  # groups that a better partition can be made of: too many to list
        if many:
            self._search_again()
        relaxation = Relaxation(X, k, self._groups, self._prove)
        try:
            relaxation.run(limits, self._value * (1.0 - CLOSE / 2), _ROUNDS, lambda: self._few(relaxation))
        finally:
            self._note(relaxation)
        if self._done() or limits.over():
            return
        if relaxation.solution is None:  # prices alone
            self._refine("thorough")
            return
        self._integral(relaxation)
        if many:
            while not (self._done() or limits.over()) and self._go_on(relaxation):
                pass
            return
        pool = relaxation.master
        listed = self._dives(relaxation) or self._cut_on(relaxation)
        for part in _NARROW:
            if listed is None and not (self._done() or limits.over()):
                narrow = self._list(relaxation, part)
                if narrow is not None:
                    self._branch(*narrow, pool.cuts, _NARROW_NODES)
                    listed = self._list(relaxation)
        if listed is None:
            self._round(pool.groups, pool.cost, pool.cuts)
            listed = self._list(relaxation)
        if listed is not None:
            self._branch(*listed, pool.cuts)

    def _note(self, relaxation: Relaxation) -> None:
        """Keep what the relaxation proves."""
        self._bound = max(self._bound, relaxation.bound)
        self._steps, self._cuts = relaxation.rounds, len(relaxation.dual.cuts) > 0
        self._tell()

    def _go_on(self, relaxation: Relaxation) -> bool:
        """Add cuts again; whether they helped."""
        try:
            helped = relaxation.go_on(self._limits, self._value * (1.0 - CLOSE / 2), _ROUNDS)
        finally:
            self._note(relaxation)
        self._integral(relaxation)
        return helped

    def _few(self, relaxation: Relaxation) -> bool:
        """Whether a better partition can be made of few groups only: with all of them at hand, nobody need price."""
        gap = self._value - relaxation.bound
        if len(self._problem.X) > _SMALL or gap > _AGAIN * self._tried:
            return False  # among many records, even the search for them takes long
        self._tried = gap
        pool = relaxation.master
        if len(pool.cuts):
            self._round(pool.groups, pool.cost, pool.cuts)
        return self._list(relaxation, most=_FEW, nodes=_FEW_NODES) is not None

    def _prove(self, bound: float) -> None:
        """Keep a bound."""
        self._bound = max(self._bound, bound)
        self._tell()

    def _dives(self, relaxation: Relaxation) -> tuple[Ints, Floats] | None:
        """Dive until the groups that a better partition can be made of are few, or often enough; these groups."""
        listed = self._list(relaxation, most=_FEW)
        if listed is not None:
            return listed
        dives = Dives(self._problem.X, self._k, relaxation.master, self._limits, self._met)
        for _ in dives.stages(lambda: self._groups):
            listed = self._list(relaxation, most=_SHORT)
            if listed is not None:
                return listed
        relaxation.master.add(self._groups)
        return self._list(relaxation)

    def _cut_on(self, relaxation: Relaxation) -> tuple[Ints, Floats] | None:
        """Add cuts again until the groups that a better partition can be made of are few, or cuts hardly help."""
        helped = True
        while helped and not (self._done() or self._limits.over()):
            helped = self._go_on(relaxation)
            listed = self._list(relaxation)
            if listed is not None:
                return listed
        return None

    def _met(self, groups: Ints) -> bool:
        """Take a partition if it is better; whether that is enough."""
        self._take(groups)
        return self._done()

    def _search_again(self) -> None:
        """Search thoroughly, each time from the partition found before, and with a part of the time that is left."""
        for seed in range(_SEARCHES):
            left = self._limits.left()
            own = Limits(_SEARCH_PART * left) if math.isfinite(left) else self._limits
            self._refine("thorough", seed, own)
            if own.cut_short == "interrupted":
                self._limits.cut_short = own.cut_short

    def _refine(self, effort: str, seed: int = 0, limits: Limits | None = None) -> None:
        """Search around the best partition."""
        if self._done() or self._limits.over():
            return
        X, k, rng = self._problem.X, self._k, np.random.default_rng(seed)
        with listening(None):  # its progress is not this one's
            refined = refine(X, self._labels(), k, effort=effort, rng=rng, limits=limits or self._limits)
        self._take(split(X, k, refined.labels))

    def _list(
        self, relaxation: Relaxation, part: float = 1.0, most: int = _LIST, nodes: int = _LIST_NODES
    ) -> tuple[Ints, Floats] | None:
        """All groups that a better partition can be made of, or part of the gap's, if they are not too many."""
        if self._done() or self._limits.over():
            return None
        gap = (self._value - relaxation.bound) * (1.0 + 1e-9)  # the bound that the dual at hand proves
        return relaxation.pricing.enumerate(*relaxation.dual, part * gap, most, nodes, self._limits.over)

    def _branch(self, groups: Ints, reduced: Floats, cuts: Ints, part_nodes: int = 0) -> None:
        """Search all partitions made of listed groups; if it is not all that matter, with so many nodes."""
        close = self._value * CLOSE / 2
        search = Branching(self._problem.X, self._k, groups, reduced, cuts, self._value, close)
        search.unit, search.told = self._problem.unit, part_nodes == 0
        closed = search.run(self._bound, self._limits, part_nodes or _BRANCH_NODES)
        if closed.best is not None:
            self._groups, self._value = search.groups[closed.best], closed.value
        if part_nodes == 0:
            self._bound = max(self._bound, min(closed.bound, self._value))
        self._steps += closed.nodes
        self._tell()

    def _round(self, groups: Ints, cost: Floats, cuts: Ints) -> None:
        """Look for a better partition made of these groups and those of the best one."""
        if self._done():
            return
        groups, first = np.unique(np.concatenate([self._groups, groups]), axis=0, return_index=True)
        cost = np.concatenate([group_costs(self._problem.X, self._groups), cost])[first]
        start = np.flatnonzero(first < len(self._groups))
        chosen = best_partition(len(self._problem.X), groups, cost, cuts, start, _HEURISTIC_NODES, self._limits.over)
        self._take(groups[chosen])

    def _integral(self, relaxation: Relaxation) -> None:
        """The relaxation's solution, if it has no fractions."""
        assert relaxation.solution is not None
        chosen = relaxation.master.groups[np.flatnonzero(relaxation.solution.x > 0.5)]
        if np.array_equal(np.sort(chosen[chosen >= 0]), np.arange(len(self._problem.X))):
            self._take(chosen)

    def _take(self, groups: Ints) -> None:
        """Take a partition if it is better."""
        value = math.fsum(group_costs(self._problem.X, groups).tolist())
        if value < self._value:
            self._groups, self._value = groups, value
            self._tell()

    def _done(self) -> bool:
        """Whether the best partition is proven to be the best of all."""
        return self._value - self._bound <= CLOSE * self._value

    def _tell(self) -> None:
        """Say how far it has come."""
        unit = self._problem.unit
        state(sse=self._value * unit, bound=max(0.0, self._bound) * unit)

    def _labels(self) -> Ints:
        """The groups of the best partition."""
        labels = np.empty(len(self._problem.X), np.int64)
        for g, group in enumerate(self._groups):
            labels[group[group >= 0]] = g
        return labels

    def result(self) -> Solved:
        """What stands now."""
        kind = "column generation with subset-row cuts" if self._cuts else "column generation"
        kind = "optimal" if self._done() else kind
        return Solved(
            self._labels(), proven(min(self._bound, self._value), kind, self._steps, self._problem), self._done()
        )
