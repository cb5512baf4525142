"""Columns of text that were meant as numbers: found before their kind is guessed, and asked about.

A thousands separator, a currency or a stray word would make categories of a column of numbers. Where a person says the
kind, in a recipe or with --kind, nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError, in_shell
from ..recipe.contents import HEAD
from ..tables.arrow import as_array, bits_of, flags_of, floats_of, is_text
from ..tables.dress import GAPS, Dress, undressed
from ..tables.kinds import UnfitError
from ..tables.kinds.advice import advice_on_numbers, number_like, option
from .source import Source

_MOST = 0.5  # of the values that don't look like gaps: if half of them are numbers, the others may be wrong
_SHOWN = 5
_ASKED = "most values are numbers, or nearly so"


class _SeveralError(CoterieError):
    """Several columns are refused at once, each with a line of its own."""

    _lines = True


def check_number_texts(source: Source, kinds: Mapping[str, str | None]) -> None:
    """Refuse columns of text files whose kind was guessed, where most values are numbers and some are not."""
    errors = list(_errors(source, kinds).values())
    if len(errors) == 1:
        raise errors[0]
    if errors:
        lines = "\n  ".join(str(error) for error in errors)
        raise _SeveralError(f"It is unclear whether {len(errors)} columns hold numbers:\n  {lines}")


def questions_about_numbers(source: Source, kinds: Mapping[str, str | None]) -> dict[str, str]:
    """The same as questions, for a draft: what must be clear of each such column, and what helps."""
    asked = {}
    for name, error in _errors(source, kinds).items():
        got = "" if error.got is None else f" ({error.got})"
        asked[name] = f"{_ASKED}{got}: {error.hint}"
    return asked


def strays(source: Source, kinds: Mapping[str, str | None]) -> dict[str, int]:
    """Of the columns that are asked about because some values are no numbers: how many are not."""
    found = _counted(source, kinds)
    return {name: one.others for name, one in found.items() if isinstance(one, _Strays) and one.are_some}


def _errors(source: Source, kinds: Mapping[str, str | None]) -> dict[str, CoterieError]:
    errors = {name: one.error(source, name) for name, one in _counted(source, kinds).items()}
    return {name: error for name, error in errors.items() if error is not None}


class _Strays:
    """The values of a column that would be one of categories: are they numbers, but for some?"""

    def __init__(self) -> None:
        self.there = self.numbers = self.others = self.gaps = 0
        self.rows: list[int] = []  # the first that are no numbers
        self.texts: Any = None  # the different texts that are none, some of them

    def add(self, array: Any, start: int, dress: Dress) -> None:
        """Take in more values. Each different text is looked at once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = array.dictionary_encode()
        texts, decimal = encoded.dictionary, dress.decimal
        text = pc.utf8_trim_whitespace(undressed(texts, dress))
        codes = np.nan_to_num(floats_of(encoded.indices), nan=-1).astype(np.int64)
        count = np.bincount(codes[codes >= 0], minlength=len(texts))
        mark = "[.]" if decimal == "." else ","
        number = _fits(text, rf"\A[+-]?((0|[1-9]\d*)({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?\z")
        other = ~number & ~_fits(text, r"\A\d+\z")  # 007 is a code, and asked about by nobody
        number[other] = number_like(text.filter(bits_of(other)), decimal)
        self.there += int(count.sum())
        self.numbers += int(count[number].sum())
        self.others += int(count[other].sum())
        self.gaps += int(count[flags_of(pc.is_in(pc.utf8_lower(text), value_set=pa.array(GAPS, text.type)))].sum())
        rows = np.flatnonzero(np.append(other, False)[codes])
        self.rows += (rows[: _SHOWN - len(self.rows)] + start).tolist()
        strange = texts.filter(bits_of(other))
        self.texts = strange if self.texts is None else pa.concat_arrays([self.texts, strange]).unique()

    @property
    def are_some(self) -> bool:
        """Whether most values are numbers, and some are not."""
        return self.others > 0 and self.numbers > _MOST * (self.there - self.gaps)

    def error(self, source: Source, name: str) -> CoterieError | None:
        """What must be clear of a column of numbers, but for some values."""
        if not self.are_some:
            return None
        what = f"The kind of '{name}' must be clear: most of its values are numbers, or nearly so."
        hint = advice_on_numbers(name, self.texts, source.decimal)
        error = UnfitError(what, self.others, "that are not plain numbers", hint, self.rows)
        return error.at(source.places.words(error.rows), True)


class _Marks:
    """A column of numbers: are all whole ones below 1,000, or with three digits after the mark? 950 and 1.200, say."""

    def __init__(self) -> None:
        self.short = self.grouped = 0
        self.others = False  # whether some are neither: that settles it

    def add(self, array: Any, start: int, dress: Dress) -> None:  # noqa: ARG002
        """Take in more values; mostly the first are enough."""
        for piece in (array[:HEAD], array):
            if self.others:
                return
            short, grouped = _short_and_grouped(piece, dress)
            self.others = short + grouped < len(piece) - piece.null_count
        self.short, self.grouped = self.short + short, self.grouped + grouped

    def error(self, source: Source, name: str) -> CoterieError | None:
        """What must be clear of such a column."""
        if not self.short or not self.grouped or self.others:
            return None
        what = f"It is unclear whether '{source.decimal}' in '{name}' is the decimal mark or the thousands separator."
        got = f"{self.grouped:,} numbers with three digits after it, and {self.short:,} whole ones below 1,000"
        hint = f"{option('thousands', source.decimal)}, or {in_shell('--kind', name + '=numeric')}."
        return CoterieError(what, got, hint)


def _short_and_grouped(array: Any, dress: Dress) -> tuple[int, int]:
    """How many are whole numbers below 1,000, and how many have three digits after the mark."""
    import pyarrow.compute as pc

    mark = "[.]" if dress.decimal == "." else ","
    text = pc.utf8_trim_whitespace(undressed(array, dress))
    short, grouped = _fits(text, r"\A[1-9]\d{0,2}\z"), _fits(text, rf"\A[1-9]\d{{0,2}}{mark}\d{{3}}\z")
    return int(short.sum()), int(grouped.sum())


def _fits(text: Any, pattern: str) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    return flags_of(pc.fill_null(pc.match_substring_regex(text, pattern), False))


_COUNTS: dict[str, type[_Strays | _Marks]] = {"nominal": _Strays, "numeric": _Marks}  # by the kind that was guessed


def _counted(source: Source, kinds: Mapping[str, str | None]) -> dict[str, _Strays | _Marks]:
    """What was counted of columns that would be categories, then of numbers. A source is counted once."""
    if not source.is_text:
        return {}
    wanted = [(name, kind) for kind in _COUNTS for name, guessed in kinds.items() if guessed == kind]
    known: dict[tuple[str, str], Any] = source.__dict__.setdefault("_number_texts", {})
    new = {name: _COUNTS[kind]() for name, kind in wanted if (name, kind) not in known}
    for start, name, array in _pieces(source, list(new)):
        if is_text(array.type):
            new[name].add(array, start, source.dress)
    known |= {(name, kind): new[name] for name, kind in wanted if name in new}
    return {name: known[name, kind] for name, kind in wanted}


def _pieces(source: Source, names: Sequence[str]) -> Iterator[tuple[int, str, Any]]:
    if source.fits or not names:
        yield from ((0, name, as_array(source.arrow(name))) for name in names)
        return
    engine = source.engine("duckdb", {})
    try:
        for records in engine.scan(names):
            for name in names:
                yield int(records.numbers[0]), name, as_array(records.reading.plain(records.arrow(name)))
    finally:
        engine.close()
