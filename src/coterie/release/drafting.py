"""Recipes from a look at a table: a draft to edit, or one from roles that were said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from ..recipe import Recipe, RecipeError
from ..recipe.draft import Look, draft, look, rules_for
from ..recipe.fields import Mistake
from ..recipe.rules import close_to
from .sources import open_source


def draft_recipe(table: Any, k: int = 5) -> str:
    """The text of a recipe (TOML) with a suggestion for every column, and the reason beside it.

    Parameters
    ----------
    table : path or table
    k : int
        The least number of records that look alike.
    """
    return draft(_looks(table), k)


def recipe_from_roles(table: Any, roles: Mapping[str, str], k: int, method: str = "auto") -> Recipe:
    """A recipe for roles that were said, with the kinds that the columns look like. All columns must be named."""
    looks = _looks(table)
    mistakes = [
        Mistake(("columns", name), "The table must have this column.", "no such column", close_to(name, list(looks)))
        for name in roles
        if name not in looks
    ]
    unnamed = [name for name in looks if name not in roles]
    mistakes += [
        Mistake(("columns", name), "Every column must be named as quasi, confidential, dropped or kept.", "in no list")
        for name in unnamed
    ]
    if mistakes:
        raise RecipeError(mistakes, "the columns")
    ordered = {name: roles[name] for name in looks}
    return Recipe(k=k, method=method, columns=rules_for(ordered, looks))


def recipe_to_look(
    table: Any, recipe: Any, quasi: list[str] | None, confidential: list[str] | None, k: int | None
) -> Recipe:
    """A recipe for those who only look: a given one, or quasi-identifiers, the others being kept."""
    from .pipeline import as_recipe

    if recipe is not None:
        if quasi is not None or confidential is not None or k is not None:
            raise CoterieError("A recipe says all there is to say.", "a recipe, and columns or k", "leave one out.")
        return as_recipe(recipe)
    if quasi is None:
        hint = f"coterie recipe {table} drafts one." if isinstance(table, (str, Path)) else None
        raise CoterieError("Give a recipe, or the quasi-identifiers.", "neither", hint)
    roles = dict.fromkeys(_looks(table), "other")
    roles |= dict.fromkeys(quasi, "quasi") | dict.fromkeys(confidential or (), "confidential")
    return recipe_from_roles(table, roles, 5 if k is None else k)


def _looks(table: Any) -> dict[str, Look]:
    source = open_source(table, {})
    return {name: look(source.table.arrow(name), source.decimal) for name in source.table.names}
