"""Groups that keep those together who were together in all earlier releases.

Persons who were in the same classes of the same earlier releases, and in no others, make an atom; those who are in none
of them make one, too. A person's set of candidates over all releases is made of the persons of their atom who share
their class now. So a group may hold several atoms, if each has enough persons in it; and an atom may be divided into
groups, if each keeps enough.

- An atom of 2k records or more is grouped by the recipe's method, as if it were the table; a smaller one of at least k
  records is a group.
- Atoms of fewer than k records (where an earlier release had a smaller k) stay whole, and are put together by MDAV on
  their centroids, as many as are needed for k records. Where there are too few of them, they join the nearest group.
- Groups that fall short of a guard are merged, as wholes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..algorithms.run import by_first_appearance, groups_of
from ..kernels.watch import Watch
from ..recipe import Recipe
from .grouping import Grouped, guarded_groups
from .plan import Plan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Together:
    """For each record of the table, by its number: its atom, and whether it is left out."""

    atom: Ints
    left_out: Flags


def with_atoms(plan: Plan, together: Together) -> Plan:
    """A plan of one part whose records stay together in atoms, without those that are left out."""
    gone = int(np.count_nonzero(together.left_out))
    (division,) = plan.divisions
    (cell,), (part,) = division.cells.cells, division.parts
    left = part.records - gone
    cells = replace(division.cells, cells=(replace(cell, records=left),))
    division = replace(division, cells=cells, sizes=(np.array([left]),), parts=(part._replace(records=left),))
    divided = replace(plan.divided, suppressed=plan.divided.suppressed + gone)
    return replace(plan, divisions=(division,), divided=divided, together=together)


def stable_groups(X: Floats, k: int, atom: Ints, recipe: Recipe, watch: Watch | None, seed: Sequence[int]) -> Grouped:
    """The groups of records that have these atoms."""
    rule = recipe.method
    order = np.argsort(atom, kind="stable")
    begins = np.flatnonzero(np.concatenate(([True], np.diff(atom[order]) != 0)))
    labels, groups = np.full(len(X), -1, np.int64), 0
    small: list[Ints] = []
    for number, rows in enumerate(np.split(order, begins[1:])):
        if len(rows) < k:
            small.append(rows)
            continue
        own = np.zeros(len(rows), np.int64)
        if len(rows) >= 2 * k:
            rng = np.random.default_rng([*seed, number])
            own, found = groups_of(np.ascontiguousarray(X[rows]), k, rule.name, rule.params, rule.refine, rng)
            if "cut_short" in found:
                raise KeyboardInterrupt
        labels[rows] = groups + own
        groups += int(own.max()) + 1
    if small:
        _put_together(X, k, small, labels, groups)
    return guarded_groups(X, k, by_first_appearance(labels), {}, recipe, watch)


def _put_together(X: Floats, k: int, small: list[Ints], labels: Ints, groups: int) -> None:
    """Make groups of atoms with fewer than k records, each as a whole."""
    sizes = np.array([len(rows) for rows in small])
    centroids = np.array([X[rows].mean(axis=0) for rows in small])
    need = -(-k // int(sizes.min()))  # so many atoms have k records, whichever they are
    which = np.zeros(len(small), np.int64)
    if len(small) >= 2 * need:
        which = groups_of(centroids, need, "mdav", {}, "none", np.random.default_rng(0))[0]
    if len(small) >= 2 * need or int(sizes.sum()) >= k or groups == 0:
        for rows, one in zip(small, which, strict=True):
            labels[rows] = groups + one
        return
    known = labels >= 0
    counts = np.bincount(labels[known], minlength=groups)
    means = np.column_stack([np.bincount(labels[known], x, groups) / counts for x in X[known].T])
    nearest = int(np.square(means - X[np.concatenate(small)].mean(axis=0)).sum(axis=1).argmin())
    labels[np.concatenate(small)] = nearest
