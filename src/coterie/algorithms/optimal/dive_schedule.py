"""Dives one after another: among all records, then in neighbourhoods of what was found, then from the start again.

A dive never goes back, so its last groups are its worst. Setting some hundred records free around these and diving
anew mends that; when nothing is gained any more, half as many again are set free. Where it comes to rest is a matter of
luck: another dive among all records comes to rest elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .branching import few_of_each
from .diving import Diving
from .master import Master, group_costs, reduced_costs
from .neighbourhoods import Neighbourhoods

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# As those of diving.py: no source gives them, docs/least-loss.md says what they reach.
_EVERYWHERE = (0.2, 0.15, 0.1)  # dives among all records: the part of the groups that is fixed at a time
_FREED, _FREED_MORE = 300, 450  # records of neighbourhoods
_PARTS = (0.2, 0.1)  # that are fixed there, in turn
_IDLE = 12  # so many neighbourhoods in a row without a gain are enough
_KNOWN = 12  # columns for each record that a dive starts with
_TIED = 0.06  # columns whose reduced cost is below that, for each record of a group, tie groups,
_TAKEN = 5.0  # and those that the linear program takes as many times as much


class Dives:
    """Searches for partitions with what a master problem knows: its best columns, its prices, its binding cuts."""

    def __init__(self, X: Floats, k: int, master: Master, limits: Limits, met: Callable[[Ints], bool]) -> None:
        """`met` hears of partitions, and says whether that is good enough."""
        self._X, self._k, self._limits, self._met = X, k, limits, met
        solution = master.solve()
        reduced = reduced_costs(master.groups, master.cost, solution.pi, master.cuts, solution.sigma)
        kept = few_of_each(master.groups, reduced, len(X), _KNOWN)
        self._pool = master.groups[kept]
        size = (self._pool >= 0).sum(axis=1)
        self._tie = np.maximum(0.0, 1.0 - reduced[kept] / (_TIED * size)) + _TAKEN * solution.x[kept]
        binding = solution.sigma > 0.0
        self._prices = solution.pi, master.cuts[binding], solution.sigma[binding]
        self._groups, self._value, self._enough = self._pool[:0], math.inf, False

    def stages(self, best: Callable[[], Ints]) -> Iterator[None]:
        """Dive again and again: it may end after each stage. `best` gives the best partition of all."""
        for part in _EVERYWHERE:
            self._everywhere(best(), part)
            yield
            self._around(_FREED)
            yield
            self._around(_FREED_MORE, best())
            yield

    def _everywhere(self, start: Ints, part: float) -> None:
        """Dive among all records, but keep in mind the groups that were found before. `start` is any partition."""
        self._pool = np.concatenate([self._pool, self._groups])
        self._tie = np.append(self._tie, np.ones(len(self._groups)))
        self._groups, self._value = start, math.inf
        self._dive(np.arange(len(start)), part)

    def _around(self, records: int, best: Ints | None = None) -> None:
        """Dive in neighbourhoods of so many records, one after another, of what was found last, or of a partition."""
        if best is not None:
            self._groups, self._value = best, math.fsum(group_costs(self._X, best).tolist())
        if len(self._X) <= records:
            return
        tried: dict[bytes, float] = {}
        idle = 0
        for part in itertools.cycle(_PARTS):
            if idle == _IDLE or self._over():
                return
            groups, before = self._groups, self._value
            often = np.array([tried.get(group.tobytes(), 0.0) for group in groups])
            seed = self._seed(groups, often)
            which = Neighbourhoods(groups, len(self._X), self._pool, self._tie).around(seed, records)
            self._dive(which, part)
            idle = 0 if self._value < before else idle + 1
            if idle:
                for g in which.tolist():
                    tried[groups[g].tobytes()] = often[g] + (1.0 if g == seed else 0.1)

    def _seed(self, groups: Ints, often: Floats) -> int:
        """The group that was tried least; of these, the one that costs most beyond its prices."""
        reduced = reduced_costs(groups, group_costs(self._X, groups), *self._prices)
        return int(np.lexsort((-reduced, often))[0])

    def _over(self) -> bool:
        """Whether there is nothing more to look for, or no time."""
        return self._enough or self._limits.over()

    def _dive(self, which: Ints, part: float) -> None:
        """Dive for a better partition of the records of some groups."""
        if self._over():
            return
        start, others = self._groups[which], np.delete(self._groups, which, axis=0)
        below = math.fsum(group_costs(self._X, start).tolist()) if math.isfinite(self._value) else math.inf
        dive = Diving(self._X, self._k, self._pool, self._prices[1], self._limits, part)
        dive.run(start, below, lambda groups: self._take(np.concatenate([others, groups])))

    def _take(self, groups: Ints) -> None:
        """Take a partition if it is better."""
        value = math.fsum(group_costs(self._X, groups).tolist())
        if value < self._value:
            self._groups, self._value = groups, value
            self._enough = self._met(groups)
