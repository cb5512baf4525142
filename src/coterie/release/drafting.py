"""Recipes from a look at a table: a draft to edit, or one from roles that were said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from ..recipe import Recipe, RecipeError
from ..recipe.draft import Look, Looking, draft, look, rules_for
from ..recipe.fields import Mistake
from ..recipe.rules import close_to
from .source import open_source

_COUNTED = 100_000  # different values of a column that are counted where it is looked at part by part


def draft_recipe(table: Any, k: int = 5, options: Mapping[str, Any] | None = None, *, memory: int | None = None) -> str:
    """The text of a recipe (TOML) with a suggestion for every column, and the reason beside it.

    Parameters
    ----------
    table : path or table
    k : int
        The least number of records that look alike.
    options : mapping, optional
        How a file is read, where that cannot be told from it: delimiter, encoding, decimal, missing and so on.
    memory : int, optional
        How many bytes may be used, about: a CSV or Parquet file that needs more is looked at part by part.
    """
    return draft(_looks(table, options, memory), k, options)


def recipe_from_roles(
    table: Any,
    roles: Mapping[str, str],
    k: int,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    memory: int | None = None,
) -> Recipe:
    """A recipe for roles that were said, with the kinds that the columns look like. All columns must be named."""
    looks = _looks(table, options, memory)
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
    return Recipe(k=k, method=method, columns=rules_for(ordered, looks), file=dict(options or {}))


def recipe_to_look(
    table: Any,
    recipe: Any,
    quasi: list[str] | None,
    confidential: list[str] | None,
    k: int | None,
    options: Mapping[str, Any] | None = None,
) -> Recipe:
    """A recipe for those who only look: a given one, or quasi-identifiers, the others being kept."""
    from .pipeline import as_recipe

    if recipe is not None:
        if quasi is not None or confidential is not None or k is not None or options:
            raise CoterieError("A recipe says all there is to say.", "a recipe, and columns or k", "leave one out.")
        return as_recipe(recipe)
    if quasi is None:
        hint = f"coterie recipe {table} drafts one." if isinstance(table, (str, Path)) else None
        raise CoterieError("Give a recipe, or the quasi-identifiers.", "neither", hint)
    both = [name for name in quasi if name in (confidential or ())]
    if both:
        raise CoterieError("A column has one role.", f"'{both[0]}' in two lists")
    roles = dict.fromkeys(_looks(table, options), "other")
    roles |= dict.fromkeys(quasi, "quasi") | dict.fromkeys(confidential or (), "confidential")
    return recipe_from_roles(table, roles, 5 if k is None else k, options=options)


def _looks(table: Any, options: Mapping[str, Any] | None = None, memory: int | None = None) -> dict[str, Look]:
    if memory is not None:
        from .streaming import needed

        if not isinstance(table, (str, Path)):
            raise CoterieError("A memory limit is for files.", "a table in memory", "leave it out.")
        if needed(Path(table)) > memory:
            return _looks_in_parts(Path(table), options, memory)
    source = open_source(table, options or {})
    return {name: look(source.arrow(name), source.decimal) for name in source.table.names}


def _looks_in_parts(path: Path, options: Mapping[str, Any] | None, memory: int) -> dict[str, Look]:
    from .streaming import engine_of

    engine, form = engine_of(path, options, memory)
    try:
        decimal = str(form.details.get("decimal") or ".")
        looking = {name: Looking(decimal, _COUNTED) for name in engine.names}
        for batch in engine.batches(engine.names):
            for name in engine.names:
                looking[name].add(batch.column(name))
        if engine.records == 0:
            raise CoterieError("The table must hold records.", "0")
        return {name: one.seen() for name, one in looking.items()}
    finally:
        engine.close()
