"""Odd-set cuts: what every factor satisfies and a fractional solution of the linear program does not.

Every record v must have a degree of at least 1 (those that stand for several equal records: 0) and at most b(v), which
is even. Add up the first for the records of a set L with |L| odd, subtract the second for those of a set U, halve, and
round the coefficients and then the right-hand side up: with S = L + U, every factor satisfies

    sum over edges uv of ([u in L] + [v in L] - [u and v in S]) x(uv)  >=  (|L| + 1 - b(U)) / 2.

These cuts are all it takes to describe the factors (Edmonds and Johnson 1970). One is violated where the slack of its
degree rows and the weight of the edges between S and the rest sum to less than 1. That is an odd cut of weight below 1
in a graph: v has a twin, v-twin weighs degree - 1, twin-root weighs 2 - degree, both are odd; v with its twin on the
side without the root means v in U, v without it v in L. A Gomory-Hu tree finds a least odd cut (Padberg and Rao 1982).
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Graph = dict[int, dict[int, float]]

_EPS = 1e-7  # a weight below it counts as 0
_LEAST = 1e-4  # cuts violated by less are left alone


class Cut(NamedTuple):
    """An odd set: its records, ascending; which of them are in L; the right-hand side."""

    inside: Ints
    lower: NDArray[np.bool_]
    rhs: float


def odd_cuts(edges: Ints, x: Floats, low: Ints, high: Ints) -> list[Cut]:
    """Cuts that x violates, one or more for each knot of fractional edges where there is one.

    edges (e, 2) are those with x > 0; low and high bound the records' degrees.
    """
    network = _Network(edges, x, low, high)
    cuts = []
    for nodes in network.knots():
        sides = _whole(network, nodes) or _least_odd_cuts(network, nodes)
        cuts += [network.cut(side) for side in sides]
    return [cut for cut in cuts if cut is not None]


def wide_cuts(edges: Ints, x: Floats, low: Ints, high: Ints) -> list[Cut]:
    """Cuts that x violates, each of all records that hang together with a fractional edge.

    edges are those of reduced cost 0, all of them. Where many factors weigh about the same, a cut of few records only
    moves the fractions elsewhere, at no price; out of these sets, no edge leads without one.
    """
    n = len(low)
    degree = np.bincount(edges.ravel(), np.repeat(x, 2), n)
    slack = np.where(low == 1, np.minimum(np.abs(degree - 1.0), np.abs(2.0 - degree)), high - degree)
    cuts = []
    for inside in _components(edges, np.unique(edges[(x > _EPS) & (x < 1.0 - _EPS)]), n):
        records = inside[slack[inside] < 0.5]
        member = np.zeros(n, bool)
        member[records] = True
        across = float(x[member[edges[:, 0]] != member[edges[:, 1]]].sum())
        lower = (low[records] == 1) & (degree[records] < 1.5)
        if lower.sum() % 2 == 1 and across + float(slack[records].sum()) < 1.0 - 2 * _LEAST:
            upper = int(high[records[~lower]].sum())
            cuts.append(Cut(records, lower, float((int(lower.sum()) + 1 - upper) // 2)))
    return cuts


def _components(edges: Ints, seeds: Ints, n: int) -> list[Ints]:
    """The connected components, ascending, of the graph that hold a seed."""
    order = np.argsort(edges.ravel(), kind="stable")
    first = np.searchsorted(edges.ravel()[order], np.arange(n + 1)).tolist()
    across = edges[:, ::-1].ravel()[order].tolist()
    out, seen = [], set()
    for seed in seeds.tolist():
        if seed in seen:
            continue
        seen.add(seed)
        component = [seed]
        for a in component:
            for b in across[first[a] : first[a + 1]]:
                if b not in seen:
                    seen.add(b)
                    component.append(b)
        out.append(np.array(sorted(component), np.int64))
    return out


class _Network:
    """The graph in which odd cuts are sought. What no cut below 1 can part is one node; the root is node -1."""

    def __init__(self, edges: Ints, x: Floats, low: Ints, high: Ints) -> None:
        self._n, self._high = len(low), high
        self._up: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self.weight: Graph = {}
        degree = np.bincount(edges.ravel(), np.repeat(x, 2), self._n)
        near = _near_fractions(edges, x, self._n)
        kept = near[edges[:, 0]]
        links = [(u, v, w) for (u, v), w in zip(edges[kept].tolist(), x[kept].tolist(), strict=True)]
        for v in np.flatnonzero(near).tolist():
            links += self._twin(v, float(degree[v]), bool(low[v]))
        for a, b, w in links:
            if w >= 1.0 - _EPS:
                self._join(a, b)
        for a, b, w in links:
            if _EPS < w < 1.0 - _EPS:
                self._add(self._find(a), self._find(b), w)
        for v in np.flatnonzero(near).tolist():
            for a in (v, self._n + v):
                self._members.setdefault(self._find(a), []).append(a)

    def _twin(self, v: int, degree: float, single: bool) -> list[tuple[int, int, float]]:
        """The links of record v with its twin n + v and the root; where v may have degree 0, v and its twin are one."""
        if single:
            return [(v, self._n + v, degree - 1.0), (self._n + v, -1, 2.0 - degree)]
        return [(v, self._n + v, 1.0), (v, -1, float(self._high[v]) - degree)]

    def _find(self, a: int) -> int:
        up = self._up
        while (b := up.get(a, a)) != a:
            up[a] = a = up.get(b, b)
        return a

    def _join(self, a: int, b: int) -> None:
        a, b = self._find(a), self._find(b)
        self._up[max(a, b)] = min(a, b)  # the root stays -1

    def _add(self, a: int, b: int, w: float) -> None:
        if a != b:
            for s, t in ((a, b), (b, a)):
                to = self.weight.setdefault(s, {})
                to[t] = to.get(t, 0.0) + w

    def odd(self, node: int) -> bool:
        """Whether a node stands for an odd number of records and twins."""
        return len(self._members[node]) % 2 == 1

    def knots(self) -> list[list[int]]:
        """The connected parts of the graph without the root."""
        out, seen = [], {-1}
        for first in self.weight:
            if first in seen:
                continue
            seen.add(first)
            knot = [first]
            for a in knot:
                fresh = [b for b in self.weight[a] if b not in seen]
                seen.update(fresh)
                knot += fresh
            out.append(knot)
        return out

    def cut(self, side: list[int]) -> Cut | None:
        """The cut of a set of nodes; None if it is none after all."""
        n = self._n
        inside = {m for node in side for m in self._members[node]}
        records = sorted(m for m in inside if m < n)
        lower = np.array([n + v not in inside for v in records], bool)
        if lower.sum() % 2 == 0:
            return None
        upper = int(self._high[[v for v in records if n + v in inside]].sum())
        return Cut(np.array(records, np.int64), lower, float((int(lower.sum()) + 1 - upper) // 2))


def _near_fractions(edges: Ints, x: Floats, n: int) -> NDArray[np.bool_]:
    """Which records hang together with a fractional edge."""
    near = np.zeros(n, bool)
    near[edges[x < 1.0 - _EPS].ravel()] = True
    while len(border := edges[near[edges[:, 0]] != near[edges[:, 1]]]):
        near[border.ravel()] = True
    return near


def _whole(network: _Network, nodes: list[int]) -> list[list[int]]:
    """The whole knot, if that is an odd cut below 1."""
    out = sum(network.weight[a].get(-1, 0.0) for a in nodes)
    odd = sum(network.odd(a) for a in nodes) % 2
    return [nodes] if odd and out < 1.0 - 2 * _LEAST else []


def _least_odd_cuts(network: _Network, nodes: list[int]) -> list[list[int]]:
    """Odd cuts below 1 in a knot, the least among them: from a Gomory-Hu tree, built as in Gusfield 1990."""
    every = [-1, *nodes]
    place = {a: i for i, a in enumerate(every)}
    near = [{place[b]: w for b, w in network.weight.get(a, {}).items() if b in place} for a in every]
    parent, flow = [0] * len(every), [0.0] * len(every)
    for s in range(1, len(every)):
        t = parent[s]
        value, side = _least_cut(near, s, t)
        flow[s] = value
        for i in side:
            if i != s and parent[i] == t:
                parent[i] = s
        if parent[t] in side:
            parent[s], parent[t] = parent[t], s
            flow[s], flow[t] = flow[t], value
    below: list[list[int]] = [[] for _ in every]
    for i in range(1, len(every)):
        below[parent[i]].append(i)
    out = []
    for i in range(1, len(every)):
        if flow[i] < 1.0 - 2 * _LEAST:
            side_of_i = [i]
            for a in side_of_i:
                side_of_i += below[a]
            if sum(network.odd(every[a]) for a in side_of_i) % 2:
                out.append([every[a] for a in side_of_i])
    return out


def _least_cut(near: list[dict[int, float]], s: int, t: int) -> tuple[float, set[int]]:
    """The value of a greatest flow from s to t, and what s still reaches then; every path is a shortest one."""
    left = [dict(to) for to in near]
    total = 0.0
    while True:
        back = {s: s}
        queue = deque([s])
        while queue and t not in back:
            a = queue.popleft()
            for b, w in left[a].items():
                if w > _EPS and b not in back:
                    back[b] = a
                    queue.append(b)
        if t not in back:
            return total, set(back)
        path = [t]
        while path[-1] != s:
            path.append(back[path[-1]])
        step = min(left[a][b] for b, a in pairwise(path))
        for b, a in pairwise(path):
            left[a][b] -= step
            left[b][a] = left[b].get(a, 0.0) + step
        total += step
