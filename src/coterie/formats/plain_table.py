"""Numeric files in and out: CSV and Parquet, read without quoting a value in an error, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import CoterieError

SUFFIXES = (".csv", ".parquet")


def file_format(path: Path) -> str:
    """The format that a file's name says."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise CoterieError(f"Files must end in {' or '.join(SUFFIXES)}.", f"'{path.name}'")
    return suffix


def read_table(
    path: Path, columns: Sequence[str] | None = None, delimiter: str = ",", header: bool = False
) -> tuple[Any, list[str]]:
    """The wanted columns of a file (all, without a wish) as a pyarrow Table, and the names of the others.

    `header` says that the first line of a CSV file holds names, even where these are numbers. What the maker of a
    Parquet file noted beside the data stays behind.
    """
    suffix = file_format(path)
    if not path.is_file():
        raise CoterieError(
            "The input must be a file.", f"'{path}'" + ("" if path.exists() else ", which does not exist")
        )
    try:
        table = _read_csv(path, delimiter, header) if suffix == ".csv" else _read_parquet(path)
    except OSError as error:
        raise CoterieError(f"'{path}' cannot be read.", os.strerror(error.errno) if error.errno else None) from None
    except CoterieError:
        raise
    except (ValueError, UnicodeError):  # the reader's own words may quote a row
        hint = f"is '{delimiter}' its delimiter, has every row as many fields as the first, is it in UTF-8?"
        raise CoterieError(
            f"'{path}' cannot be read as {suffix[1:]}.", hint=hint if suffix == ".csv" else None
        ) from None
    table = table.replace_schema_metadata(None)
    names = table.column_names
    if columns is None:
        return table, []
    columns = [c if c in names else c.strip() for c in columns]
    twice = sorted({c for c in columns if list(columns).count(c) > 1})
    missing = [c for c in columns if c not in names]
    if missing or twice:
        what = "The columns must be columns of the file, each named once."
        got = ", ".join(f"'{c}'" for c in missing or twice) + (" (not in the file)" if missing else " (more than once)")
        raise CoterieError(what, got, f"its columns are {', '.join(names[:20])}{', …' if len(names) > 20 else ''}.")
    return table.select(list(columns)), [n for n in names if n not in columns]


def _read_csv(path: Path, delimiter: str, header: bool) -> Any:
    from pyarrow import csv

    names = _first_line(path, delimiter)
    if not header and any(_is_number(name) for name in names):
        what = "The first line of a CSV file must hold the column names."
        hint = "add a line with names; if these are the names, say --header."
        raise CoterieError(what, "a number among them, as if it were the first record", hint)
    # in a single column, an empty line is a missing value
    options = csv.ParseOptions(delimiter=delimiter, ignore_empty_lines=len(names) > 1)
    return csv.read_csv(path, parse_options=options)


def _first_line(path: Path, delimiter: str) -> list[str]:
    import csv

    with open(path, encoding="utf-8-sig", newline="") as file:
        return next(csv.reader([file.readline(1 << 20)], delimiter=delimiter), [])


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path)


def check_writable(path: Path, source: Path, force: bool) -> None:
    """Refuse, before any work is done, a place where the output cannot or should not go."""
    file_format(path)
    if not path.parent.is_dir():
        raise CoterieError("The folder of the output must exist.", f"'{path.parent}'")
    if path.exists() and source.exists() and path.samefile(source):
        raise CoterieError("The output must not be the input file.", f"'{path}'")
    if path.exists() and not force:
        raise CoterieError("The output file exists already.", f"'{path}'", "--force replaces it.")
    if not os.access(path.parent, os.W_OK):
        raise CoterieError("The folder of the output must be writable.", f"'{path.parent}'")


def write_table(table: Any, path: Path, delimiter: str = ",") -> None:
    """Write a pyarrow Table: first to a private file beside it, then, whole, in its place."""

    def write(temporary: str) -> None:
        if file_format(path) == ".csv":
            from pyarrow import csv

            csv.write_csv(table, temporary, csv.WriteOptions(delimiter=delimiter))
        else:
            from pyarrow import parquet

            parquet.write_table(table, temporary)

    atomically(path, write)


def atomically(path: Path, write: Callable[[str], None]) -> None:
    """Let `write` make a private file, and move it into place; whatever fails leaves nothing behind."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        write(temporary)
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise CoterieError(f"'{path}' cannot be written.", os.strerror(error.errno) if error.errno else None) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The rights of the file that is replaced, or those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
