"""The groups of a part: by the recipe's method, guarded, or by others where a confidential column stays constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..algorithms.confidential.guarded import UnreachableError, compile_guards_ahead, guarded_part
from ..algorithms.limits import Limits
from ..algorithms.run import by_first_appearance, groups_of
from ..algorithms.unit_mdav import groups_of_units
from ..errors import PromiseError
from ..kernels.watch import Watch
from ..recipe import Recipe
from ..tables.columns import Column
from .guarding import codes_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_OTHER_METHODS = ("mdav", "mdav*", "v-mdav", "path")  # tried, where a confidential column is constant in a group
_OTHER_K = 2  # and so much above k


class Grouped(NamedTuple):
    """The groups of a part, and what the method chose."""

    labels: Ints
    chosen: Mapping[str, Any]


def group(
    X: Floats,
    k: int,
    recipe: Recipe,
    watch: Watch | None,
    confidential: Sequence[Column],
    seed: Sequence[int],
    units: Ints | None = None,
) -> Grouped:
    """The groups of a part. A release is made as its recipe says, or not at all: nothing is cut short.

    With `units`, what k counts (-1 where that is not known), every group has at least k different ones.
    """
    rule = recipe.method
    if units is not None:
        labels, chosen = (None, {}) if recipe.guard.rule != "merge" else _of_units(X, k, units, recipe, seed)
        return guarded_groups(X, k, labels, chosen, recipe, watch)
    best = _grouped(X, k, rule.name, rule.params, rule.refine, recipe, watch, seed)
    if not recipe.guard.regroup:
        return best
    least, tried = _exposed(best, confidential), 1
    for larger in range(k, k + _OTHER_K + 1):
        for method in _OTHER_METHODS if len(X) >= larger else ():
            if least == 0:
                return best
            other = _grouped(X, larger, method, {}, "quick", recipe, watch, seed)
            tried += 1
            if _exposed(other, confidential) < least:
                least = _exposed(other, confidential)
                best = other._replace(chosen={**other.chosen, "method": method, "k": larger, "tried": tried})
    return best


def _exposed(grouped: Grouped, confidential: Sequence[Column]) -> int:
    """How many records are in groups in which some confidential column has one value at most."""
    labels = grouped.labels
    exposed = np.zeros(int(labels.max()) + 1, bool)
    for column in confidential:
        exposed |= constant_groups(labels, column)
    return int(np.count_nonzero(exposed[labels]))


def _grouped(
    X: Floats,
    k: int,
    method: str,
    params: Mapping[str, Any],
    refine: str,
    recipe: Recipe,
    watch: Watch | None,
    seed: Sequence[int],
) -> Grouped:
    labels: Ints | None = None
    chosen: dict[str, Any] = {}
    if watch is not None:
        compile_guards_ahead()
    if recipe.guard.rule == "merge":
        labels, found = groups_of(X, k, method, params, refine, np.random.default_rng(list(seed)))
        if "cut_short" in found:
            raise KeyboardInterrupt
        chosen = dict(found)
    return guarded_groups(X, k, labels, chosen, recipe, watch)


def _of_units(X: Floats, k: int, units: Ints, recipe: Recipe, seed: Sequence[int]) -> tuple[Ints, dict[str, Any]]:
    """Groups of at least k units: those of MDAV, and by default the local search after it."""
    rule, limits = recipe.method, Limits()
    effort = "quick" if rule.name == "auto" and rule.refine == "none" else rule.refine
    found = groups_of_units(X, k, units, effort, np.random.default_rng(list(seed)), limits)
    if limits.cut_short is not None:
        raise KeyboardInterrupt
    return by_first_appearance(found.labels), found.chosen


def guarded_groups(
    X: Floats, k: int, labels: Ints | None, chosen: dict[str, Any], recipe: Recipe, watch: Watch | None
) -> Grouped:
    """The same groups once the guards hold in each of them."""
    if watch is not None:
        before = 0 if labels is None else int(labels.max()) + 1
        labels = guarded_part(X, k, labels, watch, recipe.guard.rule, recipe.guard.split)
        chosen["guard"] = recipe.guard.rule
        if before:
            chosen["merged"] = before - int(labels.max()) - 1
    assert labels is not None
    return Grouped(labels, chosen)


def unreachable(error: UnreachableError, recipe: Recipe, names: Sequence[str], parts: int) -> PromiseError:
    """What to say where all records of a part as one group don't meet a guard: no partition of it does."""
    name = names[error.args[0][0]]
    rule = recipe.columns[name]
    asked = ", ".join(f"{n} = {v}" for n, v in (("l", rule.l), ("entropy", rule.entropy), ("t", rule.t)) if v)
    what = f"The guard of '{name}' ({asked}) cannot be met."
    if parts == 1:
        return PromiseError(what, "even all records as one group do not meet it", "ask for less.")
    got = f"one of {parts:,} strata, patterns of missing values or blocks, does not meet it even as a single group"
    return PromiseError(what, got, "ask for less, or use fewer strata.")


def constant_groups(labels: Ints, column: Column) -> Flags:
    """Which groups have one value at most in a column; missing ones don't count, as for l."""
    groups = int(labels.max()) + 1
    values, there = codes_of(column), ~column.missing
    low, high = np.full(groups, np.iinfo(np.int64).max), np.full(groups, -1)
    np.minimum.at(low, labels[there], values[there])
    np.maximum.at(high, labels[there], values[there])
    return np.asarray(low >= high)
