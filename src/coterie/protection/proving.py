"""How far from the best possible the groups of a part can be: a lower bound on what any groups of it lose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..algorithms.limits import Limits
from ..algorithms.optimal.lower_bound import lower_bound
from ..facts.release_facts import BoundFacts
from ..measures.loss import percent
from ..tables.columns import Column
from .category_codes import farthest
from .encoding import encode_columns, fits_exactly
from .scales import Scale

Ints = NDArray[np.int64]

_CLOSE = 1e-8  # the relative gap of what counts as optimal


class ProvenPart(NamedTuple):
    """A lower bound on the SSE of all groups of at least k in a part, and what proves it. Guards can only raise it."""

    sse: float
    kind: str


def prove(
    columns: Sequence[Column],
    scales: Mapping[str, Scale],
    importance: Mapping[str, float],
    k: int,
    labels: Ints,
    effort: str,
) -> ProvenPart:
    """A lower bound for a part whose records are in these groups.

    Codes of categories bound another loss, which is at most `farthest` times as large. They are taken where an
    indicator for each category would not fit.
    """
    exact = fits_exactly(columns)
    X = encode_columns(columns, scales, importance, exact=exact, only_used=True)
    proven = lower_bound(np.ascontiguousarray(X), k, effort=effort, labels=labels, limits=Limits(None))
    if exact:
        return ProvenPart(proven.sse, proven.kind)
    most = max(farthest(len(column.categories)) for column in columns if not column.is_ordered)
    return ProvenPart(proven.sse / most * (1.0 - 1e-15), proven.kind)


def bound_facts(
    proven: Sequence[ProvenPart], k: int, sse: float, sst: float, within: str, aside: Sequence[str] = ()
) -> BoundFacts:
    """The bounds of all parts together; `within` says what no group may cross, and what the loss is weighed by.

    `aside`: what these groups must meet as well, and those that the bound is about need not.
    """
    least = min(math.fsum(part.sse for part in proven), sse)
    gap = 100.0 * (sse / least - 1.0) if least > 0 else None
    more = f", at most {gap:.2g} % more" if gap is not None else ""
    sentence = (
        f"No groups of at least {k}{within} lose less than {percent(least, sst):.4g} %; these lose "
        f"{percent(sse, sst):.4g} %{more}."
    )
    if aside:
        sentence += f" The bound is about groups of at least {k} records, whether or not they meet {', '.join(aside)}."
    kinds = {part.kind for part in proven}
    if kinds == {"optimal"} and sse - least > _CLOSE * sse:  # what is optimal is these groups with large ones split
        kinds = {"column generation"}
    return BoundFacts(least, percent(least, sst), gap, ", ".join(sorted(kinds)), sentence)
