"""What a field of a recipe may hold, said as data: one checker and one sentence a field, one way to read them all."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, field, fields
from datetime import date, datetime
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path as Folder
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
            raise WrongError(
                "the draft leaves this decision to you, for the reason given above it. Write your decision here."
            )
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
        raise WrongError("one of them is given twice.")
    return tuple(value)


def _names(value: Any) -> tuple[str, ...]:
    names = _texts([value] if isinstance(value, str) else value)
    if not all(names):
        raise WrongError
    return names


def _shares(value: Any) -> tuple[float, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise WrongError
    shares = tuple(_SHARE.read(one) for one in value)
    if list(shares) != sorted(set(shares)):
        raise WrongError("list them from lowest to highest, each once.")
    return shares


_SHARE = number("a number above 0 and below 1", lambda v: 0.0 < v < 1.0)


def _releases(value: Any) -> tuple[dict[str, str], ...]:
    """Earlier releases: where the bundle is, and where its input."""
    if not isinstance(value, (list, tuple)) or not value:
        raise WrongError
    out = []
    for one in value:
        if not isinstance(one, Mapping) or set(one) != {"bundle", "input"}:
            raise WrongError("each entry has a bundle and an input, and nothing else.")
        if not all(isinstance(place, (str, Folder)) and str(place) for place in one.values()):
            raise WrongError("bundle and input are paths.")
        out.append({name: str(one[name]) for name in ("bundle", "input")})
    if len({one["bundle"] for one in out}) < len(out):
        raise WrongError("a bundle is given twice.")
    return tuple(out)


AT_LEAST_2 = _whole(2)
AT_LEAST_0 = _whole(0)
POPULATION = constraints.whole(1, 10**15, "a whole number between 1 and 10^15")
DECIMALS = constraints.whole(-15, 15, "a whole number between -15 and 15")
POSITIVE = number("a number above 0", lambda v: v > 0.0)
IMPORTANCE = number("a number above 0 and at most 1000", lambda v: 0.0 < v <= 1000.0)
RISK = number("a number above 0 and at most 0.5", lambda v: 0.0 < v <= 0.5)
FRACTION = number("a number above 0 and below 1", lambda v: 0.0 < v < 1.0)
FLAG = Must("true or false", _flag)
TEXT = Must("a text", _text)
TEXTS = Must("a list of distinct strings", _texts)
NAMES = Must("the name of a column, or a list of distinct names", _names)
SHARES = Must("a list of numbers above 0 and below 1", _shares)
RELEASES = Must('a list of earlier releases, such as [{ bundle = "first", input = "first.csv" }]', _releases)


def _finite(value: Any) -> int | float:
    """A number of Python's, finite, never a bool; whole ones as they were given."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise WrongError
    plain: int | float = int(value) if isinstance(value, Integral) else float(value)
    if not abs(plain) <= _LARGEST:  # nor NaN; math.isfinite takes no integer of hundreds of digits
        raise WrongError(f"numbers are finite and below {_LARGEST:g}.")
    return plain


def _bound(value: Any) -> int | float | str:
    """A number; or a date or a moment, as ISO 8601 writes it. TOML's own dates become texts."""
    if isinstance(value, date):  # and so is a datetime
        value = value.isoformat()
    if not isinstance(value, str):
        return _finite(value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise WrongError('dates are written as "2024-12-31".') from None
    if moment.tzinfo is not None or moment.microsecond or "-" not in value[:8]:
        raise WrongError('a date such as "2024-12-31", or a moment without a time zone, in whole seconds.')
    return value


def _edges(value: Any) -> tuple[int | float, ...]:
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        raise WrongError("give at least two edges.")
    edges = tuple(_finite(edge) for edge in value)
    if any(a >= b for a, b in pairwise(edges)):
        raise WrongError("each edge must be above the one before.")
    return edges


class Recoding(dict[str, str]):
    """New names of categories by the old ones: a mapping that can be hashed, as rules are."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def _recoding(value: Any) -> Recoding:
    if not isinstance(value, Mapping) or not value:
        raise WrongError
    if not all(isinstance(old, str) and isinstance(new, str) and new for old, new in value.items()):
        raise WrongError('names are quoted strings: recode = { "1" = "health" }.')
    return Recoding(value)


_LARGEST = 1e15  # beyond it, neighbouring floats are more than a tenth apart
BOUND = Must('a number, or a date such as "2024-12-31"', _bound)
EDGES = Must("a list of increasing numbers", _edges)
BASE = Must("a number above 0", lambda value: _step(_finite(value)))
RECODING = Must('a table of old and new names, such as { nurse = "health" }', _recoding)


def _step(value: int | float) -> int | float:
    if value <= 0:
        raise WrongError
    if value < 1 / _LARGEST:
        raise WrongError(f"it is at least {1 / _LARGEST:g}.")
    return value


def _key(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-f]{32}", value):
        raise WrongError("leave it out to have one drawn.")
    return value


KEY = Must("32 lower-case hexadecimal digits", _key)


def _blocks(value: Any) -> int | str:
    return value if isinstance(value, str) and value == "auto" else int(_MOST_IN_A_BLOCK.read(value))


_MOST_IN_A_BLOCK = constraints.whole(4)
BLOCKS = Must('"auto", or the maximum number of records in a block', _blocks)


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
            hint = f"did you mean '{close[0]}'?" if close else f"the options are {', '.join(known)}."
            mistakes.append(Mistake((*path, str(key)), "This is not a recipe option.", None, hint))
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
        got = "a different value" if must is KEY else shown(value)  # it is a secret
        mistakes.append(Mistake(path, f"This must be {must.be}.", got, str(wrong) or None))
    return None


def shown(value: Any) -> str:
    """What was given, short."""
    text = repr(value) if isinstance(value, (str, int, float, bool)) else f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"a text of {len(text) - 2} characters"


def close_to(name: str, names: Sequence[str]) -> str | None:
    """A hint at a name that is nearly the same."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else None
