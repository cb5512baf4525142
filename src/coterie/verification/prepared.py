"""Whether a prepared column is as it was to be: within its bounds, on its base or precision, of its categories.

A value is read as it is written, by the rules of confidential columns; one that can't be read as its kind fails.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CoterieError
from . import sql, verdict
from .asking import ask, kinds_of
from .band_names import band_called
from .claims import Guard
from .literals import literals
from .prepared_claims import Prepared
from .verdict import Check

# Of doubles and of single floats: the rounding of a decimal number, of a product, and of a mean of equal ones
_ROUNDING = {"double": 2.0**-48, "float": 2.0**-20}


def checks(relation: Any, claims: Sequence[Prepared], names: Mapping[str, str], records: int) -> list[Check]:
    """The check of every prepared column. `names` says what the relation calls one, `records` how many there are."""
    kinds = kinds_of(relation, {p.column: names[p.column] for p in claims})
    found = []
    for p in claims:
        name, kind = names[p.column], kinds[p.column]
        found.append(of_counts(p, counts(relation, p, name, kind), records, often(relation, p, name, kind)))
    return found


def counts(relation: Any, claim: Prepared, name: str, kind: str) -> list[int]:
    """Records, values, values that fail; of these, unreadable, below, above, others, off base, off precision."""
    ((*found,),) = ask(relation, question(claim, name, kind))
    return [int(number) for number in found]


def often(relation: Any, claim: Prepared, name: str, kind: str) -> dict[str, int]:
    """How many records have each text, where a least number or names of bands are claimed: of few different texts."""
    if claim.fewest is None and claim.width is None:
        return {}
    value = f"SELECT {sql.present(_guard(claim), name, kind)} AS v FROM {sql.RELEASE}"
    return dict(ask(relation, f"SELECT v::VARCHAR, count(*) FROM ({value}) WHERE v IS NOT NULL GROUP BY 1"))


def few(claim: Prepared, counted: Mapping[str, int]) -> int:
    """How many records have a text that too few have."""
    spared = {text.strip() for text in claim.spared}
    numbers = {number for text in spared if (number := _number_of(text)) is not None}  # where a file holds codes
    small = {text: n for text, n in counted.items() if n < (claim.fewest or 0) and text not in spared}
    return sum(n for text, n in small.items() if _number_of(text) not in numbers)


def no_bands(claim: Prepared, counted: Mapping[str, int]) -> int:
    """How many records have a text that is the name of no band of the width that is claimed, and no other label."""
    if claim.width is None:
        return 0
    labels, least, most = {text.strip() for text in claim.values or ()}, claim.bound("least"), claim.bound("most")
    strange = 0
    for text, n in counted.items():
        band = None if text in labels else band_called(text, claim.width, claim.whole)
        inside = band is not None and (least is None or band[0] > least) and (most is None or band[1] <= most)
        strange += 0 if text in labels or inside else n
    return strange


def of_counts(claim: Prepared, found: Sequence[int], records: int, counted: Mapping[str, int]) -> Check:
    """The check, from how many values fail, and, where that was asked, how many records have each text."""
    check_records(found[0], records)
    too_few, strange = few(claim, counted), no_bands(claim, counted)
    values, bad = found[1], min(found[1], found[2] + too_few + strange)
    faults = dict(zip(_FAULTS, [*found[3:], too_few], strict=True))
    faults[_OTHERS] += strange
    return verdict.prepared(claim.column, _wanted(claim), values, bad, faults)


def check_records(seen: int, records: int) -> None:
    """Refuse a second reading that has not seen all records of the first."""
    if seen != records:
        what = "A release must give the same records whenever it is read."
        raise CoterieError(what, "a different number of records", "give a file, or a table in memory.")


_OTHERS = "of no category that may occur"
_FAULTS = (
    "cannot be read", "below the least", "above the most", _OTHERS, "no multiple",
    "more precise", "in a category of too few records",
)  # fmt: skip


def _wanted(claim: Prepared) -> str:
    """What every value must be, in words. Bounds are options of a recipe; categories are only counted."""
    parts = (
        [*_band(claim)]
        if claim.width is not None
        else [
            *([f"at least {_shown(claim.least)}"] if claim.least is not None else []),
            *([f"at most {_shown(claim.most)}"] if claim.most is not None else []),
            *_on_base(claim),
            *([f"the first moment of a {claim.precision}"] if claim.precision is not None else []),
        ]
    )
    if claim.values is not None and claim.kind == "text" and claim.width is None:
        number = len(claim.values)
        parts.append(f"one of {number:,} {'category' if number == 1 else 'categories'}")
    if claim.gone:
        number = len(claim.gone)
        parts.append(f"outside the {'category that was' if number == 1 else f'{number:,} categories that were'} to go")
    if claim.fewest is not None:
        but = ", but for the one that rare ones were joined to" if claim.spared else ""
        parts.append(f"in a category of at least {claim.fewest:,} records{but}")
    words = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{words}, or a label" if claim.values is not None and claim.kind != "text" else words


def _band(claim: Prepared) -> list[str]:
    """What names of bands must be."""
    above = "" if claim.least is None else f" above {_shown(claim.least)}"
    below = "" if claim.most is None else f" below {_shown(claim.most)}"
    within = " and".join(part for part in (above, below) if part)
    return [f"the name of a band of {_shown(claim.width)}{within}" + (", or a label" if claim.values else "")]


def _on_base(claim: Prepared) -> list[str]:
    """What numbers must be besides their bounds."""
    number = f"{len(claim.among):,} {'number' if len(claim.among) == 1 else 'numbers'}"
    if claim.base is None:
        return [f"one of {number}"] if claim.among else []
    more = f"{_shown(claim.offset)} more than " if claim.offset else ""
    return [f"{more}a multiple of {_shown(claim.base)}" + (f", or one of {number}" if claim.among else "")]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}".removesuffix(".0")


def question(claim: Prepared, name: str, kind: str) -> str:
    """The counts that `counts` tells of."""
    guard = _guard(claim)
    if claim.kind == "text":
        fit = _text(claim, kind)
    else:
        fit = (_number if claim.kind == "number" else _date)(claim, guard, kind)
    label = f"v::VARCHAR IN {_in(claim.values)}" if claim.values is not None and claim.kind != "text" else "false"
    faults = [f"NOT ({label}) AND ({fault})" for fault in fit.faults]
    named = ", ".join(f"coalesce({fault}, false) AS b{j}" for j, fault in enumerate(faults))
    bad = [f"b{j}" for j in range(len(faults))]
    numbers = ", ".join(f"count(*) FILTER (v IS NOT NULL AND {b})" for b in bad)
    return (
        f"SELECT count(*), count(v), count(*) FILTER (v IS NOT NULL AND ({' OR '.join(bad)})), {numbers} FROM ("
        f"SELECT v, {named} FROM (SELECT v, {', '.join(fit.columns)} FROM ("
        f"SELECT {sql.present(guard, name, kind)} AS v FROM {sql.RELEASE})))"
    )


class _Fit:
    """Columns that values are read into, and what is wrong with one: NULL and false mean nothing is."""

    def __init__(self, columns: Sequence[str], unreadable: str, **faults: str) -> None:
        self.columns = columns
        names = ("below", "above", "others", "off_base", "off_precision")
        self.faults = [unreadable, *(faults.get(name, "false") for name in names)]


def _guard(claim: Prepared) -> Guard:
    """How a file writes the values, as the other questions take it."""
    if claim.kind == "date":
        return Guard(claim.column, "datetime", missing=claim.missing, format=claim.format)
    if claim.kind == "text":
        return Guard(claim.column, "nominal", missing=claim.missing)
    more = {"decimal": claim.decimal, "missing": claim.missing, "thousands": claim.thousands}
    return Guard(claim.column, "numeric", prefix=claim.prefix, suffix=claim.suffix, **more)  # type: ignore[arg-type]


def _number(claim: Prepared, guard: Guard, kind: str) -> _Fit:
    """Numbers (w) are compared but for their rounding, where whole numbers don't tell more; infinity is no number."""
    low, high = sql.whole_around(guard, kind)
    if kind in sql.TEXT:
        w = sql.value(guard, kind)
    elif kind in sql.NUMBERS:
        w = "v::DOUBLE"
    else:
        w = "v::INTEGER::DOUBLE" if kind == "boolean" else "NULL::DOUBLE"
    near = _ROUNDING["float" if kind == "float" else "double"]
    faults = {}
    for name, given, sign in (("below", claim.least, "<"), ("above", claim.most, ">")):
        if given is not None:
            edge = f"{float(given)!r}{'::FLOAT' if kind == 'float' else ''}::DOUBLE"
            room = f"{_ROUNDING['double'] * abs(float(given))!r}::DOUBLE"
            faults[name] = f"w {sign} {edge} {'-' if sign == '<' else '+'} {room}"
            if float(given).is_integer():
                toward = "low" if sign == "<" else "high"
                faults[name] = f"coalesce({toward} {sign} {int(given)}::HUGEINT, {faults[name]})"
    others = f"NOT ({_equal(claim.among, kind)})" if claim.among else "true"
    if claim.base is not None:
        faults["off_base"] = f"({_off_base(claim, claim.base, near)}) AND {others}"
    elif claim.among:
        faults["others"] = others
    return _Fit((f"{w} AS w", f"{low} AS low", f"{high} AS high"), "w IS NULL OR NOT isfinite(w)", **faults)


