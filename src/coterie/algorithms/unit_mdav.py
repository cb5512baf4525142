"""Groups of at least k units, where a unit (a person, say) has several records.

MDAV and the local search after it, both under the rule that a group counts its different units. A group of k records of
one person hides nobody.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import unit_groups as kernels
from ..progress import done
from .free import FreeRecords
from .groups import centroids
from .limits import Limits
from .refine import refine
from .registry import Found

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def units_in_groups(labels: Ints, units: Ints) -> Ints:
    """How many different units each group 0, 1, ... has; -1 is none."""
    known = units >= 0
    pairs = np.unique(labels[known] * (int(units.max(initial=0)) + 1) + units[known])
    return np.bincount(pairs // (int(units.max(initial=0)) + 1), minlength=int(labels.max()) + 1)


def mdav_of_units(X: Floats, k: int, units: Ints) -> Ints:
    """MDAV whose groups have at least k different units each.

    Groups form around the record farthest from the centroid of what remains and the one farthest from that, in turn. A
    group takes the records nearest to its first one, nearest first, but of every unit only the nearest, until it has k
    units. What is left once fewer than k units remain, and records whose unit is not known, join the group whose
    centroid is nearest. So a group has several records of a unit only where that unit has too many for the others.

    `units` are numbers from 0 on, or -1 where the unit is not known. There must be at least k different ones. Costs
    what MDAV costs, and more where many records of few units lie close together: a group looks at as many records as
    it takes to see k units.
    """
    known = np.flatnonzero(units >= 0)
    Y, unit = np.ascontiguousarray(X[known]), np.unique(units[known], return_inverse=True)[1].reshape(-1)
    free, left = FreeRecords(Y, keep_centroid=True), np.bincount(unit)
    own = np.full(len(Y), -1, np.int64)
    stamp, mark = np.zeros(len(left), np.int64), 0
    units_left, g, r = len(left), 0, -1
    while units_left >= k:
        r = free.farthest(free.centroid() if g % 2 == 0 else Y[r])
        members = np.empty(k, np.int64)
        members[0] = r
        kernels.nearest_units(free.tiles, Y, unit, len(free), stamp, mark, members)
        mark += 64  # more often than it can look further
        own[members] = g
        left[unit[members]] -= 1
        units_left -= int(np.count_nonzero(left[unit[members]] == 0))
        free.take(members)
        g += 1
    labels = np.full(len(X), -1, np.int64)
    labels[known] = own
    _join_nearest_centroid(X, labels)
    return labels


def _join_nearest_centroid(X: Floats, labels: Ints) -> None:
    """Put the records of no group into that whose centroid, before they come, is nearest."""
    rest = np.flatnonzero(labels < 0)
    if len(rest):
        groups = FreeRecords(centroids(X, labels))
        nearest = np.empty(len(rest), np.int64)
        kernels.nearest_each(groups.tiles, np.ascontiguousarray(X[rest]), nearest)
        labels[rest] = nearest
        done(len(rest))


def groups_of_units(X: Floats, k: int, units: Ints, effort: str, rng: np.random.Generator, limits: Limits) -> Found:
    """Groups of at least k different units: `mdav_of_units`, and local search as far as `effort` says."""
    labels = mdav_of_units(X, k, units)
    chosen: dict[str, Any] = {"method": "mdav"}
    if effort != "none":
        found = refine(X, labels, k, effort=effort, rng=rng, limits=limits, units=units)
        labels = found.labels
        chosen |= {"refine": effort, "steps": found.steps}
    return Found(labels, chosen)
