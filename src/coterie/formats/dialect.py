"""The shape of a CSV file: its encoding, its delimiter, where its records end; from its bytes, without a guess.

A file is scanned once, vectorized, by the rule of RFC 4180 (doi:10.17487/RFC4180, section 2): a quote opens only at the
start of a field, closes only at its end, and is doubled inside. So a place is inside quotes where an odd number of
quotes comes before it. What breaks the rule is refused by line, before any parser sees it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 20
_BLOCK = 1 << 25
_LF, _CR = 10, 13

_SAY = 'set [file] encoding = "{0}" (--read encoding={0})'
_DELIMITER = "set [file] delimiter = ';' (--read 'delimiter=;') or another character."

Places = NDArray[np.int64]


def decoded(data: bytes, encoding: str | None) -> tuple[bytes, str, bool]:
    """The text of a file in UTF-8 without its mark, the encoding, and whether there was a byte order mark."""
    marks = [("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)]
    wide = data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    found = next((pair for pair in marks if data.startswith(pair[1])), None) if not wide else None
    name = codec_name(encoding) if encoding is not None else None
    if found is not None and name in (None, found[0], "utf-8-sig", "utf-16"):
        name, bom, body = found[0], True, data[len(found[1]) :]
    elif name == "utf-16" or (name is None and wide):
        raise CoterieError("The byte order of the file must be known.", hint=f"{_SAY.format('utf-16-le')}, or utf-32.")
    elif found is not None:
        raise CoterieError("The encoding must match the file's byte order mark.", name, f"{_SAY.format(found[0])}.")
    else:
        name, bom, body = {None: "utf-8", "utf-8-sig": "utf-8"}.get(name, name or "utf-8"), False, data
    if name != "utf-8":
        recoded, bad = _recode(body, name)
        if bad is not None:
            what = f"The file must be valid {name}."
            got = f"other bytes at byte {bad + len(data) - len(body)}"
            raise CoterieError(what, got, f"another? {_SAY.format('cp1252')}, latin-1 or utf-8.")
        return recoded, name, bom
    bad = _not_utf8(body)
    if bad is not None:
        got = f"other bytes in line {line_of(body, bad)}"
        hint = f"{_SAY.format('cp1252')}, or latin-1: files from Excel and older programs often use one of these."
        raise CoterieError("A CSV file must be UTF-8, or its encoding must be given.", got, hint)
    return body, name, bom


def codec_name(encoding: str) -> str:
    """Python's name of a text encoding."""
    try:
        b"a".decode(encoding)
    except LookupError:
        pass
    except UnicodeError:  # it exists, and wants more bytes than one
        return codecs.lookup(encoding).name
    else:
        return codecs.lookup(encoding).name
    raise CoterieError("The encoding must be one that Python knows.", f"'{encoding}'", "such as cp1252 or latin-1.")


def _recode(data: bytes, name: str) -> tuple[bytes, int | None]:
    """The text in UTF-8, or where that fails; the error itself holds the data, and goes no further."""
    try:
        return data.decode(name).encode("utf-8"), None
    except UnicodeError as error:
        return b"", int(getattr(error, "start", 0))


def line_of(data: bytes, place: int) -> int:
    """The number of the line in which a byte is."""
    return data.count(b"\n", 0, place) + 1


