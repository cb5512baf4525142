"""Subset-row cuts: of a set C of 3 records, no partition has two groups that each hold 2 of them; and so on.

Source: Jepsen, Petersen, Spoorendonk, Pisinger (2008), Subset-row inequalities applied to the vehicle-routing problem
with time windows, Operations Research 56. In general, sum over groups S of floor(|S and C| / 2) <= floor(|C| / 2). Sets
have 3, 5, 7 or 9 records: among pairs these are the odd-set inequalities of matchings (Edmonds 1965).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.subset_rows import coefficients, count_coefficients, grow_sets, violated_triples

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_RECORDS = 5000  # among so many records, at most, cuts are looked for: pairs take a square array
_VIOLATED = 0.02  # by so much at least, or a cut is left out; as relaxation.py says of its own
WIDTH = 9  # records of the largest sets; a row of `cuts` holds -1 after its last
_SEEDS = (500, 2000)  # so many triples at least and at most, 2 for a record between these, grow to larger sets,
_SEED = -0.6  # if they are not farther from a violation than that
NO_CUTS = np.empty((0, WIDTH), np.int64)


class Rows(NamedTuple):
    """Cuts, record by record: member[start[i]:start[i + 1]] are those that hold record i."""

    start: Ints
    member: Ints


def by_record(cuts: Ints, n: int) -> Rows:
    """The cuts of each record."""
    cut, column = np.nonzero(cuts >= 0)
    records = cuts[cut, column]
    order = np.argsort(records, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(records, minlength=n)))
    return Rows(start.astype(np.int64), cut[order])


def room(cuts: Ints) -> Floats:
    """The cuts' right-hand sides."""
    half: Floats = ((cuts >= 0).sum(axis=1) // 2).astype(np.float64)
    return half


def entries(groups: Ints, rows: Rows, m: int) -> tuple[Ints, Ints, Floats]:
    """The groups that count in the m cuts: in how many each does; in which, group by group, and how much.

    A row of `groups` holds -1 after its last record.
    """
    met = np.zeros(m, np.int64)
    counts = np.empty(len(groups), np.int64)
    count_coefficients(groups, rows.start, rows.member, met, counts)
    cut = np.empty(int(counts.sum()), np.int64)
    value = np.empty(len(cut))
    coefficients(groups, rows.start, rows.member, met, cut, value)
    return counts, cut, value


def within(cuts: Ints, place: Ints) -> Ints:
    """The cuts among some of the records: place[i] is a record's place there, -1 if it has none; place[-1] is -1.

    A subset of a cut's records has a cut of its own, but only an odd number of them says something new.
    """
    cuts = place[cuts]
    size = (cuts >= 0).sum(axis=1)
    cuts = cuts[(size > 2) & (size % 2 == 1)]
    nobody = np.iinfo(np.int64).max
    cuts = np.sort(np.where(cuts < 0, nobody, cuts), axis=1)
    return np.unique(np.where(cuts == nobody, -1, cuts), axis=0)


def separate(groups: Ints, x: Floats, n: int, most: int, each: int, known: set[tuple[int, ...]]) -> Ints:
    """The cuts that a fractional solution violates most: so many, so many at each record, none of those known.

    Larger sets only where no three records will do.
    """
    records = np.unique(groups[groups >= 0])[:_MOST_RECORDS]
    place = np.full(n + 1, -1)
    place[records] = np.arange(len(records))
    local = place[groups]  # -1 stands for nobody, in groups as in `place`
    inside = np.ones(len(groups), bool) if len(records) < _MOST_RECORDS else ((local >= 0) == (groups >= 0)).all(axis=1)
    local, x = np.ascontiguousarray(local[inside]), x[inside]
    triples, excess = np.empty((200_000, 3), np.int64), np.empty(200_000)
    violations = violated_triples(local, x, len(records), _VIOLATED, False, triples, excess)
    chosen = _choose(records[triples[:violations]], excess[:violations], n, most, each, known)
    if len(chosen):
        return chosen
    violations = violated_triples(local, x, len(records), _SEED, True, triples, excess)
    seeds = triples[np.argsort(-excess[:violations], kind="stable")[: max(_SEEDS[0], min(_SEEDS[1], 2 * n))]]
    sets, violated = np.zeros((len(seeds), WIDTH), np.int64), np.empty((len(seeds), (WIDTH - 3) // 2))
    grow_sets(local, x, len(records), seeds, sets, violated)
    sizes = [_padded(records[sets[:, : 5 + 2 * j]], violated[:, j]) for j in range(violated.shape[1])]
    return _choose(np.concatenate([a for a, _ in sizes]), np.concatenate([b for _, b in sizes]), n, most, each, known)


def _padded(sets: Ints, excess: Floats) -> tuple[Ints, Floats]:
    """Those that are violated, sorted, each once, in full width."""
    keep = excess > _VIOLATED
    sets, first = np.unique(np.sort(sets[keep], axis=1), axis=0, return_index=True)
    out = np.full((len(sets), WIDTH), -1)
    out[:, : sets.shape[1]] = sets
    return out, excess[keep][first]


def _choose(cuts: Ints, excess: Floats, n: int, most: int, each: int, known: set[tuple[int, ...]]) -> Ints:
    """The most violated, so many at each record."""
    chosen: list[tuple[int, ...]] = []
    used = np.zeros(n + 1, np.int64)
    for a in np.argsort(-excess, kind="stable").tolist():
        cut = cuts[a][cuts[a] >= 0]
        key = (*cut.tolist(), *[-1] * (WIDTH - len(cut)))
        if used[cut].max() < each and key not in known:
            used[cut] += 1
            chosen.append(key)
            if len(chosen) == most:
                break
    return np.array(chosen, np.int64).reshape(-1, WIDTH)
