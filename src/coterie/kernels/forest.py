"""FOREST and DECOMPOSE-COMPONENT of mu-approx.

Sources: Domingo-Ferrer, Sebé, Solanas (2008), section 2, doi 10.1016/j.camwa.2007.04.034, after Aggarwal et al. (2005).

A tree's vertices are its records and Steiner vertices. A Steiner vertex stands where a record went to another tree; it
holds its neighbours together and counts for nothing. Its number is above those of all vertices before it. Every edge
was drawn by a record u of the forest and is known by that u: it has two halves, 2u and 2u + 1, one in the list of
each end; lists are kept in order of the neighbours' numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .nearest import nearest_outside
from .tiles import Tiles
from .tree import NOBODY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Growing(NamedTuple):
    """The components while FOREST joins them."""

    part: Ints  # (n,): a record's component
    size: Ints  # (n,): a component's size
    root: Ints  # (n,): a component's one record without an edge of its own
    ring: Ints  # (n,): the next record of the same component, round and round
    edge: Ints  # (n,): where a record's own edge leads; -1 without one
    d2: Floats  # (n,): its squared length


class Trees(NamedTuple):
    """The trees while DECOMPOSE-COMPONENT cuts them; v vertices, Steiner vertices included."""

    head: Ints  # (v,): a vertex's first half-edge; -1 without one
    next: Ints  # (2n,): the half-edge after this one in its vertex's list
    to: Ints  # (2n,): where it leads
    parent: Ints  # (v,): towards the vertex that the walk began at
    size: Ints  # (v,): records in the subtree away from there
    walk: Ints  # (v,): the vertices in the order of the walk
    moves: NDArray[np.bool_]  # (v,): neighbours to be handed over


@kernel
def grow(tiles: Tiles, X: Floats, k: int, order: Ints, whole: Ints, forest: Growing) -> None:
    """FOREST: while a record's component is smaller than k, its root draws an edge to its nearest record outside.

    That is one of the root's k - 1 nearest: at most k - 2 others are inside.
    """
    part, size, root, ring, edge, d2 = forest
    for x in order:
        while size[part[x]] < k:
            u = root[part[x]]
            v, length = nearest_outside(tiles, X, u, part, whole, np.inf, NOBODY)
            edge[u] = v
            d2[u] = length
            joined = part[v]
            size[joined] += size[part[u]]
            y = u
            while part[y] != joined:
                part[y] = joined
                y = ring[y]
            ring[u], ring[v] = ring[v], ring[u]


@kernel
def plant(edge: Ints, trees: Trees) -> None:
    """Put both halves of every edge into the lists of their ends, in order of the neighbours' numbers."""
    head, after, to = trees.head, trees.next, trees.to
    n = edge.shape[0]
    rough = np.full(n, -1)
    link = np.full(2 * n, -1)
    for u in range(n):
        if edge[u] >= 0:
            to[2 * u], to[2 * u + 1] = edge[u], u
            link[2 * u], rough[u] = rough[u], 2 * u
            link[2 * u + 1], rough[edge[u]] = rough[edge[u]], 2 * u + 1
    for y in range(n - 1, -1, -1):  # the highest neighbour first: each new one goes to the front
        h = rough[y]
        while h >= 0:
            x = to[h]
            after[h ^ 1], head[x] = head[x], h ^ 1
            h = link[h]


@kernel
def _walk(trees: Trees, start: int, n: int) -> int:
    """Walk a tree from `start`: parents and sizes. Give the number of its vertices."""
    head, after, to, parent, size, walk, _ = trees
    walk[0], parent[start], count, i = start, -1, 1, 0
    while i < count:
        x = walk[i]
        size[x] = 1 if x < n else 0
        h = head[x]
        while h >= 0:
            if to[h] != parent[x]:
                parent[to[h]] = x
                walk[count] = to[h]
                count += 1
            h = after[h]
        i += 1
    for i in range(count - 1, 0, -1):
        size[parent[walk[i]]] += size[walk[i]]
    return count


@kernel
def _beyond(trees: Trees, s: int, u: int, y: int) -> int:
    """Give the size of the subtree at u's neighbour y, seen from u."""
    return int(trees.size[y] if trees.parent[y] == u else s - trees.size[u])


@kernel
def _largest(trees: Trees, s: int, u: int) -> tuple[int, int]:
    """Give the neighbour of u with the largest subtree, the lowest of equal ones, and that size."""
    best, most = -1, -1
    h = trees.head[u]
    while h >= 0:
        y = trees.to[h]
        if _beyond(trees, s, u, y) > most:
            best, most = y, _beyond(trees, s, u, y)
        h = trees.next[h]
    return best, most


@kernel
def _unlink(trees: Trees, x: int, y: int) -> int:
    """Take the half-edge to y out of x's list and give it."""
    head, after, to = trees.head, trees.next, trees.to
    h, before = head[x], -1
    while to[h] != y:
        before, h = h, after[h]
    if before < 0:
        head[x] = after[h]
    else:
        after[before] = after[h]
    return int(h)


@kernel
def _exchange(trees: Trees, y: int, a: int, steiner: int) -> None:
    """Let a Steiner vertex, of a number above all others, replace a among y's neighbours: it comes last."""
    head, after = trees.head, trees.next
    other = _unlink(trees, y, a)
    trees.to[other], after[other] = steiner, -1
    tail, g = -1, head[y]
    while g >= 0:
        tail, g = g, after[g]
    if tail < 0:
        head[y] = other
    else:
        after[tail] = other


