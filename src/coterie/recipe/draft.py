"""A recipe to begin with: what each column looks like, said beside it, for a person to decide."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..tables.arrow import countable
from ..tables.kinds.categories import _text
from .contents import HEAD, Contents, all_fit, contents_of
from .date_texts import FORMATS, are_dates
from .fields import UNDECIDED
from .sections import ColumnRule
from .suggest import UnitQuestion
from .suggested import POLICY, Suggested, Suggestions, kind_for, suggested

_FEW = 20  # categories that a person can look at
_CODES = 100  # codes whose order is kept: more are none
_GAPS = frozenset({"na", "n/a", "nan", "null", "none", ".", "-", "?", "unknown", "missing"})


class Look(NamedTuple):
    """What a column looks like; `but_for` is the kind it would have without texts that often mean a gap.

    With `more`, counting has ended: there may be more different values. `formats` are those that all dates fit, if they
    are not written as ISO 8601 says; of several, a person must choose.
    """

    kind: str
    records: int
    different: int
    missing: int
    order: tuple[str, ...] = ()
    but_for: str | None = None
    more: bool = False
    alone: bool = False  # whether no value comes twice, among those that were counted
    formats: tuple[str, ...] = ()
    text: bool = False  # whether the values are texts, as in a CSV file
    contents: Contents = Contents()
    codes: tuple[str, ...] = ()  # of numbers, or of what the file labels: the categories in the order of their codes
    labelled: str | None = None  # "all" or "some": which values have labels in the file
    numbered: bool = False  # whether whole numbers are numbered through as they first come: 1, 2, 3, …
    measure: str | None = None  # the measurement level that the file says: nominal, ordinal, scale
    stray: str | None = None  # of texts that are numbers, but for some or for their marks: what helps
    nested: bool = False  # whether values have several parts, as lists have


def look(array: Any, decimal: str = ".", about: Mapping[str, Any] | None = None) -> Look:
    """The kind that a column's type or texts suggest, and how many different and missing values it has.

    `about` is what an SPSS, Stata or SAS file says of the variable.
    """
    looking = Looking(decimal)
    looking.add(array)
    return looking.seen(about)


class Looking:
    """A look at a column, part by part; different values are counted up to `most`."""

    def __init__(self, decimal: str = ".", most: int | None = None) -> None:
        self._decimal, self._most = decimal, most
        self._type: Any = None
        self._values: Any = None  # the different ones so far
        self._beyond: tuple[_Fit, Contents] | None = None  # what all values fit, once there are too many
        self._records = self._missing = self._compared = 0
        self._order: tuple[str, ...] = ()
        self._nested = False

    def add(self, array: Any) -> None:
        """Look at more records."""
        import pyarrow as pa

        self._records += len(array)
        kind = self._type = array.type
        if pa.types.is_dictionary(kind) and kind.ordered and pa.types.is_string(kind.value_type):
            self._order = tuple(array.dictionary.to_pylist())
        array, self._nested = countable(array)
        values, there = _different(array)
        self._missing += len(array) - there
        if self._beyond is not None:
            fit, contents = self._beyond
            more = contents_of(values, self._decimal)
            self._beyond = fit & _fit(values, self._decimal), contents & more if len(values) else contents
            return
        self._compared += there
        known = values if self._values is None else _different(pa.concat_arrays([self._values, values]))[0]
        self._values = known
        if self._most is not None and len(known) > self._most:
            self._beyond = _fit(known, self._decimal), contents_of(known, self._decimal)

    def seen(self, about: Mapping[str, Any] | None = None) -> Look:
        """What the column looks like so far, and what its file says of it."""
        values = self._values
        different, more = len(values), self._beyond is not None
        alone = different == self._compared and self._records > 1
        fit, contents = self._beyond or (_fit(values, self._decimal), contents_of(values, self._decimal))
        counted = (self._records, different, self._missing)
        if self._nested:
            return Look("nominal", *counted, more=more, alone=alone, nested=True)
        if self._order:
            return Look("ordinal", *counted, self._order, None, more, alone, contents=contents)
        kind = _kind(self._type, values, fit)
        formats = tuple(form for form in FORMATS if different and form in fit.all)
        seen = Look(kind, *counted, (), fit.but_for(), more, alone, formats, _is_text(values), contents)
        codes = _codes(values) if contents.number and different <= _CODES else ()
        numbered = contents.whole and different > 1 and _is_numbered(values)
        return _with_labels(seen._replace(codes=codes, numbered=numbered), values, about or {})


def _is_numbered(values: Any) -> bool:
    """Whether whole numbers, in the order in which they first come, are each the one before and 1."""
    return (len(values) <= HEAD or _are_in_turn(values[:HEAD])) and _are_in_turn(values)


def _are_in_turn(values: Any) -> bool:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.replace_substring_regex(pc.utf8_trim_whitespace(values), r"^\+", "") if _is_text(values) else values
    if _is_text(values) and not pc.all(pc.match_substring_regex(plain, r"^\d{1,15}$")).as_py():
        return False  # 1.0 and the like
    numbers = pc.cast(plain, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return bool(np.array_equal(numbers, np.arange(len(numbers)) + numbers[0]))


def _codes(values: Any) -> tuple[str, ...]:
    """Numbers as categories, in their order."""
    return tuple(_text(value) for value in sorted(values.to_pylist(), key=_number))


def _number(value: Any) -> float:
    return float(value.replace(",", ".")) if isinstance(value, str) else float(value)


def _with_labels(seen: Look, values: Any, about: Mapping[str, Any]) -> Look:
    """The same with what the file says: which of the values have labels, in which order, and on which scale."""
    labels = [code for code, _ in about.get("labels", ())]
    if not labels:
        return seen._replace(measure=about.get("measure"))
    here = set() if seen.more else {_text(value) for value in values.to_pylist()}
    named = here.intersection(_text(code) for code in labels)
    labelled = None if not named else "all" if named == here else "some"
    codes = seen.codes
    if labelled == "all" and not seen.contents.number:  # texts as codes, in the order in which the file has them
        codes = tuple(dict.fromkeys(text for code in labels if (text := _text(code)) in here))
    return seen._replace(labelled=labelled, measure=about.get("measure"), codes=codes)


def _different(array: Any) -> tuple[Any, int]:
    """The different values, and how many there are in all; NaN and null are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = array.drop_null()
    if pa.types.is_floating(array.type):
        array = array.filter(pc.invert(pc.is_nan(array)))
    found = pc.unique(array)
    return found, len(array)


