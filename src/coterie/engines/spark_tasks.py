"""What runs on Spark's workers: reading pieces of files, sending records to where their part is solved, solving it.

Records travel as Arrow batches in bytes, so their types are those of the files, whatever Spark would make of them. A
row that travels has a chunk (where to), a kind (what it is) and a payload. No error of a library leaves a worker with
its words, which may quote values: Spark writes them into logs.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..errors import CoterieError, UnexpectedError
from ..formats.parquet_folder import ParquetFiles, Piece
from ..tables.gathering import Collector
from ..tables.records import Reading, Records
from . import Chunk, Router

Ints = NDArray[np.int64]

SCHEMA = "chunk long, kind int, payload binary"
RECORDS, RESULT, REFUSED = 0, 1, 2
NUMBER, PART = "\ue000number", "\ue000part"  # columns beside those of the table, under names that none has
_HELD = 64 << 20  # bytes of records that are sorted by chunk at a time
Row = tuple[int, int, bytes]


class ChunkWork(Protocol):
    """What is done with the records of a chunk."""

    def __call__(self, number: int, chunk: Chunk) -> tuple[Mapping[str, Any] | None, Any]:
        """Columns to carry along to the next work, if there is one, and what the driver is to know."""


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the pieces of a task."""

    files: ParquetFiles
    tasks: Sequence[Sequence[Piece]]
    reading: Reading

    def records(self, task: int, columns: Sequence[str]) -> Iterator[tuple[Records, Any]]:
        """These columns of the task's records, some at a time, in their order; and the batch they come from."""
        wanted = list(dict.fromkeys(columns))
        for piece in self.tasks[task]:
            start = piece.first
            for batch in self.files.batches(wanted, [piece]):
                numbers = np.arange(start, start + batch.num_rows)
                start += batch.num_rows
                yield Records(numbers, batch.column, self.reading), batch


@dataclass(frozen=True, eq=False)
class Look:
    """Shows the records of a task to a collector of its own, and sends what that has found."""

    reader: Reader
    columns: Sequence[str]
    fresh: Collector

    def __call__(self, task: int) -> Iterator[Row]:
        """What was found in a task."""
        collector: Collector = copy.deepcopy(self.fresh)  # a worker may have several tasks
        for records, _ in self.reader.records(task, self.columns):
            collector.add(records)
        yield task, RESULT, pickle.dumps(collector.found)


@dataclass(frozen=True, eq=False)
class Hashing:
    """The hash of a file: a task for each."""

    files: ParquetFiles

    def __call__(self, task: int) -> Iterator[Row]:
        """The hash of one file."""
        yield task, RESULT, pickle.dumps(self.files.file_hash(task))


@dataclass(frozen=True, eq=False)
class Route:
    """Sends the records of a task to the chunks that hold their parts, with the parts of all passes."""

    reader: Reader
    columns: Sequence[str]
    routers: Callable[[int], Sequence[Router]]  # of a task: one for each pass
    chunk_of: Ints  # of each part of the first pass

    def __call__(self, task: int) -> Iterator[Row]:
        """The records of a task, as bytes for each chunk."""
        routers = self.routers(task)
        held: list[Any] = []
        size = 0
        columns = [*(name for router in routers for name in router.columns), *self.columns]
        for records, batch in self.reader.records(task, columns):
            parts = [router.parts(records) for router in routers]
            held.append(_with_numbers(batch.select(list(self.columns)), records.numbers, parts))
            size += held[-1].nbytes
            if size > _HELD:
                yield from send(held, 0, self.chunk_of)
                held, size = [], 0
        yield from send(held, 0, self.chunk_of)


def _with_numbers(batch: Any, numbers: Ints, parts: Sequence[Ints]) -> Any:
    import pyarrow as pa

    arrays = [*batch.columns, pa.array(numbers), *(pa.array(part) for part in parts)]
    names = [*batch.schema.names, NUMBER, *(f"{PART}{i}" for i in range(len(parts)))]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def send(batches: Sequence[Any], place: int, chunk_of: Ints) -> Iterator[Row]:
    """Records as bytes for each chunk of a pass; those of part -1 go nowhere."""
    import pyarrow as pa

    if not batches:
        return
    table = pa.Table.from_batches(batches).unify_dictionaries()
    part = table[f"{PART}{place}"].to_numpy()
    chunk = np.where(part < 0, -1, chunk_of[part])
    order = np.argsort(chunk, kind="stable")
    order = order[np.searchsorted(chunk[order], 0) :]
    if not len(order):
        return
    ordered, chunks = table.take(pa.array(order)).combine_chunks(), chunk[order]
    starts = np.flatnonzero(np.append(True, chunks[1:] != chunks[:-1]))
    for a, b in zip(starts, np.append(starts[1:], len(chunks)), strict=True):
        yield int(chunks[a]), RECORDS, _bytes(ordered.slice(a, b - a))


