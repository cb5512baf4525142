"""Parquet and Arrow files: types survive; notes beside the data, and values that no record has, do not.

Two things in such files hold values that no record shows. A dictionary may list categories that are no longer used. The
memory below a null may still have the value that was blanked. Both are cleaned before anything is written.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from .base import BATCH, NAMES, Format, Source, attempt, check_columns, check_file, check_options, privately
from .parquet_folder import ParquetFiles, open_parquet

_CODECS = {"UNCOMPRESSED": "none", "SNAPPY": "snappy", "GZIP": "gzip", "BROTLI": "brotli", "ZSTD": "zstd", "LZ4": "lz4"}
_MAGIC = {"parquet": (b"PAR1",), "arrow": (b"ARROW1", b"\xff\xff\xff\xff")}


def read(path: Path, kind: str, options: Mapping[str, Any] | None = None) -> Source:
    """Read a Parquet or Arrow file, or a folder of Parquet files."""
    if os.path.isdir(path):
        files = open_folder(path, options)
        return Source(files.table(), Format(kind, {"compression": files.codec()}), path.name)
    format = detect(path, kind, options)
    table, reason = attempt(_read_parquet if kind == "parquet" else _read_arrow, path, format)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read as {NAMES[kind]}.", reason or None, "it may be damaged.")
    check_columns(table.column_names, table.num_rows, path)
    return Source(bare(table), format, path.name)


def open_folder(path: Path, options: Mapping[str, Any] | None) -> ParquetFiles:
    """A folder of Parquet files, which takes no options."""
    check_options(options, (), "parquet")
    return open_parquet(str(path))


def detect(path: Path, kind: str, options: Mapping[str, Any] | None = None) -> Format:
    """How a Parquet or Arrow file is packed, or the files of a folder."""
    if os.path.isdir(path):
        return Format(kind, {"compression": open_folder(path, options).codec()})
    check_options(options, (), kind)
    check_file(path)
    start, reason = attempt(_start, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read.", reason or None)
    if not start.startswith(_MAGIC[kind]):
        hint = "save Feather files of version 1 again in the current version." if start.startswith(b"FEA1") else None
        raise CoterieError(f"The file must have the format that its name says, {NAMES[kind]}.", f"'{path.name}'", hint)
    if kind == "arrow":
        stream = not start.startswith(b"ARROW1")
        packed = "lz4" if path.suffix.lower() == ".feather" else "none"  # a file does not tell; this is what is usual
        return Format(kind, {"stream": stream, "compression": packed})
    codec, reason = attempt(_codec, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read as Parquet.", reason or None, "it may be damaged.")
    return Format(kind, {"compression": codec})


def _start(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(8)


def _codec(path: Path) -> str:
    """The compression of most columns in the first group of rows."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return codec_of(file.metadata)


def codec_of(metadata: Any) -> str:
    """The same, by what stands at the end of the file."""
    if not metadata.num_row_groups:
        return "snappy"
    group = metadata.row_group(0)
    found = Counter(group.column(i).compression for i in range(group.num_columns))
    return _CODECS.get(found.most_common(1)[0][0], "snappy") if found else "snappy"


def _read_parquet(path: Path, _: Format) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        table = file.read()
    table.validate()
    return table


def _read_arrow(path: Path, format: Format) -> Any:
    from pyarrow import OSFile, ipc

    with OSFile(str(path)) as file:
        table = (ipc.open_stream if format.details["stream"] else ipc.open_file)(file).read_all()
    table.validate(full=True)
    return table


def bare(table: Any) -> Any:
    """A table without metadata, of its own and of its columns; Arrow's types hold all that the data needs."""
    import pyarrow as pa

    fields = [f.remove_metadata() for f in table.schema]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def write(table: Any, format: Format, path: Path) -> None:
    """Write a table as a Parquet or Arrow file, packed likewise."""
    table = _clean(bare(table))
    codec = format.details.get("compression", "none")
    reasons: list[str] = []

    def save() -> None:
        _, reason = attempt(_write_parquet if format.kind == "parquet" else _write_arrow, table, path, codec, format)
        if reason is not None:
            reasons.append(reason)

    privately(path, save)
    if reasons:
        path.unlink(missing_ok=True)
        raise CoterieError(f"'{path.name}' cannot be written as {NAMES[format.kind]}.", reasons[0] or None)


def _write_parquet(table: Any, path: Path, codec: str, _: Format) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path, compression=codec)


def _write_arrow(table: Any, path: Path, codec: str, format: Format) -> None:
    from pyarrow import OSFile, ipc

    options = ipc.IpcWriteOptions(compression=None if codec == "none" else codec)
    new = ipc.new_stream if format.details.get("stream") else ipc.new_file
    with OSFile(str(path), "wb") as file, new(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=BATCH)


def _clean(table: Any) -> Any:
    """The table in fresh memory, without what no record shows."""
    import pyarrow as pa

    for i, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_dictionary(column.type):
            clean = _used_categories(column)
        else:
            clean = pa.chunked_array([_fresh(chunk, name) for chunk in column.chunks], column.type)
        table = table.set_column(i, table.field(i), clean)
    return table.combine_chunks()


def _fresh(chunk: Any, name: str) -> Any:
    """A copy of what an array shows: nothing from below a null, or from outside of a slice."""
    import numpy as np
    import pyarrow as pa

    if isinstance(chunk, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(chunk.type, _fresh(chunk.storage, name))
    views = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}  # which pyarrow does not take from
    if str(chunk.type) in views:
        return _fresh(chunk.cast(views[str(chunk.type)]), name).cast(chunk.type)
    if not pa.types.is_nested(chunk.type):
        return chunk.take(pa.array(np.arange(len(chunk))))
    # below a null of a record with parts, the parts would be copied
    made, reason = attempt(lambda: pa.array(chunk.to_pylist(), chunk.type))
    if reason is not None:
        raise CoterieError("Nested values must have simple types.", f"{chunk.type} in column '{name}'")
    return made


def _used_categories(column: Any) -> Any:
    """The column with a dictionary of the categories in use, in the order they had."""
    import numpy as np
    import pyarrow as pa

    column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # no chunk at all
        return column
    codes = np.asarray(column.indices.fill_null(0)).astype(np.int64)
    null = np.asarray(column.indices.is_null())
    used = np.unique(codes[~null])
    place = np.zeros(len(column.dictionary) + 1, np.int64)
    place[used] = np.arange(len(used))
    indices = pa.array(np.where(null, 0, place[codes]), mask=null).cast(column.type.index_type)
    made = pa.DictionaryArray.from_arrays(indices, column.dictionary.take(pa.array(used)), ordered=column.type.ordered)
    return pa.chunked_array([made])
