"""Parquet files that are one table: a file, or all files of a folder, in the order of their paths.

A record's number follows from its file and its row, so every engine that reads these files counts records alike. Of a
partitioned folder (year=2024/part-0.parquet), what the names of folders say are columns, after those of the files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CoterieError
from .base import attempt, check_columns

_BATCH = 1 << 18
_AT_ONCE = 16  # files that are looked at together: most of the time is waiting
_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # how a partition without a value is named
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SUFFIXES = (".parquet", ".pq")


class File(NamedTuple):
    """A file: its path below the root, the records of its groups of rows, and what the names of folders say."""

    path: str
    groups: tuple[int, ...]
    values: Mapping[str, str | None]


class Piece(NamedTuple):
    """Groups of rows of a file that follow each other, and the numbers of their records."""

    file: int
    groups: tuple[int, ...]
    first: int
    records: int


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """The Parquet files of a table. It can be pickled, and holds no record.

    Attributes
    ----------
    root : str
        A path, or a URI such as hdfs://host/folder.
    files : tuple of File
    schema : pyarrow.Schema
        Of all columns, without metadata.
    """

    root: str
    files: tuple[File, ...]
    schema: Any

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.schema.names)

    @property
    def records(self) -> int:
        """How many there are."""
        return sum(sum(file.groups) for file in self.files)

    def pieces(self, most: int) -> list[Piece]:
        """All records, in their order: groups of rows, several of a file together up to so many records."""
        out: list[Piece] = []
        number = 0
        for f, file in enumerate(self.files):
            held: list[int] = []
            for g, size in enumerate(file.groups):
                if held and sum(file.groups[i] for i in held) + size > most:
                    out.append(_piece(f, held, file, number))
                    number, held = number + out[-1].records, []
                held.append(g)
            if held:
                out.append(_piece(f, held, file, number))
                number += out[-1].records
        return [piece for piece in out if piece.records]

    def batches(self, columns: Sequence[str], pieces: Sequence[Piece] | None = None) -> Iterator[Any]:
        """These columns of the records of some pieces, or of all."""
        wanted = list(dict.fromkeys(columns))
        system, root = file_system(self.root)
        for piece in self.pieces(2**62) if pieces is None else pieces:
            file = self.files[piece.file]
            reader, reason = attempt(self._reader, system, f"{root}/{file.path}" if file.path else root, piece, wanted)
            left = piece.records
            while reason is None:
                batch, reason = attempt(lambda reader=reader: next(reader, None))
                if batch is None:
                    break
                left -= batch.num_rows
                yield self._dressed(batch, file, wanted)
            if reason is not None:
                raise _unreadable(file.path or self.root, reason)
            if left:
                raise CoterieError("The input must not change while it is read.", "a different number of records")

    def _reader(self, system: Any, path: str, piece: Piece, wanted: Sequence[str]) -> Iterator[Any]:
        from pyarrow import parquet

        file = parquet.ParquetFile(system.open_input_file(path))
        own = [name for name in wanted if name not in self.files[piece.file].values]
        return iter(file.iter_batches(_BATCH, row_groups=list(piece.groups), columns=own))

    def _dressed(self, batch: Any, file: File, wanted: Sequence[str]) -> Any:
        """A batch with the columns that the names of folders say, without metadata."""
        import pyarrow as pa

        schema = pa.schema([self.schema.field(name) for name in wanted])
        arrays = []
        for field in schema:
            if field.name in file.values:
                value = file.values[field.name]
                plain = int(value) if value is not None and pa.types.is_integer(field.type) else value
                arrays.append(pa.repeat(pa.scalar(plain, field.type), batch.num_rows))
            else:
                own = batch.column(field.name)
                arrays.append(own if own.type == field.type else own.cast(field.type))
        if not arrays:
            return pa.RecordBatch.from_pydict({})
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def table(self) -> Any:
        """The whole table."""
        import pyarrow as pa

        return pa.Table.from_batches(self.batches(self.names), self.schema)

    def file_hash(self, number: int) -> str:
        """The SHA-256 of a file."""
        system, root = file_system(self.root)
        path = self.files[number].path
        digest, reason = attempt(_hash, system, f"{root}/{path}" if path else root)
        if reason is not None:
            raise _unreadable(path or self.root, reason)
        return str(digest)

    def hash(self, hashes: Sequence[str] | None = None) -> str:
        """The SHA-256 of the only file; of several, that of a list of their hashes and paths."""
        every = [self.file_hash(i) for i in range(len(self.files))] if hashes is None else hashes
        if len(self.files) == 1 and not self.files[0].path:
            return every[0]
        lines = [f"{digest}  {file.path}\n" for digest, file in zip(every, self.files, strict=True)]
        return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()

    def codec(self) -> str:
        """The compression of the first file with records."""
        from pyarrow import parquet

        from .columnar import codec_of

        system, root = file_system(self.root)
        for file in self.files:
            if sum(file.groups):
                path = f"{root}/{file.path}" if file.path else root
                with parquet.ParquetFile(system.open_input_file(path)) as opened:
                    return codec_of(opened.metadata)
        return "snappy"


def _piece(file: int, groups: Sequence[int], of: File, first: int) -> Piece:
    return Piece(file, tuple(groups), first, sum(of.groups[g] for g in groups))


def _hash(system: Any, path: str) -> str:
    digest = hashlib.sha256()
    with system.open_input_stream(path) as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def is_uri(place: str) -> bool:
    """Whether a place is named by a URI, and not by a path of this machine."""
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", place) is not None


def file_system(place: str) -> tuple[Any, str]:
    """The file system of a place, and its path there."""
    from pyarrow import fs

    if not is_uri(place):
        return fs.LocalFileSystem(), Path(place).absolute().as_posix()
    found, reason = attempt(fs.FileSystem.from_uri, place)
    if reason is not None:
        hint = "do this process and the workers have the libraries and permissions for that file system?"
        raise CoterieError(f"'{place}' cannot be reached.", reason or None, hint)
    return found[0], found[1].rstrip("/")


def open_parquet(place: str) -> ParquetFiles:
    """The Parquet files at a place: looked at, not read.

    Parameters
    ----------
    place : str
        A file or a folder: a path, or a URI.
    """
    system, root = file_system(place)
    paths = _listed(system, root, place)
    with ThreadPoolExecutor(min(_AT_ONCE, len(paths))) as pool:
        looks = list(pool.map(lambda path: attempt(_look, system, f"{root}/{path}" if path else root), paths))
    for path, (_, reason) in zip(paths, looks, strict=True):
        if reason is not None:
            raise _unreadable(path or place, reason)
    values = [partition_values(path) for path in paths]
    schema = _one_schema(paths, [look[0] for look, _ in looks])
    schema = _with_partitions(schema, paths, values)
    files = tuple(File(path, look[1], own) for path, (look, _), own in zip(paths, looks, values, strict=True))
    found = ParquetFiles(place, files, schema)
    check_columns(found.names, found.records, Path(place))
    return found


def _listed(system: Any, root: str, place: str) -> list[str]:
    """The paths of all files below the root, in their order; an empty one where the root is a file itself."""
    from pyarrow import fs

    info, reason = attempt(system.get_file_info, root)
    if reason is not None or info.type == fs.FileType.NotFound:
        raise CoterieError("The input must be a file or a folder.", f"'{place}', {reason or 'which does not exist'}")
    if info.type == fs.FileType.File:
        return [""]
    found, reason = attempt(system.get_file_info, fs.FileSelector(root, recursive=True))
    if reason is not None:
        raise CoterieError(f"'{place}' cannot be read.", reason or None)
    paths = [entry.path[len(root) :].lstrip("/") for entry in found if entry.type == fs.FileType.File]
    paths = sorted(path for path in paths if not any(map(_is_hidden, path.split("/"))))
    others = [path for path in paths if not path.lower().endswith(_SUFFIXES)]
    if others:
        what = "A folder that is read as a table must contain only Parquet files."
        raise CoterieError(what, f"'{others[0]}'" + (f" and {len(others) - 1} more" if others[1:] else ""))
    if not paths:
        raise CoterieError("A folder that is read as a table must contain Parquet files.", f"none in '{place}'")
    return paths


def _is_hidden(name: str) -> bool:
    """Whether Spark and others pass over a file or a folder: what they write beside data, such as _SUCCESS."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _look(system: Any, path: str) -> tuple[Any, tuple[int, ...]]:
    """The schema of a file, and the records of its groups of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(system.open_input_file(path)) as file:
        metadata = file.metadata
        groups = tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))
        fields = [field.remove_metadata().with_nullable(True) for field in file.schema_arrow]
        return pa.schema([field.with_type(_takeable(field.type)) for field in fields]), groups


def _takeable(kind: Any) -> Any:
    """A type that some records can be taken of: of views, pyarrow can't."""
    import pyarrow as pa

    return {"string_view": pa.large_string(), "binary_view": pa.large_binary()}.get(str(kind), kind)