@kernel
def _hand_over(trees: Trees, a: int, steiner: int) -> None:
    """Let a Steiner vertex of the highest number take those neighbours of a whose `moves` is set; unset it."""
    head, after, to, _, _, _, moves = trees
    h, kept, handed = head[a], -1, -1
    head[a], head[steiner] = -1, -1
    while h >= 0:
        y, following = to[h], after[h]
        after[h] = -1
        if moves[y]:
            moves[y] = False
            if handed < 0:
                head[steiner] = h
            else:
                after[handed] = h
            handed = h
            _exchange(trees, y, a, steiner)
        else:
            if kept < 0:
                head[a] = h
            else:
                after[kept] = h
            kept = h
        h = following


@kernel
def _gather(trees: Trees, s: int, u: int, k: int, n: int) -> bool:
    """Step 4d, and where a Steiner vertex is the candidate: mark the neighbours that leave u.

    Subtrees are collected until they hold k - 1 records, to which u comes, or k if u is a Steiner vertex. False if the
    rest would be too small.
    """
    own = 1 if u < n else 0
    collected = 0
    h = trees.head[u]
    while h >= 0 and collected < k - own:
        collected += _beyond(trees, s, u, trees.to[h])
        h = trees.next[h]
    rest = s - own - collected
    if rest < k - own:
        return False
    with_rest = own == 1 and rest == k - 1  # there u is needed
    g = trees.head[u]
    collecting = True
    while g >= 0:
        if g == h:
            collecting = False
        trees.moves[trees.to[g]] = collecting == with_rest
        g = trees.next[g]
    return True


@kernel
def _split(trees: Trees, s: int, u: int, k: int, n: int, steiner: int) -> tuple[int, int]:
    """Steps 3 to 5: cut a walked tree of s records in two, from candidate u on.

    Give a vertex of each part; `steiner` is the number for a new Steiner vertex. The second is -1 if it can't be cut.
    """
    while True:
        v, phi = _largest(trees, s, u)
        # step 5; and where v, which should complete the rest, is a Steiner vertex that counts for nothing
        if s - phi >= k - 1 and not (s - phi == k - 1 and v >= n):
            break
        u = v
    if phi >= k and s - phi >= k:  # step 4a
        _unlink(trees, u, v)
        _unlink(trees, v, u)
        return u, v
    at = u
    if s - phi == k - 1 or (phi == k - 1 and u < n):
        at, stays = (v, u) if s - phi == k - 1 else (u, v)  # steps 4b and 4c: all neighbours but one leave
        h = trees.head[at]
        while h >= 0:
            trees.moves[trees.to[h]] = trees.to[h] != stays
            h = trees.next[h]
    elif not _gather(trees, s, u, k, n):  # step 4d
        return u, -1
    _hand_over(trees, at, steiner)
    return at, steiner


@kernel
def _cut_star(trees: Trees, s: int, hub: int, k: int, steiner: int) -> int:
    """Do at once what `_split` would do again and again to a walked tree of s records about a Steiner vertex.

    Where no branch at the hub holds k records, every candidate leads to the hub, which keeps branches until they hold k
    (step 4d) and hands the rest to a new Steiner vertex. Record by record, a star of many equal records would take
    quadratic time. Gives the number of new Steiner vertices.
    """
    head, after, to, _, size, _, _ = trees
    h = head[hub]
    while h >= 0:
        if size[to[h]] >= k:
            return 0
        h = after[h]
    h, at, collected, made = head[hub], hub, 0, 0
    while h >= 0:
        following = after[h]
        collected += size[to[h]]
        if at != hub:
            _exchange(trees, to[h], hub, at)
        if collected >= k and s > max(2 * k - 1, 3 * k - 5) and s - collected >= k:
            s -= collected
            after[h] = -1
            at = steiner + made
            head[at] = following
            made += 1
            collected = 0
        h = following
    return made


@kernel
def decompose(
    k: int, rank: Ints, lengths: Floats, trees: Trees, tree: Ints, cost: Floats, edges: Ints
) -> tuple[int, int]:
    """DECOMPOSE-COMPONENT: number the final trees in `tree`, with their cost and number of edges.

    Candidates are the records of lowest rank. Gives the number of trees, and of those left too large because of a
    Steiner vertex.
    """
    n, most = tree.shape[0], max(2 * k - 1, 3 * k - 5)
    steiner, count, too_large = n, 0, 0
    stack = np.empty(n // k + 2, np.int64)
    tree[:] = -1
    for x in range(n):
        if tree[x] >= 0:
            continue
        stack[0] = x
        top = 1
        while top > 0:
            top -= 1
            vertices = _walk(trees, stack[top], n)
            s = trees.size[stack[top]]
            made = _cut_star(trees, s, stack[top], k, steiner) if s > most and stack[top] >= n else 0
            if made:
                for i in range(made):
                    stack[top + 1 + i] = steiner + i
                steiner += made
                top += made + 1
                continue
            second = -1
            if s > most:
                u = -1
                for y in trees.walk[:vertices]:
                    if y < n and (u < 0 or rank[y] < rank[u]):
                        u = y
                stack[top], second = _split(trees, s, u, k, n, steiner)
                too_large += second < 0
                steiner += second == steiner
            if second >= 0:
                stack[top + 1] = second
                top += 2
                continue
            edges[count] = vertices - 1
            cost[count] = 0.0
            for y in trees.walk[:vertices]:
                if y < n:
                    tree[y] = count
                h = trees.head[y]
                while h >= 0:
                    cost[count] += 0.5 * lengths[h >> 1]  # seen from both of its ends
                    h = trees.next[h]
            count += 1
    return count, too_large
