"""What a field of a recipe may hold, said as data: one checker and one sentence a field, one way to read them all."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from .. import constraints
from ..constraints import Must, WrongError, number

T = TypeVar("T")
Path = tuple[str, ...]


class Mistake(NamedTuple):
    """Something wrong in a recipe: where, what must hold, what was given, what to do."""

    path: Path
    what: str
    got: str | None = None
    hint: str | None = None


def ask(must: Must, default: Any = MISSING) -> Any:
    """A field of a section, with what it must be."""
    return field(default=default, metadata={"must": must})


def one_of(*choices: str) -> Must:
    """One of some words, quoted as in TOML."""
    return constraints.one_of(*choices, quote='"')


UNDECIDED = "?"  # stands in a draft where a person must decide


def decided(must: Must) -> Must:
    """The same; but a draft may have left it open, which is no answer."""

    def read(value: Any) -> Any:
        if isinstance(value, str) and value == UNDECIDED:
            raise WrongError("the draft leaves this to you: its reason stands above. Decide, and write it here.")
        return must.read(value)

    return Must(must.be, read)


def _whole(least: int) -> Must:
    return constraints.whole(least, be=f"a whole number of at least {least}")


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise WrongError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)) or not value:
        raise WrongError
    if not all(isinstance(v, str) for v in value):
        raise WrongError
    if len(set(value)) < len(value):
        raise WrongError("one of them stands there twice.")
    return tuple(value)


AT_LEAST_2 = _whole(2)
AT_LEAST_0 = _whole(0)
DECIMALS = constraints.whole(-15, 15, "a whole number between -15 and 15")
POSITIVE = number("a number above 0", lambda v: v > 0.0)
FLAG = Must("true or false", _flag)
TEXT = Must("a text", _text)
TEXTS = Must("a list of different texts", _texts)


def _blocks(value: Any) -> int | str:
    return value if isinstance(value, str) and value == "auto" else int(_MOST_IN_A_BLOCK.read(value))


_MOST_IN_A_BLOCK = constraints.whole(4)
BLOCKS = Must('"auto", or the most records in a block', _blocks)


def read_section(
    cls: type[T], given: Mapping[str, Any], path: Path, mistakes: list[Mistake], rest: str | None = None
) -> T | None:
    """A section from a mapping; every mistake is noted, and None given if there is one.

    `rest` names the field that takes all keys that no other field does.
    """
    known = {f.name: f for f in fields(cls) if f.name != rest}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    before = len(mistakes)
    left = {}
    for key, value in given.items():
        if key in known:
            values[key] = read_field(known[key].metadata["must"], value, (*path, key), mistakes)
        elif rest is not None:
            left[key] = _plain(value)
        else:
            close = difflib.get_close_matches(str(key), list(known), n=1, cutoff=0.5)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}."
            mistakes.append(Mistake((*path, str(key)), "This is no option of a recipe.", None, hint))
    for name, known_field in known.items():
        if name not in given and known_field.default is MISSING:
            mistakes.append(Mistake((*path, name), "This must be given.", "nothing"))
    if rest is not None:
        values[rest] = left
    return cls(**values) if len(mistakes) == before else None


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, which TOML can hold; all else as it is."""
    if isinstance(value, (int, float)) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def read_field(must: Must, value: Any, path: Path, mistakes: list[Mistake]) -> Any:
    """A value as it is kept; None where it is wrong, which is noted."""
    try:
        return must.read(value)
    except WrongError as wrong:
        mistakes.append(Mistake(path, f"This must be {must.be}.", shown(value), str(wrong) or None))
    return None


def shown(value: Any) -> str:
    """What was given, short."""
    text = repr(value) if isinstance(value, (str, int, float, bool)) else f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"a text of {len(text) - 2} characters"
