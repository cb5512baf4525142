"""Dates, times of the day and timestamps: microseconds since 1970 (or since midnight)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import CoterieError
from ..arrow import array_of, floats_of, is_text, nulls_of, texts_of
from ..columns import Column
from .date_advice import advice_on_dates
from .typed import Floats, Typed
from .unfit import UnfitError

SECOND = 1e6
DAY = 86_400 * SECOND
_START = datetime(1970, 1, 1)


class _Style(NamedTuple):
    """How a time is written: `what` is a date, a time of the day or both."""

    what: str
    separator: str
    aware: bool
    format: str | None
    seconds: bool = True  # whether seconds are written


def read_datetime(name: str, array: Any, rule: Any, step: float | None = None) -> Typed:
    """Dates and times. Means are rounded to what the column resolves: days, minutes, seconds or less.

    `step` says what the column resolves, where these are some of its texts.
    """
    import pyarrow as pa

    if is_text(array.type):
        return _from_text(name, array, rule, step)
    if rule.format is not None:
        what = f"A format is for dates written as text, and '{name}' is of type {array.type}."
        raise CoterieError(what, f"format for '{name}'", "leave it out.")
    kind = array.type
    if not (pa.types.is_temporal(kind) and not pa.types.is_duration(kind)):
        hint = 'numbers such as 20241231 must be turned into dates, or into texts with format = "%Y%m%d".'
        hint = hint if pa.types.is_integer(kind) or pa.types.is_floating(kind) else "is its kind right?"
        raise CoterieError(f"The column '{name}' must hold dates or times.", f"type {kind}", hint)
    scale = _scale(kind)
    ticks = floats_of(_as_integers(array))
    numbers = ticks * scale
    step = DAY if pa.types.is_date(kind) else max(_resolution(numbers), scale if scale >= 1 else 1.0)

    def write(new: Floats) -> Any:
        missing = np.isnan(new)
        width = _integer(kind)
        return array_of(_whole(np.where(missing, 0.0, new) / scale, width.bit_width), missing, width).view(kind)

    return Typed(Column(name, "datetime", numbers), step, write)


def _whole(ticks: Floats, bits: int) -> NDArray[np.int64]:
    """The nearest integers of that width: floats near its ends round to what it does not have.

    The lowest integer of 64 bits is no moment: pandas and NumPy take it for a missing one.
    """
    most = 2 ** (bits - 1) - 1
    least = -most if bits == 64 else -most - 1
    ticks = np.rint(ticks)
    high, low = ticks >= most, ticks <= least
    whole = np.where(high | low, 0.0, ticks).astype(np.int64)
    whole[high], whole[low] = most, least
    return whole


def _integer(kind: Any) -> Any:
    import pyarrow as pa

    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _as_integers(array: Any) -> Any:
    return array.view(_integer(array.type))


def _scale(kind: Any) -> float:
    """How many microseconds a tick of the type is."""
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return DAY
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    return {"s": SECOND, "ms": 1e3, "us": 1.0, "ns": 1e-3}[unit]


def _resolution(numbers: Floats) -> float:
    """The coarsest of day, minute, second, millisecond that all values are whole numbers of; else a microsecond."""
    present = numbers[~np.isnan(numbers)]
    for step in (DAY, 60 * SECOND, SECOND, 1e3):
        if len(present) and not np.any(np.fmod(present, step)):
            return step
    return 1.0


def _from_text(name: str, array: Any, rule: Any, whole: float | None) -> Typed:
    """Dates as ISO 8601 writes them, or as the rule's format says."""
    encoded = array.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    parsed, wrong = [], []
    for i, text in enumerate(texts):
        try:
            parsed.append(_parsed(text.strip(), rule.format))
        except (ValueError, re.error):
            wrong.append(i)
    if wrong:
        rows = np.flatnonzero(np.isin(_codes(array, encoded), wrong)).tolist()
        told = "that are not written as its format says" if rule.format is not None else "that are none"
        hint = advice_on_dates(name, texts, [texts[i] for i in wrong], rule.format)
        raise UnfitError(f"The column '{name}' must hold dates or times.", len(rows), told, hint, rows)
    styles = Counter(style for _, style in parsed)
    if len(styles) > 1:
        usual = styles.most_common(1)[0][0]
        others = [i for i, (_, style) in enumerate(parsed) if style != usual]
        rows = np.flatnonzero(np.isin(_codes(array, encoded), others)).tolist()
        what = f"The dates or times of '{name}' must all be written the same way."
        raise UnfitError(what, len(rows), "that differ from the others", "write all of them like 2024-12-31.", rows)
    values = np.array([number for number, _ in parsed] + [np.nan])
    style = next(iter(styles), _Style("date", "T", False, rule.format))
    numbers = values[_codes(array, encoded)]
    step = whole or (DAY if style.what == "date" else min(_resolution(numbers), 60 * SECOND))
    kind = array.type
    return Typed(
        Column(name, "datetime", numbers),
        step,
        lambda new: texts_of(new, lambda x: _written(x, style, step), kind),
        style if styles else None,
    )


def _codes(array: Any, encoded: Any) -> NDArray[np.int64]:
    """The number of each record's text among the different ones; -1 where there is none."""
    return np.where(nulls_of(array), -1, np.nan_to_num(floats_of(encoded.indices))).astype(np.int64)


def _parsed(text: str, how: str | None) -> tuple[float, _Style]:
    """Microseconds, and how they were written."""
    if how is not None:
        if any(sign in how for sign in ("%U", "%W")) and not any(sign in how for sign in ("%a", "%A", "%w", "%u")):
            raise ValueError  # strptime passes over a week without its day
        moment = datetime.strptime(text, how)
        what = "both" if any(sign in how for sign in ("%H", "%I", "%X", "%c")) else "date"
        return _micros(moment), _Style(what, " ", moment.tzinfo is not None, how)
    if len(text) == 10:
        return _micros(datetime.combine(date.fromisoformat(text), time())), _Style("date", "T", False, None)
    if "-" not in text[:10]:
        clock = time.fromisoformat(text)
        if clock.tzinfo is not None or ":" not in text:
            raise ValueError
        return _micros(datetime.combine(_START.date(), clock)), _Style("time", "T", False, None, text.count(":") > 1)
    moment = datetime.fromisoformat(text)
    seconds = text[11:19].count(":") > 1
    return _micros(moment), _Style("both", text[10], moment.tzinfo is not None, None, seconds)


def _nearest(moment: datetime, how: str) -> datetime:
    """The nearest that the format can say, the earlier of two: one without days would cut a mean off to its month."""
    try:
        low = datetime.strptime(moment.strftime(how), how)
        for days in (0, 1 / 24, 1, 31, 366):
            high = datetime.strptime((low + timedelta(days=days)).strftime(how), how)
            if high >= moment:
                return high if high - moment < moment - low else low
    except (ValueError, OverflowError):  # at the ends of the calendar, or a zone by name: as strftime has it
        pass
    return moment


def _micros(moment: datetime) -> float:
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - _START) / timedelta(microseconds=1)


def _written(micros: float, style: _Style, step: float) -> str:
    moment = _START + timedelta(microseconds=round(micros))
    if style.aware:
        moment = moment.replace(tzinfo=UTC)
    if style.format is not None:
        return _nearest(moment, style.format).strftime(style.format)
    if style.what == "date":
        return moment.date().isoformat()
    digits = "seconds" if step >= SECOND else "milliseconds" if step >= 1e3 else "microseconds"
    if not style.seconds:
        digits = "minutes"
    if style.what == "time":
        return moment.time().isoformat(digits)
    return moment.isoformat(style.separator, digits)
