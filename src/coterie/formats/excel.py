"""Excel files (.xlsx): a sheet is read as texts, as a CSV file of it would be, and released as CSV.

Numbers, dates and times become texts that say the same, cell by cell. What a reader would pass over (errors, formulas
without a value, merged cells, empty rows) is refused, with its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from . import header as heads
from . import number_marks
from .base import Source, attempt, check_columns, check_file, check_options
from .csv_text import Dialect
from .excel_scan import check_sheet

OPTIONS = ("sheet", "header", "names", "missing", "thousands", "prefix", "suffix")
_EXACT = 1e15  # Excel has fifteen digits


def read(path: Path, options: Mapping[str, Any] | None = None) -> Source:
    """Read a sheet of an Excel file, each column as text."""
    given = _checked(options)
    rows, start = _rows(path, given.get("sheet"))
    header, names = heads.names_of([_text(value, False) for value in rows[0]], given)
    records = rows[1:] if header else rows
    check_columns(names, len(records), path)
    table = _table(names, records, given.get("missing", [""]))
    _check_empty_rows(table, start + header)
    heads.check_not_a_record(table, given)
    made = Dialect(
        header=header,
        missing=tuple(given.get("missing", [""])) or ("",),
        thousands=given.get("thousands", ""),
        prefix=tuple(given.get("prefix", ())),
        suffix=tuple(given.get("suffix", ())),
    )
    return Source(table, made.format(), path.name)


def first_row(path: Path, options: Mapping[str, Any] | None = None) -> int:
    """The row, from 1, that holds the first record."""
    given = _checked(options)
    rows, start = _rows(path, given.get("sheet"))
    header, _ = heads.names_of([_text(value, False) for value in rows[0]], given)
    return start + header


def _checked(options: Mapping[str, Any] | None) -> dict[str, Any]:
    given = {name: value for name, value in check_options(options, OPTIONS, "excel").items() if value is not None}
    given = number_marks.as_lists(given)
    number_marks.check_marks({**given, "decimal": "."} if "thousands" in given else given)
    if not isinstance(given.get("header", True), bool):
        raise CoterieError("header must be true or false.", f"{given['header']!r}")
    for name in ("names", "missing"):
        texts = given.get(name, [])
        if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise CoterieError(f"'{name}' must be a list of strings.", type(texts).__name__)
    if "sheet" in given and not isinstance(given["sheet"], str):
        raise CoterieError("The sheet must be a name.", type(given["sheet"]).__name__)
    if given.get("header") is False and "names" not in given:
        raise CoterieError("A file without a header needs names.", "header = false", heads.NAMES_NEEDED)
    return given


def _rows(path: Path, sheet: str | None) -> tuple[list[list[Any]], int]:
    """The cells of a sheet, row by row, without what is empty around them; and the number of the first row, from 1."""
    check_file(path)
    book = _book(path)
    name = _sheet(book, sheet)
    check_sheet(path, name)
    found, reason = attempt(_cells, book, name)
    if reason is not None:
        raise CoterieError(f"'{path.name}' cannot be read as Excel.", reason or None, "save it again as .xlsx or .csv.")
    cells, start = found
    while cells and not any(value != "" for value in cells[-1]):
        cells.pop()
    if not cells:
        raise CoterieError("The sheet must have records.", "an empty one", "name another with --read sheet=NAME.")
    width = max(j + 1 for row in cells for j, value in enumerate(row) if value != "")
    return [row[:width] for row in cells], start


def _book(path: Path) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        CalamineWorkbook = None
    if CalamineWorkbook is None:
        hint = "pip install 'coterie[files]'"
        raise CoterieError("Excel files are read by python-calamine.", "no such package", hint)
    book, reason = attempt(CalamineWorkbook.from_path, str(path))
    if reason is not None:
        hint = "is it damaged, or protected by a password? Save it again as .xlsx or .csv."
        raise CoterieError(f"'{path.name}' cannot be read as Excel.", reason or None, hint)
    return book


def _sheet(book: Any, wanted: str | None) -> str:
    """The name of the sheet that is meant: the first that is visible, unless one is named."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    known = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    if wanted is not None:
        if wanted not in [sheet.name for sheet in known]:
            got = f"'{wanted}', which is not among the {len(known)} sheets of the file"
            hint = "the sheet tabs show the names; case matters."
            raise CoterieError("The sheet must be in the file.", got, hint)
        return wanted
    shown = [sheet.name for sheet in known if sheet.visible == SheetVisibleEnum.Visible]
    if not shown:
        raise CoterieError("The file must have a sheet.", "none that is visible", "name one with --read sheet=NAME.")
    return str(shown[0])


def _cells(book: Any, name: str) -> tuple[list[list[Any]], int]:
    sheet = book.get_sheet_by_name(name)
    start = sheet.start
    return sheet.to_python(skip_empty_area=True), (start[0] if start else 0) + 1


def _table(names: Sequence[str], records: list[list[Any]], missing: Sequence[str]) -> Any:
    import pyarrow as pa

    columns = []
    for values in zip(*records, strict=True):
        stamps = any(isinstance(v, datetime) and v.time() != time() for v in values)
        texts = [_text(value, stamps) for value in values]
        if missing:
            texts = [None if not text or text in missing else text for text in texts]
        columns.append(pa.array(texts, pa.string()))
    return pa.Table.from_arrays(columns, names=list(names))


def _text(value: Any, stamps: bool) -> Any:
    """What a cell holds, as text; with `stamps`, a date among timestamps is one as well."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)
    if isinstance(value, datetime):
        return value.isoformat() if stamps else value.date().isoformat()
    if isinstance(value, date):
        return f"{value.isoformat()}T00:00:00" if stamps else value.isoformat()
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{'-' if seconds < 0 else ''}{abs(seconds) // 3600}:{abs(seconds) // 60 % 60:02}:{abs(seconds) % 60:02}"
    return value.isoformat() if isinstance(value, time) else str(value)


def _check_empty_rows(table: Any, first: int) -> None:
    """Refuse rows without a value among others: a reader of the sheet sees two tables."""
    import pyarrow.compute as pc

    empty = None
    for column in table.columns:
        blank = pc.equal(pc.fill_null(column, ""), "")
        empty = blank if empty is None else pc.and_(empty, blank)
    rows = [i + first for i, flag in enumerate(empty.to_pylist()) if flag] if empty is not None else []
    if rows:
        shown = ", ".join(map(str, rows[:5])) + (" and more" if len(rows) > 5 else "")
        hint = "remove them; put two tables of one sheet into separate sheets."
        raise CoterieError("A table in a sheet must have no empty rows.", f"{len(rows):,}: row {shown}", hint)
