"""The default, and exact: a fast method, local search from there, and a proof where one is wanted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..kernels import compile_ahead, search
from ..progress import more
from .limits import Limits
from .mdav import mdav
from .mdav_star import mdav_star
from .refine import refine
from .registry import Found
from .shared import shared

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 10_000  # up to so many records, mdav* is tried as well


def auto(X: Floats, k: int, *, loss: Callable[[Ints], float], rng: np.random.Generator, limits: Limits) -> Found:
    """Local search from mdav, or up to SMALL records from mdav* if that is better.

    The search is a quick one: at k = 5, 40 steps for each group, or 80,000 where that is more; some 0.1 ms of CPU for a
    record. Of the partitions on the way, the one with the least of the loss that was asked for is kept.
    """
    compile_ahead("search", "mdav, few", "mdav*, few", needs=search.steps)
    partitions = [Found(shared("mdav", X, k, mdav), {"method": "mdav"})]
    more(len(X))
    if len(X) <= SMALL:
        more(len(X))
        partitions.append(Found(shared("mdav*", X, k, mdav_star), {"method": "mdav*"}))
    losses = [loss(p.labels) for p in partitions]
    start = partitions[int(np.argmin(losses))]  # ties go to mdav
    refined = refine(X, start.labels, k, effort="quick", rng=rng, limits=limits)
    partitions.append(Found(refined.labels, {**start.chosen, "refine": "quick", "steps": refined.steps}))
    losses.append(loss(refined.labels))
    return partitions[-1 - int(np.argmin(losses[::-1]))]  # ties go to the last


def exact_method(X: Floats, k: int, *, rng: np.random.Generator, limits: Limits) -> Found:
    """The best partition that column generation finds from a refined one, and what is proven of it."""
    from .optimal.exact import exact
    from .optimal.lower_bound import WHOLE, lower_bound  # auto has no need of these, nor of HiGHS
    from .optimal.relaxation import CUT_K

    more(len(X))
    dives = k <= CUT_K and len(X) <= WHOLE  # where they are made, they find better ones
    refined = refine(X, mdav(X, k), k, effort="quick" if dives else "thorough", rng=rng, limits=limits)
    if len(X) > WHOLE:  # no linear program of that size: windows
        proven = lower_bound(X, k, effort="tight", labels=refined.labels, limits=limits)
        return Found(refined.labels, {"optimal": proven.kind == "optimal"}, None, proven)
    solved = exact(X, k, rng=rng, limits=limits, start=refined.labels)
    return Found(solved.labels, {"optimal": solved.optimal}, None, solved.proven)
