"""What a value must be, said as data: one phrase and one function, for options, methods' parameters and recipes.

A table of these is the whole check: `check_all(table, given)` reads every value, and what is wrong is told in one form.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

from .errors import CoterieError


class WrongError(ValueError):
    """A value that is not what it must be; its text, if any, is a hint."""


@dataclass(frozen=True)
class Must:
    """What a value must be: in words, and as a function that gives the value as it is kept, or raises WrongError."""

    be: str
    read: Callable[[Any], Any]


def check(name: str, must: Must, value: Any, called: str | None = None) -> Any:
    """The value as it is kept. All arguments that are not as they must be are refused here, in these words."""
    hint: str | None
    try:
        return must.read(value)
    except WrongError as wrong:
        hint = str(wrong) or None
    raise CoterieError(f"{called or _quoted(name)} must be {must.be}.", _given(name, value), hint)


def _quoted(name: str) -> str:
    return f"'{name}'"


def check_all(table: Mapping[str, Must], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every value as it is kept, each checked by the entry of its name."""
    return {name: check(name, table[name], value) for name, value in given.items()}


def _given(name: str, value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, (str, Real)) and len(text := repr(value)) <= 40:
        return f"{name} = {text} ({kind})"
    return f"an object of type {kind}"


def one_of(*choices: str, quote: str = "'") -> Must:
    """One of these words."""
    *most, last = (f"{quote}{choice}{quote}" for choice in choices)

    def read(value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        close = difflib.get_close_matches(value, choices, n=1, cutoff=0.5) if isinstance(value, str) else []
        raise WrongError(f"did you mean {quote}{close[0]}{quote}?" if close else "")

    return Must(f"{', '.join(most)} or {last}" if most else last, read)


def integer(value: Any) -> int:
    """An integer of Python or NumPy as Python's, and never a bool."""
    if type(value).__name__ in ("bool", "bool_"):  # the latter is NumPy's, which old versions take for an integer
        raise WrongError
    try:
        return operator.index(value)
    except TypeError:
        raise WrongError from None


def whole(least: int, most: float = math.inf, be: str | None = None, hint: str = "") -> Must:
    """An integer in a range; `hint` is for one that is outside."""

    def read(value: Any) -> int:
        number = integer(value)
        if not least <= number <= most:
            raise WrongError(hint)
        return number

    return Must(be or f"an integer of at least {least}", read)


def number(be: str, holds: Callable[[float], bool]) -> Must:
    """A finite number for which something holds."""

    def read(value: Any) -> float:
        if not isinstance(value, Real) or isinstance(value, bool):
            raise WrongError
        try:
            as_float = float(value)
        except OverflowError:  # an integer of hundreds of digits
            raise WrongError from None
        if not math.isfinite(as_float) or not holds(as_float):
            raise WrongError
        return as_float

    return Must(be, read)


def least_k(risk: float) -> int:
    """The least k with 1 / k <= risk, where the risk is the decimal number that was written: 0.09 gives 12."""
    return math.ceil(1 / Fraction(Decimal(repr(float(risk)))))


# What a recipe may ask of a confidential column, and a guard of a method; `verification` says the same on its own.
GUARDS = {
    "l": whole(2, be="a whole number of at least 2", hint="l = 1 asks for nothing."),
    "entropy": number("a number above 1", lambda v: v > 1.0),
    "t": number("a number above 0 and below 1", lambda v: 0.0 < v < 1.0),
}


def optional(must: Must) -> Must:
    """The same, or None."""
    return Must(f"{must.be}, or None", lambda value: None if value is None else must.read(value))


def from_text(must: Must, parse: Callable[[str], Any]) -> Must:
    """The same, of a value that may come as text, as from a command line."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            try:
                value = parse(value)
            except ValueError:
                raise WrongError from None
        return must.read(value)

    return Must(must.be, read)
