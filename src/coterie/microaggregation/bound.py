"""Bounds: how far a partition can be from the best possible one, at most."""

from __future__ import annotations

import math
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import progress as progress_
from ..errors import CoterieError
from ..facts.result_facts import ProvenFacts
from ..measures.loss import diversity, percent
from ..measures.standard_units import finite
from . import options
from .matrix import Matrix, encode
from .numeric_table import Numbers, read

if TYPE_CHECKING:
    from ..algorithms.limits import Limits
    from ..algorithms.optimal.lower_bound import Proven
    from .result import Result

Floats = NDArray[np.float64]

CLOSE = 1e-8  # the relative gap of what counts as optimal
LANES = 1021  # a prime: records that change places hardly ever stay in their lanes


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the SSE of any partition into groups of at least k, and the SSE of the partition itself.

    Attributes
    ----------
    sse : float
        No partition of these records into groups of at least k has a smaller SSE. In the units of `Result.sse`.
    loss : float
        The same in percent of the SST: no partition loses less.
    gap : float
        The optimality gap, loss / bound - 1: the partition loses at most this much more than the best possible one. 0
        is optimal.
    kind : str
        What proved it: "neighbours", "column generation", ..., "optimal".
    tolerance : float
        What was subtracted from the bound to cover rounding errors of linear programs and sums, in SSE. The bound
        includes it.
    seconds : float
        Wall time that it took.
    cut_short : str or None
        "seconds" or "interrupted" if the bound could have become tighter; it is valid in any case.
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
        """Whether the partition is proven optimal."""
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


@dataclass(frozen=True, eq=False)
class Records:
    """The records that were grouped, as the caller's own table and not a copy; with a checksum, as it may change."""

    table: Any
    checksum: int
    standardize: bool

    @classmethod
    def of(cls, table: Any, numbers: Numbers, standardize: bool) -> Records:
        """The records of a table that was read."""
        return cls(table, _checksum(numbers.values), standardize)

    def matrix(self) -> Matrix:
        """What was grouped, made again."""
        numbers = read(self.table)
        if _checksum(numbers.values) != self.checksum:
            what = "A bound needs the same records that were grouped."
            raise CoterieError(what, "a table that has changed since", "microaggregate it again, or a copy of it.")
        return encode(numbers.values, self.standardize)


def _checksum(values: Floats) -> int:
    """A number that changes with any value, and with their order.

    Most of the words are joined by exclusive or first, LANES side by side: that is ten times as fast as CRC-32 alone.
    """
    words = values.reshape(-1).view(np.uint64)
    rest = len(words) - len(words) % LANES
    lanes = np.bitwise_xor.reduce(words[:rest].reshape(-1, LANES), axis=0)
    return zlib.crc32(words[rest:].data, zlib.crc32(lanes.data))


class Known(NamedTuple):
    """What is proven: the bound in the units of the data, and as a loss in percent."""

    proven: Proven
    loss: float


def known(proven: Proven, matrix: Matrix, centre: str) -> Known:
    """What was proven for the matrix that was grouped, as a result keeps it."""
    squared = matrix.unit * matrix.unit
    scaled = proven._replace(sse=proven.sse * squared, tolerance=proven.tolerance * squared)
    return Known(scaled, percent(proven.sse, diversity(matrix.values, centre)))


def bound(result: Result, effort: Any, seconds: Any, progress: Any) -> Bound:
    """The bound that the method has proven; else one of this effort."""
    from ..algorithms.limits import Limits

    asked = options.check(bound=effort, seconds=seconds, progress=progress)
    began = time.perf_counter()
    limits = Limits(asked["seconds"])
    if result._proven is None:
        proven, loss = _prove(result, effort, limits, progress)
    else:
        proven, loss = result._proven
    loss = min(loss, result.loss)
    kind = proven.kind
    if gap(result.loss, loss) <= CLOSE:
        kind = "optimal"
    elif kind == "optimal":  # what is optimal is this partition with its large groups split
        kind = "column generation"
    return Bound(
        sse=min(proven.sse, result.sse),
        loss=loss,
        gap=gap(result.loss, loss),
        kind=kind,
        tolerance=proven.tolerance,
        seconds=time.perf_counter() - began,
        cut_short=limits.cut_short,
        k=result.k,
        reached=result.loss,
    )


def _prove(result: Result, effort: str, limits: Limits, progress: bool) -> Known:
    from ..algorithms.optimal.lower_bound import lower_bound

    if result._records is None:
        raise CoterieError("A bound needs the records.", "a result without them", "they are not pickled.")
    matrix = result._records.matrix()
    with progress_.bar(progress, "bounding"):
        proven = lower_bound(matrix.values, result.k, effort=effort, labels=result.labels, limits=limits)
    return known(proven, matrix, result.options["centre"])


def gap(reached: float, lower: float) -> float:
    """What was reached / bound - 1. Of losses in percent: these are finite where sums in the data's units are not."""
    if reached <= lower:
        return 0.0
    return reached / lower - 1 if lower > 0 else math.inf
