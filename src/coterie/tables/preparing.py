"""Preparing a column before it is masked or kept: bounds, bands, rounding, coarser dates, other categories.

Order: numbers are bounded, then rounded or put into bands; dates are bounded, then made coarser; categories are
recoded, then rare ones joined. Missing values stay missing. Values that nothing changes keep their spelling and, where
the new values fit it, the column keeps its type; which type that is depends on the rule and the old type alone, so that
all parts of a table agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import NOT_OF_THE_DATA, CoterieError
from .arrow import array_of, as_array, bits_of, flags_of, is_text
from .bands import has_own_band_below, middles_of, names_of
from .kinds import Typed, UnfitError, categories_of, read
from .kinds.times import DAY

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NUMBERS = ("numeric", "integer")
_HOUR = 3_600_000_000
_DAY = int(DAY)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


class Prepared(NamedTuple):
    """A prepared column: its values as Arrow has them, and what became of each.

    `changed` are others than before; `present` are there; `landed` are values that others may have become.
    """

    array: Any
    changed: Flags
    present: Flags
    landed: Flags

    def counts(self, rows: Any = slice(None)) -> tuple[int, int, int]:
        """How many values of some records changed, are there, and landed."""
        return tuple(int(np.count_nonzero(flags[rows])) for flags in (self.changed, self.present, self.landed))  # type: ignore[return-value]


@dataclass(frozen=True)
class Preparing:
    """What is done to a column, once all is known that depends on the whole table.

    Attributes
    ----------
    rule : ColumnRule
        As the recipe has it.
    edges : tuple of float
        Where bands begin.
    rare : frozenset of str
        The categories, after recoding, that have too few records.
    """

    rule: Any
    edges: tuple[float, ...] = ()
    rare: frozenset[str] = frozenset()

    @property
    def by_category(self) -> bool:
        """Whether categories are recoded: the column need not be read by its kind."""
        return self.rule.kind not in (*NUMBERS, "datetime")

    def image(self, category: str) -> str:
        """What becomes of a category."""
        rule = self.rule
        new: str = category
        if rule.recode is not None:
            new = rule.recode.get(category, rule.others or category)
        return rule.others if new in self.rare else new

    def apply(self, name: str, array: Any, typed: Typed | None) -> Prepared:
        """The prepared column. `typed` is the column as its kind reads it, but for categories."""
        try:
            array = as_array(array)
            plain = array.cast(_large_text()) if str(array.type) == "string_view" else array
            if typed is None:
                return _recoded(self, plain)
            return (
                _prepared_dates(self, name, plain, typed)
                if self.rule.kind == "datetime"
                else _prepared_numbers(self, name, plain, typed)
            )
        except NOT_OF_THE_DATA:
            raise
        except Exception as error:  # whose own words may quote a value
            wrong = f"{type(error).__name__} while it was prepared"
        del array, typed
        raise CoterieError(f"The column '{name}' cannot be prepared.", wrong, "is its kind right?")


def _large_text() -> Any:
    import pyarrow as pa

    return pa.large_string()


# Numbers


def _prepared_numbers(step: Preparing, name: str, array: Any, typed: Typed) -> Prepared:
    rule, x = step.rule, typed.column.numbers
    present = ~np.isnan(x)
    y = bounded(x, rule.bottom, rule.top)
    if rule.round is not None:
        y = to_base(y, rule.round)
    if step.edges:
        band = _bands(name, y, step)
        if rule.bands_as != "middle":
            named = _named(band, present, names_of(rule, step.edges), array.type)
            return Prepared(named, present.copy(), present, present)
        y = np.where(present, np.array(middles_of(rule, step.edges), np.float64)[np.where(present, band, 0)], np.nan)
    if rule.top_label is not None or rule.bottom_label is not None:
        return _with_labels(rule, y, array, typed)
    changed = present & (y != x)
    landed = present if step.edges or rule.round is not None else _at(y, rule.bottom, rule.top)
    kind = _number_type(array.type, step)
    _refuse_beyond(name, kind, y, landed)
    return Prepared(_replaced(array, landed, y, typed, kind), changed, present, landed)


def _at(y: Floats, *bounds: float | None) -> Flags:
    """Which values are at a bound."""
    return np.isin(y, [bound for bound in bounds if bound is not None])


def bounded(x: Floats, bottom: float | None, top: float | None) -> Floats:
    """Numbers between two bounds: those beyond become the bound."""
    y = x if bottom is None else np.maximum(x, bottom)
    return y if top is None else np.minimum(y, top)


def to_base(x: Floats, base: float) -> Floats:
    """The nearest multiples of a base, half to even; those of a decimal base are the floats next to the decimals."""
    exact = Decimal(repr(base))
    places = max(0, -int(exact.as_tuple().exponent))
    fine = np.abs(x) < base * 2.0**53  # beyond it, neighbouring floats are further apart than multiples
    count = np.rint(np.where(fine, x, 0.0) / base)
    return np.where(fine, count * float(exact.scaleb(places)) / 10.0**places, x) + 0.0


def _bands(name: str, y: Floats, step: Preparing) -> NDArray[np.int64]:
    """The band of each number: its place among the names."""
    present = ~np.isnan(y)
    band = np.searchsorted(np.array(step.edges, np.float64), np.where(present, y, step.edges[0]), side="right") - 1
    if has_own_band_below(step.rule):
        return band + 1
    below = np.flatnonzero(band < 0).tolist()
    if below:
        what = f"The numbers of '{name}' must not be below the first edge of its bands."
        hint = "bottom moves them into the first band, bottom_label gives them a label of their own; or add an edge."
        raise UnfitError(what, len(below), "that are", hint, below)
    return band


def _named(band: NDArray[np.int64], present: Flags, names: tuple[str, ...], kind: Any) -> Any:
    """The names of bands, as texts."""
    import pyarrow as pa

    codes = array_of(np.where(present, band, 0).astype(np.int64), ~present, pa.int64())
    return pa.array(list(names), kind if is_text(kind) else pa.string()).take(codes)


def _with_labels(rule: Any, y: Floats, array: Any, typed: Typed) -> Prepared:
    """Numbers as texts, in which a label stands for those at or beyond a bound."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = ~np.isnan(y)
    kind = array.type if is_text(array.type) else pa.string()
    moved = present & (y != typed.column.numbers)
    written = present if rule.round is not None else _at(y, rule.bottom, rule.top)
    texts = _replaced(array, written, y, typed, array.type) if is_text(array.type) else _as_texts(y, array.type)
    changed = moved.copy()
    for label, reached in (
        (rule.bottom_label, None if rule.bottom is None else y <= rule.bottom),
        (rule.top_label, None if rule.top is None else y >= rule.top),
    ):
        if label is not None and reached is not None:
            texts = pc.if_else(bits_of(reached & present), pa.scalar(label, kind), texts)
            changed |= reached & present
    landed = present if rule.round is not None else changed
    return Prepared(texts, changed, present, landed)


