"""Cells that a spreadsheet would run as formulas.

A text that begins with =, +, -, @, a tab or a line break (or the full-width form of a sign) may be run by the program
that opens the file (OWASP, "CSV Injection"; CWE-1236).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .base import is_text, large, plain_text

_SIGNS = "[=+\\-@\\t\\r\\n＝＋－＠]"  # full-width forms: some programs fold them
# One sign alone (a dash for "none") runs nothing.
_RISKY = rf"(?s)\A{_SIGNS}."
_NUMBER = r"\A[+-](?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\z"
# -$5, -1,234.50, -5 %: a currency and marks, but nothing that calculates; letters could name a cell
_DRESSED = r"\A[+-] ?\p{Sc}? ?\d{1,3}(?:[.,'’]?\d{3})*(?:[.,]\d+)? ?(?:%|\p{Sc})?\z"
_DATE = r"\A[+-]\d{4,6}-\d{2}-\d{2}\z"  # a year with a sign


def formulas(table: Any) -> dict[str, int]:
    """How many texts of each column a spreadsheet may run as a formula; the column's own name counts as one.

    Signed numbers (with either decimal mark, thousands, a currency, a percent sign) and dates are none. Telephone
    numbers such as +49 … are: a spreadsheet calculates with them.

    Parameters
    ----------
    table : pyarrow.Table

    Returns
    -------
    dict
        Name of column to count, for columns with any.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        count = int(pc.sum(_risky(pa.array([name]))).as_py())
        if is_text(column.type):
            count += int(pc.sum(_risky(column)).as_py() or 0)
        if count:
            found[name] = count
    return found


def neutralize(table: Any) -> Any:
    """The table with an apostrophe before every text, and column name, that `formulas` counts.

    Parameters
    ----------
    table : pyarrow.Table

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow.compute as pc

    for i, column in enumerate(table.columns):
        if is_text(column.type) and pc.any(_risky(column)).as_py():
            table = table.set_column(i, table.field(i), _quoted(column))
    return table.rename_columns(harmless(table.column_names))


def harmless(texts: Sequence[str]) -> list[str]:
    """Different texts, such as names of columns, as `neutralize` leaves them: they stay different."""
    import pyarrow as pa

    out = list(texts)
    for i, text in enumerate(out):
        if _risky(pa.array([text], pa.string()))[0].as_py():
            out[i] = "'" + text
            while out.count(out[i]) > 1:
                out[i] = "'" + out[i]
    return out


def _risky(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = plain_text(column)
    if not pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    risky = pc.fill_null(pc.match_substring_regex(column, _RISKY), False)
    if not pc.any(risky).as_py():
        return risky
    harmless = pc.match_substring_regex(column, f"{_NUMBER}|{_DATE}|{_DRESSED}")
    return pc.fill_null(pc.and_not(risky, harmless), False)


def _quoted(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([_quoted_categories(chunk) for chunk in column.chunks], column.type)
    text = column.cast(pa.large_string())
    return pc.if_else(_risky(text), pc.binary_join_element_wise(large("'"), text, large("")), text).cast(column.type)


def _quoted_categories(chunk: Any) -> Any:
    """The categories change, not their order; two that become one share its place."""
    import pyarrow as pa

    texts = _quoted(pa.chunked_array([chunk.dictionary])).to_pylist()
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    codes = pa.array([place[text] for text in texts], chunk.type.index_type)
    categories = pa.array(list(place), chunk.type.value_type)
    return pa.DictionaryArray.from_arrays(codes.take(chunk.indices), categories, ordered=chunk.type.ordered)
