"""Formulas of models, such as "income ~ age + C(education)": read by a small grammar, and never run as code.

    formula   = outcome "~" terms
    outcome   = arithmetic
    terms     = ["+" | "-"] term { ("+" | "-") term }
    term      = power { ("*" | ":" | "/") power }          a*b is a + b + a:b, a/b is a + a:b
    power     = factor [ "**" whole number ]
    factor    = 0 | 1 | name | C(name) | log(arithmetic) | sqrt(arithmetic) | I(arithmetic) | "(" terms ")"
    arithmetic: numbers, names, log, sqrt, + - * / ** and parentheses

Names are those of columns: letters, digits, _ and points as they are, others as `net income` or Q("net income").
Formula libraries evaluate Python; a recipe may be anyone's. So what is handed on is a list of terms, each of numbered
variables, and what stands in log(), sqrt() and I() is calculated here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError

Floats = NDArray[np.float64]

LONGEST = 2000  # characters
MOST_TERMS = 60
_DEEPEST = 20  # parentheses
_MOST_PARTS = 400  # names, numbers and signs: sums are calculated one inside the other
_HIGHEST = 4  # the power of terms

_TOKEN = re.compile(
    r"""\s*+(?:
        (?P<number>(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?)
      | (?P<name>[^\W\d][\w.]*+)
      | `(?P<tick>[^`]++)`
      | (?P<quoted>"[^"]++"|'[^']++')
      | (?P<sign>\*\*|[-+*/:~(),^])
    )""",
    re.VERBOSE,
)
_CALLS = {"log": np.log, "np.log": np.log, "sqrt": np.sqrt, "np.sqrt": np.sqrt}
_ALLOWED = "a formula is made of columns, numbers, + - * / ** : ~ ( ), C(), log(), sqrt(), I() and Q()."


def _wrong(what: str, hint: str | None = _ALLOWED) -> CoterieError:
    return CoterieError("The formula must be one that can be read.", what, hint)


@dataclass(frozen=True)
class Arithmetic:
    """Something that is calculated from columns: its text, the columns, and how."""

    text: str
    columns: tuple[str, ...]
    run: Callable[[Callable[[str], Floats]], Any]


@dataclass(frozen=True)
class Factor:
    """A part of a term: a column as it is, a column as categories, or something calculated.

    Attributes
    ----------
    text : str
        As people write it.
    columns : tuple of str
    kind : {"column", "category", "calculated"}
    run : function or None
        Of what is calculated: from a function that gives a column's numbers.
    """

    text: str
    columns: tuple[str, ...]
    kind: str
    run: Callable[[Callable[[str], Floats]], Any] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factor) and (self.text, self.kind) == (other.text, other.kind)

    def __hash__(self) -> int:
        return hash((self.text, self.kind))


Term = tuple[Factor, ...]


@dataclass(frozen=True)
class Formula:
    """A formula as it was read: the outcome, the terms, and whether there is an intercept."""

    outcome: Factor
    terms: tuple[Term, ...]
    intercept: bool

    @property
    def factors(self) -> tuple[Factor, ...]:
        """All different factors of the terms."""
        return tuple(dict.fromkeys(factor for term in self.terms for factor in term))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, the outcome's first."""
        return tuple(dict.fromkeys(n for factor in (self.outcome, *self.factors) for n in factor.columns))


def read_formula(text: str) -> Formula:
    """A formula from its text; refuse what is none."""
    if len(text) > LONGEST:
        raise _wrong(f"{len(text):,} characters", f"at most {LONGEST:,} can be read.")
    tokens = list(_tokens(text))
    if len(tokens) > _MOST_PARTS:
        raise _wrong(f"{len(tokens):,} names, numbers and signs", f"at most {_MOST_PARTS} can be read.")
    reader = _Reader(tokens)
    outcome = _as_factor(reader.arithmetic())
    reader.expect("~")
    terms = reader.terms()
    reader.expect("")
    intercept = () in terms
    kept = tuple(term for term in terms if term)
    if not kept and not intercept:
        raise _wrong("no term after ~")
    formula = Formula(outcome, kept, intercept)
    both = [name for name in outcome.columns if any(name in f.columns for f in formula.factors)]
    if both:
        raise _wrong(f"'{both[0]}' on both sides of ~", "leave it out on one.")
    if not outcome.columns:
        raise _wrong("no column before ~")
    return formula


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            raise _wrong(f"a sign at character {place + 1} that is none of a formula")
        kind = str(found.lastgroup)
        yield kind, found[kind]
        place = found.end()
    yield "end", ""


def _as_factor(one: Arithmetic) -> Factor:
    if len(one.columns) == 1 and one.text == shown_name(one.columns[0]):
        return Factor(one.text, one.columns, "column")
    return Factor(one.text, one.columns, "calculated", one.run)


def shown_name(name: str) -> str:
    """A column as a formula writes it."""
    return name if re.fullmatch(r"[^\W\d][\w.]*", name) and name not in _WORDS else f"`{name}`"


_WORDS = {"C", "I", "Q", *_CALLS}


class _Reader:
    """Reads tokens from left to right; each method takes in one rule of the grammar."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0

    @property
    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at]

    def _take(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _sees(self, *signs: str) -> bool:
        return self._next[0] == "sign" and self._next[1] in signs

    def expect(self, sign: str) -> None:
        """Take in a sign, or the end."""
        kind, text = self._next
        if (sign == "" and kind == "end") or (kind == "sign" and text == sign):
            self._at += kind != "end"
            return
        there = "its end" if kind == "end" else f"'{text}'" if kind == "sign" else f"a {kind}"
        raise _wrong(f"{there} where {f'{sign!r}' if sign else 'its end'} should be")

    def _inside(self, rule: Callable[[], Any]) -> Any:
        """What stands in parentheses."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _wrong("parentheses inside each other, too many")
        self.expect("(")
        out = rule()
        self.expect(")")
        self._depth -= 1
        return out

    # Terms

    def terms(self) -> list[Term]:
        """Terms with + and -, the intercept (an empty one) first, unless it was taken away."""
        found, minus = [()] if self._depth == 0 else [], False  # type: list[Term], bool
        if self._sees("+", "-"):
            minus = self._take()[1] == "-"
        while True:
            some, zero = self._term()
            if zero:  # 0 takes the intercept away, and so does - 1; - 0 gives it
                some, minus = [()], not minus
            found = [t for t in found if not _is_in(t, some)] if minus else _joined(found, some)
            if not self._sees("+", "-"):
                return found
            minus = self._take()[1] == "-"

    def _term(self) -> tuple[list[Term], bool]:
        found, zero = self._power()
        while self._sees("*", ":", "/"):
            sign = self._take()[1]
            more, also_zero = self._power()
            if zero or also_zero:
                raise _wrong("0 within a product")
            both = _products(found, more)
            found = both if sign == ":" else _joined(found, more, both) if sign == "*" else _joined(found, both)
            _check_number(found)
        return found, zero

    def _power(self) -> tuple[list[Term], bool]:
        found, zero = self._factor()
        if not self._sees("**", "^"):
            return found, zero
        self._take()
        kind, text = self._take()
        if kind != "number" or not text.isdecimal() or not 1 <= int(text[:3]) <= _HIGHEST:
            raise _wrong("a power of terms that is no whole number from 1 to 4", "I(x ** 2) is the square of a column.")
        whole = found
        for _ in range(int(text) - 1):
            whole = _joined(whole, _products(whole, found))
            _check_number(whole)
        return whole, zero

    def _factor(self) -> tuple[list[Term], bool]:
        kind, text = self._next
        if self._sees("("):
            return self._inside(self.terms), False
        if kind == "number":
            if text not in ("0", "1"):
                raise _wrong("a number other than 0 and 1 as a term", "I(2 * x) calculates.")
            self._take()
            return [()], text == "0"
        if kind == "name" and text == "C" and self._calls():
            self._take()
            name = self._inside(self._name)
            return [(Factor(f"C({shown_name(name)})", (name,), "category"),)], False
        return [(_as_factor(self._operand()),)], False

    # Arithmetic

    def arithmetic(self) -> Arithmetic:
        """A sum of products."""
        sign = self._take()[1] if self._sees("+", "-") else "+"
        found = self._product()
        if sign == "-":
            found = _negative(found)
        while self._sees("+", "-"):
            found = _calculated(found, self._take()[1], self._product())
        return found

    def _product(self) -> Arithmetic:
        found = self._raised()
        while self._sees("*", "/"):
            found = _calculated(found, self._take()[1], self._raised())
        return found

    def _raised(self) -> Arithmetic:
        found = self._operand()
        if not self._sees("**"):
            return found
        self._take()
        minus = self._sees("-") and bool(self._take())
        power = self._operand()
        return _calculated(found, "**", _negative(power) if minus else power)

    def _calls(self) -> bool:
        return self._tokens[self._at + 1] == ("sign", "(")

    def _operand(self) -> Arithmetic:
        kind, text = self._next
        if self._sees("("):
            inside = self._inside(self.arithmetic)
            return Arithmetic(f"({inside.text})", inside.columns, inside.run)
        if kind == "number":
            value = float(self._take()[1])
            return Arithmetic(text, (), lambda _: value)
        if kind == "name" and self._calls() and text != "Q":
            self._take()
            if text == "I":
                inside = self._inside(self.arithmetic)
                return Arithmetic(f"I({inside.text})", inside.columns, inside.run)
            if text not in _CALLS:
                raise _wrong("another function", _ALLOWED)
            function, inside = _CALLS[text], self._inside(self.arithmetic)
            name = text.removeprefix("np.")
            return Arithmetic(f"{name}({inside.text})", inside.columns, lambda of: function(inside.run(of)))
        name = self._name()
        return Arithmetic(shown_name(name), (name,), lambda of: of(name))

    def _name(self) -> str:
        kind, text = self._take()
        if kind == "tick":
            return text
        if kind == "name" and text == "Q" and self._sees("("):
            return str(self._inside(self._quoted))
        if kind == "name":
            return text
        raise _wrong("a sign where a column should be" if kind != "end" else "its end where a column should be")

    def _quoted(self) -> str:
        kind, text = self._take()
        if kind != "quoted":
            raise _wrong('Q() without a column in quotes, such as Q("net income")')
        return text[1:-1]


def _negative(one: Arithmetic) -> Arithmetic:
    return Arithmetic(f"-{one.text}", one.columns, lambda of: -one.run(of))


_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
}


def _calculated(left: Arithmetic, sign: str, right: Arithmetic) -> Arithmetic:
    function = _SIGNS[sign]
    text = f"{left.text} {sign} {right.text}"
    columns = tuple(dict.fromkeys((*left.columns, *right.columns)))
    return Arithmetic(text, columns, lambda of: function(left.run(of), right.run(of)))


def _is_in(term: Term, some: Iterable[Term]) -> bool:
    return any(set(term) == set(other) for other in some)


def _joined(*parts: list[Term]) -> list[Term]:
    """The terms of all parts, each once."""
    out: list[Term] = []
    for term in (term for part in parts for term in part):
        if not _is_in(term, out):
            out.append(term)
    _check_number(out)
    return out


def _products(left: list[Term], right: list[Term]) -> list[Term]:
    return _joined([tuple(dict.fromkeys((*a, *b))) for a in left for b in right])


def _check_number(terms: list[Term]) -> None:
    if len(terms) > MOST_TERMS:
        raise _wrong(f"more than {MOST_TERMS} terms", "name fewer columns, or fewer products of them.")