def _as_texts(y: Floats, kind: Any) -> Any:
    """Numbers as texts, in the digits that their type has."""
    import pyarrow as pa

    from .arrow import texts_of

    single = pa.types.is_float32(kind) or pa.types.is_float16(kind)
    number = np.dtype(f"f{kind.bit_width // 8}").type if single else float
    return texts_of(y, lambda v: str(number(v)).removesuffix(".0"), pa.string())


def _number_type(kind: Any, step: Preparing) -> Any:
    """The type of prepared numbers: the column's own, if it holds all that may stand there."""
    import pyarrow as pa

    rule = step.rule
    values = [v for v in (rule.bottom, rule.top, rule.round) if v is not None]
    values += middles_of(rule, step.edges) if step.edges else []
    if pa.types.is_float16(kind) and rule.round is not None:  # its largest numbers are 32 apart
        return pa.float64()
    if all(_fits(kind, v) for v in values):
        return kind
    return pa.int64() if pa.types.is_integer(kind) and all(_fits(pa.int64(), v) for v in values) else pa.float64()


def _fits(kind: Any, value: float) -> bool:
    """Whether a type holds a number exactly."""
    import pyarrow as pa

    if pa.types.is_integer(kind):
        low = 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
        high = 2 ** (kind.bit_width - (0 if low == 0 else 1)) - 1
        return float(value).is_integer() and low <= value <= high
    if pa.types.is_decimal(kind):
        scaled = Decimal(repr(value)).scaleb(kind.scale)
        return scaled == int(scaled) and len(str(abs(int(scaled)))) <= kind.precision
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        with np.errstate(over="ignore"):
            return float(np.array(value, f"f{kind.bit_width // 8}")) == value
    return True


