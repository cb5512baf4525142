"""The linear program behind the minimum weight factor: near edges and odd-set cuts, more of both as they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from .odd_sets import Cut

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TOLERANCE = 1e-10  # HiGHS takes no smaller one


class Solution(NamedTuple):
    """An optimal solution: the edges' values and reduced costs, the records' prices, the cuts' (none negative)."""

    x: Floats
    reduced: Floats
    pi: Floats
    mu: Floats


class FactorLP:
    """Minimize the weight of the edges, with every record's degree within bounds, subject to cuts.

    An edge may be taken any number of times: that is never worth it, and needs no bound with a price of its own.

    Attributes
    ----------
    edges : ndarray of shape (e, 2)
        The lower record first.
    cuts : list of Cut
    """

    def __init__(self, low: Ints, high: Ints) -> None:
        n = len(low)
        self._n = n
        self.edges = np.empty((0, 2), np.int64)
        self.cuts: list[Cut] = []
        self._rhs: list[float] = []
        self._codes: set[int] = set()
        self._fined = False
        self._of: list[dict[int, bool]] = [{} for _ in range(n)]  # each record's cuts: whether it is in L
        self._solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
            self._solver.setOptionValue(option, value)
        for kind in ("primal", "dual"):
            self._solver.setOptionValue(f"{kind}_feasibility_tolerance", _TOLERANCE)
        empty = np.zeros(n, np.int32), np.zeros(0, np.int32), np.zeros(0)
        self._solver.addRows(n, low.astype(float), high.astype(float), 0, *empty)
        alone = np.arange(n, dtype=np.int32)  # columns that cover one record each: shut, unless a branch needs them
        self._solver.addCols(n, np.zeros(n), np.zeros(n), np.zeros(n), n, alone, alone, np.ones(n))

    def add_edges(self, edges: Ints, d2: Floats) -> int:
        """Add those edges that are not there yet; give their number."""
        fresh = []
        for i, code in enumerate((edges[:, 0] * self._n + edges[:, 1]).tolist()):
            if code not in self._codes:
                self._codes.add(code)
                fresh.append(i)
        edges, m = edges[fresh], len(fresh)
        starts: list[int] = []
        rows: list[int] = []
        values: list[float] = []
        for u, v in edges.tolist():
            starts.append(len(rows))
            rows += [u, v]
            values += [1.0, 1.0]
            for c, coefficient in self.coefficients(u, v):
                rows.append(self._n + c)
                values.append(float(coefficient))
        if m:
            free = np.full(m, highspy.kHighsInf)
            index = np.array(starts, np.int32), np.array(rows, np.int32), np.array(values)
            self._solver.addCols(m, d2[fresh], np.zeros(m), free, len(rows), *index)
            self.edges = np.concatenate([self.edges, edges])
        return m

    def coefficients(self, u: int, v: int) -> list[tuple[int, int]]:
        """The cuts in which edge uv counts, and how often: 1 or -1."""
        of_u, of_v = self._of[u], self._of[v]
        times = {
            c: of_u.get(c, False) + of_v.get(c, False) - (c in of_u and c in of_v) for c in of_u.keys() | of_v.keys()
        }
        return sorted((c, t) for c, t in times.items() if t)

    def rhs(self) -> Floats:
        """Those of the cuts, as they are now."""
        return np.array(self._rhs)

    def add_cuts(self, cuts: Sequence[Cut]) -> None:
        """Add cuts: from now on, solutions satisfy them."""
        columns: list[Ints] = []
        values: list[Ints] = []
        order = np.argsort(self.edges.ravel(), kind="stable")
        first = np.searchsorted(self.edges.ravel()[order], np.arange(self._n + 1))
        state = np.zeros((2, self._n), np.int64)  # in the set, in its L
        for cut in cuts:
            for v, lower in zip(cut.inside.tolist(), cut.lower.tolist(), strict=True):
                self._of[v][len(self.cuts)] = lower
            self.cuts.append(cut)
            self._rhs.append(cut.rhs)
            near = np.unique(np.concatenate([order[first[v] : first[v + 1]] for v in cut.inside]) // 2)
            ends = self.edges[near]
            state[0, cut.inside], state[1, cut.inside] = 1, cut.lower
            times = state[1, ends].sum(axis=1) - state[0, ends].prod(axis=1)
            state[:, cut.inside] = 0
            alone = cut.inside[cut.lower]  # their columns are as edges that lead out of the set
            columns.append(np.concatenate([alone, self._n + near[times != 0]]))
            values.append(np.concatenate([np.ones(len(alone), np.int64), times[times != 0]]))
        m = len(cuts)
        rhs, free = np.array([cut.rhs for cut in cuts]), np.full(m, highspy.kHighsInf)
        starts = np.cumsum([0, *map(len, columns)])[:-1].astype(np.int32)
        index, entries = np.concatenate(columns).astype(np.int32), np.concatenate(values).astype(float)
        self._solver.addRows(m, rhs, free, len(index), starts, index, entries)

    def let_alone(self, fine: float) -> None:
        """Let records be covered by nobody, for a fine: then there always is a solution."""
        if self._fined:
            raise RuntimeError("HiGHS found no solution of a linear program that has one.")
        self._fined = True
        for i in range(self._n):
            self._solver.changeColCost(i, fine)
            self._solver.changeColBounds(i, 0.0, highspy.kHighsInf)

    def force(self, edge: int, least: float) -> None:
        """Take an edge at least so many times."""
        self._solver.changeColBounds(self._n + edge, least, highspy.kHighsInf)

    def tighten(self, cut: int, rhs: float) -> None:
        """Give a cut another right-hand side."""
        self._rhs[cut] = rhs
        self._solver.changeRowBounds(self._n + cut, rhs, highspy.kHighsInf)

    def solve(self) -> Solution | None:
        """Solve, from the last solution on; None if there is no solution."""
        infeasible = highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible
        for another_try in (True, False):
            self._solver.run()
            status = self._solver.getModelStatus()
            if status in infeasible:  # nothing is unbounded: no weight is negative
                return None
            if status == highspy.HighsModelStatus.kOptimal:
                break
            if not another_try:
                raise RuntimeError(f"HiGHS failed on a linear program: {self._solver.modelStatusToString(status)}.")
            self._solver.clearSolver()  # from scratch; HiGHS also fails where others in this process use more threads
            self._solver.setOptionValue("threads", 0)
        solution = self._solver.getSolution()
        dual = np.array(solution.row_dual)
        x, reduced = np.array(solution.col_value)[self._n :], np.array(solution.col_dual)[self._n :]
        return Solution(x, reduced, dual[: self._n], np.maximum(dual[self._n :], 0.0))
