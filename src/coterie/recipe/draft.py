"""A recipe to begin with: what each column looks like, said beside it, for a person to decide."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from .sections import ColumnRule

_NAMES = {
    "identifier": (
        r"(^|_)(id|ids|name|surname|first_?name|last_?name|e_?mail|phone|tel|ssn|nhs|iban|passport|address|street|url|ip"
        r"|uuid|key|licen[cs]e)(_|$)"
    ),
    "other": r"(^|_)(weight|weights|wgt|wt)(_|$)",
    "confidential": (
        r"(diagnos|disease|icd|income|salary|wage|earn|religio|politic|party|debt|credit|hiv|sexual|crime|convict|cost"
        r"|profit|turnover|score|grade)"
    ),
}
_FEW = 20  # categories that a person can look at
_MANY = 50  # records: of fewer, ages or sizes may all differ as well
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


def look(array: Any, decimal: str = ".") -> Look:
    """The kind that a column's type or texts suggest, and how many different and missing values it has."""
    looking = Looking(decimal)
    looking.add(array)
    return looking.seen()


class Looking:
    """A look at a column, part by part; different values are counted up to `most`."""

    def __init__(self, decimal: str = ".", most: int | None = None) -> None:
        self._decimal, self._most = decimal, most
        self._type: Any = None
        self._values: Any = None  # the different ones so far
        self._beyond: _Fit | None = None  # what all texts fit, once there are too many
        self._records = self._missing = self._compared = 0
        self._order: tuple[str, ...] = ()

    def add(self, array: Any) -> None:
        """Look at more records."""
        import pyarrow as pa

        self._records += len(array)
        self._type = array.type
        if pa.types.is_dictionary(array.type):
            if array.type.ordered and pa.types.is_string(array.type.value_type):
                self._order = tuple(array.dictionary.to_pylist())
            array = array.dictionary_decode()
        values, there = _different(array)
        self._missing += len(array) - there
        if self._beyond is not None:
            self._beyond &= _fit(values, self._decimal)
            return
        self._compared += there
        known = values if self._values is None else _different(pa.concat_arrays([self._values, values]))[0]
        self._values = known
        if self._most is not None and len(known) > self._most:
            self._beyond = _fit(known, self._decimal)

    def seen(self) -> Look:
        """What the column looks like so far."""
        values = self._values
        different, more = len(values), self._beyond is not None
        alone = different == self._compared and self._records > 1
        if self._order:
            return Look("ordinal", self._records, different, self._missing, self._order, None, more, alone)
        fit = self._beyond or _fit(values, self._decimal)
        kind = _kind(self._type, values, fit)
        formats = tuple(form for form in _FORMATS if different and form in fit.all)
        return Look(kind, self._records, different, self._missing, (), fit.but_for(), more, alone, formats)


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
_FORMATS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")  # kinds of texts as well
_LIKE_A_DATE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$"


def _first(kinds: frozenset[str]) -> str:
    written = "datetime" if len(kinds.intersection(_FORMATS)) == 1 else "nominal"
    return next((kind for kind in _IN_TURN if kind in kinds), written)


