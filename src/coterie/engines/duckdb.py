"""CSV and Parquet files of any size, read by DuckDB: scanned again and again, never held, nothing of them written.

What is held for every record is the number of its part, in 2 or 4 bytes.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import NOT_OF_THE_DATA, CoterieError
from ..formats import Format, streams
from ..formats.base import content_hash
from ..formats.packed import is_packed
from ..tables.gathering import C, gathered
from ..tables.records import Reading, Records
from . import Chunk, Router, chunk_ranges

T = TypeVar("T")
Ints = NDArray[np.int64]

_BATCH = 1 << 18
LEAST = 256 << 20  # what Python, its libraries and compiled code take, and some
_FOR_DUCKDB = 0.25  # of the memory beyond that
_FOR_ROWS = 0.3
_HINT = "does every row have as many fields as the first, and is the encoding right (--read encoding=cp1252)?"
_NOWHERE = "\ue000 no such text \ue000"  # DuckDB must be told a text that means missing


class DuckDBEngine:
    """A Parquet or CSV file.

    Parameters
    ----------
    path : Path
    format : Format
        Of kind csv or parquet.
    names : sequence of str
        The columns.
    reading : Reading
        How columns are read.
    memory : int
        How many bytes may be taken, about.
    sha256 : str
        The hash of the file, as it was when it was opened.
    rows : int, optional
        The number of records held at a time. Default: as many as fit into memory.
    """

    name = "duckdb"

    def __init__(
        self,
        path: Path,
        format: Format,
        names: Sequence[str],
        reading: Reading,
        memory: int,
        sha256: str,
        rows: int | None = None,
    ) -> None:
        self.names, self.reading, self.rows = tuple(names), reading, rows
        self._path, self._memory, self._sha256 = path, memory, sha256
        self._table = _tables(path, format, self.names, int(_FOR_DUCKDB * (memory - LEAST)))
        try:
            self.records = self._table.count()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._table.close()

    def check_unchanged(self) -> None:
        """Refuse a file that was written to, or replaced, since it was opened."""
        if content_hash(self._path) != self._sha256:
            raise CoterieError("The input must not change while it is read.", f"'{self._path.name}', which changed")

    def gather(self, columns: Sequence[str], into: C, /) -> C:
        """Show these columns of all records to a collector."""
        return gathered(self.scan(columns), into)

    def scan(self, columns: Sequence[str]) -> Iterator[Records]:
        """These columns of all records, some at a time."""
        start = 0
        for batch in self._table.batches(list(dict.fromkeys(columns))):
            numbers = np.arange(start, start + batch.num_rows)
            start += batch.num_rows
            yield Records(numbers, batch.column, self.reading)
        if start != self.records:
            raise CoterieError("The input must not change while it is read.", "a different number of records")

    def chunks(
        self, columns: Sequence[str], router: Router, sizes: Sequence[int], together: tuple[int, int] | None = None
    ) -> Iterator[Chunk]:
        """The records of as many parts at a time as there is room for; the file is read again for each."""
        import pyarrow as pa

        part = self._parts(router, len(sizes))
        names = list(dict.fromkeys(columns))
        for parts in self._ranges(sizes, names, together):
            pieces, numbers, start = [], [], 0
            for batch in self._table.batches(names):
                own = part[start : start + batch.num_rows]
                rows = np.flatnonzero((own >= parts.start) & (own < parts.stop))
                if len(rows):
                    pieces.append(batch.filter(_flags(rows, batch.num_rows)))
                    numbers.append(rows + start)
                start += batch.num_rows
            table = pa.Table.from_batches(pieces)
            which = np.concatenate(numbers)
            if len(which) != sum(sizes[p] for p in parts):
                raise CoterieError("The input must not change while it is read.", "a different number of records")
            yield Chunk(Records(which, table.column, self.reading), part[which].astype(np.int64), parts)

    def _parts(self, router: Router, count: int) -> NDArray[Any]:
        """The part of every record, in as few bytes as can tell them apart; the largest number is none."""
        kind: Any = np.uint16 if count < 2**16 - 1 else np.uint32
        out = np.empty(self.records, kind)
        for records in self.scan(router.columns):
            own = router.parts(records)
            out[records.numbers[0] : records.numbers[-1] + 1] = np.where(own < 0, np.iinfo(kind).max, own)
        return out

    def _ranges(self, sizes: Sequence[int], names: Sequence[str], together: tuple[int, int] | None) -> list[range]:
        """Parts that follow one another, as many as there is room for."""
        self.rows = self.rows or self._affordable(names)
        return chunk_ranges(sizes, self.rows, together)

    def _affordable(self, names: Sequence[str]) -> int:
        """How many records may be held at a time."""
        batch = next(iter(self._table.batches(list(names))))
        each = 4 * batch.nbytes / max(1, batch.num_rows) + 32 * len(names) + 64
        left = self._memory - LEAST - 4 * self.records
        return max(1, int(_FOR_ROWS * left / each))


def _flags(rows: Ints, length: int) -> Any:
    """Rows as an Arrow array of booleans."""
    import pyarrow as pa

    chosen = np.zeros(length, bool)
    chosen[rows] = True
    return pa.Array.from_buffers(pa.bool_(), length, [None, pa.py_buffer(np.packbits(chosen, bitorder="little"))])


class _Table:
    """A file as DuckDB scans it."""

    def __init__(self, path: Path, format: Format, names: Sequence[str], memory: int) -> None:
        self._names = list(names)
        self._types = _quietly(lambda: _types_of(path, format))
        self._private: tempfile.TemporaryDirectory[str] | None = None
        named = path.absolute()
        if not _is_plain(str(named)):
            self._private = tempfile.TemporaryDirectory(prefix="coterie-")
            named = Path(self._private.name) / f"input{path.suffix.lower()}"
            _link(path.absolute(), named)
        self._connection = _connect(str(named), memory)
        self._from = _scan(str(named), format, len(names))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        if self._private is not None:
            self._private.cleanup()

    def count(self) -> int:
        """How many records there are."""
        ((records,),) = _quietly(lambda: self._connection.execute(f"SELECT count(*) FROM {self._from}").fetchall())
        return int(records)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """These columns of all records, in their order."""
        import pyarrow as pa

        wanted = ", ".join(f"f{self._names.index(name)}" for name in columns)
        reader = _quietly(lambda: _reader(self._connection.sql(f"SELECT {wanted} FROM {self._from}")))
        while True:
            batch = _quietly(lambda: next(reader, None))
            if batch is None:
                return
            arrays = _quietly(partial(self._as_in_file, columns, batch))
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _as_in_file(self, columns: Sequence[str], batch: Any) -> list[Any]:
        """The columns of a batch in the types that they have in the file."""
        return [_typed(array, self._types.get(name)) for name, array in zip(columns, batch.columns, strict=True)]


def _is_plain(path: str, windows: bool = os.name == "nt") -> bool:
    """Whether DuckDB takes a path as it is written: it takes * and [ for patterns."""
    if windows:  # and RUNNER~1: the short form of a long name
        path = re.sub(r"^[A-Za-z]:", "", path).replace("\\", "/").replace("~", "_")
    return all(sign.isalnum() or sign in "/._- " for sign in path)


def _link(path: Path, link: Path) -> None:
    """Lead to a file by another name. Windows lets few people make symbolic links."""
    for make in (link.symlink_to, link.hardlink_to):
        try:
            return make(path)
        except OSError:
            continue
    hint = "rename it: letters, digits, dots, blanks, hyphens and underscores are fine."
    raise CoterieError("A file that is read part by part needs a plain name here.", f"'{path.name}'", hint)


def _types_of(path: Path, format: Format) -> dict[str, Any]:
    """The types that a Parquet file's columns have in Arrow, of which DuckDB keeps not all."""
    if format.kind != "parquet":
        return {}
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    return dict(zip(schema.names, schema.types, strict=True))


def _typed(array: Any, kind: Any) -> Any:
    """A column in the type that it has in its file."""
    import pyarrow as pa

    if kind is None or array.type == kind or "view" in str(kind):  # of views, pyarrow can't take some records
        return array
    if pa.types.is_dictionary(kind):
        encoded = array.cast(kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            encoded.indices.cast(kind.index_type), encoded.dictionary, ordered=kind.ordered
        )
    return array.cast(kind)


def _tables(path: Path, format: Format, names: Sequence[str], memory: int) -> Any:
    """The file as DuckDB scans it, or as Arrow does: folders, packed files, encodings that DuckDB does not have."""
    if os.path.isdir(path):
        return streams.FolderStream(path)
    if format.kind == "csv" and (format.details["encoding"] != "utf-8" or format.details["bom"] or is_packed(path)):
        return streams.CsvStream(path, format, names)
    return _Table(path, format, names, memory)


def _quietly(run: Callable[[], T]) -> T:
    """What `run` gives. DuckDB's own words quote values, so they stay here."""
    try:
        return run()
    except NOT_OF_THE_DATA:
        raise
    except Exception as error:
        kind = type(error).__name__
    raise CoterieError("The input cannot be read.", f"{kind} of DuckDB", _HINT)


def _connect(path: str, memory: int) -> Any:
    import duckdb

    off = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")
    more = ("allow_persistent_secrets", "python_enable_replacements")
    connection = duckdb.connect(":memory:", config={**dict.fromkeys((*off, *more), "false"), "temp_directory": ""})
    connection.execute(f"SET memory_limit = '{memory // (1 << 20)}MiB'")
    connection.execute(f"SET allowed_paths = ['{path}']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET enable_progress_bar = false")  # it would be printed among what we print
    connection.execute("SET lock_configuration = true")
    return connection


def _reader(relation: Any) -> Any:
    """Batches of a relation; older versions of DuckDB call it otherwise."""
    return (
        relation.to_arrow_reader(_BATCH)
        if hasattr(relation, "to_arrow_reader")
        else relation.fetch_arrow_reader(_BATCH)
    )


def _scan(path: str, form: Format, columns: int) -> str:
    """The file as a table with columns f0, f1, …: of a CSV file texts, read strictly."""
    named = ", ".join(f"f{j}" for j in range(columns))
    if form.kind == "parquet":
        return f"read_parquet({_text(path)}, hive_partitioning = false) AS t({named})"
    d = form.details
    types = ", ".join(f"'f{j}': 'VARCHAR'" for j in range(columns))
    # of several texts that mean missing, a column that is kept must keep which of them it has
    missing = "[" + _text(d["missing"][0] if len(d["missing"]) == 1 else _NOWHERE) + "]"
    quote = _text(d["quote"] or "")
    return f"""read_csv({_text(path)}, auto_detect = false, columns = {{{types}}}, header = {str(d["header"]).lower()},
        delim = {_text(d["delimiter"])}, quote = {quote}, escape = {quote}, comment = '', skip = 0, nullstr = {missing},
        allow_quoted_nulls = true, ignore_errors = false, null_padding = false, strict_mode = true, encoding = 'utf-8',
        compression = 'none', hive_partitioning = false, union_by_name = false, normalize_names = false)"""


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
