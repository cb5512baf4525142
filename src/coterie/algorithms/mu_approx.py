"""mu-Approx: trees of near records, cut into parts of k to max(2k - 1, 3k - 5), and large parts split.

Source: Domingo-Ferrer, Sebé, Solanas (2008), A polynomial-time approximation to optimal multivariate microaggregation,
Computers & Mathematics with Applications 55(4), doi 10.1016/j.camwa.2007.04.034.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import forest
from ..progress import done, more
from .guarantee import Guarantee
from .neighbours import Neighbours
from .registry import Found
from .splitting import split_by_mdav1

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 2000  # records between two chances to interrupt


class Trees(NamedTuple):
    """The k-partition P of step 2."""

    part: Ints  # the tree of each record
    cost: Floats  # W(T), the sum of a tree's edges
    edges: Ints  # their number
    too_large: int  # trees above max(2k - 1, 3k - 5), which a Steiner vertex kept from being cut


def mu_approx(
    X: Floats,
    k: int,
    *,
    order: str,
    restarts: int,
    loss: Callable[[Ints], float],
    rng: np.random.Generator,
) -> Found:
    """The paper's three steps; of several starts, the first that loses least."""
    near = Neighbours(X)
    more(len(X) * (restarts - 1))
    best, least, proof = np.inf, None, 0.0
    for _ in range(restarts):
        everyone = np.arange(len(X))
        turns = (rng.permutation(everyone), rng.permutation(everyone)) if order == "random" else (everyone, everyone)
        trees = forest_of(near, k, *turns)
        labels = split_by_mdav1(X, trees.part, k)
        proof = max(proof, cost_per_edge(trees))  # every forest proves a bound, and all hold
        if least is None or loss(labels) < best:
            best, least = loss(labels), (labels, trees)
    assert least is not None
    return Found(least[0], {}, _guarantee(least[1], k, proof))


def forest_of(near: Neighbours, k: int, turn: Ints, candidates: Ints) -> Trees:
    """Steps 1 and 2: the procedures FOREST and DECOMPOSE-COMPONENT.

    The paper leaves it open which small component is next, and which vertex of a large one is the first candidate: here
    that of the record first in `turn`, and the record first in `candidates`.
    """
    n = len(turn)
    growing = forest.Growing(
        part=np.arange(n),
        size=np.ones(n, np.int64),
        root=np.arange(n),
        ring=np.arange(n),
        edge=np.full(n, -1),
        d2=np.zeros(n),
    )
    for a in range(0, n, _AT_ONCE):
        near.grow_forest(k, turn[a : a + _AT_ONCE], growing)
        done(len(turn[a : a + _AT_ONCE]))
    vertices = n + n // k + 1  # every cut gives a tree of k records more, and one Steiner vertex at most
    trees = forest.Trees(
        head=np.full(vertices, -1),
        next=np.full(2 * n, -1),
        to=np.full(2 * n, -1),
        parent=np.empty(vertices, np.int64),
        size=np.empty(vertices, np.int64),
        walk=np.empty(vertices, np.int64),
        moves=np.zeros(vertices, np.bool_),
    )
    forest.plant(growing.edge, trees)
    rank = np.empty(n, np.int64)
    rank[candidates] = np.arange(n)
    part, cost, edges = np.empty(n, np.int64), np.empty(n // k), np.empty(n // k, np.int64)
    count, too_large = forest.decompose(k, rank, np.sqrt(growing.d2), trees, part, cost, edges)
    return Trees(part, cost[:count], edges[:count], too_large)


def cost_per_edge(trees: Trees) -> float:
    """The sum of W(T)² / edges(T)."""
    return math.fsum(trees.cost**2 / np.maximum(1, trees.edges))


def least_sse(cost_per_edge: float, k: int) -> float:
    """Lemma 4, for a forest at hand: no partition into groups of at least k has a smaller SSE.

    Every edge was drawn by a record of its own and is no longer than the distance to that record's (k - 1)-th nearest
    neighbour; by lemma 7 the squares of these sum up to at most 2 (2k - 1) times the least SSE. Within a tree of e
    edges, W(T)² is at most e times the sum of their squares.
    """
    return cost_per_edge / (2 * (2 * k - 1)) * (1 - 1e-12)


def _guarantee(trees: Trees, k: int, cost_per_edge: float) -> Guarantee:
    """Theorems 1 and 2.

    A tree of m records has SSE <= (m - 1) / 2 W(T)², half of what lemma 3 says, since no two of them are farther apart
    than W(T). Steiner vertices can give a tree more edges than records, which the proof of lemma 4 leaves out; the half
    makes up for it. Where it does not, or where a tree could not be cut, the factor is larger than the paper's.
    """
    sizes = np.bincount(trees.part)
    most = max(2 * k - 1, 3 * k - 5)
    return Guarantee(
        factor=2 * (2 * k - 1) * max(most**2, float(np.max((sizes - 1) / 2 * trees.edges))),
        why="Domingo-Ferrer, Sebé & Solanas 2008, theorem 2",
        lower_bound=least_sse(cost_per_edge, k),
        factor_euclidean=(2 * k - 1) * max(most, int(sizes.max())),
        proof={
            "forest_cost": math.fsum(trees.cost**2),
            "forest_cost_per_edge": cost_per_edge,
            "trees": len(trees.cost),
            "largest_tree": int(sizes.max()),
            "trees_too_large": trees.too_large,
        },
    )
