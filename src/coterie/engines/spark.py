"""Parquet files of any size on Spark: the driver plans and counts, the workers read, solve and write.

A look at all records is one job of tasks that need not know of each other. Parts are solved in one job, too: tasks read
records and send them to the chunks that hold their parts (a shuffle, the only one), where the work is done. The driver
gets counts, samples and facts. Nothing depends on how many workers there are, or on who of them comes first.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..formats.parquet_folder import ParquetFiles, Piece
from ..tables.gathering import C, Collector
from ..tables.records import Reading, Records
from . import Chunk, Router, chunk_ranges, spark_tasks
from .spark_tasks import REFUSED, SCHEMA, ChunkWork, Hashing, Look, Reader, Route, Solve

Ints = NDArray[np.int64]

_TASK = 1_000_000  # records that a task reads
_CHUNK = 1_000_000  # records that are solved together, at most: a file of the release
_FEW = 250_000  # so many are enough for one
_CHUNKS = 200  # of which there should be so many, to keep workers busy to the end
WORKER = 1 << 30  # bytes that a worker may take for the records of a chunk, unless said
_TIMES = 6  # the bytes that solving takes for each byte of a record: as it came, sorted, as numbers, grouped, written


class Pass(NamedTuple):
    """One way to divide the records, and what is done with each chunk."""

    sizes: Sequence[int]  # of the parts
    together: tuple[int, int] | None  # two parts that follow each other, and are not torn apart
    work: ChunkWork


class SparkEngine:
    """Parquet files that Spark's workers see.

    Parameters
    ----------
    session : SparkSession
        Of this process, or of Spark Connect.
    files : ParquetFiles
    reading : Reading
        How columns are read.
    memory : int, optional
        How many bytes a worker may take, about.
    rows : int, optional
        How many records are solved together, at most; else as many as the memory takes.
    hashed : bool
        Whether the files are hashed, now and in `check_unchanged`: those that we wrote ourselves need not be.
    """

    name = "spark"

    def __init__(
        self,
        session: Any,
        files: ParquetFiles,
        reading: Reading,
        memory: int | None = None,
        rows: int | None = None,
        hashed: bool = True,
    ) -> None:
        self.names, self.records, self.reading, self.rows = tuple(files.names), files.records, reading, rows
        self.session, self.files = session, files
        self._memory = memory or WORKER
        self._tasks = _tasks(files, min(_TASK, rows or _TASK))
        self.sha256 = self._hash() if hashed else None

    def _hash(self) -> str:
        return self.files.hash(hashes_of(self.session, self.files))

    def check_unchanged(self) -> None:
        """Refuse files that were written to, or replaced, since they were opened."""
        if self.sha256 is not None and self._hash() != self.sha256:
            raise CoterieError("The input must not change while it is read.", f"'{self.files.root}', which changed")

    def close(self) -> None:
        """The session stays: whoever started it stops it."""

    def gather(self, columns: Sequence[str], into: C, /) -> C:
        """Show these columns of all records to collectors on the workers, and merge what they found, in order."""
        for _, found in self.looks(columns, into):
            into.merge(found)
        return into

    def looks(self, columns: Sequence[str], fresh: Collector) -> list[tuple[int, Any]]:
        """What a collector finds in each task."""
        return _each(self.session, Look(self._reader, tuple(columns), fresh), len(self._tasks))

    @property
    def _reader(self) -> Reader:
        return Reader(self.files, self._tasks, self.reading)

    def scan(self, columns: Sequence[str]) -> Iterator[Records]:
        """Refused: the table does not come to the driver."""
        raise CoterieError("On Spark, records stay on the workers.", f"a look at {len(columns)} columns of all")

    def chunks(
        self, columns: Sequence[str], router: Router, sizes: Sequence[int], together: tuple[int, int] | None = None
    ) -> Iterator[Chunk]:
        """Refused, likewise: `passes` brings the work to the chunks."""
        del columns, sizes, together
        raise CoterieError("On Spark, records stay on the workers.", f"chunks of {type(router).__name__}")

    def passes(
        self, columns: Sequence[str], routers: Callable[[int], Sequence[Router]], every: Sequence[Pass]
    ) -> list[list[tuple[int, Any]]]:
        """Do the work of each pass on its chunks, one pass after the other; what each says of its chunks, in order.

        `routers` gives those of a task, one for each pass. What a pass carries along is there for those that follow, as
        columns of the records.
        """
        names = list(dict.fromkeys(columns))
        most = self._most(names, max(size for one in every for size in one.sizes))
        ranges = [chunk_ranges(one.sizes, most, one.together) for one in every]
        chunk_of = [np.repeat(np.arange(len(own)), [len(parts) for parts in own]) for own in ranges]
        frame = _mapped(self.session, Route(self._reader, names, routers, chunk_of[0]), len(self._tasks))
        for i, one in enumerate(every):
            onward = chunk_of[i + 1] if i + 1 < len(every) else None
            run = spark_tasks.reduced(Solve(self.reading, one.work, ranges[i], one.sizes, i, onward))
            frame = frame.repartition(max(1, len(ranges[i])), "chunk").groupBy("chunk").applyInArrow(run, SCHEMA)
        out: list[list[tuple[int, Any]]] = [[] for _ in every]
        for _, (i, number, result) in collected(frame):
            out[i].append((number, result))
        for one, own, told in zip(every, ranges, out, strict=True):
            told.sort(key=lambda pair: pair[0])
            held = [c for c, parts in enumerate(own) if any(one.sizes[part] for part in parts)]
            if [number for number, _ in told] != held:
                raise CoterieError("Every chunk must be solved once.", f"{len(told)} of {len(held)}")
        return out

    def _most(self, names: Sequence[str], largest: int) -> int:
        """How many records are solved together; refused if the largest part does not fit a worker."""
        if self.rows is None:
            batch = next(iter(self.files.batches(names, self._tasks[0][:1])))
            each = _TIMES * batch.nbytes / max(1, batch.num_rows) + 32 * len(names) + 64
            wanted = min(_CHUNK, max(_FEW, self.records // _CHUNKS))  # by the table alone, whatever the workers
            fit = int(self._memory / each)
            if largest > fit:
                what = (
                    f"A block must fit into a worker's memory limit of {self._memory >> 20:,} MiB: about "
                    f"{fit:,} records."
                )
                hint = "make blocks smaller with [method] blocks, or allow workers more memory (--memory)."
                raise CoterieError(what, f"one of {largest:,} records", hint)
            self.rows = min(wanted, fit)
        return self.rows


def hashes_of(session: Any, files: ParquetFiles) -> list[str]:
    """The hash of each file, taken by the workers."""
    return [digest for _, digest in _each(session, Hashing(files), len(files.files))]


def _each(session: Any, run: Callable[[int], Iterator[Any]], tasks: int) -> list[tuple[int, Any]]:
    """What each task gives, in their order."""
    found = sorted(collected(_mapped(session, run, tasks)), key=lambda pair: pair[0])
    if [task for task, _ in found] != list(range(tasks)):
        raise CoterieError("Every task must be done once.", f"{len(found)} of {tasks}")
    return found


def _mapped(session: Any, run: Callable[[int], Iterator[Any]], tasks: int) -> Any:
    return session.range(0, tasks, 1, tasks).mapInArrow(spark_tasks.mapped(run), SCHEMA)


def collected(frame: Any) -> Iterable[tuple[int, Any]]:
    """The results of a job. Spark's own words about an error may be those of a worker, so they stay here."""
    rows = quietly(frame.collect)
    for row in rows:
        if row["kind"] == REFUSED:
            kind, *said = pickle.loads(row["payload"])
            raise kind(*said)
    return [(row["chunk"], pickle.loads(row["payload"])) for row in rows]


def quietly(run: Callable[[], Any]) -> Any:
    """What a job gives, or an error that says what a worker said of itself."""
    try:
        return run()
    except CoterieError:
        raise
    except Exception as error:
        kind, words = type(error).__name__, str(error)
    if "No module named 'coterie" in words:
        hint = "install the same version of coterie on every worker, or ship it with spark.archives."
        raise CoterieError("Spark's workers must have Coterie.", "workers without", hint)
    told = next((line for line in words.splitlines() if line.strip().startswith("RuntimeError: ")), None)
    if told is not None:
        raise CoterieError("A worker failed.", told.strip().removeprefix("RuntimeError: "))
    hint = "see Spark's logs: was a worker killed, for example for lack of memory?"
    raise CoterieError("Spark could not finish.", kind, hint)


def _tasks(files: ParquetFiles, most: int) -> list[list[Piece]]:
    """Pieces that are read by one task, one after the other: about so many records."""
    out: list[list[Piece]] = []
    held = most
    for piece in files.pieces(most):
        if held + piece.records > most:
            out.append([])
            held = 0
        out[-1].append(piece)
        held += piece.records
    return out
