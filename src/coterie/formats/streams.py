"""Files too large to be read or written as a whole: a look at how one begins, and one that is written part by part."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from ..errors import CoterieError
from .base import Format, attempt, check_columns, check_file, kind_of
from .packed import unpacked
from .parquet_folder import open_parquet

_HEAD = 1 << 22  # bytes that tell the dialect
_BLOCK = 1 << 23  # bytes that are read at a time


class Writer(Protocol):
    """Takes the parts of a table, one after the other."""

    def write(self, table: Any) -> None:
        """Write more records."""


def peek(path: Path, options: Mapping[str, Any] | None = None) -> tuple[Format, list[str]]:
    """The format and the columns of a CSV or Parquet file, or a folder of these, by its beginning alone."""
    check_file(path)
    kind = kind_of(path)
    if kind == "parquet":
        from . import columnar

        if os.path.isdir(path):
            files = columnar.open_folder(path, options)
            return Format(kind, {"compression": files.codec()}), files.names
        form = columnar.detect(path, kind, options)
        names, reason = attempt(_parquet_names, path)
        if reason is not None:
            raise CoterieError(f"'{path}' cannot be read as Parquet.", reason or None)
        check_columns(names, 1, path)
        return form, names
    if kind != "csv":
        raise CoterieError(
            "Only CSV and Parquet files can be read part by part.", f"'{path.name}'", "use engine memory."
        )
    return _peek_csv(path, options)


def _parquet_names(path: Path) -> list[str]:
    from pyarrow import parquet

    return list(parquet.read_schema(path).names)


def _peek_csv(path: Path, options: Mapping[str, Any] | None) -> tuple[Format, list[str]]:
    from . import csv_text as text

    with unpacked(path) as file:
        head = file.read(_HEAD)
    if len(head) == _HEAD:
        head = _whole_lines(head, (options or {}).get("encoding"))
    return text.looked(head, path, options)


def _whole_lines(head: bytes, encoding: Any) -> bytes:
    """The beginning of a file up to the end of a line, whatever its encoding."""
    wide = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    name = "utf-16" if head.startswith(wide) else encoding
    if name is None or not isinstance(name, str):
        return head[: head.rfind(b"\n") + 1]
    lines, reason = attempt(lambda: codecs.getincrementaldecoder(name)().decode(head))
    if reason is not None:  # whoever reads it will say what is wrong
        return head
    return str(lines[: lines.rfind("\n") + 1]).encode(name)


class _Transcoded(io.RawIOBase):
    """A text file in UTF-8, whatever its own encoding, as it is read."""

    def __init__(self, path: Path, encoding: str, mark: int) -> None:
        super().__init__()
        self._open = ExitStack()
        self._file = self._open.enter_context(unpacked(path))
        self._file.read(mark)
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            more = self._file.read(len(buffer))
            self._left = self._decoder.decode(more, final=not more).encode("utf-8")
            if not more and not self._left:
                return 0
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        self._open.close()
        super().close()


class CsvStream:
    """A CSV file in any encoding, read by Arrow, some records at a time."""

    def __init__(self, path: Path, form: Format, names: Sequence[str]) -> None:
        self._path, self._details, self._names = path, form.details, list(names)

    def close(self) -> None:
        """Nothing stays open."""

    def count(self) -> int:
        """How many records there are."""
        return sum(batch.num_rows for batch in self.batches(self._names[:1]))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """These columns of all records, in their order, as texts."""
        reader, reason = attempt(self._reader, columns)
        while reason is None:
            batch, reason = attempt(lambda: next(reader, None))
            if reason is None and batch is None:
                return
            if batch is not None:
                yield batch
        hint = "is its encoding right? Set another in [file] encoding (--read encoding=cp1252)."
        raise CoterieError(f"'{self._path.name}' cannot be read as CSV.", reason or None, hint)

    def _reader(self, columns: Sequence[str]) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        d = self._details
        marks = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
        mark = len(marks.get(d["encoding"], b"")) if d["bom"] else 0
        return csv.open_csv(
            pa.PythonFile(_Transcoded(self._path, d["encoding"], mark), mode="r"),
            csv.ReadOptions(
                column_names=self._names,  # which may be others than those of the file's first line
                skip_rows_after_names=int(d["header"]),
                block_size=_BLOCK,
                use_threads=False,
            ),
            csv.ParseOptions(
                delimiter=d["delimiter"],
                quote_char=d["quote"] or False,
                newlines_in_values=bool(d["quote"]),
                ignore_empty_lines=len(self._names) > 1,
            ),
            csv.ConvertOptions(
                column_types={name: pa.string() for name in self._names},
                include_columns=list(columns),
                null_values=list(d["missing"]) if len(d["missing"]) == 1 else [],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )


class FolderStream:
    """A folder of Parquet files, some records at a time."""

    def __init__(self, path: Path) -> None:
        self._files = open_parquet(str(path))

    def close(self) -> None:
        """Nothing stays open."""

    def count(self) -> int:
        """How many records there are."""
        return self._files.records

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """These columns of all records, in their order."""
        return self._files.batches(columns)


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
        self._encoding = str(form.details["encoding"])
        self._encoder = codecs.getincrementalencoder(self._encoding)()
        self._file = open(path, "wb")  # noqa: SIM115 (closed by close)
        self._first = True
        if form.details.get("bom"):
            self._file.write("\ufeff".encode(self._encoding))

    def write(self, table: Any) -> None:
        """Write some lines."""
        from . import csv_text as text

        header = self._form.details["header"] and self._first
        for piece in text.lines_of(table, Format("csv", {**self._form.details, "header": header})):
            self._file.write(piece if self._encoding == "utf-8" else self._encoded(str(piece, "utf-8")))
        self._first = False

    def _encoded(self, lines: str) -> bytes:
        encoded, reason = attempt(self._encoder.encode, lines)
        if reason is not None:
            what = f"The file must be written in its encoding, {self._encoding}."
            raise CoterieError(what, "text that it cannot represent", "use utf-8.")
        return bytes(encoded)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