def _one_schema(paths: Sequence[str], schemas: Sequence[Any]) -> Any:
    """The schema of all files: the same columns of the same types, in any order."""
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        what = "The files of a folder must have the same columns, of the same types."
        if sorted(schema.names) != sorted(first.names):
            raise CoterieError(what, f"'{path}' with others than '{paths[0]}'")
        for name in first.names if len(set(first.names)) == len(first.names) else ():
            if schema.field(name).type != first.field(name).type:
                raise CoterieError(
                    what, f"'{name}' of type {schema.field(name).type} in '{path}', of another elsewhere"
                )
    return first


def partition_values(path: str) -> dict[str, str | None]:
    """What the names of folders say: year=2024/month=7/part.parquet."""
    out: dict[str, str | None] = {}
    for part in path.split("/")[:-1]:
        name, sign, value = part.partition("=")
        if sign:
            if name in out:
                raise CoterieError("A partition must have one value.", f"'{name}' twice in '{path}'")
            out[unescaped(name)] = None if value == _NOTHING else unescaped(value)
    return out


def unescaped(text: str) -> str:
    """A name of a folder without the escapes of signs that names can't hold: %3A is a colon."""

    def raw(match: re.Match[str]) -> str:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")

    return re.sub(r"(?:%[0-9A-Fa-f]{2})+", raw, text)


def _with_partitions(schema: Any, paths: Sequence[str], values: Sequence[Mapping[str, str | None]]) -> Any:
    """The schema with a column for each name of folders: whole numbers if all are, else texts."""
    import pyarrow as pa

    for path, own in zip(paths, values, strict=True):
        if list(own) != list(values[0]):
            raise CoterieError("All files of a partitioned folder must be partitioned by the same names.", f"'{path}'")
        if both := [name for name in own if name in schema.names]:
            what = "The name of a partition must not be a column of its files."
            raise CoterieError(what, f"'{both[0]}', which is both")
    for name in values[0]:
        known = [own[name] for own in values if own[name] is not None]
        whole = known and all(_WHOLE.fullmatch(str(value)) for value in known)
        schema = schema.append(pa.field(name, pa.int64() if whole else pa.string()))
    return schema


def _unreadable(path: str, reason: str) -> CoterieError:
    return CoterieError(f"'{path}' cannot be read as Parquet.", reason or None, "it may be damaged.")