def _off_base(claim: Prepared, base: float, near: float) -> str:
    """Whether a number is not `offset` more than a multiple of the base.

    Beyond 2^53 bases, doubles are further apart than multiples: each is one, as near as it can be.
    """
    more = claim.offset or 0
    step, offset = f"{float(base)!r}::DOUBLE", f"{float(more)!r}::DOUBLE"
    room = f"greatest(abs(w), abs({offset})) * {near!r}::DOUBLE"
    away = f"abs(w - {offset} - round((w - {offset}) / {step}) * {step}) > {room}"
    away = f"abs(w) < {float(base) * 2.0**53!r}::DOUBLE AND {away}"
    if not (float(base).is_integer() and float(more).is_integer()):
        return away
    exactly = f"low <> high OR (low - {int(more)}::HUGEINT) % {int(base)}::HUGEINT <> 0"
    return f"coalesce({exactly}, {away})"


def _equal(numbers: Sequence[float], kind: str) -> str:
    """Whether a number is one of these; in a column of single floats, as near as these can be."""
    same = "::FLOAT::DOUBLE" if kind == "float" else "::DOUBLE"
    return f"w IN ({', '.join(f'{float(number)!r}{same}' for number in numbers)})"


def _date(claim: Prepared, guard: Guard, kind: str) -> _Fit:
    """Moments (w) are counted in microseconds, or in nanoseconds where a column has these."""
    per = 1
    if kind in sql.TEXT:
        w = sql.value(guard, kind)
    elif kind == "timestamp_ns":
        w, per = "epoch_ns(v)", 1000
    elif kind == "date" or (kind.startswith("timestamp") and "zone" not in kind):
        w = "epoch_us(v::TIMESTAMP)"
    else:
        w = "NULL::BIGINT"
    faults = {}
    for name, which, sign in (("below", "least", "<"), ("above", "most", ">")):
        edge = claim.bound(which)
        if edge is not None:
            faults[name] = f"w {sign} {int(edge) * per}::BIGINT"
    if claim.precision is not None:
        micro = f"make_timestamp((w // {per})::BIGINT)"
        off = f"epoch_us(date_trunc('{claim.precision}', {micro})) <> w // {per}"
        faults["off_precision"] = f"CASE WHEN w % {per} <> 0 THEN true ELSE {off} END"
    return _Fit((f"{w} AS w",), "w IS NULL", **faults)


