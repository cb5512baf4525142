"""Single settings of a recipe, said without one: KEY=VALUE, with the recipe's keys and TOML's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import CoterieError
from .fields import Mistake
from .lines import has_long_names
from .rules import close_to

_EXAMPLE = "for example columns.age.top=90, or columns.admitted.precision='\"month\"': strings need quotation marks."
_ALONE = {"promise": "risk", "method": "name", "strata": "within", "missing": "policy", "weights": "column"}
_ALONE |= {"unit": "column", "guard": "rule"}  # what a section means that is given as one value
_ELSEWHERE = {"k": "k", "promise": "risk", "seed": "seed", "file": "read"}  # what has an argument of its own

_GUESSED = ("order", "format")  # by a look at a column: a setting replaces them


def settings_of(texts: Sequence[str], called: str) -> dict[str, Any]:
    """What was set, as a part of a recipe's document. Nothing may be set twice."""
    document: dict[str, Any] = {}
    for text in texts:
        if not _put(document, _parsed(text, called)):
            raise CoterieError(
                f"{called} can set each key only once.", f"'{text}', and another setting of the same key"
            )
    return document


def _parsed(text: str, called: str) -> dict[str, Any]:
    """One setting. What is wrong is not told in TOML's words: they count lines and columns of a single line."""
    import tomllib

    what = f"{called} must be KEY=VALUE, as in a recipe."
    if "\n" in text or has_long_names(text):
        raise CoterieError(what, "several lines" if "\n" in text else "names nested too deeply", _EXAMPLE)
    try:
        parsed = tomllib.loads(text)
    except (ValueError, RecursionError):
        raise CoterieError(what, f"'{text}'", _EXAMPLE) from None
    if not parsed or text.lstrip().startswith("["):
        raise CoterieError(what, f"'{text}'", _EXAMPLE)
    return parsed


def _put(document: dict[str, Any], more: Mapping[str, Any]) -> bool:
    """Lay a document into another; whether none of its keys was there."""
    for key, value in more.items():
        here = document.get(key)
        if isinstance(here, dict) and isinstance(value, Mapping):
            if not _put(here, value):
                return False
        elif key in document:
            return False
        else:
            document[key] = value
    return True


def with_settings(document: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mistake]]:
    """A recipe's document with settings laid into it, and what speaks against them.

    Parameters
    ----------
    document : mapping
        Its columns are mappings; a section is a mapping, or a single value.
    settings : mapping
    """
    whole: dict[str, Any] = {name: _section(name, value) for name, value in document.items()}
    mistakes: list[Mistake] = []
    for name, value in settings.items():
        if name == "columns" and isinstance(value, Mapping):
            mistakes += _set_columns(whole["columns"], value)
        elif not _put(whole, {name: _section(name, value)}):
            mistakes.append(
                Mistake((name,), "This is given twice.", "an option and a setting", "leave one of them out.")
            )
    return whole, mistakes


def _section(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return {_ALONE[name]: value} if name in _ALONE else value


def _set_columns(columns: dict[str, Any], settings: Mapping[str, Any]) -> list[Mistake]:
    mistakes = []
    for name, value in settings.items():
        path = ("columns", name)
        if name not in columns:
            hint = close_to(name, list(columns))
            mistakes.append(Mistake(path, "The table must have this column.", "no such column", hint))
        elif not isinstance(value, Mapping):
            mistakes.append(Mistake(path, "Name the setting that is meant.", None, _EXAMPLE))
        else:
            said = {key: what for key, what in columns[name].items() if key not in _GUESSED}
            if _put(said, value):
                columns[name] = {**columns[name], **said}
            else:
                hint = "leave the setting out; roles and kinds are options of the command."
                mistakes.append(Mistake(path, "This is given twice.", "an option and a setting", hint))
    return mistakes


def check_settings(settings: Mapping[str, Any], looking: bool, called: Callable[[str], str]) -> None:
    """Refuse what has an argument of its own, or no effect for those who release nothing."""
    for name, argument in _ELSEWHERE.items():
        if name in settings:
            raise CoterieError(f"{called('settings')} does not set {name}.", hint=f"{called(argument)} says it.")
    if looking and "method" in settings:
        raise CoterieError(f"{called('settings')} method has no effect here.", hint="leave it out.")