class _Fit(NamedTuple):
    """The kinds that all texts fit, and those of the texts that don't often mean a gap."""

    all: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    gaps: bool = False  # whether there are such
    texts: bool = False  # whether there are others

    def __and__(self, other: _Fit) -> _Fit:
        return _Fit(self.all & other.all, self.plain & other.plain, self.gaps | other.gaps, self.texts | other.texts)

    def but_for(self) -> str | None:
        """The kind without texts that often mean a gap, if there are some and it is another."""
        kind = _first(self.plain)
        return kind if self.gaps and self.texts and kind != _first(self.all) else None


_IN_TURN = ("boolean", "integer", "numeric", "datetime")
_LIKE_A_DATE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$"


def _first(kinds: frozenset[str]) -> str:
    written = "datetime" if len(kinds.intersection(FORMATS)) == 1 else "nominal"
    return next((kind for kind in _IN_TURN if kind in kinds), written)


def _fit(values: Any, decimal: str) -> _Fit:
    """What different values fit, if they are texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_text(values):
        return _Fit()
    bare = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    gap = pc.is_in(bare, pa.array(sorted(_GAPS), bare.type))
    gaps, plain = bool(pc.any(gap).as_py()), values.filter(pc.invert(gap))
    of_plain = _kinds_of_texts(plain, decimal)
    return _Fit(_kinds_of_texts(values, decimal) if gaps else of_plain, of_plain, gaps, len(plain) > 0)


def _is_text(values: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _kinds_of_texts(texts: Any, decimal: str) -> frozenset[str]:
    """The kinds that all of these fit."""
    import pyarrow.compute as pc

    if not len(texts):
        return frozenset((*_IN_TURN[1:], *FORMATS))
    found = set()
    if len(texts) == 2 and {t.strip().lower() for t in texts.to_pylist()} in _PAIRS:
        found.add("boolean")
    bare, mark = pc.utf8_trim_whitespace(texts), re.escape(decimal)
    if all_fit(bare, r"^[+-]?(0|[1-9]\d*)$"):  # 00123 is no number
        found.update(("integer", "numeric"))
    elif all_fit(bare, rf"^[+-]?((0|[1-9]\d*)({mark}\d+)?|{mark}\d+)([eE][+-]?\d+)?$"):
        found.add("numeric")
    if are_dates(texts):
        found.add("datetime")
    elif all_fit(bare, _LIKE_A_DATE):
        found.update(form for form in FORMATS if are_dates(bare, form))
    return frozenset(found)


def _kind(kind: Any, values: Any, fit: _Fit) -> str:
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numeric"
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return "datetime"
    return _first(fit.all) if len(values) else "nominal"


_PAIRS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"})


def draft(
    looks: Mapping[str, Look],
    k: int,
    options: Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> str:
    """The text of a recipe, with what was seen as comments. What a person must decide is left open, with the reason.

    `kinds` are those that were said already.
    """
    return draft_of(suggested(looks, options, kinds), k)


def draft_of(found: Suggestions, k: int) -> str:
    """The same, of suggestions."""
    import tomlkit

    policy = f'policy = "{POLICY}"'
    lines = [
        "draft = true  # every line below is a suggestion: check each one, correct it, then remove this line",
        f"k = {k}",
        "# seed = …            # a number nobody can guess. Default: drawn at random, kept in the release's recipe",
        '# centre = "medoid"   # release an observed record of each group instead of its mean',
        "",
        "[missing]",
        f'{policy}     # or "own-value": missing in all records of a group or in none; "group": filled in',
        "",
        "# [strata]",
        '# within = ["region"]  # quasi-identifiers whose values no group may mix',
        '# small = "refuse"     # or "merge", "suppress", where a stratum has fewer than k records',
        "",
        "# [weights]",
        '# column = "weight"    # sampling weights: group means are weighted; its role is "other" or "identifier"',
        "",
        "# [population]",
        "# fraction = 0.05      # instead of weights: sampling fraction; used to estimate the risk in the population",
        "",
        *_unit(found.unit),
        "",
        "# [scenarios.neighbour]  # what one intruder knows; then every quasi-identifier must be in a scenario",
        '# quasi = ["age"]',
        "# k = 5",
        "",
    ]
    if found.options:
        lines += [tomlkit.dumps({"file": dict(found.options)}).rstrip(), ""]
    for column in found.columns:
        lines += [*_column(column), ""]
    return "\n".join(lines)


def _unit(asked: UnitQuestion | None) -> list[str]:
    """The lines about units: left open where an identifier repeats."""
    if asked is None:
        return [
            "# [unit]",
            '# column = "person"    # the unit: k counts its different values, not records',
        ]
    return [f"# undecided: {asked.question}", f"# {asked.otherwise}", "[unit]", f'column = "{UNDECIDED}"']


def _column(column: Suggested) -> list[str]:
    """The lines of a column."""
    import tomlkit

    role, seen, question = column.rule["role"], column.look, column.question
    gaps = f", {seen.missing:,} missing" if seen.missing else ""
    least = "at least " if seen.more else ""
    shown = "" if role == UNDECIDED else f"; {role}: {column.why}"
    section = tomlkit.dumps({"columns": {column.name: column.rule}}).strip().removeprefix("[columns]").strip()
    return [
        f"# {least}{seen.different:,} different values in {seen.records:,} records{gaps}{shown}",
        *([f"# undecided: {question}"] if question else []),
        section,
        *_more(role, column.kind.kind, seen),
    ]


def _more(role: str, kind: str, seen: Look) -> list[str]:
    """Options that fit, as comments."""
    if role == UNDECIDED and kind != UNDECIDED:
        return [f'# kind = "{kind}"  # if it is masked ("quasi") or guarded ("confidential")']
    if role == UNDECIDED:
        return ['# kind = …  # if it is masked ("quasi") or guarded ("confidential")']
    if role == "quasi" and kind == "nominal" and seen.different <= _FEW:
        return ['# kind = "ordinal"  # if its categories have an order; then also: order = ["lowest", …, "highest"]']
    if role == "confidential":
        return [
            "# l = 2  # at least this many different values in every group",
            "# t = 0.3  # or: distribution in every group close to that of the whole table",
        ]
    return []


def rules_for(
    roles: Mapping[str, str], looks: Mapping[str, Look], kinds: Mapping[str, str] | None = None
) -> dict[str, ColumnRule]:
    """Rules for columns whose roles were said, with kinds that were said or that the columns look like."""
    rules = {}
    for name, role in roles.items():
        if name not in looks or role not in ("quasi", "confidential"):
            rules[name] = ColumnRule(role)
            continue
        kind = kind_for(name, looks[name], (kinds or {}).get(name))
        rules[name] = ColumnRule(role, kind.kind, kind.order or None, format=kind.format)
    return rules


def questions_for(
    roles: Mapping[str, str], looks: Mapping[str, Look], kinds: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What must be decided before columns whose roles were said can be masked or guarded, and why."""
    asked = {
        name: kind_for(name, looks[name], (kinds or {}).get(name)).question
        for name, role in roles.items()
        if name in looks and role in ("quasi", "confidential")
    }
    return {name: question for name, question in asked.items() if question is not None}