def _refuse_beyond(name: str, kind: Any, y: Floats, landed: Flags) -> None:
    """Refuse numbers that are rounded beyond the range of their type."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        most = 10.0 ** (kind.precision - kind.scale)
        beyond = np.abs(y) >= most
    elif pa.types.is_integer(kind):
        signed = pa.types.is_signed_integer(kind)
        most = 2.0 ** (kind.bit_width - signed)
        beyond = (y >= most) | (y < (-most if signed else 0))
    else:
        return
    rows = np.flatnonzero(beyond & landed).tolist()
    if rows:
        what = f"The prepared numbers of '{name}' must fit the type of the column, {kind}."
        raise UnfitError(what, len(rows), "that do not", "give top and bottom, or the column a wider type.", rows)


def _replaced(array: Any, landed: Flags, y: Floats, typed: Typed, kind: Any) -> Any:
    """The column with new values where others may have become the same, and the old ones, as written, elsewhere.

    New are also values that preparing leaves as they were: written in another way than the others, with another sign of
    zero, or with digits that floats do not have, they would tell which values are original.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    old = array if array.type == kind else pc.cast(array, kind)
    if not landed.any():
        return old
    if is_text(kind):
        new = typed.write(np.where(landed, y, np.nan)).cast(kind)
    elif pa.types.is_decimal(kind):
        new = _as_decimals(np.where(landed, y, np.nan), kind)
    else:
        new = array_of(np.where(landed, y, 0.0), ~landed, kind)
    return pc.if_else(bits_of(landed), new, old)


def _as_decimals(y: Floats, kind: Any) -> Any:
    """Numbers as the shortest decimals that floats stand for: 0.1, not 0.1000000000000000055."""
    import pyarrow as pa

    missing = np.isnan(y)
    values, which = np.unique(np.where(missing, 0.0, y), return_inverse=True)
    with localcontext() as context:
        context.prec = 400  # the digits of any float and any decimal
        unit = Decimal(1).scaleb(-kind.scale)
        exact = pa.array([Decimal(repr(v)).quantize(unit) for v in values.tolist()], kind)
    return exact.take(array_of(which.reshape(-1).astype(np.int64), missing, pa.int64()))


# Dates


def _prepared_dates(step: Preparing, name: str, array: Any, typed: Typed) -> Prepared:
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = getattr(array.type, "tz", None)
    if zone is not None:  # by the clock of its zone, as whoever reads the file sees it
        local = pc.local_timestamp(array)
        made = _prepared_dates(step, name, local, read(name, local, step.rule))
        back = _in_zone(name, made, zone).cast(array.type)
        return made._replace(array=pc.if_else(bits_of(made.landed), back, array))
    rule, x = step.rule, typed.column.numbers
    present = ~np.isnan(x)
    if pa.types.is_time(array.type):
        what = f"Times of day can be prepared only if they are text, and '{name}' is of type {array.type}."
        raise CoterieError(what, "preparing them", "leave it out, or convert them to text such as 14:00.")
    if getattr(typed.style, "what", None) == "time" and (rule.top, rule.bottom, rule.precision) != (None, None, "hour"):
        what = f"Times of the day, as in '{name}', have no date."
        raise CoterieError(what, "a date, or a precision of days and more", 'precision = "hour", or leave it out.')
    in_days = pa.types.is_date(array.type) or (getattr(typed.style, "what", None) == "date" and rule.format is None)
    if in_days and rule.precision in ("day", "hour"):
        what = f"The column '{name}' holds days, so this precision has no effect."
        raise CoterieError(what, f'precision = "{rule.precision}"', "a coarser one, or leave it out.")
    bounds = [None if bound is None else micros(bound) for bound in (rule.bottom, rule.top)]
    for key, bound in zip(("bottom", "top"), bounds, strict=True):
        if bound is not None and present.any() and not _can_hold(name, rule, bound, typed):
            what = f"The column '{name}' must be able to hold its {key}."
            raise CoterieError(what, "a moment finer than the column's type or format", "give one that it can hold.")
    y = bounded(x, *bounds)
    if rule.precision is not None:
        y = np.where(present, coarse(np.where(present, y, 0.0), rule.precision), np.nan)
    changed = present & (y != x)
    landed = _at(y, *bounds) if rule.precision is None else present
    if not landed.any():
        return Prepared(array, changed, present, landed)
    new = typed.write(np.where(landed, y, np.nan))
    return Prepared(pc.if_else(bits_of(landed), new, array), changed, present, landed)  # see _replaced


