"""Groups that keep a recipe's promises: scenario by scenario, stratum by stratum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.kd_blocks import in_blocks, loss_at_faces
from ..algorithms.registry import find
from ..errors import CoterieError, PromiseError
from ..microaggregation.api import check_blocks, groups_of
from ..progress import done, listening
from ..recipe import Recipe
from ..tables.columns import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_OTHER_METHODS = ("mdav", "mdav*", "v-mdav", "path")  # tried, where a confidential column is constant in a group
_OTHER_K = 2  # and so much above k


@dataclass(frozen=True)
class Component:
    """Quasi-identifiers that are grouped together, and the k of their groups: scenarios that share a column."""

    name: str
    quasi: tuple[str, ...]
    k: int


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups of a component. X and strata are what they were made of, for measures and bounds."""

    component: Component
    labels: Ints
    X: Floats = field(repr=False)
    strata: Ints = field(repr=False)
    found: Mapping[str, Any]
    constant: int  # records in groups in which a confidential column is constant


def components(recipe: Recipe) -> list[Component]:
    """The scenarios, joined where they share a column that is masked: k is the largest of theirs."""
    return [
        Component(" + ".join(names), tuple(q for q in recipe.quasi if q in columns), k)
        for names, columns, k in recipe.joined
    ]


def group(
    component: Component,
    X: Floats,
    strata: Ints,
    recipe: Recipe,
    confidential: Sequence[Column],
    seed: int,
    cuts: tuple[Floats, Floats] | None = None,
) -> Grouped:
    """The groups of a component: by the recipe's method, guarded; others are tried where that is asked for.

    `cuts` are the columns at which blocks are cut, scaled and raw.
    """

    def attempt(method: str, k: int, params: Mapping[str, Any], refine: str) -> Grouped:
        own = Component(component.name, component.quasi, component.k)
        return _grouped(own, k, X, strata, recipe, confidential, seed, method, params, refine, cuts)

    rule = recipe.method
    first = attempt(rule.name, component.k, rule.params, rule.refine)
    if not recipe.guard.regroup or first.constant == 0:
        return first
    return _regrouped(first, attempt, component, strata, rule.blocks)


def _regrouped(
    first: Grouped, attempt: Callable[..., Grouped], component: Component, strata: Ints, blocks: int | str | None
) -> Grouped:
    """The first of other methods and larger k that leaves no group with a constant value, else the best of them.

    A k ends it for which a stratum, or a block of at most so many records, is too small.
    """
    best, tried = first, 1
    for k in range(component.k, component.k + _OTHER_K + 1):
        if np.bincount(strata).min() < k or (isinstance(blocks, int) and blocks < 2 * k):
            break
        for method in _OTHER_METHODS:
            other = attempt(method, k, {}, "quick")
            tried += 1
            if other.constant < best.constant:
                found = {**other.found, "method": method, "k": k, "tried": tried}
                best = Grouped(component, other.labels, other.X, strata, found, other.constant)
            if best.constant == 0:
                return best
    return best


def _grouped(
    component: Component,
    k: int,
    X: Floats,
    strata: Ints,
    recipe: Recipe,
    confidential: Sequence[Column],
    seed: int,
    method: str,
    params: Mapping[str, Any],
    refine: str,
    cuts: tuple[Floats, Floats] | None,
) -> Grouped:
    """Groups inside every stratum, then guarded."""
    if recipe.guard.rule == "merge":
        labels, found = _in_strata(X, strata, seed, _solver(k, method, params, refine, block_size(recipe, k), cuts))
    else:
        labels, found = None, {}
    guards = guards_of(recipe, confidential)
    if guards:
        from ..algorithms.confidential.guarded import guarded

        before = 0 if labels is None else int(labels.max()) + 1
        rule: Any = recipe.guard.rule
        start = labels
        labels = _kept(lambda: guarded(X, k, start, guards, rule, strata=strata, split=recipe.guard.split))
        found = {**found, "guard": recipe.guard.rule}
        if before:
            found["merged"] = before - int(labels.max()) - 1
    assert labels is not None
    return Grouped(component, labels, X, strata, found, constant_records(labels, confidential))


def _kept(form: Callable[[], Ints]) -> Ints:
    """What `form` gives; that the guards are out of reach means that the promise cannot be kept."""
    try:
        return form()
    except CoterieError as error:
        what, got, hint = error.what, error.got, error.hint
    raise PromiseError(what, got, hint)


