"""Sets of columns in which a record is alone: every set once, by splitting the classes of a smaller one.

A set of columns is a path: c1 > c2 > ... Its parent lacks the last, the lowest. Splitting the parent's classes by that
column gives the set's own. Records that are alone leave, and so do classes in which nobody is asked about: the work is
only with those that can still become alone. Sets have numbers in the order of a walk that takes lower columns first, so
every subset has a smaller number than the set; 0 is the empty set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Words = NDArray[np.uint64]

_SEVERAL = -1  # in place of a unit: the records of a class are several units'
_DROPPED, _ALONE = -1, -2  # in place of where a class goes
UNSAID = -1  # in place of a set's number: who is alone in it is written elsewhere


class Keys(NamedTuple):
    """What is known of the records."""

    codes: Codes  # (columns, records): the values of each column, numbered from 0
    units: Codes  # whose record each is
    asked: Codes  # where its answer goes: the number of its bit, or -1 if it only shows that others are not alone


class Work(NamedTuple):
    """Room for one walk: row i is for sets of i columns. Classes follow each other in `order`, each up to its end."""

    order: Codes  # (depth + 1, records)
    ends: Codes  # (depth + 1, records)
    classes: Ints  # (depth + 1,)
    often: Codes  # of each value of a column, all 0: how many records of the class have it
    owner: Codes  # whose these are
    target: Codes  # where they go
    seen: Codes  # which values there are


class Sets(NamedTuple):
    """The sets of columns, by their numbers."""

    members: Codes  # (sets, depth)
    sizes: Codes
    without: Codes  # (sets, depth): the number of the set that lacks this member


@kernel
def _mark(bits: Words, place: int, subset: int) -> None:
    if place >= 0 and subset >= 0:
        bits[place >> 6, subset] |= np.uint64(1) << np.uint64(place & 63)


@kernel
def _split_pair(keys: Keys, work: Work, level: int, at: int, column: int, filled: int) -> bool:
    """Keep a class of two records if they are alike in the column."""
    a, b = work.order[level, at], work.order[level, at + 1]
    if keys.codes[column, a] != keys.codes[column, b]:
        return False
    work.order[level + 1, filled], work.order[level + 1, filled + 1] = a, b
    return True


@kernel
def _count_values(keys: Keys, work: Work, level: int, begin: int, end: int, column: int) -> int:
    """Count the values of a column in a class; `target` says whether a record that has it is asked about."""
    values = 0
    for i in range(begin, end):
        r = work.order[level, i]
        v = keys.codes[column, r]
        if work.often[v] == 0:
            work.seen[values] = v
            values += 1
            work.owner[v], work.target[v] = keys.units[r], _DROPPED
        elif work.owner[v] != keys.units[r]:
            work.owner[v] = _SEVERAL
        work.often[v] += 1
        if keys.asked[r] >= 0:
            work.target[v] = 0
    return values


@kernel
def _split(keys: Keys, work: Work, bits: Words, level: int, column: int, subset: int, last: bool) -> None:
    """Split the classes of a level by a column into those of the next, and mark who is alone.

    The last set of its branch needs no classes.
    """
    begin, filled, classes = 0, 0, 0
    for c in range(work.classes[level]):
        end = work.ends[level, c]
        if end - begin == 2 and level > 0:  # two units, of which one is asked about
            if _split_pair(keys, work, level, begin, column, filled):
                filled += 2
                work.ends[level + 1, classes] = filled
                classes += 1
            else:
                _mark(bits, keys.asked[work.order[level, begin]], subset)
                _mark(bits, keys.asked[work.order[level, begin + 1]], subset)
            begin = end
            continue
        values = _count_values(keys, work, level, begin, end, column)
        for j in range(values):
            v = work.seen[j]
            if work.owner[v] != _SEVERAL:
                work.target[v] = _ALONE
            elif last:
                work.target[v] = _DROPPED
            elif work.target[v] >= 0:
                work.target[v] = filled
                filled += work.often[v]
                work.ends[level + 1, classes] = filled
                classes += 1
            work.often[v] = 0
        for i in range(begin, end):
            r = work.order[level, i]
            v = keys.codes[column, r]
            to = work.target[v]
            if to >= 0:
                work.order[level + 1, to] = r
                work.target[v] = to + 1
            elif to == _ALONE:
                _mark(bits, keys.asked[r], subset)
        begin = end
    work.classes[level + 1] = classes


@kernel
def mark_alone(keys: Keys, work: Work, bits: Words, before: Ints, path: Ints, depth: int, deeper: bool) -> None:
    """Mark who is alone in a set of columns, given as its path, and if `deeper` in all sets of at most `depth` below.

    before[q, j] is how many sets there are on a branch with room for q more columns before column j's. Nobody is marked
    in a set who is alone in its parent.
    """
    n, base = keys.units.shape[0], path.shape[0]
    columns, following, number = (
        np.zeros(depth + 1, np.int64),
        np.zeros(depth + 1, np.int64),
        np.zeros(depth + 1, np.int64),
    )
    for i in range(n):
        work.order[0, i] = i
    work.ends[0, 0], work.classes[0] = n, 1
    for level in range(base):
        j = int(path[level])
        number[level + 1] = number[level] + 1 + before[depth - level - 1, j]
        own = int(number[level + 1]) if level == base - 1 else UNSAID
        _split(keys, work, bits, level, j, own, level == base - 1 and not deeper)
    columns[base], level = path[base - 1], base
    while deeper and level >= base:
        j = int(following[level])
        if j == columns[level] or level == depth or work.classes[level] == 0:
            level -= 1
            continue
        following[level] += 1
        subset = number[level] + 1 + before[depth - level - 1, j]
        last = j == 0 or level + 1 == depth
        _split(keys, work, bits, level, j, subset, last)
        if not last:
            level += 1
            columns[level], following[level], number[level] = j, 0, subset


@kernel
def list_sets(sets: Sets, before: Ints, columns: int) -> None:
    """Write the members of every set, and the numbers of the sets that lack one of them."""
    depth = sets.members.shape[1]
    path = np.zeros(depth + 1, np.int64)
    size, top = 0, 0  # the last set that was written, and the next column to be tried after it
    number = 0
    while True:
        limit = path[size - 1] if size > 0 else columns
        if size < depth and top < limit:
            path[size] = top
            size += 1
            number += 1
            sets.sizes[number] = size
            for i in range(size):
                sets.members[number, i] = path[i]
                other, place = 0, 0
                for q in range(size):
                    if q != i:
                        other += 1 + before[depth - place - 1, path[q]]
                        place += 1
                sets.without[number, i] = other
            top = 0
        elif size > 0:
            size -= 1
            top = path[size] + 1
        else:
            return


@kernel
def count_minimal(bits: Words, sets: Sets, first: int, last: int, weights: Ints, counts: Codes, columns: Ints) -> None:
    """Count, for the records of some words, the sets in which they are alone but not in any subset: by size.

    `columns` counts by column and size, every record as often as its weight says. The bits become those of all sets in
    which a record is alone.
    """
    for w in range(first, last):
        for s in range(1, sets.sizes.shape[0]):
            size = sets.sizes[s]
            above = np.uint64(0)
            for i in range(size):
                above |= bits[w, sets.without[s, i]]
            minimal = bits[w, s] & ~above
            bits[w, s] |= above
            if minimal == np.uint64(0):
                continue
            total = 0
            for b in range(64):
                if (minimal >> np.uint64(b)) & np.uint64(1):
                    counts[64 * w + b, size - 1] += 1
                    total += weights[64 * w + b]
            for i in range(size):
                columns[sets.members[s, i], size - 1] += total
