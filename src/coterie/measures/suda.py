"""Minimal sample uniques and SUDA scores: by which few values a record can be found."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..kernels.minimal_uniques import Keys, Sets, Work, count_minimal, list_sets, mark_alone
from .risk import combined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

DEFAULT_SETS = 4_096  # all sets of 12 columns
MOST_SETS = 65_536  # all sets of 16 columns
_BITS = 64 << 20  # bytes, about, that hold in which sets records are alone: more records are asked about in turns


class MinimalUniques(NamedTuple):
    """How many minimal sample uniques there are."""

    by_record: Codes  # (records, depth): of each size, from 1; 0 for a record whose unit is not known
    by_column: Ints  # (columns, depth): those of all records that hold the column, of each size
    depth: int  # the largest size that was looked for


def sets_up_to(columns: int, depth: int) -> int:
    """How many sets of at most `depth` columns there are."""
    return sum(math.comb(columns, size) for size in range(1, depth + 1))


def depth_for(columns: int, most: int | None = None) -> int:
    """The largest size of sets that is looked for: `most`, or as large as 4,096 sets allow.

    So all sizes for up to 12 columns, 6 for 13, 3 for 20 to 29.
    """
    if most is None:
        return _deepest(columns, DEFAULT_SETS)
    depth, deepest = min(most, columns), _deepest(columns, MOST_SETS)
    if depth > deepest:
        what = f"At most {MOST_SETS:,} sets of columns can be searched for minimal sample uniques."
        raise CoterieError(what, f"sets of up to {depth} of {columns} columns", f"search up to {deepest} columns.")
    return depth


def _deepest(columns: int, most: int) -> int:
    """The largest size, from 1, up to which there are fewer than so many sets."""
    depth = 1
    while depth < columns and sets_up_to(columns, depth + 1) < most:
        depth += 1
    return depth


def minimal_uniques(
    values: Sequence[Ints], depth: int, units: Ints | None = None, threads: int | None = None
) -> MinimalUniques:
    """Count the minimal sample uniques (MSU) of every record, and those that hold each column.

    A set of columns is a sample unique of a record if no other record has the same values in them; it is minimal if
    this is true of no proper subset. Manning, Haglin and Keane 2008, doi 10.1007/s10618-007-0078-6, whose SUDA2 finds
    them by recursion over values. Here the sets of columns are walked through, and classes split: the same sets are
    found, in O(n) at most for each set of columns, and most records leave early. `values` are numbered from 0; a
    missing value is a value of its own.

    With `units` (-1 where a record's is not known), a set is unique if the records that have these values are all one
    unit's. Records whose unit is not known are left out.

    The result does not depend on the number of threads. Memory is O(n p), and 64 MiB.
    """
    n, p = len(values[0]), len(values)
    rows, weights, row_of = _representatives(values, units)
    whose = np.arange(n) if units is None else units
    owners = whose[rows.all]
    by_record, by_column = np.zeros((n, depth), np.int32), np.zeros((p, depth), np.int64)
    several = len(np.unique(owners)) > 1
    used = [j for j in range(p) if not several or len(np.unique(values[j])) > 1]
    used.sort(key=lambda j: (int(values[j].max(initial=0)), j))  # the finest columns split first
    if not len(rows.asked) or not used:
        return MinimalUniques(by_record, by_column, depth)
    codes = np.ascontiguousarray(np.stack([values[j][rows.all] for j in used]), np.int32)
    whose_rows = np.unique(owners, return_inverse=True)[1].astype(np.int32)
    search = _Search(codes, whose_rows, min(depth, len(used)), threads or os.cpu_count() or 1)
    counts, columns = search.run(len(rows.asked), weights)
    by_column[used, : columns.shape[1]] = columns
    here = row_of >= 0
    by_record[here, : counts.shape[1]] = counts[row_of[here]]
    return MinimalUniques(by_record, by_column, depth)


def weights_of(columns: int, depth: int) -> list[int]:
    """What a minimal sample unique of each size, from 1, adds to the SUDA score of its record.

    The product of (m - i) for i from its size s to M, where m is the number of columns and M the largest size looked
    for, m - 1 at most: (m - s)! if all sizes are looked for. Elliot, Manning and Ford 2002 (International Journal of
    Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 493-509), in the form of Elliot, Manning, Mayes, Gurd and
    Bane 2005 (SUDA: a program for detecting special uniques), which sdcMicro's suda2 has as its default.
    """
    largest = min(depth, columns - 1)
    return [math.prod(columns - i for i in range(size, largest + 1)) for size in range(1, depth + 1)]


def suda_scores(found: MinimalUniques) -> Floats:
    """The SUDA score of every record: the sum over its minimal sample uniques; 0 without any."""
    weights = np.array(weights_of(len(found.by_column), found.depth), np.float64)
    return np.asarray(found.by_record @ weights, np.float64)


def shares(found: MinimalUniques) -> list[float | None]:
    """For each column the share of all scores that is in minimal sample uniques which hold it.

    They add up to more than 1: a set of three columns counts for each of them. None where there are no scores. As
    `attribute_contributions` of sdcMicro's suda2.
    """
    weights = weights_of(len(found.by_column), found.depth)
    sizes = found.by_column.sum(axis=0).tolist()
    total = sum(w * count // size for size, (w, count) in enumerate(zip(weights, sizes, strict=True), start=1))
    held = [sum(w * c for w, c in zip(weights, row, strict=True)) for row in found.by_column.tolist()]
    return [own / total if total else None for own in held]


def dis(unique: int, in_pairs: int, fraction: float) -> float | None:
    """The data intrusion simulation estimate: how probably a match with a unique record is right; None without any.

    U f / (U f + P (1 - f)) with U unique records, P records in classes of two, and the sampling fraction f. Skinner and
    Elliot 2002 (Journal of the Royal Statistical Society B 64(4), 855-867).
    """
    if not unique:
        return None
    return unique * fraction / (unique * fraction + in_pairs * (1.0 - fraction))


def dis_scores(scores: Floats, unique: int, estimate: float, columns: int) -> Floats | None:
    """DIS-SUDA: the file's DIS estimate, divided among the records by their scores; 0 without a score, 1 at most.

    1 / (1 + (U / DIS - U) / (score^q A)), where q = 1 + (8 - m) / 20 and A is the sum of score^-q over the records with
    a score. Elliot and Manning 2003 (Using DIS to modify the classification of special uniques); the formula is that
    of sdcMicro's suda2. None from 28 columns on, where q is not above 0: larger scores would count for less.
    """
    power = 1.0 + (8.0 - columns) / 20.0
    if power <= 0.0:
        return None
    some = scores > 0
    out = np.zeros(len(scores))
    if some.any():
        raised = scores[some] ** power
        left = unique / estimate - unique
        out[some] = 1.0 / (1.0 + left / (raised * float(np.sum(1.0 / raised))))
    return out


class _Rows(NamedTuple):
    asked: Ints  # one record for each unit that is alone in a class of all columns
    all: Ints  # these first, then two of each other class: enough to show that others are not alone


def _representatives(values: Sequence[Ints], units: Ints | None) -> tuple[_Rows, Ints, Ints]:
    """The records that are searched, how many each of the first stands for, and for each record which one it is.

    Of records that are alike in all columns, two are enough to show that none of them is unique.
    """
    n = len(values[0])
    whose = np.arange(n) if units is None else units
    known = np.flatnonzero(whose >= 0)
    classes = combined([v[known] for v in values]) if len(known) else np.zeros(0, np.int64)
    _, unit = np.unique(whose[known], return_inverse=True)
    pairs, first, which = np.unique(
        classes * max(1, len(known)) + unit.reshape(-1), return_index=True, return_inverse=True
    )
    of = pairs // max(1, len(known))  # the class of each pair of class and unit, in order
    size = np.bincount(of, minlength=1)
    alone = size[of] == 1
    rank = np.arange(len(of)) - np.concatenate(([0], np.cumsum(size)))[of]
    shown = ~alone & (rank < 2)
    number = np.where(alone, np.cumsum(alone) - 1, -1)
    row_of = np.full(n, -1, np.int64)
    row_of[known] = number[which.reshape(-1)]
    weights = np.bincount(row_of[row_of >= 0], minlength=int(alone.sum()))
    asked = known[first[alone]]
    return _Rows(asked, np.concatenate([asked, known[first[shown]]])), weights.astype(np.int64), row_of


class _Search:
    """The walk through all sets of columns, on threads."""

    def __init__(self, codes: Codes, units: Codes, depth: int, threads: int) -> None:
        p = len(codes)
        self.codes, self.units, self.depth, self.threads = codes, units, depth, threads
        self.before = np.zeros((depth, p + 1), np.int64)
        for q in range(depth):
            sizes = [sum(math.comb(j, t) for t in range(q + 1)) for j in range(p)]
            self.before[q, 1:] = np.cumsum(sizes)
        count = sets_up_to(p, depth) + 1
        self.sets = Sets(
            np.zeros((count, depth), np.int32), np.zeros(count, np.int32), np.zeros((count, depth), np.int32)
        )
        list_sets(self.sets, self.before, p)

    def run(self, asked: int, weights: Ints) -> tuple[Codes, Ints]:
        """The counts of the first records, those that are asked about."""
        turn = max(64, _BITS * 8 // len(self.sets.sizes) // 64 * 64)
        counts = np.zeros((asked, self.depth), np.int32)
        columns = np.zeros((len(self.codes), self.depth), np.int64)
        with ThreadPoolExecutor(self.threads) as pool:
            for begin in range(0, asked, turn):
                end = min(asked, begin + turn)
                own, more = self._turn(pool, begin, end, weights[begin:end])
                counts[begin:end] = own
                columns += more
        return counts, columns

    def _turn(self, pool: ThreadPoolExecutor, begin: int, end: int, weights: Ints) -> tuple[Codes, Ints]:
        words = -(-(end - begin) // 64)
        bits = np.zeros((words, len(self.sets.sizes)), np.uint64)
        asked = np.full(len(self.units), -1, np.int32)
        asked[begin:end] = np.arange(end - begin)
        keys = Keys(self.codes, self.units, asked)

        def walk(task: tuple[tuple[int, ...], bool]) -> None:
            path, deeper = task
            mark_alone(keys, self._work(), bits, self.before, np.array(path, np.int64), self.depth, deeper)

        list(pool.map(walk, self._tasks()))
        counts = np.zeros((64 * words, self.depth), np.int32)
        padded = np.zeros(64 * words, np.int64)
        padded[: end - begin] = weights

        def count(first: int, last: int) -> Ints:
            columns = np.zeros((len(self.codes), self.depth), np.int64)
            count_minimal(bits, self.sets, first, last, padded, counts, columns)
            return columns

        cuts = np.linspace(0, words, min(words, 4 * self.threads) + 1).astype(int).tolist()
        columns = sum(pool.map(count, cuts[:-1], cuts[1:]), np.zeros((len(self.codes), self.depth), np.int64))
        return counts[: end - begin], columns

    def _tasks(self) -> list[tuple[tuple[int, ...], bool]]:
        """Sets whose branches together are all: the largest branches first."""
        p = len(self.codes)
        out: list[tuple[tuple[int, ...], bool]] = [((j,), False) for j in range(p)]
        if self.depth > 1:
            out += [((i, j), True) for i in range(p) for j in range(i)]
        return sorted(out, key=lambda task: -task[0][-1] if task[1] else 1)

    def _work(self) -> Work:
        n, values = len(self.units), int(self.codes.max(initial=0)) + 1
        return Work(
            np.empty((self.depth + 1, n), np.int32),
            np.empty((self.depth + 1, n), np.int32),
            np.zeros(self.depth + 1, np.int64),
            np.zeros(values, np.int32),
            np.zeros(values, np.int32),
            np.zeros(values, np.int32),
            np.zeros(values, np.int32),
        )