def block_size(recipe: Recipe, k: int) -> int | None:
    """The most records in a block, if there are to be blocks."""
    return check_blocks(recipe.method.blocks, None, k, find(recipe.method.name))


Solver = Callable[[Floats, Ints, list[int]], tuple[Ints, Mapping[str, Any]]]


def _solver(
    k: int,
    method: str,
    params: Mapping[str, Any],
    refine: str,
    size: int | None,
    cuts: tuple[Floats, Floats] | None,
) -> Solver:
    """What groups the records of a stratum: as a whole, or in blocks, each with a generator of its own."""

    def whole(X: Floats, rows: Ints, seed: list[int]) -> tuple[Ints, Mapping[str, Any]]:
        del rows
        return grouped_part(X, k, method, params, refine, seed)

    def in_parts(X: Floats, rows: Ints, seed: list[int]) -> tuple[Ints, Mapping[str, Any]]:
        assert cuts is not None
        assert size is not None

        def solve(Z: Floats, b: int) -> Ints:
            with listening(None):
                return grouped_part(Z, k, method, params, refine, [*seed, b])[0]

        found = in_blocks(X, k, solve, size=size, cuts=(cuts[0][rows], cuts[1][rows]), done=done)
        told = {**params, "blocks": len(found.parts), "block_size": max(map(len, found.parts))}
        return found.labels, told | (loss_at_faces(X, found, solve) if len(found.parts) > 1 else {})

    return whole if size is None else in_parts


def grouped_part(
    X: Floats, k: int, method: str, params: Mapping[str, Any], refine: str, seed: list[int]
) -> tuple[Ints, Mapping[str, Any]]:
    """The groups of some records. A release is made as its recipe says, or not at all: nothing is cut short."""
    labels, found = groups_of(X, k, method, params, refine, np.random.default_rng(seed))
    if "cut_short" in found:
        raise KeyboardInterrupt
    return labels, found


def _in_strata(X: Floats, strata: Ints, seed: int, solve: Solver) -> tuple[Ints, dict[str, Any]]:
    """The groups of every stratum, numbered on; what was chosen, if there is but one stratum."""
    labels = np.empty(len(X), np.int64)
    groups, chosen = 0, {}
    order = np.argsort(strata, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(strata))[:-1])
    for s, rows in enumerate(parts):
        own, found = solve(np.ascontiguousarray(X[rows]), rows, [seed, s])
        labels[rows] = own + groups
        groups += int(own.max()) + 1
        chosen = dict(found)
    return labels, chosen if len(parts) == 1 else {"strata": len(parts)}


def guards_of(recipe: Recipe, confidential: Sequence[Column]) -> list[Any]:
    """What must hold of the confidential columns in every group."""
    guarded = [c for c in confidential if recipe.columns[c.name].guarded]
    if not guarded:
        return []
    from ..algorithms.confidential.guards import Guard

    guards = []
    for column in guarded:
        rule = recipe.columns[column.name]
        if rule.t is not None and column.is_ordered and column.missing.any():
            what = f"t-closeness of the ordered column '{column.name}' needs all its values."
            raise PromiseError(what, f"{int(column.missing.sum())} missing", "drop these records, or use l.")
        guards.append(Guard(column.name, codes_of(column), column.is_ordered, rule.l, rule.entropy, rule.t))
    return guards


def codes_of(column: Column) -> Ints:
    """The different values numbered in order; -1 where missing."""
    codes = np.full(len(column.numbers), -1)
    there = ~column.missing
    codes[there] = np.unique(column.numbers[there], return_inverse=True)[1].reshape(-1)
    return codes


def constant_records(labels: Ints, confidential: Sequence[Column]) -> int:
    """How many records are in groups in which some confidential column has one value at most."""
    exposed = np.zeros(len(labels), bool)
    for column in confidential:
        exposed |= constant_in(labels, column)
    return int(exposed.sum())


def constant_in(labels: Ints, column: Column) -> NDArray[np.bool_]:
    """Which records are in a group in which the column has one value at most; missing ones don't count, as for l."""
    groups = int(labels.max()) + 1
    values, there = codes_of(column), ~column.missing
    low, high = np.full(groups, np.iinfo(np.int64).max), np.full(groups, -1)
    np.minimum.at(low, labels[there], values[there])
    np.maximum.at(high, labels[there], values[there])
    flags: NDArray[np.bool_] = (low >= high)[labels]
    return flags
