"""Files in and out of a release: a file is read as it stands, and a release is written in the same format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from .base import KINDS, SUFFIXES, Format, Source, check_details, content_hash, kind_of
from .formulas import formulas, harmless, neutralize

__all__ = [
    "KINDS",
    "SUFFIXES",
    "Format",
    "Source",
    "check_details",
    "content_hash",
    "default_format",
    "detect",
    "formulas",
    "harmless",
    "kind_of",
    "labelled",
    "neutralize",
    "read",
    "with_labels_in_use",
    "without_declared_missing",
    "without_labels",
    "without_user_missing",
    "write",
]


def read(path: Path, options: Mapping[str, Any] | None = None) -> Source:
    """Read a file into a pyarrow table; its suffix says the format.

    Parameters
    ----------
    path : Path
        A CSV file (.csv .tsv .tab .txt; packed as .csv.gz, or alone in a .zip), Excel (.xlsx), Parquet (.parquet .pq),
        Arrow or Feather (.arrow .ipc .feather), SPSS (.sav .zsav), Stata (.dta), SAS (.sas7bdat .xpt).
    options : mapping, optional
        For CSV alone: `delimiter`, `quote` ('' for none), `encoding`, `decimal` ("." or ","), `header`, `names`
        (without a header, or instead of it), `missing` (texts that mean missing; [""] unless given), `thousands`,
        `prefix`, `suffix` (what is taken off numbers). What is not given is detected. For Excel: `sheet`, and `header`
        to `suffix` likewise. For SPSS, Stata and SAS: `encoding`.

    Returns
    -------
    Source
        All columns of a CSV or Excel file are text. What a program noted beside the data (the index of a frame, file
        labels, notes) stays behind. In an SPSS or Stata file, user-missing values are in the table: see
        `without_user_missing`.

    Raises
    ------
    CoterieError
        The file is not of its format, in words that quote no value.
    """
    kind = kind_of(Path(path))
    if kind == "csv":
        from . import csv_text as text

        return text.read(Path(path), options)
    if kind in ("parquet", "arrow"):
        from . import columnar

        return columnar.read(Path(path), kind, options)
    if kind == "excel":
        from . import excel

        return excel.read(Path(path), options)
    from . import statistical

    return statistical.read(Path(path), kind, options)


def detect(path: Path, options: Mapping[str, Any] | None = None) -> Format:
    """The format of a file, as `read` would find it.

    Parameters
    ----------
    path, options
        As for `read`.

    Returns
    -------
    Format
    """
    kind = kind_of(Path(path))
    if kind in ("parquet", "arrow"):
        from . import columnar

        return columnar.detect(Path(path), kind, options)
    return read(path, options).format


def write(table: Any, format: Format, path: Path) -> None:
    """Write a table in a format, to the disk, for the owner's eyes only.

    The same table and format give the same bytes (with the same versions of the libraries).

    Parameters
    ----------
    table : pyarrow.Table
    format : Format
        Whatever it says of columns that the table lacks is left out.
    path : Path
        The file to make or replace. It has the rights 0600, and is gone if anything fails.

    Raises
    ------
    CoterieError
        The format cannot hold the table, or the file cannot be written.
    """
    if format.kind == "csv":
        from . import csv_text as text

        text.write(table, format, Path(path))
    elif format.kind in ("parquet", "arrow"):
        from . import columnar

        columnar.write(table, format, Path(path))
    elif format.kind in KINDS:
        from . import statistical

        statistical.write(table, format, Path(path))
    else:
        raise CoterieError(f"The kind of a format must be one of {', '.join(KINDS)}.", f"'{format.kind}'")


def default_format(kind: str) -> Format:
    """The format of a file that is not written after another: csv, parquet or feather."""
    if kind == "csv":
        from . import csv_text as text

        return text.Dialect().format()
    return Format("arrow" if kind == "feather" else kind, {"compression": "zstd"})


def without_user_missing(table: Any, format: Format, columns: list[str] | None = None) -> Any:
    """The table with nulls for what its file declares as missing: SPSS missing values, .a to .z of Stata.

    A column to calculate with needs this, or a code such as 999 would be taken for a value.

    Parameters
    ----------
    table : pyarrow.Table
    format : Format
    columns : list of str, optional
        All, unless given.

    Returns
    -------
    pyarrow.Table
    """
    if format.kind not in ("spss", "stata"):
        return table
    from . import statistical

    return statistical.without_user_missing(table, format, columns)


def with_labels_in_use(table: Any, format: Format, columns: Iterable[str]) -> Format:
    """The format with labels of those values alone, in these columns, that a record of the table has.

    The label of a value that is gone, by masking or because its records were left out, would tell that somebody had it.

    Parameters
    ----------
    table : pyarrow.Table
    format : Format
    columns : iterable of str

    Returns
    -------
    Format
    """
    if "variables" not in format.details:
        return format
    from . import statistical

    return statistical.with_labels_in_use(table, format, columns)


def labelled(format: Format) -> set[str]:
    """The columns whose values have labels, in an SPSS or Stata file; labels of what means missing don't count."""
    if "variables" not in format.details:
        return set()
    from . import statistical

    return statistical.labelled(format)


def mean_missing(format: Format, column: str, texts: Iterable[str]) -> list[str]:
    """Those of some texts that an SPSS or Stata file declares as missing in a column."""
    if "variables" not in format.details:
        return []
    from . import statistical

    return statistical.mean_missing(format, column, texts)


def without_declared_missing(format: Format, columns: Iterable[str]) -> Format:
    """The format without values that mean missing in these columns, for columns that hold none."""
    if "variables" not in format.details:
        return format
    from . import statistical

    return statistical.without_declared_missing(format, columns)


def without_labels(format: Format, columns: Iterable[str]) -> Format:
    """The format without labels of values in these columns: an average is no code, so it has no label."""
    if "variables" not in format.details:
        return format
    from . import statistical

    return statistical.without_labels(format, columns)
