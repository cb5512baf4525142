"""Solve a part: from its records and the plan to groups and centres. A pure function; it opens and logs nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.regions import at_most, seconds_elsewhere
from ..kernels import seconds_compiling
from ..tables.columns import Column
from ..tables.records import Records
from .centres import centres_of_groups, medoids
from .encoding import encode_columns
from .grouping import constant_groups, group
from .guarding import watch_part
from .losses import PartLoss, part_loss
from .plan import Division, Part, Plan
from .proving import ProvenPart, prove
from .stable import stable_groups
from .survey import weights_of
from .totals import KeptTotal, keep_total
from .unit_counts import codes, repeat

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Solved:
    """The groups of a part, and what is released for each.

    Attributes
    ----------
    labels : ndarray of int
        The group of each record, from 0 on.
    centres : mapping of str to ndarray
        For each masked column, the number that every record of a group gets.
    constant : mapping of str to ndarray of bool
        For each confidential column, which groups have one value at most in it.
    chosen : mapping
        What the method chose.
    loss : PartLoss
        Sums behind the information loss.
    proven : ProvenPart or None
        A lower bound on the loss of any groups of this part, where the recipe asks for one.
    totals : mapping of str to KeptTotal
        For each column whose total is kept by rounding, what is left of the difference.
    """

    labels: Ints
    centres: Mapping[str, Floats]
    constant: Mapping[str, Flags]
    chosen: Mapping[str, Any]
    loss: PartLoss
    proven: ProvenPart | None
    totals: Mapping[str, KeptTotal] = field(default_factory=dict)
    seconds: float = 0.0  # CPU seconds that it took, without those of compiling
    free: PartLoss | None = None  # of groups that need not follow earlier ones, where these do

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.labels.max()) + 1


def solve(records: Records, part: Part, division: Division, plan: Plan, threads: int | None = None) -> Solved:
    """Group the records of a part, by default on all cores, and find what is released for each group."""
    began, compiling = time.thread_time() + seconds_elsewhere(), seconds_compiling()
    recipe, whole, component = plan.recipe, plan.whole, division.component
    assert recipe.seed is not None
    columns = masked(records, part, division)
    importance = recipe.importance
    X = encode_columns(columns, whole.scales, importance, only_used=True)
    confidential = [records.column(name) for name in recipe.of_role("confidential")]
    units = _units(records, recipe.unit_column)
    guarded = [records.column(reference.name) for reference in plan.references]
    watch = watch_part(plan.references, guarded, units, component.k) if plan.references else None
    number = () if part.number is None else (part.number,)
    seed = (recipe.seed + division.number, part.cell, *number)
    with at_most(threads):
        grouped = group(X, component.k, recipe, watch, confidential, seed, units)
    weights = weights_of(records, recipe)
    free = None
    if plan.together is not None:
        free = part_loss(columns, whole.scales, grouped.labels, weights)
        grouped = stable_groups(X, component.k, plan.together.atom[records.numbers], recipe, watch, seed)
    labels = grouped.labels
    centres = _centres(columns, X, labels, weights, records, plan, len(plan.divisions) == 1)
    centres, totals = _with_totals(centres, columns, labels, weights, plan)
    effort = recipe.method.bound
    proven = None if effort == "none" else prove(columns, whole.scales, importance, component.k, labels, effort)
    constant = {column.name: constant_groups(labels, column) for column in confidential}
    loss = part_loss(columns, whole.scales, labels, weights, importance)
    used = time.thread_time() + seconds_elsewhere() - began - (seconds_compiling() - compiling)
    return Solved(labels, centres, constant, grouped.chosen, loss, proven, totals, used, free)


def _units(records: Records, name: str | None) -> Ints | None:
    """Whose records they are, as numbers; None where that is the same as counting records."""
    units = None if name is None else codes(records.units(name))
    return units if units is not None and repeat(units) else None


def masked(records: Records, part: Part, division: Division) -> list[Column]:
    """The quasi-identifiers of a part, with the values left out that its cell sets to missing."""
    names, gaps = division.component.quasi, division.cells.cells[part.cell].gaps
    out = []
    for j, name in enumerate(names):
        column = records.column(name)
        blank = gaps >> (len(names) - 1 - j) & 1
        out.append(column.with_numbers(np.full(len(column.numbers), np.nan)) if blank else column)
    return out


def _centres(
    columns: Sequence[Column],
    X: Floats,
    labels: Ints,
    weights: Floats | None,
    records: Records,
    plan: Plan,
    alone: bool,
) -> dict[str, Floats]:
    """What is released for each group: centres by kind, or the values of the record nearest to the mean.

    That record gives its values of the columns of strata, too, if there is but one grouping.
    """
    recipe, whole = plan.recipe, plan.whole
    if recipe.centre == "medoid":
        chosen = medoids(X, labels)
        strata = [records.column(name) for name in recipe.within] if alone else []
        return {column.name: column.numbers[chosen] + 0.0 for column in (*columns, *strata)}
    return {
        column.name: centres_of_groups(
            column, labels, weights, whole.steps.get(column.name, 0.0), whole.overall.get(column.name)
        )
        for column in columns
    }


def _with_totals(
    centres: dict[str, Floats], columns: Sequence[Column], labels: Ints, weights: Floats | None, plan: Plan
) -> tuple[dict[str, Floats], dict[str, KeptTotal]]:
    """The centres, where the recipe asks for it rounded so that the column's total is kept; and what is left."""
    out, totals = dict(centres), {}
    for column in columns:
        name = column.name
        if plan.recipe.columns[name].totals:
            out[name], totals[name] = keep_total(column, labels, weights, plan.whole.steps[name], centres[name])
    return out, totals