def _text(claim: Prepared, kind: str) -> _Fit:
    """Texts as they are; where the file holds numbers, the texts that are numbers; truth values as true and false."""
    names = claim.values if claim.width is None else None  # names of bands are looked at one by one
    known = [_among(texts, kind) for texts in (names, claim.gone or None)]
    other = f"NOT {known[0]}" if known[0] else "false"
    going = known[1] or "false"
    fits = kind in sql.TEXT | sql.NUMBERS | {"boolean", "null"}
    return _Fit(("v AS w",), "false" if fits else "true", others=f"({other}) OR ({going})")


def _among(texts: Sequence[str] | None, kind: str) -> str | None:
    if texts is None:
        return None
    if kind in sql.TEXT:
        return f"(v::VARCHAR IN {_in(texts)})"
    if kind == "boolean":
        return f"(v::VARCHAR IN {_in([text.strip().lower() for text in texts])})"
    numbers = [number for text in texts if (number := _number_of(text)) is not None]
    listed = ", ".join(f"{number!r}::DOUBLE" for number in numbers) or "NULL::DOUBLE"
    return f"coalesce(TRY_CAST(v AS DOUBLE) IN ({listed}), false)"


def _number_of(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _in(texts: Sequence[str] | None) -> str:
    return f"(SELECT unnest({literals([text.strip() for text in texts or ()])}::VARCHAR[]))"
