"""From a result to what can be proven about it."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import progress as progress_
from ..errors import CoterieError
from ..measures.loss import diversity, percent
from .bound import Bound

if TYPE_CHECKING:
    from ..algorithms.optimal.lower_bound import Proven
    from .matrix import Matrix
    from .result import Result

EFFORTS = ("fast", "tight")
CLOSE = 1e-8  # the relative gap of what counts as optimal


class Known(NamedTuple):
    """What the method itself has proven: the bound in the units of the data, and as a loss in percent."""

    proven: Proven
    loss: float


def known(proven: Proven, matrix: Matrix, centre: str) -> Known:
    """What was proven for the matrix that was grouped, as a result keeps it."""
    squared = matrix.unit * matrix.unit
    scaled = proven._replace(sse=proven.sse * squared, tolerance=proven.tolerance * squared)
    return Known(scaled, percent(proven.sse, diversity(matrix.values, centre)))


def bound(result: Result, effort: Any, seconds: Any, progress: bool) -> Bound:
    """The bound that the method has proven; else one of this effort."""
    from ..algorithms.limits import Limits

    if not isinstance(effort, str) or effort not in EFFORTS:
        shown = repr(effort) if isinstance(effort, str) else f"an object of type {type(effort).__name__}"
        raise CoterieError("'effort' must be 'fast' or 'tight'.", shown)
    began = time.perf_counter()
    limits = Limits(check_seconds(seconds))
    if result._proven is None:
        from ..algorithms.optimal.lower_bound import lower_bound

        matrix = result._matrix
        assert matrix is not None
        with progress_.bar(progress, "bounding"):
            proven = lower_bound(matrix.values, result.k, effort=effort, labels=result.labels, limits=limits)
        proven, loss = known(proven, matrix, result.options["centre"])
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


def gap(reached: float, lower: float) -> float:
    """What was reached / bound - 1. Of losses in percent: these are finite where sums in the data's units are not."""
    if reached <= lower:
        return 0.0
    return reached / lower - 1 if lower > 0 else math.inf


def check_seconds(seconds: Any) -> float | None:
    """A number of seconds above 0, or None."""
    if seconds is None:
        return None
    try:
        value = float(seconds)
        if isinstance(seconds, (bool, str)) or not value > 0:
            raise ValueError
    except (TypeError, ValueError):
        raise CoterieError(
            "'seconds' must be a number above 0.", f"an object of type {type(seconds).__name__}"
        ) from None
    return value
