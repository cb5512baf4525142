"""What a method can promise about the SSE it reaches, and the evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Guarantee:
    """How far a partition can be from the best one.

    Attributes
    ----------
    factor : float
        The SSE is at most so many times the least possible, whatever the data. 1: it is the least possible.
    why : str
        The theorem that says so.
    lower_bound : float or None
        No partition of these very data into groups of at least k has a smaller SSE.
    factor_euclidean : float or None
        The same factor for the sum of plain distances to the centroids, where a theorem gives one.
    proof : mapping
        The figures that lower_bound, or the optimality of what the method minimizes, rests on.
    """

    factor: float
    why: str
    lower_bound: float | None = None
    factor_euclidean: float | None = None
    proof: Mapping[str, Any] = field(default_factory=dict)

    def in_units(self, unit: float) -> Guarantee:
        """The same for data measured in a unit that is so many times smaller."""
        if unit == 1.0:
            return self
        squared = {name: _scaled(value, unit) for name, value in self.proof.items() if name in SQUARED}
        bound = None if self.lower_bound is None else _scaled(self.lower_bound, unit)
        return replace(self, lower_bound=bound, proof={**self.proof, **squared})


def _scaled(value: float, unit: float) -> float | None:
    """A squared distance in another unit; None if no float holds it."""
    value = value * unit * unit
    return value if math.isfinite(value) else None


# the proofs' figures that are squared distances
SQUARED = ("weight", "lower_bound", "forest_cost", "forest_cost_per_edge")
