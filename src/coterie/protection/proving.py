"""How far from the best possible the groups of a release are: the strata's lower bounds, added up."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..algorithms.limits import Limits
from ..algorithms.optimal.lower_bound import lower_bound
from ..facts.release import BoundFacts
from ..measures.loss import distortion, diversity, percent
from .grouping import Grouped


class Losses(NamedTuple):
    """SSE and SST of the encoded quasi-identifiers, and the loss."""

    sse: float
    sst: float
    loss_percent: float


def losses(found: Grouped) -> Losses:
    """What the groups lose."""
    sse, sst = distortion(found.X, found.labels, "mean"), diversity(found.X, "mean")
    return Losses(sse, sst, percent(sse, sst))


def bound_of(found: Grouped, effort: str) -> BoundFacts:
    """A lower bound on the SSE of all groups of at least k that cross no stratum; guards can only make it larger."""
    parts, kinds = [], set()
    order = np.argsort(found.strata, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(found.strata))[:-1]):
        X = np.ascontiguousarray(found.X[rows])
        labels = np.unique(found.labels[rows], return_inverse=True)[1].reshape(-1)
        proven = lower_bound(X, found.component.k, effort=effort, labels=labels, limits=Limits(None))
        parts.append(proven.sse)
        kinds.add(proven.kind)
    sums = losses(found)
    sse = min(math.fsum(parts), sums.sse)
    gap = 100.0 * (sums.sse / sse - 1.0) if sse > 0 else None
    least = percent(sse, sums.sst)
    more = f", at most {gap:.2g} % more" if gap is not None else ""
    within = " that cross no stratum" if len(parts) > 1 else ""
    sentence = (
        f"No groups of at least {found.component.k}{within} lose less than {least:.4g} %; these lose "
        f"{sums.loss_percent:.4g} %{more}."
    )
    return BoundFacts(sse, least, gap, ", ".join(sorted(kinds)), sentence)
