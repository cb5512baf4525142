"""The relaxation without cuts, by the boxstep method: prices stay in a box around the last ones, which moves with them.

Prices of a linear program over few columns jump from one extreme to the other, and the more records a group has the
worse (most pools of groups have no other partition than the one they began with). In a box they converge in a few dozen
rounds. Source: Marsten, Hogan, Blankenship (1975), The boxstep method for large-scale optimization, Operations Research
23. Without cuts only groups of k records matter, see `bound`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .dual_ascent import ascend
from .lagrangian import BELOW, lagrangian_bound
from .master import Master, Outside
from .pricing import EVERYBODY, Pricing
from .subset_row_cuts import NO_CUTS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NO_CUTS = NO_CUTS, np.empty(0)
# No bound becomes invalid by these: they decide how tight it gets, and how soon. No source gives them. What they reach
# on the CASC sets at k = 2 to 10 is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
_MOST_NODES = 300_000  # of one search: few prices are so bad that it needs more
_SEED_ROUNDS, _SEED_BREADTH, _SEED_NODES = 40, 25, 100  # of the dual ascent, for the first prices
_LOWER = 0.85  # of the first prices: what is proven by these, if there is no time for more
_HALF_WIDTH, _LEAST_WIDTH = 0.15, 0.02  # of the box, as part of a price, at first and at last
_SHRINK, _STEADY = 0.85, 3  # its factor in each round, after so many rounds
_BREADTH, _NODES = 40, 100  # of a search in a hurry: nearest records, nodes
_FEW = 0.03  # new columns for each record, below which it is time to price exactly
_PATIENCE = 8  # rounds in a hurry, at most, between two proofs: without it, Tarragona at k = 10 had a late bound
_OTHERS_NODES = 300  # of a search in a hurry around the anchors whose groups lie farther away
CLOSE, _CLOSE_ENOUGH = 1e-5, 1e-3  # the bound and the prices agree to that, relative: converged, for cuts or without

Proof = Callable[[float, Floats], None]  # is told a bound, and the prices that prove it


class Boxstep:
    """Raises the bound of prices round by round.

    Attributes
    ----------
    rounds : int
        How many linear programs were solved.
    nodes : int
        Of the last exact pricing.
    converged : bool
        Whether the bound is, nearly, that of the relaxation.
    """

    def __init__(
        self, X: Floats, k: int, start: Ints, pricing: Pricing, tell: Proof, outside: Outside | None = None
    ) -> None:
        self._n, self._k, self._pricing, self._tell = len(X), k, pricing, tell
        self._master = Master(X, k, boxed=True, outside=outside)
        self._master.add(start)
        self._bound = -math.inf
        self._far = np.zeros(len(X), bool)  # the anchors of groups that a hurry has missed
        self.rounds = self.nodes = 0
        self.converged = False

    @property
    def groups(self) -> Ints:
        """All columns there are now."""
        return self._master.groups

    def run(self, pi: Floats, limits: Limits, enough: float, most: int, finely: bool, rough: bool = True) -> None:
        """From these prices on, until converged, the bound is enough, or so many rounds are over.

        Finely: until not even cuts will find a difference. Rough prices are moved by dual ascent first.
        """
        close = CLOSE if finely else _CLOSE_ENOUGH
        if rough:
            pi, groups = ascend(self._pricing, pi, _SEED_ROUNDS, _SEED_BREADTH, _SEED_NODES, limits)
            self._master.add(groups)
            self._prove(_LOWER * pi, limits)
        self._master.box(pi, _HALF_WIDTH)
        width, hurry, since, proven = _HALF_WIDTH, True, 0, most
        while self.rounds < most and not limits.over():
            self.rounds += 1
            solution = self._master.solve()
            pi = solution.pi
            new = self._price_in_a_hurry(pi, limits) if hurry else self._price(pi, limits)
            free = solution.outside * width <= close * self._n  # the box is in nobody's way
            self.converged = not hurry and free and self._bound >= (1.0 - close) * float(pi.sum())
            if self._bound >= enough or self.converged:
                return
            few = new < _FEW * self._n
            proven = proven if hurry else self.rounds
            hurry = not (few and free) and (finely or self.rounds < proven + _PATIENCE)
            since += 1
            if few and not free:
                width = min(width / _SHRINK, _HALF_WIDTH)
            elif since > _STEADY:
                width = max(width * _SHRINK, _LEAST_WIDTH)
            self._master.box(pi, width)

    def _price_in_a_hurry(self, pi: Floats, limits: Limits) -> int:
        """Add groups of negative reduced cost; how many are new."""
        new = 0
        for far, breadth, nodes in ((False, _BREADTH, _NODES), (True, EVERYBODY, _OTHERS_NODES)):
            anchors = np.flatnonzero(self._far == far)
            priced = self._pricing.price(
                pi,
                *_NO_CUTS,
                below=BELOW,
                breadth=breadth,
                nodes=nodes,
                anchors=anchors,
                smallest=True,
                over=limits.over,
            )
            new += self._master.add(priced.groups)
        self._tell(-math.inf, pi)
        return new

    def _prove(self, pi: Floats, limits: Limits) -> None:
        """A first bound, in case that there is no time for another: lower prices are easily proven."""
        priced = self._pricing.price(pi, *_NO_CUTS, below=BELOW, nodes=_NODES, smallest=True, over=limits.over)
        self._tell(lagrangian_bound(pi, np.empty(0), np.empty(0), priced.least, self._k, smallest=True), pi)

    def _price(self, pi: Floats, limits: Limits) -> int:
        """As well, exactly: prices prove a bound then."""
        priced = self._pricing.price(pi, *_NO_CUTS, below=BELOW, nodes=_MOST_NODES, smallest=True, over=limits.over)
        self.nodes = priced.nodes
        self._far |= priced.least < BELOW
        bound = lagrangian_bound(pi, np.empty(0), np.empty(0), priced.least, self._k, smallest=True)
        self._bound = max(self._bound, bound)
        self._tell(bound, pi)
        return self._master.add(priced.groups)
