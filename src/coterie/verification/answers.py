"""What the answers to questions mean: checks that hold or fail, and columns that cannot be checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import CoterieError
from . import sql, texts, verdict
from .asking import ask
from .claims import Guard, Scenario
from .verdict import Check


def check_order(relation: Any, guard: Guard) -> None:
    """Refuse an order that names a value twice. The relation is only where DuckDB is asked."""
    if guard.order:
        folds = texts.folds(c for (c,) in ask(relation, sql.order_letters(guard)))
        ((twice,),) = ask(relation, sql.spelt_twice(guard, folds))
        if twice:
            what = f"'order' of '{guard.column}' must name each value once; case, blanks and zeros make no other value."
            raise CoterieError(what, f"{twice:,} in another spelling", "unify the spellings in the data.")


def check_readable(guard: Guard, missing: int, unreadable: int) -> None:
    """Refuse values that are not of the column's kind, and missing ones where values must have an order."""
    if unreadable:
        hint = "name texts that stand for a missing value in 'missing'; see also 'decimal', 'format' and 'order'."
        got = f"{unreadable:,} {'value' if unreadable == 1 else 'values'} that can't be read as that"
        raise CoterieError(f"'{guard.column}' must be {guard.kind}.", got, hint)
    if missing and guard.t is not None and guard.is_ordered:
        what = "Values that are missing have no place in an order: t-closeness is not defined."
        raise CoterieError(what, f"{missing:,} missing in '{guard.column}'", "leave t out, or call the column nominal.")


def of_units(scenario: Scenario, guard: Guard, diversity: Sequence[Any]) -> Check:
    """Whether every class of a scenario holds k different units."""
    classes, least, _, few, exposed, *_ = diversity
    return verdict.units(scenario.name, guard.column, scenario.k, least, classes, few, exposed)


def of_guard(
    scenario: Scenario, guard: Guard, diversity: Sequence[Any], closeness: Sequence[Any] | None
) -> list[Check]:
    """The checks of one confidential column in the classes of one scenario."""
    classes, least, least_entropy, few, exposed, few_entropy, exposed_entropy, constant, in_constant = diversity
    told: list[tuple[str, float, float, int, int]] = []
    if guard.l is not None:
        told.append(("distinct l-diversity", guard.l, least, few, exposed))
    if guard.entropy is not None:
        told.append(("entropy l-diversity", guard.entropy, least_entropy, few_entropy, exposed_entropy))
    if guard.t is not None and closeness is not None:
        farthest, beyond, exposed_beyond = closeness
        told.append(("t-closeness", guard.t, farthest, beyond, exposed_beyond))
    checks = [
        verdict.diversity(what, scenario.name, guard.column, wanted, value, classes, number, inside)
        for what, wanted, value, number, inside in told
    ]
    return [*checks, verdict.constants(scenario.name, guard.column, classes, constant, in_constant)]
