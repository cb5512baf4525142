"""Texts that a spreadsheet would run: refused, or made harmless, in files of text."""

from __future__ import annotations

from typing import Any

from ..errors import CoterieError, PromiseError
from ..formats import Format, formulas, neutralize
from ..recipe import Recipe


def check_policy(recipe: Recipe, format: Format | None) -> None:
    """Refuse a policy for formulas where no spreadsheet opens the file. (A table in memory may be saved as CSV.)"""
    if format is not None and format.kind != "csv" and recipe.file.formulas != "refuse":
        what = "[file] formulas applies only to text files, which spreadsheets open."
        raise CoterieError(what, f"a file of kind {format.kind}", "leave it out.")


def without_formulas(table: Any, recipe: Recipe) -> Any:
    """A pyarrow table that is written as text, as the recipe's policy says."""
    if recipe.file.formulas == "keep":
        return table
    if recipe.file.formulas == "neutralize":
        return neutralize(table)
    found = formulas(table)
    if found:
        got = ", ".join(f"{count} in '{name}'" for name, count in found.items())
        hint = '[file] formulas = "neutralize" puts an apostrophe before them, "keep" leaves them.'
        raise PromiseError("The release must not contain text that a spreadsheet runs as a formula.", got, hint)
    return table


def as_written(data: Any, own: Format | None, format: Format, recipe: Recipe) -> Any:
    """The data of a release as the pyarrow table that goes into the file."""
    from ..tables.frames import as_arrow

    table = as_arrow(data)
    return without_formulas(table, recipe) if own is None and format.kind == "csv" else table
