"""Exact pricing: the group of k to 2k - 1 records of the least reduced cost around each record.

Under prices pi of the records and sigma >= 0 of subset-row cuts, a group S of s records has the reduced cost

    sum over pairs of d2 / s  -  sum of pi  +  sum over cuts C of sigma(C) floor(|S and C| / 2).

Its first two terms are the sum of f_i(S) = (sum over j of d2(i, j)) / 2s - pi(i) over the records i of S. So some i,
the anchor, has f_i(S) <= cost / s, and S lies in a small ball around it. A depth-first search through that ball bounds
what is missing record by record: its distances to those taken, and half of those to its nearest candidates (the bound
of Gilmore and Lawler for quadratic assignment).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .price_balls import Asked, Ball, Prices, Space, fill, floor_of, keep_least, reachable, room_for

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CLOSE_LOOK = 8  # among so few candidates, their nearest ones are found anew: it takes as long as some nodes
_ROOM = 64  # candidates, for a start
_MOST = 4500  # candidates of a search: of more, the matrix of distances takes too much memory


class _Tree(NamedTuple):
    """The depth-first search: at each depth, the candidates that are left, the most promising first."""

    cand: Ints  # (s, c)
    to_taken: Floats  # (s, c): sums of distances to those taken
    value: Floats  # (s, c): what a candidate adds at least
    left: Ints  # (s,): how many
    next: Ints  # (s,)
    taken: Ints  # (s,)
    pairs: Floats  # (s + 1,): sum of the distances between those taken, at each depth
    paid: Floats  # (s + 1,): their prices
    star: Floats  # (s + 1,): their distances to the anchor
    fine: Floats  # (s + 1,): the cuts' prices
    least: Floats  # (s,): scratch
    met: Ints  # (cuts,): how many of those taken are in each cut


class Found(NamedTuple):
    """Groups and their reduced costs: room for them."""

    cost: Floats
    group: Ints
    size: Ints  # how many records each group has, or 0
    every: bool  # whether every group is wanted, or the least alone


@kernel
def _tree(s: int, c: int, met: Ints) -> _Tree:
    """Room for a search among c candidates."""
    return _Tree(
        np.empty((s, c), np.int64),
        np.empty((s, c)),
        np.empty((s, c)),
        np.zeros(s, np.int64),
        np.zeros(s, np.int64),
        np.zeros(s, np.int64),
        np.zeros(s + 1),
        np.zeros(s + 1),
        np.zeros(s + 1),
        np.zeros(s + 1),
        np.empty(s),
        met,
    )


@kernel
def _sort(cand: Ints, to_taken: Floats, value: Floats, c: int) -> None:
    """Sort candidates by value (Shell's sort)."""
    gap = 1
    while gap < c // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for a in range(gap, c):
            v, r, j = value[a], to_taken[a], cand[a]
            b = a
            while b >= gap and value[b - gap] > v:
                value[b], to_taken[b], cand[b] = value[b - gap], to_taken[b - gap], cand[b - gap]
                b -= gap
            value[b], to_taken[b], cand[b] = v, r, j
        gap //= 3


@kernel
def _fine(prices: Prices, met: Ints, x: int) -> float:
    """What the cuts charge for one more record."""
    total = 0.0
    for z in range(prices.start[x], prices.start[x + 1]):
        if met[prices.member[z]] & 1:
            total += prices.sigma[prices.member[z]]
    return total


@kernel
def _meet(prices: Prices, met: Ints, x: int, step: int) -> None:
    """Count a record in its cuts, or no longer."""
    for z in range(prices.start[x], prices.start[x + 1]):
        met[prices.member[z]] += step


@kernel
def _promising(tree: _Tree, t: int, missing: int, base: float, best: float, c: int) -> int:
    """Keep the candidates with which a group may cost less than `best`; give their number."""
    cand, to_taken, value, least = tree.cand[t], tree.to_taken[t], tree.value[t], tree.least
    least[:missing] = np.inf
    for q in range(c):
        keep_least(least, missing - 1, value[q])
    for z in range(missing - 1):
        base += least[z]
    kept = 0
    for q in range(c):
        if base + value[q] < best:
            cand[kept], to_taken[kept], value[kept] = cand[q], to_taken[q], value[q]
            kept += 1
    return kept


@kernel
def _close_look(tree: _Tree, ball: Ball, t: int, missing: int, half: float, c: int) -> None:
    """Raise the candidates' values: by their distances to those that still are candidates, not to any record.

    On entry, the values hold no such distances.
    """
    cand, value, least = tree.cand[t], tree.value[t], tree.least
    for q in range(c):
        least[:missing] = np.inf
        row = ball.d2[cand[q]]
        for w in range(c):
            if w != q:
                keep_least(least, missing - 1, row[cand[w]])
        for z in range(missing - 1):
            value[q] += least[z] * half


@kernel
def _narrow(tree: _Tree, ball: Ball, t: int, missing: int, half: float, base: float, best: float, c: int) -> int:
    """Drop candidates, at depth t, that cannot be in a group below `best`; sort the others; give their number."""
    cand, to_taken, value, within = tree.cand[t], tree.to_taken[t], tree.value[t], ball.within
    if c < missing:
        return c
    for q in range(c):
        value[q] += within[cand[q], missing - 1] * half
    c = _promising(tree, t, missing, base, best, c)
    if c >= missing and c <= _CLOSE_LOOK and missing > 1:
        for q in range(c):
            value[q] -= within[cand[q], missing - 1] * half
        _close_look(tree, ball, t, missing, half, c)
        c = _promising(tree, t, missing, base, best, c)
    if c >= missing:
        _sort(cand, to_taken, value, c)
    return c


@kernel
def _bound(tree: _Tree, s: int, t: int) -> float:
    """No group that continues at depth t, with a candidate that was not tried there yet, costs less."""
    a = tree.next[t]
    if a + s - t > tree.left[t]:
        return np.inf
    b: float = tree.pairs[t] / s - tree.paid[t] + tree.fine[t]
    for q in range(a, a + s - t):
        b += tree.value[t, q]
    return b


@kernel
def _is_anchor(tree: _Tree, ball: Ball, s: int) -> bool:
    """Whether local record 0 has the least f of all; of equal ones, the lowest index."""
    first = 0.0
    for u in range(s):
        star = 0.0
        for w in range(s):
            star += ball.d2[tree.taken[u], tree.taken[w]]
        f = star / (2 * s) - ball.price[tree.taken[u]]
        if u == 0:
            first = f
        elif f < first or (f == first and ball.record[tree.taken[u]] < ball.record[0]):
            return False
    return True


@kernel
def _finish(
    tree: _Tree, ball: Ball, prices: Prices, s: int, a: int, best: float, out: Found, hits: int
) -> tuple[float, int]:
    """Complete a group of s - 1 records by one of the candidates that were left when the last of these was taken."""
    t = s - 1  # taken so far
    depth = max(1, t - 1)  # where the candidates stand, from place a on
    base = tree.pairs[t] / s - tree.paid[t] + tree.fine[t]
    reach = 2 * (s * ball.price[0] + best) - tree.star[t]
    row, star = ball.d2[tree.taken[t - 1]], ball.d2[0]
    for q in range(a, tree.left[depth]):
        y = tree.cand[depth, q]
        v = base + (tree.to_taken[depth, q] + row[y]) / s - ball.price[y]
        if v >= best or star[y] > reach:
            continue
        v += _fine(prices, tree.met, ball.record[y])
        if v >= best:
            continue
        tree.taken[t] = y
        if out.every and not _is_anchor(tree, ball, s):
            continue
        if not out.every:
            best, hits = v, 0
        elif hits >= out.cost.shape[0]:
            return best, hits + 1
        out.cost[hits] = v
        for u in range(s):
            out.group[hits, u] = ball.record[tree.taken[u]]
        hits += 1
    return best, hits


@kernel
def _take(tree: _Tree, ball: Ball, prices: Prices, s: int, t: int, best: float) -> int:
    """Take the next candidate at depth t; give the number of candidates that are left, at depth t + 1."""
    a = tree.next[t]
    tree.next[t] = a + 1
    j = tree.cand[t, a]
    tree.taken[t] = j
    tree.pairs[t + 1] = tree.pairs[t] + tree.to_taken[t, a]
    tree.paid[t + 1] = tree.paid[t] + ball.price[j]
    tree.star[t + 1] = tree.star[t] + ball.d2[0, j]
    tree.fine[t + 1] = tree.fine[t] + _fine(prices, tree.met, ball.record[j])
    _meet(prices, tree.met, ball.record[j], 1)
    if t + 2 == s:
        return 0
    base = tree.pairs[t + 1] / s - tree.paid[t + 1] + tree.fine[t + 1]
    reach = 2 * (s * ball.price[0] + best) - tree.star[t + 1]
    row, star = ball.d2[j], ball.d2[0]
    c = 0
    for q in range(a + 1, tree.left[t]):
        y = tree.cand[t, q]
        if star[y] <= reach:
            r = tree.to_taken[t, q] + row[y]
            tree.cand[t + 1, c] = y
            tree.to_taken[t + 1, c] = r
            tree.value[t + 1, c] = r / s - ball.price[y] + 0.5 * _fine(prices, tree.met, ball.record[y])
            c += 1
    return _narrow(tree, ball, t + 1, s - t - 1, 0.5 / s, base, best, c)


@kernel
def _search(
    tree: _Tree, ball: Ball, prices: Prices, s: int, c: int, best: float, most: int, out: Found
) -> tuple[float, int, int]:
    """Find the group of s records around the anchor that costs least, or every one below `best`.

    The c candidates stand at depth 1. Gives what no group costs less than, or `best`; the nodes; the groups found, more
    than fit into `out` if the search was given up for that.
    """
    nodes = hits = 0
    tree.taken[0] = 0
    tree.pairs[1] = tree.star[1] = tree.fine[1] = 0.0
    tree.paid[1] = ball.price[0]
    _meet(prices, tree.met, ball.record[0], 1)
    for q in range(c):
        j = tree.cand[1, q]
        tree.to_taken[1, q] = 0.0 if s == 2 else ball.d2[0, j]
        tree.value[1, q] = ball.d2[0, j] / s - ball.price[j] + 0.5 * _fine(prices, tree.met, ball.record[j])
    tree.left[1] = _narrow(tree, ball, 1, s - 1, 0.5 / s, -ball.price[0], best, c)
    tree.next[1] = 0
    if s == 2:
        best, hits = _finish(tree, ball, prices, s, 0, best, out, hits)
    t = 1 if s > 2 else 0
    while t >= 1:
        if _bound(tree, s, t) >= best:
            t -= 1
        elif nodes >= most or hits > out.cost.shape[0]:
            for u in range(t, 0, -1):
                best = min(best, _bound(tree, s, u))
                _meet(prices, tree.met, ball.record[tree.taken[u - 1]], -1)
            return best, nodes, hits
        else:
            nodes += 1
            left = _take(tree, ball, prices, s, t, best)
            if t + 2 == s:
                best, hits = _finish(tree, ball, prices, s, tree.next[t], best, out, hits)
            elif left >= s - t - 1:
                t += 1
                tree.left[t] = left
                tree.next[t] = 0
                continue
        _meet(prices, tree.met, ball.record[tree.taken[t]], -1)  # it was tried
    if s == 2:
        _meet(prices, tree.met, ball.record[0], -1)
    return best, nodes, hits


@kernel
def _candidates(tree: _Tree, ball: Ball, c: int, s: int, best: float) -> int:
    """Put at depth 1 who of c others may be with the anchor in a group of s below `best`; give their number."""
    reach = 2 * (s * ball.price[0] + best) - ball.within[0, s - 2]
    near = 0
    for b in range(1, c + 1):
        if ball.d2[0, b] <= reach:
            tree.cand[1, near] = b
            near += 1
    return near


@kernel
def price_out(space: Space, prices: Prices, asked: Asked, anchors: Ints, least: Floats, out: Found) -> tuple[int, int]:
    """Find, for each anchor and size, the group of the least reduced cost below what is asked for, or every one.

    least : (a,), gets what no group around the anchor costs less than (among those searched); at most asked.below.
    out : gets the groups; for the least ones, that of anchor a and size s at row a k + s - k.
    Gives the nodes and, for every group, how many there are: more than there is room for if that was not enough.
    """
    k, top, best, most, every = asked.k, asked.top, asked.below, asked.most, out.every
    n = space.X.shape[0]
    others = np.empty(n, np.int64)
    met = np.zeros(prices.sigma.shape[0], np.int64)
    room, total, m = _ROOM, 0, 0
    ball, tree = room_for(space, room), _tree(top, room, met)
    for a in range(anchors.shape[0]):
        i = anchors[a]
        least[a] = best
        c = reachable(space, prices, asked, i, others)
        if c < k - 1:
            continue
        if c > _MOST:
            least[a] = floor_of(space, prices, asked, i, others[:c])
            if every:
                return total, out.cost.shape[0] + 1
            continue
        if c >= room:
            room = 2 * c
            ball, tree = room_for(space, room), _tree(top, room, met)
        fill(ball, space, prices, i, others[:c])
        for s in range(k, min(top, c + 1) + 1):
            row = m if every else a * k + s - k
            end = out.cost.shape[0] if every else row + 1
            into = Found(out.cost[row:end], out.group[row:end], out.size[row:end], every)
            inside = _candidates(tree, ball, c, s, best)
            left = most - total if every else most
            low, nodes, hits = _search(tree, ball, prices, s, inside, best, left, into)
            least[a] = min(least[a], low)
            total += nodes
            if every and (total >= most or hits > end - row):
                return total, end + 1
            out.size[row : row + hits] = s
            m += hits
    return total, m
