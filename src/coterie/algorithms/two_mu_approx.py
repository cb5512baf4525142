"""2-mu-Approx, for k = 2: the groups are the components of a minimum weight [1,2]-factor.

Source: Domingo-Ferrer, Sebé (2006), Optimal multivariate 2-microaggregation for microdata protection: a
2-approximation, Privacy in Statistical Databases, LNCS 4302.

Equal records need no program: c >= 2 of them can always be grouped among themselves at no weight, in pairs and at most
one triple, and take in up to 2c others, one or two each. If fewer than c come, the rest pair off; if one is left over,
it joins a group of two. So the factor of all records weighs what that of the distinct ones does in which such a point
may be left alone and may have a degree of up to 2c.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..progress import done
from .guarantee import Guarantee
from .neighbours import Neighbours
from .registry import Found
from .two_factor.factor import Factor, minimum_factor
from .two_factor.stars import squared_lengths

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def two_mu_approx(X: Floats, k: int) -> Found:
    """The components of a minimum weight [1,2]-factor of the complete graph, with squared distances as weights."""
    assert k == 2
    n, p = X.shape
    first, point, copies = _distinct(X)
    done(n - len(first))
    if np.any(copies == 1):
        Z, exponent = _scaled(X[first], copies)
        factor = minimum_factor(Z, copies)
        edges = factor.edges[np.argsort(squared_lengths(Z, factor.edges), kind="stable")]
    else:
        exponent, edges = 0, np.empty((0, 2), np.int64)
        factor = Factor(edges)
        done(len(first))
    labels = _labels(edges, point, copies)
    assert set(np.bincount(labels).tolist()) <= {2, 3}
    bound = math.ldexp(max(0.0, factor.lower_bound), -2 * exponent)
    proof = {
        "weight": math.ldexp(factor.weight, -2 * exponent),
        "lower_bound": bound,
        "cuts": factor.cuts,
        "edges": factor.lp_edges,
        "edges_priced": _pairs(copies) if np.any(copies == 1) else 0,
        "rounds": factor.rounds,
        "branches": factor.branches,
    }
    why = "Domingo-Ferrer & Sebé 2006, theorem 1"
    below = bound / 2.0 * (1.0 - 2.0**-51 * (p + 2))  # no more than with distances that were not rounded
    return Found(labels, {}, Guarantee(2.0, why, lower_bound=below, proof=proof))


def _pairs(copies: Ints) -> int:
    """The pairs of distinct records of which one at least needs an edge: all that a factor can be made of."""
    m, lone = len(copies), int((copies == 1).sum())
    return lone * (m - lone) + lone * (lone - 1) // 2


def _distinct(X: Floats) -> tuple[Ints, Ints, Ints]:
    """The first record of each set of equal ones, in order; each record's place among them; how many are equal."""
    _, first, point, copies = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[point.ravel()], copies[order]


def _scaled(X: Floats, copies: Ints) -> tuple[Floats, int]:
    """X times a power of two, and its exponent; lone records then lie at 1 or so, squared, from their nearest."""
    extent = float(np.max(X.max(axis=0) - X.min(axis=0)))
    exponent = -math.frexp(extent)[1]
    Z = np.ldexp(X, exponent)
    mean = math.fsum(Neighbours(Z).nearest(1).d2[copies == 1, 0].tolist()) / int((copies == 1).sum())
    more = min(500, -(math.frexp(mean)[1] // 2)) if mean > 0.0 else 0
    return np.ldexp(Z, more), exponent + more


def _labels(edges: Ints, point: Ints, copies: Ints) -> Ints:
    """The groups of all records: leaves join their centre, and equal records share their guests. Short edges first."""
    group = np.arange(len(point))  # one record of each one's group
    records = np.split(np.argsort(point, kind="stable"), np.cumsum(copies)[:-1])
    guests: dict[int, list[int]] = {v: [] for v in np.flatnonzero(copies > 1).tolist()}
    degree = np.bincount(edges.ravel(), minlength=len(copies))
    for u, v in edges.tolist():
        centre, leaf = (u, v) if copies[u] > 1 or (copies[v] == 1 and degree[u] > 1) else (v, u)
        if copies[centre] > 1:
            guests[centre].append(int(records[leaf][0]))
        else:
            group[records[leaf][0]] = records[centre][0]
    for host, came in guests.items():
        _seat(group, records[host].tolist(), came)
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _seat(group: Ints, equal: list[int], guests: list[int]) -> None:
    """Group equal records: with one or two guests each, as far as these go; the others in pairs and one triple."""
    for i, guest in enumerate(guests):
        group[guest] = equal[i % len(equal)]
    left = equal[len(guests) :]
    for i, record in enumerate(left):
        group[record] = left[min(i // 2 * 2, len(left) - 2 - len(left) % 2)] if len(left) > 1 else equal[0]
