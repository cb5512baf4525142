"""The minimum weight [1,2]-factor of the complete graph on points, with squared distances as weights, and its proof.

A linear program over few edges is solved; its dual prices say which of all other edges could lower the weight, and
odd-set cuts cut off fractional solutions; where neither helps, an edge is fixed to be in or out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...progress import done
from ..neighbours import Neighbours
from .linear_program import FactorLP, Solution
from .odd_sets import Cut, odd_cuts, wide_cuts
from .prices import Prices, safe_bound
from .stars import completed, nearest_factor, squared_lengths, without_spare

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GAP = 1e-9  # weight and lower bound agree to that, relative
_NO_GAP = 1e-12  # not worth another round
_NEAR = 8  # edges to so many nearest records are there from the start
_NEGATIVE = -1e-10  # edges of a reduced cost below it enter: a record's nearest lies at about 1
_FRACTION = 1e-6


class Factor(NamedTuple):
    """A factor of least weight: stars of two or three points, or around a point of several copies."""

    edges: Ints  # (e, 2)
    weight: float = 0.0
    lower_bound: float = 0.0  # of the weight of any factor
    cuts: int = 0
    lp_edges: int = 0
    rounds: int = 0
    branches: int = 0


def minimum_factor(X: Floats, copies: Ints) -> Factor:
    """Find the factor. A point of several copies may be left alone, and has degree 2 for each copy at most.

    Points are distinct, not all have several copies, and the mean squared distance to the nearest is about 1.
    """
    return _Search(X, copies).run()


class _Search:
    """The search for the factor."""

    def __init__(self, X: Floats, copies: Ints) -> None:
        self._X = X
        self._low, self._high = (copies == 1).astype(np.int64), 2 * copies
        lone = np.flatnonzero(self._low)
        near = Neighbours(X).nearest(min(_NEAR, len(X) - 1)).records
        self._prices = Prices(X, lone)
        self._lp = FactorLP(self._low, self._high)
        self._best, self._weight = np.empty((0, 2), np.int64), math.inf
        self._keep(nearest_factor(X, near[:, 0], self._low, self._high))
        ends = np.repeat(lone, near.shape[1]), near[lone].ravel()
        self._enter(np.concatenate([np.column_stack(ends), self._best]))
        self._forced: list[int] = []  # edges that the branch at hand takes
        self._rounds = self._branches = self._told = 0

    def run(self) -> Factor:
        """Search, and prove that nothing better is left."""
        bound = self._explore()
        if not self._gap(bound) <= GAP:
            raise RuntimeError("No minimum weight factor could be proven: the linear program's prices are too inexact.")
        done(len(self._X) - self._told)
        cuts, edges = len(self._lp.cuts) - self._branches, len(self._lp.edges)
        return Factor(self._best, self._weight, bound, cuts, edges, self._rounds, self._branches)

    def _keep(self, edges: Ints) -> None:
        """Keep a factor, without its spare edges, if it is the best so far."""
        edges = without_spare(edges, squared_lengths(self._X, edges), self._low)
        weight = math.fsum(squared_lengths(self._X, edges).tolist())
        if weight < self._weight:
            self._best, self._weight = edges, weight

    def _gap(self, bound: float) -> float:
        """How much lighter than the best factor another may be, relative; distances that vanish count as none."""
        return max(0.0, self._weight - bound - 1e-300) / max(self._weight, 1e-300)

    def _enter(self, edges: Ints) -> int:
        """Let edges enter the linear program; give the number of those that were not there."""
        edges = np.unique(np.sort(edges, axis=1), axis=0)
        return self._lp.add_edges(edges, squared_lengths(self._X, edges))

    def _explore(self) -> float:
        """Search the factors that agree with the edges fixed so far; give a lower bound of their weight.

        The bound holds for those without spare edges: one that is a minimum among all factors is in some branch.
        """
        bound, edge = self._refine()
        if edge is None or self._gap(bound) <= GAP:
            return bound
        self._branches += 1
        row = len(self._lp.cuts)
        self._lp.add_cuts([Cut(self._lp.edges[edge], np.zeros(2, bool), -1.0)])  # taken once at most
        self._forced.append(edge)
        self._lp.force(edge, 1.0)
        taken = self._explore()
        self._forced.pop()
        self._lp.force(edge, 0.0)
        self._lp.tighten(row, 0.0)
        left_out = self._explore()
        self._lp.tighten(row, -1.0)
        return max(bound, min(taken, left_out))

    def _refine(self) -> tuple[float, int | None]:
        """Solve the linear program over all edges, with cuts; give a lower bound and the edge to branch on, if any."""
        bound, gap = -math.inf, math.inf
        while True:
            self._rounds += 1
            solution = self._lp.solve()
            if solution is None:  # the edges at hand do not do
                self._lp.let_alone(2.0 * self._weight + 1.0)
                continue
            x = solution.x
            fractions = np.flatnonzero(np.abs(x - np.rint(x)) > _FRACTION)
            self._tell(fractions)
            cost, other = self._prices.negative(solution, self._lp.cuts)
            bound = max(bound, self._bound(solution, cost[:, 0]))
            if (factor := completed(self._X, self._lp.edges, x, self._low, self._high)) is not None:
                self._keep(factor)
            before, gap = gap, self._gap(bound)
            if gap <= _NO_GAP or (gap <= GAP and gap > 0.9 * before):
                return bound, None
            cuts = self._cuts(solution) if len(fractions) else []
            grown = self._enter(np.column_stack([np.nonzero(cost < _NEGATIVE)[0], other[cost < _NEGATIVE]]))
            if cuts:
                self._lp.add_cuts(cuts)
            elif not grown:
                half = np.abs(x[fractions] % 1.0 - 0.5)
                return bound, int(fractions[np.argmin(half)]) if len(half) else None

    def _cuts(self, solution: Solution) -> list[Cut]:
        """Cuts that the solution violates."""
        edges, x = self._lp.edges, solution.x
        used = np.flatnonzero(x > _FRACTION)
        near = np.flatnonzero((x > _FRACTION) | (solution.reduced < -_NEGATIVE))
        cuts = odd_cuts(edges[used], x[used], self._low, self._high)
        cuts += wide_cuts(edges[near], x[near], self._low, self._high)
        return list({(cut.inside.tobytes(), cut.lower.tobytes()): cut for cut in cuts}.values())

    def _bound(self, solution: Solution, least: Floats) -> float:
        """A lower bound of the weight of factors that agree with the branch at hand."""
        bound = safe_bound(self._low, self._high, solution.pi, self._lp.rhs(), solution.mu, least)
        return bound + math.fsum(max(0.0, self._reduced_cost(solution, edge)) for edge in self._forced)

    def _reduced_cost(self, solution: Solution, edge: int) -> float:
        """That of an edge of the linear program, rounded down."""
        uv = self._lp.edges[edge : edge + 1]
        u, v = uv[0].tolist()
        terms = [float(squared_lengths(self._X, uv)[0]), -float(solution.pi[u]), -float(solution.pi[v])]
        terms += [-times * float(solution.mu[c]) for c, times in self._lp.coefficients(u, v)]
        p: int = self._X.shape[1]
        return math.fsum(terms) - 2.0**-50 * (p + 8) * math.fsum(map(abs, terms))

    def _tell(self, fractions: Ints) -> None:
        """Say how many records lie at no fractional edge."""
        settled = len(self._X) - len(np.unique(self._lp.edges[fractions]))
        done(max(0, settled - self._told))
        self._told = max(self._told, settled)
