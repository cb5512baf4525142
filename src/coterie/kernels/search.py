"""Large-neighbourhood search: a few neighbouring groups are pooled, rebuilt, and kept if they have become better.

Inside a pool everything follows from its matrix of squared distances D. With W(A) the sum of D over the pairs of group
A, its SSE is W(A) / |A|; with R(A, x) the sum of D between x and the members of A, what a move or a swap changes
takes O(1). A step costs O(m^2 p) for a pool of m records, whatever n is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Words = NDArray[np.uint64]

TINY = 1e-13  # changes below this part of the largest sum are rounding
PASSES = 50  # over a pool, at most: a few are enough
RESIZED = 0.2  # of the pools lose a group, and as many gain one
KICKED = 0.3  # of the others begin with what they are
_GAMMA, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


class Partition(NamedTuple):
    """The groups, and what a step must know to find their neighbours."""

    X: Floats  # (n, p)
    near: Small  # (n, m): some of the nearest records of each, nearest first
    label: Ints  # (n,): the group of each record
    member: Small  # (g, 2k - 1): the records of each group
    size: Ints  # (g,): how many
    cost: Floats  # (g,): the SSE of each
    owner: Small  # (g,): the region of each; those of other regions are left alone, another thread may change them
    turn: Small  # the records of a region, close ones close to each other
    spare: Ints  # the numbers that no group of it has
    counts: Ints  # (1,): how many of these


class Pool(NamedTuple):
    """Room for the groups that are rebuilt together: at most m records, h groups."""

    record: Ints  # (m,)
    columns: Floats  # (p, m): the records, column by column: only those in which they differ
    D: Floats  # (m, m): squared distances
    group: Ints  # (m,): from 0 on
    R: Floats  # (h, m): the sum of D between a record and a group
    W: Floats  # (h,): the sum of D over the pairs of a group
    size: Ints  # (h,)
    share: Floats  # (m,): R(its group) / that group's size
    weight: Floats  # (m,): 1 / size of its group
    entry: Floats  # (h,)
    swap: Floats  # (m,)
    old: Ints  # (h,): their numbers in the partition


class Pace(NamedTuple):
    """How steps are made."""

    k: int
    window: int  # a step is about one of so many records
    most: int  # groups in a pool, which has at least 2
    heat: float  # what may become worse, as a part of a group's SSE


@kernel
def uniform(state: Words) -> float:
    """Give a number from [0, 1): SplitMix64 (Steele, Lea, Flood 2014)."""
    state[0] += _GAMMA
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    z = z ^ (z >> _S31)
    return float(np.int64(z >> _S11)) * 2.0**-53


@kernel
def draw(state: Words, m: int) -> int:
    """Give a number from 0 to m - 1."""
    return int(uniform(state) * m)


@kernel
def group_costs(X: Floats, member: Small, size: Ints, cost: Floats) -> None:
    """cost: the SSE of each group, about its mean."""
    p = X.shape[1]
    mean = np.empty(p)
    for g in range(size.shape[0]):
        cost[g] = 0.0
        if size[g] == 0:
            continue
        mean[:] = 0.0
        for i in range(size[g]):
            for j in range(p):
                mean[j] += X[member[g, i], j] - X[member[g, 0], j]
        for j in range(p):
            mean[j] = X[member[g, 0], j] + mean[j] / size[g]  # equal records cost exactly nothing
        for i in range(size[g]):
            for j in range(p):
                step = X[member[g, i], j] - mean[j]
                cost[g] += step * step


@kernel
def gather(part: Partition, pool: Pool, x: int, wanted: int, state: Words) -> int:
    """Write the numbers of x's group and neighbouring ones of its region to pool.old, up to `wanted`; give how many."""
    near, label, member, size, old = part.near, part.label, part.member, part.size, pool.old
    region = part.owner[label[x]]
    old[0] = label[x]
    c = 1
    for _ in range(4 * wanted):
        if c == wanted:
            break
        g = old[draw(state, c)] if uniform(state) < 0.5 else old[0]
        q = member[g, draw(state, size[g])]
        u = uniform(state)
        b = label[near[q, int(near.shape[1] * u * u)]]
        known = part.owner[b] != region
        for j in range(c):
            known |= old[j] == b
        if not known:
            old[c] = b
            c += 1
    return c


