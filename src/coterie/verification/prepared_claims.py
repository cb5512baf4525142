"""What is claimed of a column whose values were prepared: bounds, categories, a base, a precision."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from ..errors import CoterieError

KINDS = ("number", "date", "text")
# DuckDB's words for the units of dates; a week begins on Monday
PRECISIONS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century")


@dataclass(frozen=True)
class Prepared:
    """What every value of a prepared column must keep. Missing values keep everything.

    Attributes
    ----------
    column : str
        As the release calls it.
    kind : {"number", "date", "text"}
        What its values are read as. One that can't be read as that is none of its values.
    least, most : number or str, optional
        The bounds, themselves included; of dates, texts in ISO 8601 without an offset (midnight, without a time). Times
        with an offset are compared in universal time, those of a typed column by the clock of its time zone.
    values : tuple of str, optional
        Of a text column, all texts that may occur; None: any. Of numbers and dates, texts that may stand in place of
        one, such as "90+". A text is compared as it is, without blanks around it. Where a file holds codes or other
        numbers, texts that are numbers stand for these.
    gone : tuple of str
        Of a text column, texts that must not occur.
    fewest : int, optional
        Of a text column, the least number of records that have a text, but for those in `spared`.
    spared : tuple of str
        Texts that fewer records may have, such as the one that rare ones were joined to.
    base : number, optional
        Every number is a multiple of it: exactly if both are whole, else but for the rounding of binary fractions.
    offset : number, optional
        What numbers are more than a multiple of the base.
    among : tuple of numbers
        Numbers that may occur: these alone, or, with a base, these as well.
    width : number, optional
        Of a text column, every text but those in `values` is the name of a band of numbers that is so wide and begins
        at a multiple of it. With `least` and `most`, it begins above the one and ends below the other: the bands that
        hold these, and all that lies beyond, have labels.
    whole : bool
        Whether these bands are of whole numbers: 5-9, not 5 to <10.
    precision : str, optional
        Every date is the first moment of such a unit: "second", "minute", "hour", "day", "week" (Monday), "month",
        "quarter", "year", "decade" or "century".
    decimal, missing, format, thousands, prefix, suffix
        How a text file writes them, as in `Guard`.
    """

    column: str
    kind: str
    least: float | str | None = None
    most: float | str | None = None
    values: tuple[str, ...] | None = None
    base: float | None = None
    precision: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = ()
    format: str | None = None
    thousands: str = ""
    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    fewest: int | None = None
    spared: tuple[str, ...] = ()
    offset: float | None = None
    among: tuple[float, ...] = ()
    width: float | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise CoterieError(f"'{self.column}' must be prepared as one of {', '.join(KINDS)}.", "another kind")
        for name in ("values", "missing", "prefix", "suffix", "gone", "spared"):
            given = getattr(self, name)
            if name != "values" or given is not None:
                object.__setattr__(self, name, self._texts(name, given))
        self._check_effects()
        for name in ("least", "most"):
            self._check_bound(name)
        self._check_base()
        if self.precision is not None and self.precision not in PRECISIONS:
            raise CoterieError(f"'precision' of '{self.column}' must be one of {', '.join(PRECISIONS)}.", "another")
        low, high = (self.bound(name) for name in ("least", "most"))
        if low is not None and high is not None and low > high:
            raise CoterieError(f"'least' of '{self.column}' must not be above 'most'.", "a larger one")

    def bound(self, name: str) -> float | None:
        """A bound as a number; of dates, microseconds since 1970."""
        given = getattr(self, name)
        if given is None or self.kind != "date":
            return given  # type: ignore[no-any-return]
        return (dt.datetime.fromisoformat(given) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)

    def _texts(self, name: str, given: Any) -> tuple[str, ...]:
        if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(g, str) for g in given):
            raise CoterieError(f"'{name}' of '{self.column}' must be a list of strings.", type(given).__name__)
        return tuple(given)

    def _check_effects(self) -> None:
        """Refuse what would have no effect, and a claim of nothing."""
        fits = {
            "number": (
                "least",
                "most",
                "values",
                "base",
                "offset",
                "among",
                "decimal",
                "thousands",
                "prefix",
                "suffix",
            ),
            "date": ("least", "most", "values", "precision", "format"),
            "text": (
                "values",
                "gone",
                "fewest",
                "spared",
                "width",
                "whole",
                *(("least", "most") if self.width else ()),
            ),
        }[self.kind]
        said = [
            name
            for name in (
                "least",
                "most",
                "values",
                "gone",
                "fewest",
                "spared",
                "base",
                "offset",
                "among",
                "width",
                "precision",
                "decimal",
                "thousands",
                "format",
            )
            if getattr(self, name) not in (None, (), "", ".")
        ] + [name for name in ("prefix", "suffix", "whole") if getattr(self, name)]
        idle = [name for name in said if name not in fits]
        if idle:
            raise CoterieError(f"A prepared {self.kind} has no {idle[0]}.", f"'{idle[0]}' of '{self.column}'")
        claims = ("least", "most", "gone", "fewest", "base", "among", "width", "precision")
        nothing = all(getattr(self, name) in (None, ()) for name in claims)
        if nothing and (self.values is None or self.kind != "text"):
            raise CoterieError("Something must be claimed of a prepared column.", f"'{self.column}' with nothing")
        if self.kind == "number":
            signs = (".", ",")
            if self.decimal not in signs or len(self.thousands) > 1 or self.thousands == self.decimal:
                raise CoterieError(f"'decimal' of '{self.column}' must be '.' or ',', and not 'thousands'.", "another")

    def _check_bound(self, name: str) -> None:
        given = getattr(self, name)
        if given is None:
            return
        what = f"'{name}' of '{self.column}' must be a {'date' if self.kind == 'date' else 'number'}."
        if self.kind == "date":
            try:
                plain = dt.datetime.fromisoformat(given).tzinfo is None
            except (TypeError, ValueError):
                plain = False
            if not plain:
                raise CoterieError(what, "another", "write it as 2020-12-31.")
        elif not _is_number(given):
            raise CoterieError(what, type(given).__name__)

    def _check_base(self) -> None:
        if self.fewest is not None and (type(self.fewest) is not int or self.fewest < 2):
            raise CoterieError(f"'fewest' of '{self.column}' must be a whole number of at least 2.", "another")
        if self.spared and self.fewest is None:
            raise CoterieError("Texts are spared where there is a least number of records.", f"'{self.column}'")
        for name in ("base", "width"):
            given = getattr(self, name)
            if given is not None and (not _is_number(given) or given <= 0):
                raise CoterieError(f"'{name}' of '{self.column}' must be a number above 0.", type(given).__name__)
        if self.whole and (self.width is None or not float(self.width).is_integer()):
            raise CoterieError(f"Bands of whole numbers in '{self.column}' must have a whole width.", "another")
        if self.offset is not None and (not _is_number(self.offset) or self.base is None):
            raise CoterieError(f"'offset' of '{self.column}' must be a number that belongs to a base.", "another")
        if not isinstance(self.among, tuple) or not all(map(_is_number, self.among)):
            raise CoterieError(f"'among' of '{self.column}' must be a tuple of numbers.", "another")


def _is_number(given: Any) -> bool:
    if not isinstance(given, Real) or isinstance(given, bool):
        return False
    return isinstance(given, Integral) or math.isfinite(given)
