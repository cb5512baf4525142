"""What a release is claimed to keep: scenarios with their k, guards of confidential columns, and prepared columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from ..errors import CoterieError
from .prepared_claims import Prepared

KINDS = ("numeric", "integer", "ordinal", "nominal", "datetime", "boolean")
UNORDERED = ("nominal", "boolean")
# Texts that name no unit, whatever else is said of missing ones, in any case
NAMELESS = (
    "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "none", "nil", ".", "..", "-", "--", "?", "unknown",
    "missing", "k.a.", "k. a.", "keine angabe", "unbekannt", "fehlt", "inconnu", "desconocido", "not available",
    "no answer", "refused",
)  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """An intruder who knows `quasi`: every record must share these with at least k - 1 others."""

    name: str
    quasi: tuple[str, ...]
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "quasi", names_of(self.quasi, "quasi"))
        object.__setattr__(self, "k", _whole(self.k, "k", "a class of one protects nobody."))


@dataclass(frozen=True)
class Guard:
    """What every class must keep of a confidential column.

    Attributes
    ----------
    column : str
    kind : {"numeric", "integer", "ordinal", "nominal", "datetime", "boolean"}
    l : int, optional
        The least number of distinct values in a class; missing ones don't count.
    entropy : float, optional
        The least exp(entropy) of the values in a class; missing ones don't count.
    t : float, optional
        The largest distance between the values of a class and those of the whole file.
    order : tuple of str
        The categories of an ordinal column, lowest first.
    decimal : str
        The decimal sign of numbers that are written as text.
    missing : tuple of str
        Texts that stand for a missing value, beside the empty one.
    format : str, optional
        How dates are written as text, as for `strptime`; without it, as in ISO 8601 without an offset.
    thousands : str
        What may stand between groups of three digits in numbers that are written as text; a blank stands for any.
    prefix, suffix : tuple of str
        What may stand before or after such a number, such as a currency or a percent sign.
    true, false : tuple of str
        The words for yes and no of a boolean column, where they are others than true, yes, 1 and the like.
    """

    column: str
    kind: str
    l: int | None = None  # noqa: E741  (the literature's letter)
    entropy: float | None = None
    t: float | None = None
    order: tuple[str, ...] = ()
    decimal: str = "."
    missing: tuple[str, ...] = ()
    format: str | None = None
    thousands: str = ""
    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise CoterieError(f"The kind of '{self.column}' must be one of {', '.join(KINDS)}.", _shown(self.kind))
        for name in ("order", "missing", "prefix", "suffix", "true", "false"):
            object.__setattr__(self, name, self._texts(name))
        if self.l is not None:
            object.__setattr__(self, "l", _whole(self.l, f"l of '{self.column}'", "l = 1 asks for nothing."))
        self._number("entropy", 1, math.inf, "above 1")
        self._number("t", 0, 1, "above 0 and below 1")
        self._check_effects()

    @property
    def is_ordered(self) -> bool:
        """Whether larger values mean more."""
        return self.kind not in UNORDERED

    def _texts(self, name: str) -> tuple[str, ...]:
        given = getattr(self, name)
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise CoterieError(f"'{name}' of '{self.column}' must be a list.", _kind_of(given))
        texts = tuple(str(g) for g in given)
        if len(set(texts)) < len(texts):
            raise CoterieError(f"'{name}' of '{self.column}' must name each value once.", f"{len(texts)} values")
        return texts

    def _number(self, name: str, above: float, below: float, words: str) -> None:
        given = getattr(self, name)
        if given is None:
            return
        number = isinstance(given, Real) and not isinstance(given, bool)
        if not number or not above < given < below:
            got = f"{float(given):g}" if number else _kind_of(given)
            raise CoterieError(f"'{name}' of '{self.column}' must be a number {words}.", got)
        object.__setattr__(self, name, float(given))

    def _check_effects(self) -> None:
        """Refuse what would have no effect."""
        if self.order and self.kind != "ordinal":
            raise CoterieError("Only an ordinal column has an order.", f"'order' of '{self.column}' ({self.kind})")
        if not isinstance(self.decimal, str) or self.decimal not in (".", ","):
            raise CoterieError(f"'decimal' of '{self.column}' must be '.' or ','.", _kind_of(self.decimal))
        if self.decimal != "." and self.kind not in ("numeric", "integer"):
            raise CoterieError("Only numbers have a decimal sign.", f"'decimal' of '{self.column}' ({self.kind})")
        if (self.true or self.false) and (self.kind != "boolean" or not (self.true and self.false)):
            what = "Words for yes and no go together, and are for a boolean column."
            raise CoterieError(what, f"'true' or 'false' of '{self.column}' ({self.kind})")
        if not isinstance(self.thousands, str) or len(self.thousands) > 1 or self.thousands == self.decimal:
            what = f"'thousands' of '{self.column}' must be one sign, and not the decimal sign."
            raise CoterieError(what, _kind_of(self.thousands))
        if (self.thousands or self.prefix or self.suffix) and self.kind not in ("numeric", "integer"):
            what = "Only numbers have a prefix, a suffix, or a sign between thousands."
            raise CoterieError(what, f"one of them for '{self.column}' ({self.kind})")
        if self.format is not None and (self.kind != "datetime" or not isinstance(self.format, str)):
            raise CoterieError("Only dates and times have a format, a text.", f"'format' of '{self.column}'")


@dataclass(frozen=True)
class Unit:
    """The column that tells what k counts, and texts that stand for a missing value in it."""

    column: str
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise CoterieError("The unit must be the name of a column.", _kind_of(self.column))

    def guard(self, k: int, of_texts: bool) -> Guard:
        """What it asks of every class: k different values, missing ones and texts that name nobody not counted."""
        nobody = tuple(dict.fromkeys((*self.missing, *NAMELESS))) if of_texts else self.missing
        return Guard(self.column, "nominal", l=k, missing=nobody)


@dataclass(frozen=True)
class Claims:
    """All that a release must keep.

    Attributes
    ----------
    scenarios : tuple of Scenario
    within : tuple of str
        Columns that every intruder knows as well, such as strata: they count into every scenario's classes.
    guards : tuple of Guard
    released : tuple of str
        All columns that a file may hold, and must; none if nothing is claimed of that.
    unit : Unit, optional
        Whose records they are: every class must hold at least k different units, not only k records.
    prepared : tuple of Prepared
        Columns whose values were coarsened before anything else was done.
    number : str, optional
        The column of record numbers: it holds 1 to the number of records, each once.
    """

    scenarios: tuple[Scenario, ...]
    within: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()
    released: tuple[str, ...] = ()
    unit: Unit | None = None
    prepared: tuple[Prepared, ...] = ()
    number: str | None = None

    def __post_init__(self) -> None:
        for name in ("scenarios", "guards", "prepared"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "within", names_of(self.within, "within", may_be_empty=True))
        if not self.scenarios:
            raise CoterieError("There must be something to check.", "no scenario", "give 'quasi' and 'k'.")
        _once([s.name for s in self.scenarios], "Scenarios must have names of their own.")
        _once([g.column for g in self.guards], "A confidential column must be guarded once.")
        _once([p.column for p in self.prepared], "What a column was prepared to must be said once.")
        idle = [w for w in self.within if all(w in s.quasi for s in self.scenarios)]
        if idle:
            raise CoterieError("'within' must add columns.", f"{listed(idle)}, in 'quasi' already", "leave them out.")
        both = [g.column for g in self.guards if any(g.column in self.key(s) for s in self.scenarios)]
        if both:
            what = "A column is either known to an intruder or confidential."
            raise CoterieError(what, f"{listed(both)} as both")
        if self.number is not None and self.number in self.columns:
            raise CoterieError("Record numbers are a column of their own.", f"'{self.number}' as another, too")
        if self.unit is not None and self.unit.column in self.keys:
            what = "A unit is counted in every class, so it cannot make the classes."
            raise CoterieError(what, f"'{self.unit.column}' as a quasi-identifier, too")

    def key(self, scenario: Scenario) -> tuple[str, ...]:
        """The columns whose values make the classes of a scenario."""
        return scenario.quasi + tuple(w for w in self.within if w not in scenario.quasi)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that make classes in any scenario."""
        return tuple(dict.fromkeys(c for s in self.scenarios for c in self.key(s)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that classes are made of, and that are looked at in each."""
        more = () if self.unit is None else (self.unit.column,)
        return tuple(dict.fromkeys((*self.keys, *(g.column for g in self.guards), *more)))

    @property
    def apart(self) -> tuple[str, ...]:
        """The columns that are looked at without regard to classes: prepared ones and record numbers."""
        return (*(p.column for p in self.prepared), *(() if self.number is None else (self.number,)))


def claims_of(quasi: Any, k: Any, within: Any, confidential: Any, scenarios: Any, unit: Any = None) -> Claims:
    """The arguments of `verify` as claims."""
    if scenarios is None:
        if quasi is None or k is None:
            raise CoterieError("Both 'quasi' and 'k' are needed.", "one of them or none", "or give 'scenarios'.")
        made: tuple[Scenario, ...] = (Scenario("all", quasi, k),)
    elif quasi is not None or k is not None:
        raise CoterieError("Scenarios have quasi-identifiers and a k of their own.", "'quasi' or 'k' as well")
    elif not isinstance(scenarios, Mapping):
        raise CoterieError("'scenarios' must map names to (quasi, k).", _kind_of(scenarios))
    else:
        made = tuple(_scenario(name, given) for name, given in scenarios.items())
    if confidential is None:
        confidential = {}
    if not isinstance(confidential, Mapping):
        raise CoterieError("'confidential' must map columns to what is claimed of them.", _kind_of(confidential))
    guards = tuple(_guard(name, given) for name, given in confidential.items())
    return Claims(made, within, guards, unit=None if unit is None else Unit(unit))


def _scenario(name: Any, given: Any) -> Scenario:
    if not isinstance(name, str) or isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise CoterieError("A scenario must be a name and (quasi, k).", f"{_kind_of(name)} and {_kind_of(given)}")
    return Scenario(name, *given)


def _guard(column: Any, given: Any) -> Guard:
    known = [f.name for f in fields(Guard) if f.name != "column"]
    if not isinstance(column, str) or not isinstance(given, Mapping):
        what = "'confidential' must map column names to dictionaries."
        raise CoterieError(what, f"{_kind_of(column)} and {_kind_of(given)}")
    unknown = [str(name) for name in given if name not in known]
    if unknown:
        raise CoterieError(f"Of '{column}' there can be claimed: {', '.join(known)}.", listed(unknown))
    if "kind" not in given:
        raise CoterieError("A confidential column must have a kind.", f"'{column}' without", f"{', '.join(KINDS)}.")
    return Guard(column, **{name: value for name, value in given.items() if value is not None})


def names_of(given: Any, what: str, may_be_empty: bool = False) -> tuple[str, ...]:
    """A list of column names, each once."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(n, str) for n in given):
        raise CoterieError(f"'{what}' must be a list of column names.", _kind_of(given), f"as in {what}=['age'].")
    if not given and not may_be_empty:
        raise CoterieError(f"'{what}' must name at least one column.", "none")
    _once(given, f"'{what}' must name each column once.")
    return tuple(given)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in quotes, and how many more there are."""
    shown = ", ".join(f"'{n}'" for n in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _once(names: Sequence[str], what: str) -> None:
    twice = sorted({n for n in names if list(names).count(n) > 1})
    if twice:
        raise CoterieError(what, f"{listed(twice)} more than once")


def _whole(given: Any, name: str, hint: str) -> int:
    if not isinstance(given, Integral) or isinstance(given, bool):
        raise CoterieError(f"{name} must be an integer.", _kind_of(given))
    if given < 2:
        raise CoterieError(f"{name} must be at least 2.", str(int(given)), hint)
    return int(given)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else _kind_of(value)


def _kind_of(value: Any) -> str:
    return f"an object of type {type(value).__name__}"
