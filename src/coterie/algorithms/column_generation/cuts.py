"""Subset-row cuts: of a set C of 3 records, no partition has two groups that each hold 2 of them.

Source: Jepsen, Petersen, Spoorendonk, Pisinger (2008), Subset-row inequalities applied to the vehicle-routing problem
with time windows, Operations Research 56. In general, sum over groups S of floor(|S and C| / 2) <= floor(|C| / 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.subset_rows import coefficients, count_coefficients, violated_triples

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_RECORDS = 3000  # among so many records, at most, cuts are looked for: pairs take a square array
_VIOLATED = 0.02


class Rows(NamedTuple):
    """Cuts, record by record: member[start[i]:start[i + 1]] are those that hold record i."""

    start: Ints
    member: Ints


def by_record(cuts: Ints, n: int) -> Rows:
    """The cuts of each record; `cuts` has three records in each row."""
    records = cuts.ravel()
    order = np.argsort(records, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(records, minlength=n)))
    return Rows(start.astype(np.int64), order // max(1, cuts.shape[1]))


def entries(groups: Ints, rows: Rows, m: int) -> tuple[Ints, Ints]:
    """The groups that count in the m cuts: how many in each group, and which cuts, group by group.

    A row of `groups` holds -1 after its last record. For sets of three, all coefficients are 1.
    """
    met = np.zeros(m, np.int64)
    counts = np.empty(len(groups), np.int64)
    count_coefficients(groups, rows.start, rows.member, met, counts)
    found = np.empty(int(counts.sum()), np.int64)
    coefficients(groups, rows.start, rows.member, met, found)
    return counts, found


def separate(groups: Ints, x: Floats, n: int, most: int, each: int, known: set[tuple[int, int, int]]) -> Ints:
    """The cuts that a fractional solution violates most: so many, so many at each record, none of those known."""
    records = np.unique(groups[groups >= 0])[:_MOST_RECORDS]
    place = np.full(n + 1, -1)
    place[records] = np.arange(len(records))
    local = place[groups]  # -1 stands for nobody, in groups as in `place`
    inside = np.ones(len(groups), bool) if len(records) < _MOST_RECORDS else ((local >= 0) == (groups >= 0)).all(axis=1)
    triples, excess = np.empty((200_000, 3), np.int64), np.empty(200_000)
    found = violated_triples(local[inside], x[inside], len(records), _VIOLATED, triples, excess)
    chosen: list[tuple[int, int, int]] = []
    used = np.zeros(n, np.int64)
    for a in np.argsort(-excess[:found], kind="stable").tolist():
        cut = records[triples[a]]
        key = (int(cut[0]), int(cut[1]), int(cut[2]))
        if used[cut].max() < each and key not in known:
            used[cut] += 1
            chosen.append(key)
            if len(chosen) == most:
                break
    return np.array(chosen, np.int64).reshape(-1, 3)
