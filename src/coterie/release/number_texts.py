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
from ..tables.arrow import as_array, flags_of, floats_of, is_text
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
        raise _SeveralError(f"{len(errors)} columns may be numbers, or not:\n  {lines}")


def questions_about_numbers(source: Source, kinds: Mapping[str, str | None]) -> dict[str, str]:
    """The same as questions, for a draft: what must be clear of each such column, and what helps."""
    asked = {}
    for name, error in _errors(source, kinds).items():
        got = "" if error.got is None else f" ({error.got})"
        asked[name] = f"{_ASKED}{got}: {error.hint}"
    return asked


def _errors(source: Source, kinds: Mapping[str, str | None]) -> dict[str, CoterieError]:
    if not source.is_text or not kinds:
        return {}
    nominal = [name for name, kind in kinds.items() if kind == "nominal"]
    numeric = [name for name, kind in kinds.items() if kind == "numeric"]
    found = _counted(source, [*nominal, *numeric])
    errors = {name: _stray(source, name, found[name]) for name in nominal}
    errors |= {name: _thousands(source, name, found[name]) for name in numeric}
    return {name: error for name, error in errors.items() if error is not None}


class _Counts:
    """What the values of a column look like."""

    def __init__(self) -> None:
        self.there = self.numbers = self.others = self.gaps = self.short = self.grouped = 0
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
        self.there += int(count.sum())
        self.numbers += int(count[number | (other & number_like(text, decimal))].sum())
        self.others += int(count[other].sum())
        self.gaps += int(count[flags_of(pc.is_in(pc.utf8_lower(text), value_set=pa.array(GAPS, text.type)))].sum())
        self.short += int(count[_fits(text, r"\A[1-9]\d{0,2}\z")].sum())
        self.grouped += int(count[_fits(text, rf"\A[1-9]\d{{0,2}}{mark}\d{{3}}\z")].sum())
        rows = np.flatnonzero(np.append(other, False)[codes])
        self.rows += (rows[: _SHOWN - len(self.rows)] + start).tolist()
        strange = texts.take(pa.array(np.flatnonzero(other).tolist(), pa.int64()))
        self.texts = strange if self.texts is None else pa.concat_arrays([self.texts, strange]).unique()


def _fits(text: Any, pattern: str) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    return flags_of(pc.fill_null(pc.match_substring_regex(text, pattern), False))


def _counted(source: Source, names: Sequence[str]) -> dict[str, _Counts]:
    counts = {name: _Counts() for name in names}
    for start, name, array in _pieces(source, names):
        if is_text(array.type):
            counts[name].add(array, start, source.dress)
    return counts


def _pieces(source: Source, names: Sequence[str]) -> Iterator[tuple[int, str, Any]]:
    if source.fits:
        yield from ((0, name, as_array(source.arrow(name))) for name in names)
        return
    engine = source.engine("duckdb", {})
    try:
        for records in engine.scan(names):
            for name in names:
                yield int(records.numbers[0]), name, as_array(records.reading.plain(records.arrow(name)))
    finally:
        engine.close()


def _stray(source: Source, name: str, seen: _Counts) -> CoterieError | None:
    """A column of numbers, but for some values."""
    if not seen.others or seen.numbers <= _MOST * (seen.there - seen.gaps):
        return None
    what = f"The kind of '{name}' must be clear: most of its values are numbers, or nearly so."
    hint = advice_on_numbers(name, seen.texts, source.decimal)
    error = UnfitError(what, seen.others, "that are not plain numbers", hint, seen.rows)
    return error.at(source.places.words(error.rows), True)


def _thousands(source: Source, name: str, seen: _Counts) -> CoterieError | None:
    """Whole numbers below 1,000, and others that have three digits after the decimal mark: 950 and 1.200, say."""
    if not seen.short or not seen.grouped or seen.short + seen.grouped < seen.there:
        return None
    what = f"It must be clear whether '{source.decimal}' in '{name}' is the decimal mark or stands between thousands."
    got = f"{seen.grouped:,} numbers with three digits after it, and {seen.short:,} whole ones below 1,000"
    return CoterieError(
        what, got, f"{option('thousands', source.decimal)}, or {in_shell('--kind', name + '=numeric')}."
    )