@kernel
def measure(part: Partition, pool: Pool, c: int) -> int:
    """Fill the pool with the records of its c groups and their distances; give how many records.

    A column in which all of them are equal, as the indicators of most categories are, adds nothing and is left out.
    """
    X, member, size, record, columns = part.X, part.member, part.size, pool.record, pool.columns
    p = X.shape[1]
    varies = np.zeros(p, np.bool_)
    first = X[member[pool.old[0], 0]]
    m = 0
    for j in range(c):
        g = pool.old[j]
        for i in range(size[g]):
            record[m] = member[g, i]
            pool.group[m] = j
            row = X[record[m]]
            for h in range(p):
                varies[h] |= row[h] != first[h]
            m += 1
    used = 0
    for h in range(p):
        if varies[h]:
            for a in range(m):
                columns[used, a] = X[record[a], h]
            used += 1
    for a in range(m):  # both halves: a whole row at a time runs in SIMD
        row = pool.D[a]
        for b in range(m):
            row[b] = 0.0
        for h in range(used):
            column, value = columns[h], columns[h, a]
            for b in range(m):
                step = column[b] - value
                row[b] += step * step
    return m


@kernel
def seed_of(pool: Pool, m: int, left: int, last: int, state: Words) -> int:
    """Give a record without a group: any, or the one farthest from the last seed."""
    D, group = pool.D, pool.group
    seed = -1
    if last < 0 or uniform(state) < 0.5:
        skip = draw(state, left)
        for a in range(m):
            if group[a] < 0:
                if skip == 0:
                    return a
                skip -= 1
    for a in range(m):
        if group[a] < 0 and (seed < 0 or D[last, a] > D[last, seed]):
            seed = a
    return seed


@kernel
def least_of(values: Floats, m: int) -> int:
    """Give the first of the least of m values; -1 if all are infinite."""
    least = np.inf
    for a in range(m):  # in SIMD
        least = min(least, values[a])
    if least < np.inf:
        for a in range(m):
            if values[a] == least:
                return a
    return -1


@kernel
def _rebuild(pool: Pool, m: int, h: int, k: int, state: Words) -> None:
    """Group the pool anew into h groups: a seed and its k - 1 nearest each; the others join their nearest's group."""
    D, group, size = pool.D, pool.group, pool.size
    group[:m] = -1
    last = -1
    for j in range(h):
        last = seed_of(pool, m, m - j * k, last, state)
        group[last] = j
        size[j] = k
        row, left = D[last], pool.swap
        for a in range(m):
            left[a] = row[a] if group[a] < 0 else np.inf
        for _ in range(k - 1):
            best = least_of(left, m)
            group[best] = j
            left[best] = np.inf
    for a in range(m):
        if group[a] < 0:
            best, best_d2 = -1, np.inf
            for b in range(m):
                if group[b] >= 0 and size[group[b]] < 2 * k - 1 and D[a, b] < best_d2:
                    best, best_d2 = b, D[a, b]
            group[a] = group[best]
            size[group[best]] += 1


@kernel
def add_up(pool: Pool, m: int, h: int) -> float:
    """Compute the sums of the pool's groups; give the largest, against which rounding is measured."""
    D, group, R, W, size = pool.D, pool.group, pool.R, pool.W, pool.size
    for j in range(h):
        W[j] = 0.0
        size[j] = 0
        R[j, :m] = 0.0
    for b in range(m):
        row, sums = D[b], R[group[b]]
        size[group[b]] += 1
        for a in range(m):
            sums[a] += row[a]
    for a in range(m):
        j = group[a]
        W[j] += 0.5 * R[j, a]
        pool.weight[a] = 1.0 / size[j]
        pool.share[a] = R[j, a] * pool.weight[a]
    largest = 0.0
    for j in range(h):
        for a in range(m):
            largest = max(largest, R[j, a])
    return largest


