"""The prices of one window, learnt from the linear program of its records and those around them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .master import Outside, group_costs, reduced_costs
from .relaxation import Dual, Relaxation
from .repair import repair
from .subset_row_cuts import NO_CUTS, Rows, room

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS, _KEEP = 3, 0.1  # columns kept for each record of a window, up to this reduced cost (a share of the SSE is 1)
_LP_ROUNDS = 400  # of linear programs in a window


class Table(NamedTuple):
    """The whole table, with what is known of prices, cuts and columns."""

    X: Floats
    k: int
    dual: Dual
    cuts_of: Rows
    columns: Ints
    columns_of: Rows


class Learnt(NamedTuple):
    """What a window has found, in records of the whole table."""

    records: Ints  # its own
    pi: Floats  # theirs
    dropped: Ints  # cuts of the whole table whose prices were looked for anew
    cuts: Ints
    sigma: Floats
    columns: Ints


def learn(table: Table, groups: Ints, own: Ints, limits: Limits) -> Learnt | None:
    """The prices of some records (those of a window), from all these groups (the window's, and those around it)."""
    members = np.unique(groups[groups >= 0])
    X = np.ascontiguousarray(table.X[members])
    relaxation = Relaxation(X, table.k, _places(groups, members))
    value = math.fsum(group_costs(table.X, groups).tolist())
    relaxation.run(limits, value, _LP_ROUNDS, cuts=False)
    if not relaxation.bound > -math.inf:
        return None
    inside = np.isin(members, own)
    columns = np.append(members, -1)[_worth_keeping(relaxation, inside)]
    return Learnt(own, relaxation.dual.pi[inside], np.empty(0, np.int64), NO_CUTS, np.empty(0), columns)


def improve(table: Table, groups: Ints, around: Ints, limits: Limits) -> Learnt | None:
    """Better prices of the records of these groups, while those of records around them stay; None if there are none."""
    own = np.unique(groups[groups >= 0])
    members = np.union1d(own, around)
    inside = np.isin(members, own)
    names = np.append(members, -1)
    pi = table.dual.pi[members]
    near = _listed(table.cuts_of, members)
    sigma = table.dual.sigma[near]
    free = _within(table.dual.cuts[near], own)
    cuts = _places(table.dual.cuts[near], members)  # records that are no members share no group with those here
    given = Outside(inside, np.where(inside, 0.0, pi), cuts[~free], sigma[~free])
    relaxation = Relaxation(np.ascontiguousarray(table.X[members]), table.k, _places(groups, members), outside=given)
    columns = table.columns[_listed(table.columns_of, own)]
    columns = _places(columns[_within(columns, members)], members)
    before = math.fsum(pi[inside].tolist()) - float(room(cuts[free]) @ sigma[free])
    relaxation.resume(limits, pi, columns, cuts[free], _LP_ROUNDS)
    if not relaxation.bound > -math.inf:
        return None
    new = relaxation.dual
    fresh = len(new.sigma) - len(given.sigma)  # those given come last
    safe = repair(relaxation.pricing, new, limits, inside).pi[inside]
    after = math.fsum(safe.tolist()) - float(room(new.cuts[:fresh]) @ new.sigma[:fresh])
    if not after > before:
        return None
    charged = np.flatnonzero(new.sigma[:fresh] > 0.0)
    columns = names[_worth_keeping(relaxation, inside)]
    return Learnt(own, safe, near[free], names[new.cuts[charged]], new.sigma[charged], columns)


def _places(rows: Ints, members: Ints) -> Ints:
    """Records by their places among the members, which are in order; -1 for nobody and for others."""
    place = np.minimum(np.searchsorted(members, rows), len(members) - 1)
    return np.where(members[place] == rows, place, -1)


def _within(rows: Ints, records: Ints) -> NDArray[np.bool_]:
    """Whether all records of a row are of these, which are in order."""
    whole: NDArray[np.bool_] = ((_places(rows, records) >= 0) == (rows >= 0)).all(axis=1)
    return whole


def _listed(rows: Rows, records: Ints) -> Ints:
    """The cuts or columns that hold one of these records, each once."""
    count = rows.start[records + 1] - rows.start[records]
    first = np.append(0, np.cumsum(count))[:-1]
    at = np.repeat(rows.start[records] - first, count) + np.arange(int(count.sum()))
    return np.unique(rows.member[at])


def _worth_keeping(relaxation: Relaxation, inside: NDArray[np.bool_]) -> Ints:
    """The columns of the least reduced costs, of those that hold records of the window."""
    groups = relaxation.master.groups
    reduced = reduced_costs(groups, group_costs(relaxation.X, groups), *relaxation.dual)
    reduced[~np.append(inside, False)[groups].any(axis=1)] = np.inf
    best = np.argsort(reduced, kind="stable")[: _COLUMNS * int(inside.sum())]
    return groups[best[reduced[best] < _KEEP]]
