"""Bound: how far a partition can be from the best possible one, at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..facts.result import ProvenFacts
from ..measures.standard_units import finite


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the SSE of any partition into groups of at least k, beside what was reached.

    Attributes
    ----------
    sse : float
        No partition of these records into groups of at least k has a smaller SSE. In the units of `Result.sse`.
    loss : float
        The same in percent of the SST: no partition loses less.
    gap : float
        What was reached / bound - 1: how much more was lost than the least possible, at most. 0 is optimal.
    kind : str
        What proved it: "neighbours", "column generation", ..., "optimal".
    tolerance : float
        What was taken off the bound for rounding errors of linear programs and sums, in SSE. The bound holds with it.
    seconds : float
        Wall time that it took.
    cut_short : str or None
        "seconds" or "interrupted" if it could have become tighter; it is valid all the same.
    k : int
    reached : float
        The loss of the partition, in percent.
    """

    sse: float
    loss: float
    gap: float
    kind: str
    tolerance: float
    seconds: float
    cut_short: str | None
    k: int
    reached: float

    @property
    def optimal(self) -> bool:
        """Whether the partition is proven to be the best there is."""
        return self.kind == "optimal"

    @property
    def facts(self) -> ProvenFacts:
        """What it says, for JSON."""
        return ProvenFacts(
            sse=finite(self.sse),
            loss_percent=finite(self.loss),
            gap_share=finite(self.gap),
            gap_percent=finite(100 * self.gap),
            kind=self.kind,
            tolerance=finite(self.tolerance),
            seconds=finite(self.seconds),
            cut_short=self.cut_short,
            k=self.k,
            reached_percent=finite(self.reached),
        )

    def __str__(self) -> str:
        """What it means, in one sentence."""
        if self.optimal:
            return (
                f"No partition into groups of at least {self.k} loses less than yours, {self.reached:.6g} %: "
                "it is optimal."
            )
        more = f"at most {100 * self.gap:.2g} % more" if math.isfinite(self.gap) else "and nothing more is proven"
        return (
            f"No partition into groups of at least {self.k} loses less than {self.loss:.4g} %; "
            f"yours loses {self.reached:.4g} %, {more}."
        )
