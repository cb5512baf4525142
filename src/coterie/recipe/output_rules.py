"""Names of columns in the release, and record numbers: each name once, and no option without effect."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from .fields import Mistake

if TYPE_CHECKING:
    from .recipe import Recipe

_LONGEST = 1000  # characters: a name, not a text


def check(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note all mistakes. What could not be read is None here, and noted already."""
    _check_key(recipe, mistakes)
    for name, rule in recipe.columns.items():
        if rule is None or rule.rename is None:
            continue
        path = ("columns", name, "rename")
        if rule.role == "identifier" and name != recipe.pseudonym:
            what = "An identifier is dropped, so renaming it has no effect."
            mistakes.append(Mistake(path, what, "a new name", "leave it out."))
        elif rule.rename == name:
            mistakes.append(
                Mistake(path, "The new name must differ from the old one.", "the same name", "leave it out.")
            )
        else:
            _check_name(path, rule.rename, mistakes)
    number = recipe.output.number
    if number is not None:
        _check_name(("output", "number"), number, mistakes)
        if recipe.shuffle is False:
            what = "Record numbers need shuffled rows; otherwise they would reveal the order of the input."
            mistakes.append(Mistake(("output", "number"), what, "shuffle = false", "leave one of them out."))
    if None not in recipe.columns.values():
        _check_taken(recipe, mistakes)


def _check_key(recipe: Recipe, mistakes: list[Mistake]) -> None:
    unit = recipe.unit
    if unit is None:
        return
    if unit.release is not None and recipe.unit_column is None:
        what = "A pseudonym replaces the identifier of a unit, and here each record is a unit."
        hint = '[output] number = "record" numbers the records.'
        mistakes.append(Mistake(("unit", "release"), what, f'column = "{unit.column}"', hint))
    if unit.key is not None and unit.release is None:
        what = "A key is used only for pseudonyms."
        mistakes.append(Mistake(("unit", "key"), what, "no release", 'release = "pseudonym", or leave it out.'))


def _check_name(path: tuple[str, ...], name: str, mistakes: list[Mistake]) -> None:
    if not name.strip() or name != name.strip():
        mistakes.append(
            Mistake(path, "A name must not be blank and must not begin or end with a blank.", "one that is or does")
        )
    elif any(unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for sign in name):
        what = "A name must consist of visible characters."
        mistakes.append(Mistake(path, what, "a line break, a control character or the like"))
    elif len(name) > _LONGEST:
        mistakes.append(Mistake(path, f"A name must have at most {_LONGEST:,} characters.", f"{len(name):,}"))


def _check_taken(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """No two columns of the release may have one name."""
    first: dict[str, str | None] = {} if recipe.output.number is None else {recipe.output.number: None}
    for name, new in recipe.released.items():
        if new not in first:
            first[new] = name
            continue
        other = first[new]
        told = "that of record numbers" if other is None else f"that of '{other}'"
        renamed = recipe.columns[name].rename is not None
        path = ("columns", name, "rename") if renamed else ("output", "number")
        if not renamed and other is not None:
            path, told = ("columns", other, "rename"), f"that of '{name}'"
        what = "Every column of the release must have a name of its own."
        mistakes.append(Mistake(path, what, f"'{new}', {told}", "choose another name."))