def _not_utf8(data: bytes) -> int | None:
    """Where bytes stop being UTF-8, piece by piece, as the text of a large file need not exist as a whole."""
    start = 0
    while start < len(data):
        end = min(start + _BLOCK, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80 and end > start + 1:  # not within a character
            end -= 1
        try:
            data[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            return start + error.start
        start = end
    return None


@dataclass(frozen=True)
class Shape:
    """What a scan of a file's bytes gives.

    Attributes
    ----------
    header : bytes
        The first record, without its line end.
    body : int
        Where the second record starts.
    records : int
        How many there are, the first among them.
    fields : int
        How many the first record has.
    newline : str
    final_newline : bool
    longest : int
        Bytes of the longest record.
    broken : bool
        Whether a value holds a line break.
    end : int
        Where the last record ends, its line end included; empty lines at the end of the file come after it.
    quoted : bool
        Whether every field stands in quotes.
    """

    header: bytes
    body: int
    records: int
    fields: int
    newline: str
    final_newline: bool
    longest: int
    broken: bool
    end: int
    quoted: bool


class Misshapen(Exception):  # noqa: N818 - it is a finding that a candidate delimiter may lead to
    """Where and how a file breaks the rule, in words that quote nothing."""


def delimiter_of(data: bytes, quote: str, named: str | None = None) -> str:
    """The delimiter under which the first records all have the same number of fields, two at least.

    Where several do, the one that the file's name says (.tsv), or none.
    """
    sample = data[:_SAMPLE]
    whole = len(sample) == len(data)
    # at the end of a file, empty lines don't count; at the end of a sample, a line end must not be cut in two
    sample = sample.rstrip(b"\r\n" if whole else b"\r")
    fits, most, usual = [], {}, {}
    for candidate in DELIMITERS:
        try:
            counts = np.concatenate([c for c, *_ in _records(sample, candidate, quote, whole)])
        except Misshapen:
            continue
        most[candidate] = int(counts[0]) if len(counts) else 0
        usual[candidate] = int(np.bincount(counts).argmax()) if len(counts) else 0
        if len(counts) and counts[0] > 0 and (counts == counts[0]).all():
            fits.append(candidate)
    if named in fits:
        return named
    if len(fits) > 1:
        got = f"a file that {len(fits)} delimiters would split consistently"
        raise CoterieError("The delimiter of the CSV file is ambiguous.", got, _DELIMITER)
    if fits:
        return fits[0]
    # the scan of all says what is wrong with it; below a title, the first line tells nothing
    return max(most, key=lambda c: (most[c], usual[c]), default=",")


def shape_of(data: bytes, delimiter: str, quote: str) -> Shape:
    """Scan all of a file; refuse records of another number of fields than the first, and stray quotes."""
    problem = None
    try:
        return _scan(data, delimiter, quote)
    except Misshapen as finding:
        problem = str(finding)
    marks = f"is {_shown(delimiter)} its delimiter" + (f" and {quote} its quote" if quote else "")
    hint = (
        f"if there is a title above the names, remove it; otherwise, {marks}? {_DELIMITER[:-1]}; quote = '' if none is."
    )
    raise CoterieError("Every record of a CSV file must have as many fields as the first line.", problem, hint)


def _shown(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else f"'{delimiter}'"


def _scan(data: bytes, delimiter: str, quote: str) -> Shape:
    first, header, body, records, longest, broken = -1, b"", 0, 0, 0, False
    start = end = bad = bad_at = bad_fields = 0
    blank = blank_at = 0  # empty lines since the last record: at the end of a file, they don't count
    quoted = 0
    for counts, ends, inside, opened in _records(data, delimiter, quote, whole=True):
        broken, quoted = broken or inside, quoted + opened
        if not len(counts):
            continue
        starts = np.concatenate([[start], ends[:-1] + 1])
        if first < 0:
            first, header, body = int(counts[0]), data[: ends[0]].removesuffix(b"\r"), int(ends[0]) + 1
        empty = _empty(data, starts, ends) & (first > 0)
        full = np.flatnonzero(~empty)
        last = int(full[-1]) if len(full) else -1
        wrong = (counts != first)[: last + 1]
        if len(full) and (blank or wrong.any()):
            if not bad:
                at = int(np.argmax(wrong))
                bad_at, bad_fields = (blank_at, 0) if blank else (int(starts[at]), int(counts[at]))
            bad += blank + int(wrong.sum())
        if len(full):
            end, blank = int(ends[last]), 0
        if not blank and last + 1 < len(starts):
            blank_at = int(starts[last + 1])
        blank += len(counts) - 1 - last
        records += len(full)
        longest = max(longest, int((ends - starts).max()))
        start = int(ends[-1]) + 1
    if bad:
        other = f"; {bad} records are like that" if bad > 1 else ""
        where = f"{bad_fields + 1} fields in line {line_of(data, bad_at)}"
        raise Misshapen(f"{where} where the first line has {first + 1}{other}")
    newline = "\r\n" if data[len(header) : len(header) + 2] == b"\r\n" else "\n"
    final, all_quoted = end < len(data), quoted == records * (first + 1)
    return Shape(header, body, records, first + 1, newline, final, longest, broken, end + 1, all_quoted)


def _empty(data: bytes, starts: Places, ends: Places) -> Any:
    """Which records are empty lines."""
    array = np.frombuffer(data, np.uint8)
    length = ends - starts
    return (length == 0) | ((length == 1) & (array[np.minimum(starts, len(data) - 1)] == _CR))


def _records(data: bytes, delimiter: str, quote: str, whole: bool) -> Iterator[tuple[Any, Any, bool, int]]:
    """For each block of bytes: delimiters in the records that end there, where these end, whether a value is broken.

    And how many quotes open a field.

    Without `whole`, the data is the beginning of a file, and its last record is left out.
    """
    array = np.frombuffer(data, np.uint8)
    odd, carried = 0, 0  # quotes and delimiters of the record that a block's end cuts
    quote = quote if quote.encode() in data else ""  # most files have none, nor carriage returns: look once
    returns = b"\r" in data
    for start in range(0, len(array), _BLOCK):
        block = array[start : start + _BLOCK]
        quotes = np.flatnonzero(block == ord(quote)) + start if quote else np.empty(0, np.int64)
        opened = _check_quotes(data, array, quotes, odd, ord(delimiter), ord(quote) if quote else -1)
        breaks = np.flatnonzero(block == _LF) + start
        marks = np.flatnonzero(block == ord(delimiter)) + start
        ends = breaks[_outside(breaks, quotes, odd)]
        marks = marks[_outside(marks, quotes, odd)]
        held = returns and _check_returns(data, array, block, start, quotes, odd)
        broken = held or len(ends) < len(breaks)
        until = np.searchsorted(marks, ends)
        counts = np.diff(np.concatenate([[-carried], until]))
        carried = len(marks) - int(until[-1]) if len(ends) else carried + len(marks)
        odd = (odd + len(quotes)) % 2
        yield counts, ends, broken, opened
    if not whole:
        return
    if odd:
        raise Misshapen("a quote that is never closed")
    if len(data) and data[-1] != _LF:  # the last record needs no line end
        yield np.array([carried]), np.array([len(data)]), False, 0


def _outside(places: Places, quotes: Places, odd: int) -> Any:
    if not len(quotes) and not odd:
        return slice(None)
    return (np.searchsorted(quotes, places) + odd) % 2 == 0


def _check_quotes(data: bytes, array: NDArray[np.uint8], quotes: Places, odd: int, delimiter: int, quote: int) -> int:
    """A quote must open at the start of a field or after a closing one, and close at the end of a field.

    Returns how many open a field.
    """
    opening, closing = quotes[odd::2], quotes[1 - odd :: 2]
    before = array[np.maximum(opening - 1, 0)]
    starts = (opening == 0) | (before == delimiter) | (before == _LF)
    stray = opening[~(starts | (before == quote))]
    last = len(array) - 1
    after = array[np.minimum(closing + 1, last)]
    fine = (closing == last) | (after == delimiter) | (after == _LF) | (after == quote) | (after == _CR)
    stray = np.concatenate([stray, closing[~fine]])
    if len(stray):
        line = line_of(data, int(stray.min()))
        raise Misshapen(f"a quote within a field in line {line}; {len(stray)} quotes are like that")
    return int(np.count_nonzero(starts))


def _check_returns(
    data: bytes, array: NDArray[np.uint8], block: NDArray[np.uint8], start: int, quotes: Places, odd: int
) -> bool:
    """Whether a value holds a carriage return; one outside quotes must stand before a line feed."""
    returns = np.flatnonzero(block == _CR) + start
    if not len(returns):
        return False
    outside = np.zeros(len(returns), bool)
    outside[_outside(returns, quotes, odd)] = True
    alone = (returns + 1 == len(array)) | (array[np.minimum(returns + 1, len(array) - 1)] != _LF)
    stray = returns[outside & alone]
    if len(stray):
        line = line_of(data, int(stray[0]))
        raise Misshapen(f"a carriage return without a line feed in line {line}")
    return not outside.all()