@kernel
def _best_swap(pool: Pool, A: int, x: int, m: int, below: float) -> tuple[float, int]:
    """Give what the best swap of x, of group A, changes, and the record it is swapped with; -1 if not below a limit."""
    row, sums, weight, share = pool.D[x], pool.R[A], pool.weight, pool.share
    entry, group = pool.entry, pool.group
    wa, best = weight[x], -1
    for z in range(m):
        change = (sums[z] - row[z]) * wa - row[z] * weight[z] - share[z] + entry[np.uint64(group[z])]
        if change < below:
            below, best = change, z
    return below, best


@kernel
def _best_move(R: Floats, W: Floats, size: Ints, A: int, x: int, h: int, k: int, below: float) -> tuple[float, int]:
    """Give what the best move of x from A to another group changes, and that group; -1 if it is not below a limit."""
    to = -1
    leave = (W[A] - R[A, x]) / (size[A] - 1) - W[A] / size[A]
    for j in range(h):
        if j != A and size[j] < 2 * k - 1:
            change = leave + (W[j] + R[j, x]) / (size[j] + 1) - W[j] / size[j]
            if change < below:
                below, to = change, j
    return below, to


@kernel
def put(R: Floats, W: Floats, row: Floats, m: int, x: int, to: int, sign: float) -> None:
    """Add x to the sums of a group, or take it out."""
    sums = R[to]
    W[to] += sign * sums[x]
    for a in range(m):
        sums[a] += sign * row[a]


@kernel
def descend(pool: Pool, m: int, h: int, k: int, gain: float) -> None:
    """Move and swap records while that gains."""
    D, R, W, size, group = pool.D, pool.R, pool.W, pool.size, pool.group
    weight, share, entry = pool.weight, pool.share, pool.entry
    since = x = 0
    for _ in range(PASSES * m):
        if since == m:
            break
        A = group[x]
        change, to = -gain, -1
        if size[A] > k:
            change, to = _best_move(R, W, size, A, x, h, k, change)
        for j in range(h):
            entry[j] = R[j, x] / size[j] - share[x]
        entry[A] = np.inf
        change, z = _best_swap(pool, A, x, m, change)
        since += 1
        if z >= 0 or to >= 0:
            since = 0
            to = group[z] if z >= 0 else to
            put(R, W, D[x], m, x, A, -1.0)
            if z >= 0:
                put(R, W, D[z], m, z, to, -1.0)
                put(R, W, D[z], m, z, A, 1.0)
                group[z] = A
            else:
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
def keep(part: Partition, pool: Pool, m: int, c: int, h: int) -> None:
    """Put the pool's h groups in the place of the c old ones."""
    member, size, old = part.member, part.size, pool.old
    for j in range(c, h):
        part.counts[0] -= 1
        old[j] = part.spare[part.counts[0]]
    for j in range(h, c):
        part.spare[part.counts[0]] = old[j]
        part.counts[0] += 1
        part.cost[old[j]] = 0.0
        size[old[j]] = 0
    for j in range(h):
        size[old[j]] = 0
        pool.W[j] = 0.0
    for a in range(m):
        j = pool.group[a]
        for b in range(a):  # anew: without what rounding has left in the sums
            if pool.group[b] == j:
                pool.W[j] += pool.D[a, b]
        g = old[j]
        member[g, size[g]] = pool.record[a]
        size[g] += 1
        part.label[pool.record[a]] = g
    for j in range(h):
        part.cost[old[j]] = pool.W[j] / pool.size[j]


