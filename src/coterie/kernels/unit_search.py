"""Large-neighbourhood search under the rule that every group has k different units: see `search`.

A pool knows how many records of each unit its groups have. A record may leave a group, or be swapped, only where each
group keeps k units. Groups may be larger than 2k - 1: a unit with many records needs room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .search import (
    KICKED,
    PASSES,
    RESIZED,
    TINY,
    Pace,
    Partition,
    Pool,
    add_up,
    draw,
    gather,
    keep,
    least_of,
    measure,
    put,
    seed_of,
    uniform,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Units(NamedTuple):
    """The units of n records, and those of a pool of m records in h groups."""

    of: Ints  # (n,): the unit of each record, -1 where it is not known
    place: Ints  # (units,): the number that a unit has in the pool, or -1: all of them between two steps
    unit: Ints  # (m,): the unit of each record of the pool, numbered from 0 on, or -1
    often: Ints  # (h, m): how many records of a unit a group has
    kinds: Ints  # (h,): how many different units


@kernel
def _number(own: Units, pool: Pool, m: int) -> None:
    """Number the units of the pool."""
    seen = 0
    for a in range(m):
        u = own.of[pool.record[a]]
        if u >= 0 and own.place[u] < 0:
            own.place[u] = seen
            seen += 1
        own.unit[a] = own.place[u] if u >= 0 else -1
    for a in range(m):
        u = own.of[pool.record[a]]
        if u >= 0:
            own.place[u] = -1


@kernel
def _forget(own: Units, m: int, h: int) -> None:
    for j in range(h):
        own.kinds[j] = 0
        for u in range(m):
            own.often[j, u] = 0


@kernel
def _come(own: Units, j: int, u: int) -> None:
    """A record of unit u comes into group j."""
    if u >= 0:
        own.kinds[j] += own.often[j, u] == 0
        own.often[j, u] += 1


@kernel
def _go(own: Units, j: int, u: int) -> None:
    """A record of unit u leaves group j."""
    if u >= 0:
        own.often[j, u] -= 1
        own.kinds[j] -= own.often[j, u] == 0


@kernel
def _may_leave(own: Units, j: int, u: int, k: int) -> bool:
    """Whether group j keeps k units without a record of unit u."""
    return bool(own.kinds[j] - (u >= 0 and own.often[j, u] == 1) >= k)


@kernel
def _may_swap(own: Units, i: int, u: int, j: int, v: int, k: int) -> bool:
    """Whether both keep k units where i gives a record of unit u for one of unit v of group j."""
    if u == v:
        return True
    here = own.kinds[i] - (u >= 0 and own.often[i, u] == 1) + (v >= 0 and own.often[i, v] == 0)
    there = own.kinds[j] - (v >= 0 and own.often[j, v] == 1) + (u >= 0 and own.often[j, u] == 0)
    return bool(here >= k and there >= k)


@kernel
def _rebuild(pool: Pool, own: Units, m: int, h: int, pace: Pace, width: int, state: Words) -> bool:
    """Group the pool anew: a seed and the nearest of each of other units, until there are k; the others join.

    Gives whether there are enough units, and room, for that.
    """
    D, group, size, unit = pool.D, pool.group, pool.size, own.unit
    _forget(own, m, h)
    group[:m] = -1
    last, left = -1, m
    for j in range(h):
        if left == 0:
            return False
        last = seed_of(pool, m, left, last, state)
        near = pool.swap
        for a in range(m):
            near[a] = D[last, a] if group[a] < 0 and unit[a] >= 0 else np.inf
        size[j] = 0
        best = last
        while True:
            group[best] = j
            size[j] += 1
            left -= 1
            near[best] = np.inf
            _come(own, j, unit[best])
            if own.kinds[j] == pace.k:
                break
            for a in range(m):
                if unit[a] == unit[best]:
                    near[a] = np.inf
            best = least_of(near, m)
            if best < 0:
                return False
    for a in range(m):
        if group[a] < 0:
            best, best_d2 = -1, np.inf
            for b in range(m):
                if group[b] >= 0 and size[group[b]] < width and D[a, b] < best_d2:
                    best, best_d2 = b, D[a, b]
            if best < 0:
                return False
            group[a] = group[best]
            size[group[best]] += 1
            _come(own, group[best], unit[a])
    return True


@kernel
def _kick(pool: Pool, own: Units, m: int, c: int, k: int, state: Words) -> None:
    """Swap a few records, where the rule allows it."""
    group, unit = pool.group, own.unit
    _forget(own, m, c)
    for a in range(m):
        _come(own, group[a], unit[a])
    for _ in range(1 + draw(state, 3)):
        a, b = draw(state, m), draw(state, m)
        if group[a] != group[b] and _may_swap(own, group[a], unit[a], group[b], unit[b], k):
            _exchange(own, group[a], unit[a], group[b], unit[b])
            group[a], group[b] = group[b], group[a]


@kernel
def _exchange(own: Units, i: int, u: int, j: int, v: int) -> None:
    """Group i gives a record of unit u for one of unit v of group j."""
    _go(own, i, u)
    _go(own, j, v)
    _come(own, i, v)
    _come(own, j, u)


@kernel
def _best_swap(pool: Pool, own: Units, A: int, x: int, m: int, k: int, below: float) -> tuple[float, int]:
    """Give what the best swap of x, of group A, changes, and the record it is swapped with; -1 if not below a limit."""
    row, sums, weight, share = pool.D[x], pool.R[A], pool.weight, pool.share
    entry, group, unit = pool.entry, pool.group, own.unit
    wa, best = weight[x], -1
    for z in range(m):
        change = (sums[z] - row[z]) * wa - row[z] * weight[z] - share[z] + entry[group[z]]
        if change < below and _may_swap(own, A, unit[x], group[z], unit[z], k):
            below, best = change, z
    return below, best


@kernel
def _best_move(pool: Pool, A: int, x: int, h: int, width: int, below: float) -> tuple[float, int]:
    """Give what the best move of x from A to another group changes, and that group; -1 if it is not below a limit."""
    R, W, size = pool.R, pool.W, pool.size
    to = -1
    leave = (W[A] - R[A, x]) / (size[A] - 1) - W[A] / size[A]
    for j in range(h):
        if j != A and size[j] < width:
            change = leave + (W[j] + R[j, x]) / (size[j] + 1) - W[j] / size[j]
            if change < below:
                below, to = change, j
    return below, to


@kernel
def _descend(pool: Pool, own: Units, m: int, h: int, k: int, width: int, gain: float) -> None:
    """Move and swap records while that gains."""
    D, R, W, size, group = pool.D, pool.R, pool.W, pool.size, pool.group
    weight, share, entry, unit = pool.weight, pool.share, pool.entry, own.unit
    since = x = 0
    for _ in range(PASSES * m):
        if since == m:
            break
        A = group[x]
        change, to = -gain, -1
        if _may_leave(own, A, unit[x], k):
            change, to = _best_move(pool, A, x, h, width, change)
        for j in range(h):
            entry[j] = R[j, x] / size[j] - share[x]
        entry[A] = np.inf
        change, z = _best_swap(pool, own, A, x, m, k, change)
        since += 1
        if z >= 0 or to >= 0:
            since = 0
            to = group[z] if z >= 0 else to
            put(R, W, D[x], m, x, A, -1.0)
            if z >= 0:
                _exchange(own, A, unit[x], to, unit[z])
                put(R, W, D[z], m, z, to, -1.0)
                put(R, W, D[z], m, z, A, 1.0)
                group[z] = A
            else:
                _go(own, A, unit[x])
                _come(own, to, unit[x])
                size[A] -= 1
                size[to] += 1
            put(R, W, D[x], m, x, to, 1.0)
            group[x] = to
            for a in range(m):
                if group[a] == A or group[a] == to:
                    weight[a] = 1.0 / size[group[a]]
                    share[a] = R[group[a], a] * weight[a]
        x = x + 1 if x + 1 < m else 0


@kernel
def _fitting(part: Partition, pool: Pool, c: int, room: int) -> int:
    """Give how many of the c groups a pool has room for."""
    held = 0
    for j in range(c):
        held += part.size[pool.old[j]]
        if held > room:
            return j
    return c


@kernel
def steps(part: Partition, pool: Pool, own: Units, pace: Pace, first: int, stop: int, state: Words) -> None:
    """Make steps first to stop - 1, as `search.steps` does."""
    k, most, heat, width = pace.k, pace.most, pace.heat, part.member.shape[1]
    n, room = part.turn.shape[0], pool.record.shape[0]
    for t in range(first, stop):
        x = part.turn[(t * k + draw(state, pace.window)) % n]
        c = gather(part, pool, x, 2 + draw(state, most - 1), state)
        c = _fitting(part, pool, c, room)
        before = 0.0
        for j in range(c):
            before += part.cost[pool.old[j]]
        if c < 2 or before <= 0.0:
            continue
        m = measure(part, pool, c)
        _number(own, pool, m)
        h, u = c, uniform(state)
        if u < RESIZED:
            h = c - 1
        elif u < 2 * RESIZED and part.counts[0] > 0:
            h = c + 1
        if h * k > m or h * width < m:
            h = c
        if h == c and uniform(state) < KICKED:
            _kick(pool, own, m, c, k, state)
        elif not _rebuild(pool, own, m, h, pace, width, state):
            continue
        rounding = TINY * add_up(pool, m, h)
        _descend(pool, own, m, h, k, width, rounding)
        worse = -before
        for j in range(h):
            worse += pool.W[j] / pool.size[j]
        allowed = -heat * before / c * np.log(1.0 - uniform(state)) if heat > 0.0 else -rounding
        if worse < allowed:
            keep(part, pool, m, c, h)
