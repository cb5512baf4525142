"""MDAV and its kin for few records, by scans: quick to compile, and for few records quick to run.

Those free stand side by side, column by column, in no order: who leaves is replaced by the last. Ties are settled by
the records' numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .growth import centroid_of, sse_about
from .tree import NOBODY
from .turns import Turn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Few(NamedTuple):
    """The free records of a small table, n of them at first, and room for a scan."""

    values: Floats  # (p, n): those free, then what is left of others
    record: Ints  # (n,): who stands there
    place: Ints  # (n,): where a record stands; -1 if it is free no longer
    left: Ints  # (1,): how many are free
    digits: Ints  # (p, DIGITS): their exact sums
    d2: Floats  # (n,): squared distances


@kernel
def distances(values: Floats, count: int, q: Floats, d2: Floats) -> None:
    """Write the squared distances of the first `count` from q, summed column by column."""
    d2[:count] = 0.0
    for j in range(q.shape[0]):
        for i in range(count):
            step = values[j, i] - q[j]
            d2[i] += step * step


@kernel
def farthest(few: Few, q: Floats) -> int:
    """Give the free record farthest from q."""
    record, d2, count = few.record, few.d2, few.left[0]
    distances(few.values, count, q, d2)
    best, best_d2 = np.int64(NOBODY), -1.0
    for i in range(count):
        if d2[i] > best_d2 or (d2[i] == best_d2 and record[i] < best):
            best, best_d2 = record[i], d2[i]
    return int(best)


@kernel
def nearest(few: Few, q: Floats, near_d2: Floats, near: Ints) -> None:
    """Write the free records nearest to q, nearest first, and their squared distances; NOBODY where there are none."""
    record, d2, count = few.record, few.d2, few.left[0]
    distances(few.values, count, q, d2)
    last = near.shape[0] - 1
    near_d2[:] = np.inf
    near[:] = NOBODY
    for i in range(count):
        if d2[i] < near_d2[last] or (d2[i] == near_d2[last] and record[i] < near[last]):
            h = last
            while h > 0 and (near_d2[h - 1] > d2[i] or (near_d2[h - 1] == d2[i] and near[h - 1] > record[i])):
                near_d2[h], near[h] = near_d2[h - 1], near[h - 1]
                h -= 1
            near_d2[h], near[h] = d2[i], record[i]


@kernel
def nearest_of_each(few: Few, X: Floats, block: Ints, r: int, last: int, found: Ints, found_d2: Floats) -> None:
    """Write the free record of each block that is nearest to r of those farther away than `last`, and its distance.

    NOBODY where there is none.
    """
    record, d2, count = few.record, few.d2, few.left[0]
    beyond = 0.0
    for j in range(X.shape[1]):
        step = X[last, j] - X[r, j]
        beyond += step * step  # to the last bit as in `distances`: else the last record would come again
    distances(few.values, count, X[r], d2)
    found[:] = NOBODY
    found_d2[:] = np.inf
    for i in range(count):
        x = record[i]
        if x == r or d2[i] < beyond or (d2[i] == beyond and x <= last):
            continue
        b = block[x]
        if d2[i] < found_d2[b] or (d2[i] == found_d2[b] and x < found[b]):
            found[b], found_d2[b] = x, d2[i]


@kernel
def remove(few: Few, X: Floats, gone: Ints) -> None:
    """Take records out: they are free no longer."""
    values, record, place = few.values, few.record, few.place
    for x in gone:
        few.left[0] -= 1
        last = few.left[0]
        i, other = place[x], record[last]
        for j in range(X.shape[1]):
            values[j, i] = values[j, last]
            exact_sum.add(few.digits[j], X[x, j], -1)
        record[i], place[other] = other, i
        place[x] = -1


@kernel
def _neighbourhood(few: Few, X: Floats, x: int, without: int, out: Ints) -> None:
    """Write x and the free records nearest to it, leaving out one record."""
    m = out.shape[0]
    near_d2, near = np.empty(m + 1), np.empty(m + 1, np.int64)
    nearest(few, X[x], near_d2, near)
    out[0] = x
    size = 1
    for other in near:
        if other != x and other != without and size < m:
            out[size] = other
            size += 1


@kernel
def groups_from_the_centroid(few: Few, X: Floats, labels: Ints, g: int, k: int, sides: int, until: int) -> int:
    """Form groups g, g + 1, ... while at least `until` records are free; give the next number.

    One around r, the record farthest from the centroid; with two sides, then one around s, farthest from r.
    """
    centroid, members = np.empty(X.shape[1]), np.empty(k, np.int64)
    while few.left[0] >= until:
        exact_sum.mean(few.digits, few.left[0], centroid)
        origin = centroid
        for _ in range(sides):
            r = farthest(few, origin)
            _neighbourhood(few, X, r, r, members)
            remove(few, X, members)
            for x in members:
                labels[x] = g
            origin = X[r]
            g += 1
    return g


@kernel
def _grow(few: Few, X: Floats, members: Ints, size: int, gamma: float) -> int:
    """Let a group of `size` grow up to all of `members` by the rule of V-MDAV; give its size.

    The free record nearest to any member joins while its squared distance to the group is below gamma times that to its
    nearest other free record.
    """
    closest, away = np.full(members.shape[0], -1), np.empty(members.shape[0])  # each member's nearest free record
    near_d2, near = np.empty(2), np.empty(2, np.int64)
    while size < members.shape[0] and few.left[0]:
        e, d_in = np.int64(NOBODY), np.inf
        for i in range(size + 1):
            x = members[i] if i < size else e
            if i == size or closest[i] < 0 or few.place[closest[i]] < 0:
                nearest(few, X[x], near_d2, near)
                if i < size:
                    closest[i], away[i] = near[0], near_d2[0]
            if i < size and (away[i] < d_in or (away[i] == d_in and closest[i] < e)):
                e, d_in = closest[i], away[i]
        if not d_in < gamma * near_d2[1 if near[0] == e else 0]:
            return size
        members[size] = e
        remove(few, X, members[size : size + 1])
        size += 1
    return size


@kernel
def groups_in_turn(
    few: Few, X: Floats, order: Ints, labels: Ints, turn: Turn, k: int, gamma: float, until: int
) -> Turn:
    """Form groups around the free ones of the records order[turn.at], ... while at least `until` are free.

    They grow by the rule of V-MDAV, unless gamma is 0.
    """
    at, g = turn.at, turn.group
    members = np.empty(2 * k - 1, np.int64)
    while few.left[0] >= until:
        r = order[at]
        at += 1
        if few.place[r] >= 0:
            _neighbourhood(few, X, r, r, members[:k])
            remove(few, X, members[:k])
            size = _grow(few, X, members, k, gamma) if gamma > 0.0 else k
            for i in range(size):
                labels[members[i]] = g
            g += 1
    return Turn(at, g, few.left[0])


class Centroids(NamedTuple):
    """The centroids of the groups built so far."""

    values: Floats  # (p, groups): column by column
    weight: Floats  # (groups,): m / (m + 1) for a group of m
    d2: Floats  # (groups,): room for a scan
    built: Ints  # (1,): how many there are


@kernel
def least_growth(groups: Centroids, q: Floats) -> tuple[int, float]:
    """Give the group whose SSE grows least by q, and that growth; of equal ones the oldest group."""
    distances(groups.values, groups.built[0], q, groups.d2)
    best, least = -1, np.inf
    for g in range(groups.built[0]):
        growth = groups.d2[g] * groups.weight[g]
        if growth < least:
            best, least = g, growth
    return best, least


@kernel
def join(X: Floats, labels: Ints, groups: Centroids, g: int, records: Ints) -> None:
    """Put records into group g, which may be a new one."""
    for x in records:
        labels[x] = g
    groups.built[0] = max(groups.built[0], g + 1)
    members, m = np.empty(labels.shape[0], np.int64), 0
    for x in range(labels.shape[0]):
        if labels[x] == g:
            members[m] = x
            m += 1
    digits, centroid = np.empty((X.shape[1], exact_sum.DIGITS), np.int64), np.empty(X.shape[1])
    centroid_of(X, members[:m], digits, centroid)
    for j in range(X.shape[1]):
        groups.values[j, g] = centroid[j]
    groups.weight[g] = m / (m + 1.0)


@kernel
def join_closest(X: Floats, labels: Ints, groups: Centroids, records: Ints) -> None:
    """Put each of these records, in turn, into the group whose SSE grows least."""
    for i in range(records.shape[0]):
        g, _ = least_growth(groups, X[records[i]])
        join(X, labels, groups, g, records[i : i + 1])


@kernel
def open_or_extend_in_turn(
    few: Few, X: Floats, order: Ints, at: int, labels: Ints, groups: Centroids, k: int, until: int
) -> int:
    """Steps 2 to 4 of MDAV*, for the free ones of the records order[at], ... while at least `until` are free.

    A new group around r is weighed against r joining the group whose SSE grows least while y, its nearest neighbour,
    founds one. Gives the next record's turn.
    """
    digits, centroid = np.empty((X.shape[1], exact_sum.DIGITS), np.int64), np.empty(X.shape[1])
    new, virtual = np.empty(k, np.int64), np.empty(k, np.int64)
    while few.left[0] >= until:
        r = order[at]
        at += 1
        if few.place[r] < 0:
            continue
        group, growth, opening = -1, np.inf, 0.0
        members = new
        for turn in range(2):  # the group around r, then that around y
            _neighbourhood(few, X, new[1] if turn else r, r, members)
            if groups.built[0] == 0 or few.left[0] == k:
                break
            centroid_of(X, members, digits, centroid)
            sse = sse_about(X, members, centroid)
            if turn == 0:
                opening = sse / k
                group, growth = least_growth(groups, X[r])
                members = virtual
                if growth / (k + 1) >= opening:  # whatever the group around y costs
                    group = -1
                    break
            elif not (growth + sse) / (k + 1) < opening:
                group = -1
        joining = new[:1] if group >= 0 else new
        join(X, labels, groups, group if group >= 0 else groups.built[0], joining)
        remove(few, X, joining)
    return at
