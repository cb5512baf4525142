"""Where importance has an effect: it weighs quasi-identifiers against others that they are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import Mistake

if TYPE_CHECKING:
    from .recipe import Recipe


def check_importance(recipe: Recipe, mistakes: list[Mistake], can_be_joined: bool) -> None:
    """Note importance that has no effect: on other roles, on what is compared with nothing, or the same for all."""
    for name, rule in recipe.columns.items():
        if rule is not None and rule.importance is not None and rule.role != "quasi":
            what = "Only quasi-identifiers have an importance: other columns take no part in distances."
            got = f'role = "{rule.role}"'
            mistakes.append(Mistake(("columns", name, "importance"), what, got, "leave it out."))
    weights = recipe.importance
    if not weights or not can_be_joined:
        return
    small = None if recipe.strata is None else recipe.strata.small
    if small == "merge" and len({weights.get(name, 1.0) for name in recipe.quasi}) > 1:
        return  # centroids of strata are compared in all quasi-identifiers
    together = {name: columns for _, columns, _ in recipe.joined for name in columns}
    for name in weights:
        if reason := _without_effect(name, weights, together.get(name, set()), recipe.within):
            mistakes.append(Mistake(("columns", name, "importance"), *reason))


def _without_effect(
    name: str, weights: dict[str, float], together: set[str], within: tuple[str, ...]
) -> tuple[str, str, str] | None:
    """Why an importance changes no group: what must hold, what was given, what to do."""
    if name in within:
        what = "A stratum column takes part in distances only where small strata are merged."
        return what, "a stratum column", 'leave it out, or [strata] small = "merge".'
    if len(together) == 1:
        what = "Importance is relative to other columns, and this column is grouped alone."
        return what, "no other quasi-identifier beside it", "leave it out."
    if len({weights.get(other, 1.0) for other in together}) == 1:
        what = "Importance must differ between columns that are grouped together: only the ratio matters."
        return what, f"{weights[name]:g} for all of them", "give it only to the important ones."
    return None