def _in_zone(name: str, made: Prepared, zone: str) -> Any:
    """Prepared moments by the clock of their zone; of an hour that comes twice, the first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    new = pc.if_else(bits_of(made.landed), made.array, pa.scalar(None, made.array.type))
    before, after = (pc.assume_timezone(new, zone, ambiguous="earliest", nonexistent=n) for n in ("earliest", "latest"))
    rows = np.flatnonzero(flags_of(pc.fill_null(pc.not_equal(before, after), False))).tolist()
    if rows:
        what = f"What the moments of '{name}' become must exist in their time zone."
        hint = "convert the column to universal time, or leave its zone out."
        raise UnfitError(what, len(rows), "that its clock skips", hint, rows)
    return after


def _can_hold(name: str, rule: Any, bound: float, typed: Typed) -> bool:
    """Whether a bound comes back as it is once it is written in the column's type and format."""
    again = read(name, typed.write(np.array([bound])), rule)
    return float(again.column.numbers[0]) == bound


def micros(text: str) -> float:
    """A date or a moment of a recipe in microseconds since 1970."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return float((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1e6)


def coarse(x: Floats, precision: str) -> Floats:
    """The beginning of the year, quarter, month, week (Monday), day or hour of moments in universal time."""
    ticks = np.rint(x).astype(np.int64)
    if precision == "hour":
        return (ticks - ticks % _HOUR).astype(np.float64)
    days = ticks // _DAY
    if precision in _MONTHS:
        months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
        months -= months % _MONTHS[precision]  # 1970 began in January
        days = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
    elif precision == "week":
        days -= (days + 3) % 7  # 1970 began on a Thursday
    return (days * _DAY).astype(np.float64)


# Categories


def _recoded(step: Preparing, array: Any) -> Prepared:
    import pyarrow as pa

    texts, codes, kind = categories_of(array)
    present = codes >= 0
    images = [step.image(text) for text in texts]
    moved = np.array([a != b for a, b in zip(texts, images, strict=True)] + [False])
    names = list(dict.fromkeys(images))
    if step.rule.order is not None:
        rank = {name: i for i, name in enumerate(step.rule.order)}
        names.sort(key=lambda text: rank.get(text, len(rank)))
    place = {name: i for i, name in enumerate(names)}
    number = np.array([place[image] for image in images] + [-1], np.int64)
    targets = {*(step.rule.recode or {}).values(), step.rule.others}
    landed = np.array([image in targets for image in images] + [False])[codes]
    new = number[np.where(present, codes, -1)]
    values_type = category_type(kind.value_type if pa.types.is_dictionary(kind) else kind, step.rule)
    values = pa.array(names, pa.string()).cast(values_type)
    at = array_of(np.where(present, new, 0).astype(np.int64), ~present, pa.int64())
    if not pa.types.is_dictionary(kind):
        return Prepared(values.take(at), moved[codes], present, landed)
    ordered = kind.ordered and step.rule.order is not None
    made = pa.DictionaryArray.from_arrays(at.cast(kind.index_type), values, ordered=ordered)
    return Prepared(made, moved[codes], present, landed)


def category_type(kind: Any, rule: Any) -> Any:
    """The type of recoded categories: the column's own, if all new names are values of it; else text."""
    import pyarrow as pa

    if is_text(kind):
        return kind
    new = [*(rule.recode or {}).values(), *([] if rule.others is None else [rule.others])]
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return pa.string()
    try:
        return (
            kind if categories_of(pa.array(new, pa.string()).cast(kind))[0] == list(dict.fromkeys(new)) else pa.string()
        )
    except (pa.ArrowException, ValueError, CoterieError):
        same = False
    return kind if same else pa.string()
