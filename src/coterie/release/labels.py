"""Codes with labels: they are categories, and what is released of them is a code that the column had."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import CoterieError, warn_of_privacy
from ..formats import Format, labelled, mean_missing, with_labels_in_use, without_declared_missing, without_labels
from ..recipe import Recipe


def warn_of_numbers(recipe: Recipe, format: Format | None) -> None:
    """Warn of columns that the recipe calls numbers, and whose values have labels in the file."""
    if format is None:
        return
    codes = labelled(format)
    for name in _numbers(recipe):
        if name in codes:
            what = (
                f"The values of '{name}' have labels in the file, so they are codes, and the recipe calls them numbers"
            )
            hint = 'is it "nominal" or "ordinal"? Its labels are left out where the column is changed.'
            warn_of_privacy(f'{what} (kind = "{recipe.columns[name].kind}"): {hint}')


def refuse_codes_of_missing(recipe: Recipe, format: Format | None) -> None:
    """Refuse new codes that the file declares as missing: they would be released as values, with the label of these."""
    for name, rule in recipe.columns.items():
        new = {*(rule.recode or {}).values(), *(() if rule.others is None else (rule.others,))}
        if format is not None and (wrong := mean_missing(format, name, new)):
            what = f"New categories of '{name}' must not be codes that the file declares as missing."
            raise CoterieError(what, f"{len(wrong)} that are", "choose another code, or a text.")


def released_labels(table: Any, format: Format, recipe: Recipe) -> Format:
    """The format with labels of those codes alone that the release has, and none where averages or noise stand.

    Prepared columns hold no code that means missing, so that none is declared: a prepared value could be one.
    """
    rules, called = recipe.columns, recipe.released
    changed = [n for n in _numbers(recipe) if rules[n].role == "quasi" or rules[n].noise or rules[n].prepared]
    format = without_declared_missing(format, [called[name] for name, rule in rules.items() if rule.prepared])
    return with_labels_in_use(table, without_labels(format, [called[name] for name in changed]), table.column_names)


def _numbers(recipe: Recipe) -> Iterable[str]:
    return [name for name, rule in recipe.columns.items() if rule.kind in ("numeric", "integer")]
