"""Recipes from a look at a table: a draft to edit, or one from roles that were said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from ..recipe import Recipe, RecipeError
from ..recipe.draft import Look, Looking, draft, look, rules_for
from ..recipe.fields import Mistake
from ..recipe.rules import close_to
from .flow import as_recipe
from .source import Source, open_source

_COUNTED = 100_000  # different values of a column that are counted where it is looked at part by part


def draft_recipe(
    table: Any,
    k: int = 5,
    read: Mapping[str, Any] | None = None,
    *,
    memory: int | str | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """The text of a recipe (TOML) with a suggestion for every column, and the reason beside it.

    Parameters
    ----------
    table : path, table or Source
    k : int
        The size of the smallest equivalence class.
    read : mapping, optional
        How a file is read, where that cannot be told from it: delimiter, encoding, decimal, missing and so on.
    memory : int or str, optional
        The most bytes that may be taken, about, such as "2GB": a file that needs more is looked at part by part.
    options : mapping, optional
        The old name of `read`.
    """
    source = open_source(table, renamed("options", options, "read", read), memory=memory)
    return draft(looks(source), k, source.options)


def renamed(old: str, given: Any, new: str, value: Any) -> Any:
    """The value of an argument that has a new name; the old one is taken for one more version."""
    if given is None:
        return value
    if value is not None:
        raise CoterieError(f"'{old}' is the old name of '{new}'.", "both", f"leave '{old}' out.")
    warnings.warn(f"'{old}' is called '{new}' now.", DeprecationWarning, stacklevel=3)
    return given


def recipe_from_roles(source: Source, roles: Mapping[str, str], k: int, method: str = "auto") -> Recipe:
    """A recipe for roles that were said, with the kinds that the columns look like. All columns must be named."""
    seen = looks(source)
    mistakes = [
        Mistake(("columns", name), "The table must have this column.", "no such column", close_to(name, list(seen)))
        for name in roles
        if name not in seen
    ]
    mistakes += [
        Mistake(("columns", name), "Every column must be named as quasi, confidential, dropped or kept.", "in no list")
        for name in seen
        if name not in roles
    ]
    if mistakes:
        raise RecipeError(mistakes, "the columns")
    ordered = {name: roles[name] for name in seen}
    return Recipe(k=k, method=method, columns=rules_for(ordered, seen), file=dict(source.options))


def recipe_to_look(
    table: Any,
    recipe: Any,
    quasi: list[str] | None,
    confidential: list[str] | None,
    k: int | None,
    read: Mapping[str, Any] | None = None,
    memory: int | str | None = None,
) -> tuple[Source, Recipe]:
    """The table, opened, and a recipe for those who only look: a given one, or quasi-identifiers, the others kept."""
    if recipe is not None:
        if quasi is not None or confidential is not None or k is not None or read:
            raise CoterieError("A recipe says all there is to say.", "a recipe, and columns or k", "leave one out.")
        chosen = as_recipe(recipe)
        return open_source(table, chosen.file.options, memory=memory), chosen
    if quasi is None:
        hint = f"coterie recipe {table} drafts one." if isinstance(table, (str, Path)) else None
        raise CoterieError("Give a recipe, or the quasi-identifiers.", "neither", hint)
    both = [name for name in quasi if name in (confidential or ())]
    if both:
        raise CoterieError("A column has one role.", f"'{both[0]}' in two lists")
    source = open_source(table, read, memory=memory)
    roles = dict.fromkeys(looks(source), "other")
    roles |= dict.fromkeys(quasi, "quasi") | dict.fromkeys(confidential or (), "confidential")
    return source, recipe_from_roles(source, roles, 5 if k is None else k)


def looks(source: Source) -> dict[str, Look]:
    """What every column looks like. A source is looked at once."""
    seen: dict[str, Look] | None = source.__dict__.get("_looks")
    if seen is None:
        seen = source.__dict__["_looks"] = _looks_at_all(source) if source.fits else _looks_in_parts(source)
    return seen


def _looks_at_all(source: Source) -> dict[str, Look]:
    return {name: look(source.arrow(name), source.decimal) for name in source.names}


def _looks_in_parts(source: Source) -> dict[str, Look]:
    engine = source.engine("duckdb", {})
    try:
        looking = {name: Looking(source.decimal, _COUNTED) for name in engine.names}
        for records in engine.scan(engine.names):
            for name in engine.names:
                looking[name].add(records.reading.plain(records.arrow(name)))
        if engine.records == 0:
            raise CoterieError("The table must hold records.", "0")
        return {name: one.seen() for name, one in looking.items()}
    finally:
        engine.close()