def _bytes(table: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Solve:
    """Puts the records of a chunk together, has the work done, and sends results, and records to the next work."""

    reading: Reading
    work: ChunkWork
    ranges: Sequence[range]  # the parts of each chunk
    sizes: Sequence[int]  # the records of each part
    place: int  # of this work among all that are done one after the other
    onward: Ints | None = None  # the chunks of the parts of the next pass, where records go from here

    def __call__(self, number: int, payloads: Sequence[Any]) -> Iterator[Row]:
        """What becomes of a chunk."""
        import pyarrow as pa

        tables = [pa.ipc.open_stream(payload).read_all() for payload in payloads]
        table = pa.concat_tables(tables).unify_dictionaries()
        del tables
        order = np.argsort(table[NUMBER].to_numpy(), kind="stable")
        table = table.take(pa.array(order)).combine_chunks()
        parts = self.ranges[number]
        if table.num_rows != sum(self.sizes[p] for p in parts):
            raise CoterieError("The input must not change while it is read.", "a different number of records")
        numbers, part = table[NUMBER].to_numpy(), table[f"{PART}{self.place}"].to_numpy()
        records = Records(numbers, table.column, self.reading)
        carried, result = self.work(number, Chunk(records, part, parts))
        yield -1 - number, RESULT, pickle.dumps((self.place, number, result))
        if self.onward is None:
            return
        for name, values in (carried or {}).items():
            table = table.append_column(name, pa.array(values))
        yield from send(table.to_batches(), self.place + 1, self.onward)


def mapped(run: Callable[[int], Iterator[Row]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for mapInArrow: numbers of tasks in, rows out."""
    version = __version__

    def tasks(batches: Iterator[Any]) -> Iterator[Any]:
        from coterie.engines.spark_tasks import check_version, rows_of

        check_version(version)
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from rows_of(partial(run, task))

    tasks.__annotations__ = {}  # which Spark would read
    return tasks


def reduced(run: Callable[[int, Sequence[Any]], Iterator[Row]]) -> Callable[[Any], Any]:
    """A function for applyInArrow: the rows of a chunk in, rows out."""

    def chunk(table: Any) -> Any:
        import pyarrow as pa

        from coterie.engines.spark_tasks import empty_rows, forwarded, payloads_of, rows_of

        passing, (number, payloads) = forwarded(table), payloads_of(table)
        made = list(rows_of(partial(run, number, payloads))) if payloads else []
        return pa.Table.from_batches([*passing, *made]) if passing or made else empty_rows()

    chunk.__annotations__ = {}  # which Spark would read
    return chunk


def forwarded(table: Any) -> list[Any]:
    """The rows that are meant for the driver."""
    import pyarrow as pa

    kinds = table["kind"].to_numpy()
    rows = np.flatnonzero(kinds != RECORDS)
    return _typed(table.take(pa.array(rows))).to_batches() if len(rows) else []


def payloads_of(table: Any) -> tuple[int, list[Any]]:
    """The chunk that rows are for, and the bytes of its records."""
    kinds = table["kind"].to_numpy()
    rows = np.flatnonzero(kinds == RECORDS)
    column = table["payload"]
    return int(table["chunk"][0].as_py()), [column[int(row)].as_buffer() for row in rows]


def _typed(table: Any) -> Any:
    return table.select(["chunk", "kind", "payload"]).cast(empty_rows().schema)


def empty_rows() -> Any:
    """No rows, with the columns that they have."""
    import pyarrow as pa

    return pa.schema([("chunk", pa.int64()), ("kind", pa.int32()), ("payload", pa.binary())]).empty_table()


def check_version(driver: str) -> None:
    """Refuse to work for a driver of another version: what is pickled here would not be what is meant."""
    if driver != __version__:
        raise RuntimeError(f"Coterie is of version {__version__} on a worker and {driver} on the driver.")


def rows_of(run: Callable[[], Iterator[Row]]) -> Iterator[Any]:
    """Rows as Arrow batches. What Coterie refuses is a row; any other error is told by its type and lines of code."""
    import pyarrow as pa

    schema = empty_rows().schema
    told: str | None = None
    refused: CoterieError | None = None
    try:
        for chunk, kind, payload in run():
            arrays = [pa.array([chunk], pa.int64()), pa.array([kind], pa.int32()), pa.array([payload], pa.binary())]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
    except UnexpectedError as error:
        told = str(error)
    except CoterieError as error:
        refused = error
    except MemoryError:
        told = "A worker ran out of memory."
    except Exception as error:
        told = str(UnexpectedError.of(error))
    if told is not None:
        raise RuntimeError(told)
    if refused is not None:
        payload = pickle.dumps((type(refused), refused.what, refused.got, refused.hint))
        arrays = [pa.array([-1], pa.int64()), pa.array([REFUSED], pa.int32()), pa.array([payload], pa.binary())]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
