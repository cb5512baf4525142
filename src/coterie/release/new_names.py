"""Names that a recipe gives to columns of the release: those that the file's format can hold."""

from __future__ import annotations

from ..errors import CoterieError
from ..formats import Format, harmless
from ..formats.column_names import why_not
from ..recipe import Recipe


def check_new_names(recipe: Recipe, format: Format | None) -> None:
    """Refuse new names that the format of the release can't hold, before any work. Others stood in such a file."""
    if format is None:
        return
    told = {("columns", name): rule.rename for name, rule in recipe.columns.items() if rule.rename is not None}
    if recipe.output.number is not None:
        told["output", "number"] = recipe.output.number
    every = [*recipe.released.values(), *([] if recipe.output.number is None else [recipe.output.number])]
    for (section, key), name in told.items():
        where = "[output] number" if section == "output" else f"rename of '{key}'"
        if (reason := why_not(name, every, format)) is not None:
            raise CoterieError(f"{where} must be a valid name in this file format: {reason}", f"'{name}'")
        if format.kind == "csv" and recipe.file.formulas == "refuse" and harmless([name]) != [name]:
            hint = "choose another, or [file] formulas."
            raise CoterieError(f"{where} must not be a name that a spreadsheet runs as a formula.", f"'{name}'", hint)