def _fit(values: Any, decimal: str) -> _Fit:
    """What different values fit, if they are texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return _Fit()
    bare = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    gap = pc.is_in(bare, pa.array(sorted(_GAPS), bare.type))
    gaps, plain = bool(pc.any(gap).as_py()), values.filter(pc.invert(gap))
    of_plain = _kinds_of_texts(plain, decimal)
    return _Fit(_kinds_of_texts(values, decimal) if gaps else of_plain, of_plain, gaps, len(plain) > 0)


def _kinds_of_texts(texts: Any, decimal: str) -> frozenset[str]:
    """The kinds that all of these fit."""
    import pyarrow.compute as pc

    if not len(texts):
        return frozenset((*_IN_TURN[1:], *_FORMATS))
    found = set()
    if len(texts) == 2 and {t.strip().lower() for t in texts.to_pylist()} in _PAIRS:
        found.add("boolean")
    bare, mark = pc.utf8_trim_whitespace(texts), re.escape(decimal)
    for kind, pattern in (
        ("integer", r"^[+-]?(0|[1-9]\d*)$"),  # 00123 is no number
        ("numeric", rf"^[+-]?((0|[1-9]\d*)({mark}\d+)?|{mark}\d+)([eE][+-]?\d+)?$"),
    ):
        if pc.all(pc.match_substring_regex(bare, pattern)).as_py():
            found.add(kind)
    if all(_is_date(t.as_py()) for t in texts):
        found.add("datetime")
    elif pc.all(pc.match_substring_regex(bare, _LIKE_A_DATE)).as_py():
        found.update(form for form in _FORMATS if all(_is_date(t.as_py(), form) for t in bare))
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


def _is_date(text: str, form: str | None = None) -> bool:
    try:
        datetime.fromisoformat(text.strip()) if form is None else datetime.strptime(text, form)
    except ValueError:
        return False
    return form is not None or "-" in text


def suggest(name: str, seen: Look) -> tuple[str, str]:
    """A role, and why."""
    for role, words in _NAMES.items():
        if re.search(words, name.lower()):
            return role, "by its name"
    if seen.alone and (seen.kind == "nominal" or (seen.kind == "integer" and seen.records >= _MANY)):
        return "identifier", "every value differs"
    if seen.different <= 1:
        return "other", "all values are the same"
    return "quasi", "an intruder might know it"


def draft(looks: Mapping[str, Look], k: int, options: Mapping[str, Any] | None = None) -> str:
    """The text of a recipe, with what was seen as comments."""
    import tomlkit

    lines = [
        "draft = true  # every line below is a suggestion: look at each, change it, and remove this line",
        f"k = {k}",
        "# seed = …            # a number nobody can guess; else one is drawn, and kept in the release's recipe",
        '# centre = "medoid"   # release an observed record of each group instead of its mean',
        "",
        "[missing]",
        'policy = "refuse"     # or "own-value": gaps in all records of a group or in none; "group": gaps are filled',
        "",
        "# [strata]",
        '# within = ["region"]  # quasi-identifiers that no group mixes',
        '# small = "refuse"     # or "merge", "suppress", where a stratum has fewer than k records',
        "",
        "# [weights]",
        '# column = "weight"    # sampling weights: means are weighted; its role is "other" or "identifier"',
        "",
        "# [scenarios.neighbour]  # what one intruder knows; every quasi-identifier is in a scenario then",
        '# quasi = ["age"]',
        "# k = 5",
        "",
    ]
    if options:
        lines += [tomlkit.dumps({"file": dict(options)}).rstrip(), ""]
    for name, seen in looks.items():
        role, why = suggest(name, seen)
        rule: dict[str, Any] = {"role": role}
        if role in ("quasi", "confidential"):
            rule["kind"] = seen.kind
            if seen.kind == "datetime" and seen.formats:
                rule["format"] = seen.formats[0]
            if seen.order:
                rule["order"] = list(seen.order)
        gaps = f", {seen.missing:,} missing" if seen.missing else ""
        least = "at least " if seen.more else ""
        lines.append(f"# {least}{seen.different:,} different values in {seen.records:,} records{gaps}; {role}: {why}")
        lines += [
            tomlkit.dumps({"columns": {name: rule}}).strip().removeprefix("[columns]").strip(),
            *_more(role, seen),
            "",
        ]
    return "\n".join(lines)


def _more(role: str, seen: Look) -> list[str]:
    """Options that fit, as comments."""
    if seen.but_for is not None:
        return [f'# {seen.but_for}, but for texts that often mean a gap: name these in [file] missing = ["", …]']
    if len(seen.formats) > 1 and seen.kind == "nominal":
        ways = " or ".join(f'"{form}"' for form in seen.formats)
        return [f'# dates, with the day or the month first? Then kind = "datetime", format = {ways}']
    if role == "quasi" and seen.kind == "nominal" and seen.different <= _FEW:
        return ['# kind = "ordinal"  # if its categories have an order; then also: order = ["lowest", …, "highest"]']
    if role == "confidential":
        return [
            "# l = 2  # at least so many different values in every group",
            "# t = 0.3  # or: distributions close to the whole",
        ]
    return []


def rules_for(roles: Mapping[str, str], looks: Mapping[str, Look]) -> dict[str, ColumnRule]:
    """Rules for columns whose roles were said, with the kinds that they look like."""
    rules = {}
    for name, role in roles.items():
        seen = looks.get(name)
        kind = seen.kind if seen is not None and role in ("quasi", "confidential") else None
        order = seen.order if seen is not None and seen.order and kind else None
        form = seen.formats[0] if seen is not None and seen.formats and kind == "datetime" else None
        rules[name] = ColumnRule(role, kind, order, format=form)
    return rules
