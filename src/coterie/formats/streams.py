"""Files too large to be read or written as a whole: a look at how one begins, and one that is written part by part."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from ..errors import CoterieError
from .base import Format, attempt, check_columns, check_file, kind_of

_HEAD = 1 << 22  # bytes that tell the dialect


class Writer(Protocol):
    """Takes the parts of a table, one after the other."""

    def write(self, table: Any) -> None:
        """Write more records."""


def peek(path: Path, options: Mapping[str, Any] | None = None) -> tuple[Format, list[str]]:
    """The format and the columns of a CSV or Parquet file, by its beginning alone."""
    check_file(path)
    kind = kind_of(path)
    if kind == "parquet":
        from . import columnar

        form = columnar.detect(path, kind, options)
        names, reason = attempt(_parquet_names, path)
        if reason is not None:
            raise CoterieError(f"'{path}' cannot be read as Parquet.", reason or None)
        check_columns(names, 1, path)
        return form, names
    if kind != "csv":
        raise CoterieError(
            "Only CSV and Parquet files are read part by part.", f"'{path.name}'", "raise the memory limit."
        )
    return _peek_csv(path, options)


def _parquet_names(path: Path) -> list[str]:
    from pyarrow import parquet

    return list(parquet.read_schema(path).names)


def _peek_csv(path: Path, options: Mapping[str, Any] | None) -> tuple[Format, list[str]]:
    from . import text

    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if len(head) == _HEAD:
        head = head[: head.rfind(b"\n") + 1]
    form, names = text.looked(head, path, options)
    if form.details["encoding"] != "utf-8" or form.details["bom"]:
        what = "A CSV file that is read part by part must be UTF-8, without a byte order mark."
        raise CoterieError(what, form.details["encoding"], "convert it, or raise the memory limit.")
    return form, names


@contextmanager
def writing(form: Format, path: Path) -> Iterator[Writer]:
    """A file that is written part by part, for the owner's eyes only."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.close(handle)
    writer = _Csv(form, path) if form.kind == "csv" else _Parquet(form, path)
    try:
        yield writer
    finally:
        writer.close()
    with open(path, "rb+") as written:
        os.fsync(written.fileno())


class _Parquet:
    def __init__(self, form: Format, path: Path) -> None:
        self._codec, self._path, self._writer = form.details.get("compression", "none"), path, None

    def write(self, table: Any) -> None:
        """Write a group of rows."""
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema, compression=self._codec)
        self._writer.write_table(table.combine_chunks())  # type: ignore[attr-defined]

    def close(self) -> None:
        """Write the end."""
        if self._writer is not None:
            self._writer.close()


class _Csv:
    def __init__(self, form: Format, path: Path) -> None:
        self._form = Format("csv", {**form.details, "final_newline": True})
        self._file = open(path, "wb")  # noqa: SIM115 (closed by close)
        self._first = True

    def write(self, table: Any) -> None:
        """Write some lines."""
        from . import text

        header = self._form.details["header"] and self._first
        for piece in text.lines_of(table, Format("csv", {**self._form.details, "header": header})):
            self._file.write(piece)
        self._first = False

    def close(self) -> None:
        """Close the file."""
        self._file.close()
