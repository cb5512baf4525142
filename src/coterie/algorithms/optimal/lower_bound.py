"""Lower bounds on the SSE of any partition into groups of at least k: fast, or tight."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import CoterieError
from ...progress import state
from ..limits import Limits
from .master import group_costs
from .raised_bound import raised_bound
from .relaxation import Dual, Relaxation
from .windowed_bound import WindowedBound

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EFFORTS = ("fast", "tight")
_ROUNDS = 5000
CLOSE = 1e-9  # SSE and bound agree to that, relative: optimal
WHOLE = 4500  # records in one linear program, at most; of more, windows: see docs/least-loss.md for both, measured


class Proven(NamedTuple):
    """What no partition can be better than, and what proves it."""

    sse: float  # no partition into groups of at least k has a smaller SSE
    kind: str  # "neighbours", "column generation", "column generation with subset-row cuts", "optimal"
    tolerance: float  # what was taken off the bound for rounding errors, in SSE: it holds without any
    steps: int  # rounds of linear programs, of ascent, or nodes


class Scaled(NamedTuple):
    """The data times a power of two, and a partition into groups of k to 2k - 1."""

    X: Floats
    groups: Ints  # (g, 2k - 1): -1 after the last record
    unit: float  # what an SSE of these data is times, in those given
    bound: float  # the fast bound
    rounding: float  # relative errors of SSEs


def lower_bound(
    X: Floats, k: int, *, effort: str, labels: Ints, limits: Limits, rng: np.random.Generator | None = None
) -> Proven:
    """A lower bound on the SSE of any partition into groups of at least k; `labels` is a good one. Always valid."""
    del rng  # nothing is left to chance
    if effort not in EFFORTS:
        raise CoterieError("effort is one of " + ", ".join(map(repr, EFFORTS)) + ".", repr(effort))
    if effort == "fast":
        return _by_neighbours(X, k, limits)
    problem = scaled(X, k, labels, limits)
    if problem is None:
        return Proven(0.0, "optimal", 0.0, 0)
    if len(X) < 2 * k:
        return whole(problem)
    return _by_columns(problem, k, limits) if len(X) <= WHOLE else by_windows(problem, k, limits)


def _by_neighbours(X: Floats, k: int, limits: Limits) -> Proven:
    """The fast bound."""
    bound = raised_bound(X, k, limits)
    return Proven(bound, "neighbours", bound * rounding_errors(X, k), 0)


def whole(problem: Scaled) -> Proven:
    """All records make one group."""
    value = float(group_costs(problem.X, problem.groups)[0]) * problem.unit
    return Proven(value * (1.0 - problem.rounding), "optimal", value * problem.rounding, 0)


def _by_columns(problem: Scaled, k: int, limits: Limits) -> Proven:
    """The tight bound."""
    value = math.fsum(group_costs(problem.X, problem.groups).tolist())

    def tell(bound: float) -> None:
        state(sse=value * problem.unit, bound=max(bound, problem.bound) * problem.unit)

    tell(0.0)
    relaxation = Relaxation(problem.X, k, problem.groups, tell)
    with limits.interruptible():
        relaxation.run(limits, value * (1.0 - CLOSE / 2), _ROUNDS)
    return _best(relaxation.bound, relaxation.dual, relaxation.rounds, value, problem)


def by_windows(problem: Scaled, k: int, limits: Limits, size: int = 0, threads: int = 0) -> Proven:
    """The tight bound of a large table, window by window."""
    windows = WindowedBound(problem.X, k, problem.groups, problem.unit, size, threads)
    with limits.interruptible():
        windows.run(limits)
    return _best(windows.bound, windows.dual, windows.rounds, windows.value, problem)


def _best(bound: float, dual: Dual, steps: int, value: float, problem: Scaled) -> Proven:
    """What prices have proven, or the neighbours if that is more."""
    if bound <= problem.bound:
        return Proven(problem.bound * problem.unit, "neighbours", problem.bound * problem.rounding * problem.unit, 0)
    bound = min(bound, value)
    kind = "column generation with subset-row cuts" if len(dual.cuts) else "column generation"
    kind = "optimal" if value - bound <= CLOSE * value else kind
    state(sse=value * problem.unit, bound=bound * problem.unit)
    return proven(bound, kind, steps, problem)


def proven(bound: float, kind: str, steps: int, problem: Scaled) -> Proven:
    """The result, in the units of the data given; once more rounded down."""
    bound = max(0.0, bound) * problem.unit
    tolerance = bound * problem.rounding
    return Proven(bound - tolerance, kind, tolerance, steps)


def rounding_errors(X: Floats, k: int) -> float:
    """More than the relative errors of the sums over a group's pairs."""
    p: int = X.shape[1]
    return 2.0**-50 * (p + 4 * k * k + 32)


def scaled(X: Floats, k: int, labels: Ints, limits: Limits) -> Scaled | None:
    """The data such that a record's share of the partition's SSE is about 1; None if there is none to share."""
    extent = float(np.max(X.max(axis=0) - X.min(axis=0)))
    if not extent > 0.0:
        return None
    exponent = -math.frexp(extent)[1]
    Z = np.ldexp(X, exponent)
    groups = split(Z, k, labels)
    share = math.fsum(group_costs(Z, groups).tolist()) / len(X)
    if not share > 0.0:
        return None
    more = min(500, -(math.frexp(share)[1] // 2))
    Z = np.ldexp(Z, more)
    bound = raised_bound(Z, k, limits) if len(X) >= 2 * k else 0.0
    return Scaled(Z, groups, math.ldexp(1.0, -2 * (exponent + more)), bound, rounding_errors(X, k))


def split(X: Floats, k: int, labels: Ints) -> Ints:
    """The groups of a partition, none larger than 2k - 1: larger ones are cut along their widest column."""
    order = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[order])) + 1
    parts: list[Ints] = []
    for group in np.split(order, edges):
        if len(group) >= 2 * k:
            column = int(np.argmax(X[group].max(axis=0) - X[group].min(axis=0)))
            group = group[np.argsort(X[group, column], kind="stable")]
        parts += np.array_split(group, len(group) // k)
    groups = np.full((len(parts), 2 * k - 1), -1)
    for g, part in enumerate(parts):
        groups[g, : len(part)] = np.sort(part)
    return groups