@kernel
def steps(part: Partition, pool: Pool, pace: Pace, first: int, stop: int, state: Words) -> None:
    """Make steps first to stop - 1: about every kth record of a region or one not far from it in memory.

    What is worse by d is kept with probability exp(-d / (heat * its groups' mean SSE)).
    """
    k, window, most, heat = pace.k, pace.window, pace.most, pace.heat
    n, cost, group = part.turn.shape[0], part.cost, pool.group
    for t in range(first, stop):
        x = part.turn[(t * k + draw(state, window)) % n]
        c = gather(part, pool, x, 2 + draw(state, most - 1), state)
        before = 0.0
        for j in range(c):
            before += cost[pool.old[j]]
        if c < 2 or before <= 0.0:
            continue
        m = measure(part, pool, c)
        h, u = c, uniform(state)
        if u < RESIZED:
            h = c - 1
        elif u < 2 * RESIZED:
            h = c + 1
        if h * k > m or h * (2 * k - 1) < m:
            h = c
        if h == c and uniform(state) < KICKED:  # swap a few records
            for _ in range(1 + draw(state, 3)):
                a, b = draw(state, m), draw(state, m)
                group[a], group[b] = group[b], group[a]
        else:
            _rebuild(pool, m, h, k, state)
        rounding = TINY * add_up(pool, m, h)
        descend(pool, m, h, k, rounding)
        worse = -before
        for j in range(h):
            worse += pool.W[j] / pool.size[j]
        allowed = -heat * before / c * math.log(1.0 - uniform(state)) if heat > 0.0 else -rounding
        if worse < allowed:
            keep(part, pool, m, c, h)


@kernel
def centres(part: Partition, first: int, stop: int, centre: Floats) -> None:
    """centre[g]: the mean of group g, for g = first to stop - 1."""
    X, member, size = part.X, part.member, part.size
    for g in range(first, stop):
        centre[g] = 0.0
        for i in range(size[g]):
            for j in range(X.shape[1]):
                centre[g, j] += X[member[g, i], j]
        for j in range(X.shape[1]):
            centre[g, j] /= max(1, size[g])


@kernel
def _apart(x: Floats, y: Floats) -> float:
    """Give a squared distance."""
    d2 = 0.0
    for j in range(x.shape[0]):
        step = x[j] - y[j]
        d2 += step * step
    return d2


@kernel
def exchanges(part: Partition, k: int, first: int, stop: int, window: int, centre: Floats, state: Words) -> None:
    """Make steps first to stop - 1 where groups are too large for a pool: one move or swap between two groups each.

    From the centres: a move or a swap of one record takes O(p), the best swap of a record O(k p).
    """
    X, near, label, member, size = part.X, part.near, part.label, part.member, part.size
    n, m = part.turn.shape[0], near.shape[1]
    for t in range(first, stop):
        x = part.turn[(t + draw(state, window)) % n]
        A, B = label[x], label[near[x, draw(state, m)]]
        if A == B or part.owner[A] != part.owner[B]:
            continue
        a, b = size[A], size[B]
        from_A, from_B = _apart(X[x], centre[A]), _apart(X[x], centre[B])
        best, slot = -TINY * (part.cost[A] + part.cost[B] + from_A + from_B), -1
        for i in range(b):
            z = member[B, i]
            between = _apart(X[x], X[z]) * (1.0 / a + 1.0 / b)
            change = _apart(X[z], centre[A]) - from_A + from_B - _apart(X[z], centre[B]) - between
            if change < best:
                best, slot = change, i
        move = a > k and b < 2 * k - 1 and from_B * b / (b + 1) - from_A * a / (a - 1) < best
        if not move and slot < 0:
            continue
        i = 0
        while member[A, i] != x:
            i += 1
        if move:
            size[A] -= 1
            size[B] += 1
            member[A, i] = member[A, a - 1]
            member[B, b] = x
        else:
            label[member[B, slot]] = A
            member[A, i], member[B, slot] = member[B, slot], x
        label[x] = B
        for g in (A, B):
            centres(part, g, g + 1, centre)
            part.cost[g] = 0.0
            for h in range(size[g]):
                part.cost[g] += _apart(X[member[g, h]], centre[g])
