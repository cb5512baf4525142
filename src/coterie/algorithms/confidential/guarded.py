"""guarded: checks, strata, the rule, and a last look at what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import CoterieError
from ...kernels import compile_ahead, merging
from ...kernels.watch import Watch
from ..mdav import mdav
from .guards import Guard, measured, part_of, watch
from .improve import split_again
from .k_first import k_first
from .merge import by_first_appearance, merge
from .t_first import t_first

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RULES = ("merge", "k-first", "t-first")


def guarded(
    X: Floats,
    k: int,
    labels: Ints | None,
    guards: Sequence[Guard],
    rule: Literal["merge", "k-first", "t-first"],
    *,
    strata: Ints | None = None,
    split: bool = False,
) -> Ints:
    """Groups of at least k records in each of which all guards hold.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The quasi-identifiers, encoded: float64, C order, finite.
    k : int
        Minimum group size.
    labels : ndarray of int, of shape (n,), optional
        The partition that "merge" begins with; without it, MDAV's. Groups that cross strata are cut, and groups of
        fewer than k are merged like those that fall short of a guard. The other rules make their own groups and take
        none.
    guards : sequence of Guard
        At least one.
    rule : {"merge", "k-first", "t-first"}
        The three algorithms of Soria-Comas et al. (2015), doi 10.1109/TKDE.2015.2435777: see `merge`, `k_first` and
        `t_first` in the files of these names.
        "t-first" needs exactly one guard with t on a column with an order; it keeps all others by merging.
    strata : ndarray of int, of shape (n,), optional
        Groups never cross them. t is held against the whole table all the same.
    split : bool
        Whether groups of 2k records or more are split again where their parts keep the guards (`split_again`). It never
        loses more, and gains most after "merge"; the paper does not.

    Returns
    -------
    ndarray of int64, of shape (n,)
        Groups, numbered by first appearance. The same input gives the same groups; ties go to the lowest index.

    Raises
    ------
    CoterieError
        If a stratum has fewer than k records, or all its records as one group don't meet a guard: then no partition of
        it does.
    """
    first = _check(X, k, labels, guards, rule, strata)
    whole = watch(guards)
    part = np.zeros(len(X), np.int64) if strata is None else by_first_appearance(np.asarray(strata))
    _check_reachable(part, k, guards, whole)
    out = np.empty(len(X), np.int64)
    order = np.argsort(part, kind="stable")
    g = 0
    for records in np.split(order, np.cumsum(np.bincount(part))[:-1]):
        own = np.ascontiguousarray(X[records])
        start = None if labels is None else np.asarray(labels, np.int64)[records]
        seen = part_of(whole, records)
        found = _within(own, k, start, seen, rule, first)
        out[records] = g + (split_again(own, k, found, seen) if split else found)
        g = int(out[records].max()) + 1
    out = by_first_appearance(out)
    short = sum(measured(whole, i, out)[:, 3] for i in range(len(guards)))
    if np.bincount(out).min() < k or np.any(short > 0):  # fail closed: never seen
        raise CoterieError(
            "The groups do not meet the guards.", f"rule '{rule}'", "this is a bug in Coterie: please report it."
        )
    return out


def guarded_part(X: Floats, k: int, labels: Ints | None, watch: Watch, rule: str, split: bool) -> Ints:
    """The groups of some records of a table, in each of which all guards hold: `guarded`, for whoever knows the table.

    Parameters
    ----------
    X, k, labels, rule, split
        As for `guarded`.
    watch : Watch
        The values of these records, and those of the whole table (`guards.watch_of`).

    Raises
    ------
    UnreachableError
        If all records as one group don't meet a guard.
    """
    short = [g for g in range(len(watch.codes)) if measured(watch, g, np.zeros(len(X), np.int64))[0, 3] > 0]
    if short:
        raise UnreachableError(short)
    fitting = [g for g in range(len(watch.codes)) if watch.ordered[g] and np.isfinite(watch.t[g])]
    out = _within(X, k, labels, watch, rule, fitting[0] if rule == "t-first" else -1)
    return split_again(X, k, out, watch) if split else out


def compile_guards_ahead() -> None:
    """Begin to compile what guards need, for whoever forms groups first."""
    compile_ahead("guards", needs=merging.merge_worst)


class UnreachableError(Exception):
    """All records as one group don't meet some guards, whose numbers are in `args[0]`."""


def _within(X: Floats, k: int, labels: Ints | None, watch: Watch, rule: str, first: int) -> Ints:
    """The groups of one stratum."""
    if rule == "k-first":
        return k_first(X, k, watch)
    if rule == "t-first":
        return t_first(X, k, watch, first)
    if labels is None:
        labels = mdav(X, k) if len(X) >= 2 * k else np.zeros(len(X), np.int64)
    return merge(X, k, labels, watch)


def _check(X: Floats, k: int, labels: Ints | None, guards: Sequence[Guard], rule: str, strata: Ints | None) -> int:
    """Refuse what doesn't fit; give the guard that "t-first" builds on, or -1."""
    if rule not in RULES:
        raise CoterieError(f"'rule' must be one of {', '.join(map(repr, RULES))}.", repr(rule))
    if not guards:
        raise CoterieError("There must be at least one guard.", "none", "group without guards by any method.")
    if len(X) < k:
        raise CoterieError("There must be at least k records.", f"{len(X)} records and k = {k}", "use a smaller k.")
    for guard in guards:
        if len(guard.codes) != len(X):
            what = f"The guard of '{guard.name}' must have a code for each record."
            raise CoterieError(what, f"{len(guard.codes)} codes and {len(X)} records")
    for name, given in {"labels": labels, "strata": strata}.items():
        if given is not None and (np.shape(given) != (len(X),) or np.asarray(given).dtype.kind not in "iu"):
            what = f"'{name}' must be one integer for each record."
            raise CoterieError(what, f"{np.asarray(given).dtype} of shape {np.shape(given)}")
    if labels is not None and rule != "merge":
        what = f"The rule '{rule}' forms the groups itself."
        raise CoterieError(what, "labels", "leave them out, or use rule 'merge'.")
    fitting = [i for i, guard in enumerate(guards) if guard.t is not None and guard.ordered]
    if rule == "t-first" and len(fitting) != 1:
        what = "The rule 't-first' needs exactly one guard with t on a column whose values have an order."
        raise CoterieError(what, f"{len(fitting)} of them", "use rule 'k-first' or 'merge'.")
    return fitting[0] if rule == "t-first" else -1


def _check_reachable(part: Ints, k: int, guards: Sequence[Guard], whole: Watch) -> None:
    """Refuse strata that are too small, or fall short as a whole: any partition of them would."""
    small = int(np.count_nonzero(np.bincount(part) < k))
    if small:
        what = "Every stratum must have at least k records."
        raise CoterieError(what, f"{small:,} strata of fewer than {k}", "merge strata, or leave their records out.")
    for g, guard in enumerate(guards):
        short = int(np.count_nonzero(measured(whole, g, part)[:, 3]))
        if short:
            everyone = int(part.max()) == 0
            what = f"The guard of '{guard.name}' ({guard.conditions}) cannot be met."
            got = (
                "even all records as one group do not meet it"
                if everyone
                else f"{short:,} strata do not meet it even as a single group"
            )
            raise CoterieError(what, got, f"ask for less{'' if everyone else ', or use fewer strata'}.")
