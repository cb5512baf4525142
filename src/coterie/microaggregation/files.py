"""Files of numbers in and out, CSV or Parquet, for the command line; what is written is written like what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import formats
from ..errors import CoterieError
from ..formats.atomic import atomically, check_writable
from ..formats.base import attempt
from ..tables.arrow import arrow_table, is_text
from ..tables.dress import dress_of, undressed
from .result import Result

SUFFIXES = {".csv": "csv", ".parquet": "parquet"}


class NumericFile(NamedTuple):
    """The columns that are wanted, as a pyarrow Table; the names of the others; how the file is written."""

    table: Any
    left_out: list[str]
    format: formats.Format


def kind_of(path: Path) -> str:
    """The format that a file's name says."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise CoterieError(f"Files must end in {' or '.join(SUFFIXES)}.", f"'{path.name}'")
    return kind


def read(path: Path, columns: Sequence[str] | None = None, options: Mapping[str, Any] | None = None) -> NumericFile:
    """Read the wanted columns of a file, or all; `options` are those of `formats.read`.

    Columns of a CSV file become integers, or else floats; one that holds anything else stays text.
    """
    kind = kind_of(path)
    source = formats.read(path, options)
    names: list[str] = source.table.column_names
    wanted = names if columns is None else _known(columns, names)
    table = source.table.select(wanted)
    if kind == "csv":
        dress = dress_of(source.format.details)
        for j, name in enumerate(wanted):
            table = table.set_column(j, name, _numbers(undressed(table.column(j), dress), dress.decimal))
        if all(is_text(column.type) for column in table.columns):  # what stands in place of names may be a record
            got = f"{len(wanted)} columns, none of numbers"
            hint = "does its first line hold the names? See also --read decimal=, and --read thousands=,"
            raise CoterieError("All columns must be numeric.", got, hint)
    return NumericFile(table, [n for n in names if n not in wanted], source.format)


def _known(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    wanted = [c if c in names else c.strip() for c in columns]
    twice = sorted({c for c in wanted if wanted.count(c) > 1})
    missing = [c for c in wanted if c not in names]
    if missing or twice:
        what = "The columns must be columns of the file, each named once."
        got = ", ".join(f"'{c}'" for c in missing or twice) + (" (not in the file)" if missing else " (more than once)")
        hint = f"its columns are {', '.join(names[:20])}{', …' if len(names) > 20 else ''}."
        if len(missing) == len(wanted):  # what stands in place of names may be a record
            hint = f"none of its {len(names)} columns has such a name: does its first line hold the names?"
        raise CoterieError(what, got, hint)
    return wanted


def _numbers(column: Any, decimal: str) -> Any:
    """A column of text as integers, or as floats, if all its values are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column)
    if decimal == ",":
        if pc.any(pc.match_substring(text, ".")).as_py():  # 1.500 may mean 1500 there
            return column
        text = pc.replace_substring(text, ",", ".")
    for kind in (pa.int64(), pa.float64()):
        numbers, failed = attempt(pc.cast, text, kind)
        if failed is None:
            return numbers
    return column


def check_output(path: Path, source: Path, force: bool) -> None:
    """Refuse, before any work is done, an output that cannot or should not be written."""
    kind_of(path)
    check_writable(path, source, force)


def write(table: Any, path: Path, like: formats.Format) -> None:
    """Write a pyarrow Table in the format that the name says: as `like`, if that is the same format."""
    kind = kind_of(path)
    format = like if like.kind == kind else formats.default_format(kind)
    atomically(path, lambda temporary: formats.write(table, format, Path(temporary)))


def groups_table(result: Result) -> Any:
    """The group of each record, as a table of one column; or of one for each column, where these have their own."""
    labels = result.labels
    if labels.ndim == 1:
        return arrow_table({"group": labels})
    return arrow_table({f"group_{name}": labels[:, j] for j, name in enumerate(result.columns)})
