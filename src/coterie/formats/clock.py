"""Dates and times as the numbers that SPSS, Stata and SAS keep them as.

SPSS counts seconds since 14 October 1582; Stata days or milliseconds, SAS days or seconds, since 1 January 1960. What a
number counts is said by the display format of its variable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DAY = 86_400_000_000  # microseconds
_SECOND = 1_000_000
_FIRST, _LAST = -719_162 * _DAY, 2_932_897 * _DAY  # the years 1 to 9999

_SPSS_DATES = {"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"}
_SPSS_MOMENTS = {"DATETIME", "YMDHMS"}
_SAS_DATES = re.compile(
    r"(WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|DATE|JULIAN|MONYY|WORDDATX?|WORDDATE|[BE]8601DA|IS8601DA)"
)
_SAS_MOMENTS = re.compile(r"(DATETIME|DATEAMPM|MDYAMPM|DTDATE|[BE]8601D[TN]|IS8601DT)")
_SAS_TIMES = re.compile(r"(TIME|TIMEAMPM|TOD|HHMM|[BE]8601TM|IS8601TM)")


@dataclass(frozen=True)
class Clock:
    """What the numbers of a variable count: `what` (date, timestamp, time), microseconds a unit, days before 1970."""

    what: str
    unit: int
    origin: int


def clock_of(kind: str, format: str | None) -> Clock | None:
    """What a display format makes of a number; None: a number."""
    if not format:
        return None
    if kind == "stata":
        if re.match(r"%-?(td|d)", format):
            return Clock("date", _DAY, 3653)
        if re.match(r"%-?t[cC]", format):
            hours = re.fullmatch(r"%-?tc(HH|Hh|hh):MM(:SS)?", format)
            return Clock("time", 1000, 0) if hours else Clock("timestamp", 1000, 3653)
        return None
    match = re.match(r"[A-Z0-9_]*[A-Z]", format.upper())
    name = match.group() if match else ""
    if kind == "spss":
        what = "date" if name in _SPSS_DATES else "timestamp" if name in _SPSS_MOMENTS else None
        return Clock("time", _SECOND, 0) if name == "TIME" else Clock(what, _SECOND, 141_428) if what else None
    if _SAS_DATES.fullmatch(name):
        return Clock("date", _DAY, 3653)
    if _SAS_MOMENTS.fullmatch(name):
        return Clock("timestamp", _SECOND, 3653)
    return Clock("time", _SECOND, 0) if _SAS_TIMES.fullmatch(name) else None


def from_numbers(column: Any, clock: Clock) -> Any:
    """The numbers as dates, timestamps or times; as they are, if that would change any of them."""
    null = np.asarray(column.is_null())
    x = np.where(null, 0.0, np.asarray(column.fill_null(0), dtype=np.float64))
    if not np.isfinite(x).all() or (np.abs(x) * float(clock.unit) > 9e17).any():
        return column
    # SPSS's numbers have room for milliseconds, but not quite for microseconds: take the rounder where it is the same
    for step in (1000, 1):
        made = _moments(x, null, clock, step)
        if made is not None and np.array_equal(to_numbers(made, clock)[~null], x[~null]):
            return made
    return column


def _moments(x: NDArray[np.float64], null: NDArray[np.bool_], clock: Clock, step: int) -> Any:
    """Numbers as dates, timestamps or times, in steps of some microseconds; None where these have no such values."""
    import pyarrow as pa

    whole = np.floor(x)
    micro = whole.astype(np.int64) * clock.unit + np.rint((x - whole) * clock.unit / step).astype(np.int64) * step
    micro -= clock.origin * _DAY
    seen = micro[~null]
    first, last = (0, _DAY) if clock.what == "time" else (_FIRST, _LAST)
    if (seen < first).any() or (seen >= last).any():
        return None
    if clock.what == "time":
        return pa.array(micro, pa.int64(), mask=null).cast(pa.time64("us"))
    if clock.what == "date" and not (seen % _DAY).any():
        return pa.array(micro // _DAY, pa.int64(), mask=null).cast(pa.int32()).cast(pa.date32())
    return pa.array(micro, pa.int64(), mask=null).cast(pa.timestamp("us"))


def is_moment(kind: Any) -> bool:
    """Whether an Arrow type is a date, a time or a timestamp."""
    import pyarrow as pa

    return bool(pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind))


def to_numbers(column: Any, clock: Clock) -> NDArray[np.float64]:
    """Dates, timestamps or times as the numbers they are kept as; NaN where null."""
    import pyarrow as pa

    null = np.asarray(column.is_null())
    if pa.types.is_time(column.type):
        micro = column.cast(pa.time64("us")).cast(pa.int64())
    else:
        zone = getattr(column.type, "tz", None)
        micro = column.cast(pa.timestamp("us", zone)).cast(pa.int64())
    counted = np.asarray(micro.fill_null(0)).astype(np.int64) + clock.origin * _DAY
    # whole units and the rest apart: together they may need more digits than a double has
    number = (counted // clock.unit).astype(np.float64) + (counted % clock.unit) / clock.unit
    return np.where(null, np.nan, number)


def default_format(kind: str, type_: Any) -> str:
    """The display format of a date, time or timestamp that comes without one."""
    import pyarrow as pa

    what = 0 if pa.types.is_date(type_) else 1 if pa.types.is_timestamp(type_) else 2
    formats = {"spss": ("EDATE10", "DATETIME20", "TIME8"), "stata": ("%td", "%tc", "%tcHH:MM:SS")}
    return formats.get(kind, ("DATE9", "DATETIME19", "TIME8"))[what]
