"""The first line of a file: names, or a record that nobody named? What is in doubt is asked about, never guessed.

Whatever stands there may be data, so columns are told by position.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CoterieError
from ..tables.dress import GAPS

ROW = "row"  # the column that R writes without a name: the names of the rows
# One number, or several with spaces between them, as in a file without a delimiter that is known here.
_NUMBERS = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?(\s+[+-]?[\d.,]+([eE][+-]?\d+)?)*\s*")
# Numbers with a currency, a percent sign or thousands, dates and times: no names of columns either
_VALUES = re.compile(r"\s*[+-]?\W{0,3}\s*\d[\d.,:/ '’T-]*\W{0,3}\s*")
_NUMBER = r"\A\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*\z"
_SOME = 1000
_HOW = "if it holds names, set header = true (--read header=true)"
_NAMES = 'set header = false and names = ["…", …] (--read header=false --read names=A,B,…), one name per column'
NAMES_NEEDED = 'set names = ["…", …] (--read names=A,B,…), one name per column.'
_ELSE = f"if it is a record, {_NAMES}."


def fields_of(line: bytes, delimiter: str, quote: str) -> list[str]:
    """The fields of the first record."""
    text = line.decode("utf-8")
    if not quote:
        return text.split(delimiter)
    old = csv.field_size_limit(max(len(text) + 1, csv.field_size_limit()))
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote), [""])
    finally:
        csv.field_size_limit(old)


def names_of(first: Sequence[str], given: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Whether the first line is a header, and the names of the columns."""
    named = list(given["names"]) if "names" in given else None
    header = given.get("header")
    if named is not None:
        if len(named) != len(first):
            got = f"{len(named)} names for {len(first)} columns"
            hint = "is the delimiter right?" if len(first) == 1 else "name all of them, in order."
            raise CoterieError("There must be one name per column.", got, hint)
        return _is_header(first) if header is None else header, named
    if header is None and any(is_number(name) for name in first):
        got = "a number among them, as in a record"
        hint = f"if it is one, {_NAMES}; if these are names, header = true (--read header=true)."
        raise CoterieError("The first line must hold the column names.", got, hint)
    return True, with_row(first)


def _is_header(first: Sequence[str]) -> bool:
    """Whether a first line is one of names, where other names are given; refuses what can't be told."""
    if any(not field.strip() or _VALUES.fullmatch(field) for field in first[1:]) or _VALUES.fullmatch(first[0]):
        return False
    what = "With names, it must be stated whether the first line of the file is a record."
    hint = "header = true (--read header=true) if it holds names, which are replaced; header = false if it is a record."
    raise CoterieError(what, "a first line of text only", hint)


def with_row(first: Sequence[str]) -> list[str]:
    """The names; the first column may lack one, as R writes the names of rows."""
    names = list(first)
    if len(names) > 1 and not names[0].strip():
        names[0] = ROW
        while names[0] in names[1:]:
            names[0] += "_"
    return names


def is_number(name: str) -> bool:
    """Whether a name is a number, or several."""
    return _NUMBERS.fullmatch(name) is not None


def _stands_above_numbers(table: Any) -> bool:
    """Whether a text of the first line has nothing but numbers below it: then it holds names."""
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count == len(column):
            continue
        parts = (column.slice(0, _SOME), column)  # most columns of texts are known for such at once
        numbers = all(pc.all(pc.match_substring_regex(part, _NUMBER)).as_py() for part in parts)
        if numbers and name.strip().lower() not in GAPS and any(map(str.isalpha, name)):
            return True
    return False


def check_not_a_record(table: Any, given: Mapping[str, Any]) -> None:
    """Refuse a first line whose texts come again below it: names don't, and categories do."""
    import pyarrow.compute as pc

    if "header" in given or "names" in given or _stands_above_numbers(table):
        return
    again = [
        j for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True), 1)
        if pc.any(pc.equal(column, name)).as_py()
    ]  # fmt: skip
    if again:
        which = f"column {again[0]}" if len(again) == 1 else f"{len(again)} of {table.num_columns} columns"
        got = f"a text in {which} that comes again further down, as in a file without names"
        raise CoterieError("The first line must hold the column names.", got, f"{_HOW}; {_ELSE}")
