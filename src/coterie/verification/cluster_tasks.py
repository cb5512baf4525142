"""What the tasks of a cluster do to check a release: each reads some of its files, or counts some of its classes.

Tasks hand rows on: to which part of the classes a row goes (`part`), what it holds (`place`), and a blob: Arrow batches
of the plain types that DuckDB keeps exactly, so that Spark compares no value. Every class is whole in one part, where
DuckDB is asked what it is asked on one machine.

No error of a task says anything of the data: Spark writes such errors into its logs.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import CoterieError, PromiseError
from . import batches as arrow
from . import numbering, prepared, sql
from .asking import ask, kinds_of
from .claims import Claims, Guard
from .literals import ident
from .reading import cannot_be_read, check_released, opened_files, positions, pour, private_connection, quietly
from .texts import Folds

SCHEMA = "part bigint, place int, blob binary"
REFUSED, ANSWER = -1, -2  # places of rows that hold an error or an answer, as JSON
MEMORY = 1 << 30  # bytes that DuckDB may take in a task; what needs more goes to the disk
ROWS = 1 << 18  # records that are handed on at a time
BLOB = 1 << 16  # records in a blob: Spark puts many into one message
BUFFER = 1 << 26  # bytes of blobs that are put into a table at a time


class Task(ABC):
    """A function of batches of rows, whose errors tell nothing of the data."""

    def __call__(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Hand on what `run` gives; where Coterie refuses the data, that; else an error that names only a type."""
        refused, kind = None, None
        try:
            yield from self.run(rows)
        except CoterieError as error:
            refused = told_of_error(error)
        except Exception as error:
            kind = type(error).__name__
        if refused is not None:
            yield _json_row(REFUSED, refused)
        if kind is not None:  # raised here, it has no context
            raise RuntimeError(f"A task failed to check the release: {kind}.")

    @abstractmethod
    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The work of the task."""


def told_of_error(error: CoterieError) -> list[str | None]:
    """An error as JSON has it; no values are in it."""
    return ["promise" if isinstance(error, PromiseError) else "", error.what, error.got, error.hint]


def error_of(told: Sequence[Any]) -> CoterieError:
    """The error again."""
    return (PromiseError if told[0] else CoterieError)(*told[1:])


@dataclass(frozen=True)
class Files:
    """The files of a release, in the parts that tasks read."""

    paths: tuple[str, ...]
    tasks: int
    name: str  # what errors call the release

    def of(self, rows: Iterator[Any]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The tasks that a batch names, each with its files; there is one, but Spark promises nothing."""
        for batch in rows:
            for task in batch.column(0).to_pylist():
                first, last = (len(self.paths) * (task + j) // self.tasks for j in (0, 1))
                yield task, self.paths[first:last]


@dataclass(frozen=True)
class Look(Task):
    """What must be known before classes are counted: columns, types, characters beyond ASCII, unreadable values."""

    files: Files
    claims: Claims

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """One answer for each part of the files."""
        for task, paths in self.files.of(rows):
            yield _json_row(ANSWER, {"task": task, **self._looked(task, paths)})

    def _looked(self, task: int, paths: tuple[str, ...]) -> dict[str, Any]:
        complaint = cannot_be_read(self.files.name, "parquet")
        found: dict[str, Any] = {"schemas": sorted(quietly(lambda: {_digest(path) for path in paths}, complaint))}
        claims = self.claims
        if len(found["schemas"]) > 1 or (task > 0 and not (claims.guards or claims.apart or claims.unit)):
            return found | {
                "letters": {},
                "readable": {},
                "prepared": [],
                "often": [],
                "number": None,
            }  # types are the same in all files, or none is taken
        try:
            names = arrow.schema_of_parquet(paths[0]).names
            positions(names, [*self.claims.columns, *self.claims.apart])
            check_released(names, self.claims.released)
            with opened_files(paths, self.claims.columns, self.files.name, MEMORY, empty=True) as (relation, called):
                found["kinds"] = kinds_of(relation, called)
            found |= self._values(paths, found["kinds"])
            found |= self._apart(paths)
        except CoterieError as error:  # not before it is known whether all files are alike
            found["refused"] = told_of_error(error)
        return found

    def _values(self, paths: tuple[str, ...], kinds: Mapping[str, str]) -> dict[str, Any]:
        guards = guards_of(self.claims, kinds)
        found: dict[str, Any] = {"letters": {}, "readable": {}}
        columns = tuple(dict.fromkeys(guard.column for guard in guards.values()))
        if not columns:
            return found
        with opened_files(paths, columns, self.files.name, MEMORY) as (relation, called):
            for place, guard in guards.items():
                name, kind = called[guard.column], kinds[guard.column]
                if sql.has_keys(guard, kind):
                    found["letters"][place] = [c for (c,) in ask(relation, sql.letters(guard, name))]
                elif place != UNIT:
                    with suppress(CoterieError):  # of a type that does not fit: said when it is this guard's turn
                        (found["readable"][place],) = ask(relation, sql.readable(guard, name, kind))
        return found

    def _apart(self, paths: tuple[str, ...]) -> dict[str, Any]:
        """Of each prepared column, how many values are not as they were to be; what there is of record numbers."""
        columns, number = self.claims.apart, self.claims.number
        if not columns:
            return {"prepared": [], "often": [], "number": None}
        with opened_files(paths, columns, self.files.name, MEMORY, moments=True) as (relation, called):
            kinds = kinds_of(relation, called)
            found = [prepared.counts(relation, p, called[p.column], kinds[p.column]) for p in self.claims.prepared]
            often = [prepared.often(relation, p, called[p.column], kinds[p.column]) for p in self.claims.prepared]
            numbers = None if number is None else numbering.counts(relation, called[number], kinds[number])
            return {"prepared": found, "often": often, "number": numbers, "number_kind": number and kinds[number]}


UNIT = "unit"


def guards_of(claims: Claims, kinds: Mapping[str, str]) -> dict[str, Guard]:
    """The guards by their numbers, and what stands for the unit: how many of it a class must hold makes no difference.

    Names of columns would do, but a column may be both.
    """
    guards = {str(j): guard for j, guard in enumerate(claims.guards)}
    if claims.unit is not None:
        guards[UNIT] = claims.unit.guard(claims.scenarios[0].k, kinds[claims.unit.column] in sql.TEXT)
    return guards


def _digest(path: str) -> str:
    """What two files have in common only if they have the same schema."""
    import pyarrow as pa

    schema = arrow.schema_of_parquet(path)
    bare = pa.schema([field.remove_metadata() for field in schema])
    return hashlib.sha256(bare.serialize().to_pybytes()).hexdigest()


@dataclass(frozen=True)
class Grouping:
    """Values that make classes: questions for the keys, in terms of c0, c1, …; and whether a missing one makes none."""

    keys: tuple[str, ...]
    present: bool = False


@dataclass(frozen=True)
class Tally(Task):
    """The classes of the files of a task, by every grouping."""

    files: Files
    columns: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    parts: tuple[int, ...]

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Blobs of keys and counts; places are groupings."""
        for _, paths in self.files.of(rows):
            with opened_files(paths, self.columns, self.files.name, MEMORY) as (relation, _):
                for place, grouping in enumerate(self.groupings):
                    question = sql.tallies(grouping.keys, grouping.present)
                    yield from _dealt(relation, question, place, self.parts)


@dataclass(frozen=True)
class Sizes(Task):
    """How many classes of a part there are of each size."""

    groupings: tuple[Grouping, ...]

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """An answer: rows of size and number, by grouping."""
        with private_connection(MEMORY) as connection:
            held = _Tables(connection)
            yield from held.fill(rows)
            answer = {
                str(place): ask(connection.table(name), sql.sizes_of_tallies(len(self.groupings[place].keys)))
                for place, name in held.names.items()
            }
            yield _json_row(ANSWER, answer)


@dataclass(frozen=True)
class Records(Task):
    """The records of the files of a task: keys of the classes of each scenario, and the columns that are guarded."""

    files: Files
    columns: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    guarded: tuple[str, ...]  # as c0, c1, …
    parts: tuple[int, ...]

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Blobs of records; places are scenarios."""
        for _, paths in self.files.of(rows):
            with opened_files(paths, self.columns, self.files.name, MEMORY) as (relation, _):
                for place, grouping in enumerate(self.groupings):
                    yield from _dealt(relation, sql.records(grouping.keys, self.guarded), place, self.parts)


@dataclass(frozen=True)
class Values(Task):
    """The different values of columns in the files of a task, and how often they occur."""

    files: Files
    columns: Mapping[int, tuple[str, str]]  # place: column and type
    parts: tuple[int, ...]

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Blobs of values and counts."""
        names = tuple(dict.fromkeys(column for column, _ in self.columns.values()))
        for _, paths in self.files.of(rows):
            with opened_files(paths, names, self.files.name, MEMORY) as (relation, called):
                for place, (column, kind) in self.columns.items():
                    yield from _dealt(relation, sql.values(called[column], kind), place, self.parts)


@dataclass(frozen=True)
class Everywhere(Task):
    """The values of all files, to every part: what the values of a class are compared with."""

    columns: Mapping[int, tuple[str, str]]
    parts: tuple[int, ...]

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Blobs of values and counts, one for each part."""
        with private_connection(MEMORY) as connection:
            held = _Tables(connection)
            yield from held.fill(rows)
            for place, name in held.names.items():
                question = sql.values("v0", self.columns[place][1], "sum(n)")
                for batch in _reader(connection.table(name).query(sql.RELEASE, question)):
                    bare = batch.select(["v0", "n"])
                    for first in range(0, len(bare), BLOB):
                        blob = _blob(bare.slice(first, BLOB))
                        for part in self.parts:
                            yield _rows([(part, place, blob)])


@dataclass(frozen=True)
class Asked:
    """A question about a guarded column: its name among the records (v0, v1, …), its type, and the folds of its texts.

    `everywhere` is the place of the values of all files, `whole` the types for products of counts, by scenario. `least`
    is how many different values a class must have where every scenario asks for a number of its own, as of units.
    """

    guard: Guard
    column: str
    kind: str
    folds: Folds
    everywhere: int | None = None
    whole: tuple[str, ...] = ()
    least: tuple[int, ...] = ()


@dataclass(frozen=True)
class Guarded(Task):
    """How diverse the classes of a part are, and how close to the whole file."""

    keys: tuple[int, ...]  # how many there are, by scenario
    asked: tuple[Asked, ...]

    def run(self, rows: Iterator[Any]) -> Iterator[Any]:
        """An answer: number of the scenario, number of the question, diversity, closeness."""
        with private_connection(MEMORY) as connection:
            held = _Tables(connection)
            yield from held.fill(rows)
            for asked in self.asked:
                if asked.everywhere in held.names:
                    raw = connection.table(held.names[asked.everywhere])
                    question = sql.distribution(asked.guard, "v0", asked.kind, asked.folds)
                    raw.query(sql.RELEASE, question).create(f"everywhere{asked.everywhere}")
            answers = [
                [scenario, number, *self._answers(connection.table(held.names[scenario]), scenario, asked)]
                for scenario in range(len(self.keys))
                if scenario in held.names
                for number, asked in enumerate(self.asked)
            ]
            yield _json_row(ANSWER, answers)

    def _answers(self, relation: Any, scenario: int, asked: Asked) -> tuple[Any, Any]:
        keys = [ident(f"k{j}") for j in range(self.keys[scenario])]
        guard = replace(asked.guard, l=asked.least[scenario]) if asked.least else asked.guard
        about = keys, guard, asked.column, asked.kind, asked.folds
        (diversity,) = ask(relation, sql.diversity(*about))
        if asked.everywhere is None:
            return diversity, None
        question = sql.closeness(*about, asked.whole[scenario], f"everywhere{asked.everywhere}")
        (closeness,) = ask(relation, question)
        return diversity, closeness


class _Tables:
    """Tables of the blobs that reach a task, by place."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._waiting: dict[int, list[Any]] = {}
        self._bytes = 0
        self.names: dict[int, str] = {}

    def fill(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Take in all rows; errors of other tasks are handed on."""
        import pyarrow as pa

        for batch in rows:
            for place, blob in zip(batch.column(1).to_pylist(), batch.column(2), strict=True):
                if place == REFUSED:
                    yield _rows([(0, REFUSED, blob.as_py())])
                    continue
                with pa.ipc.open_stream(blob.as_buffer()) as stream:
                    self._waiting.setdefault(place, []).extend(stream)
                self._bytes += blob.as_buffer().size
            if self._bytes > BUFFER:
                self._pour()
        self._pour()

    def _pour(self) -> None:
        import pyarrow as pa

        for place, batches in self._waiting.items():
            table = pa.Table.from_batches(batches)
            pour(self._connection, f"held{place}", table, more=place in self.names)
            self.names[place] = f"held{place}"
        self._waiting, self._bytes = {}, 0


# DuckDB hashes by the same numbers again: were all of a part alike in their last bits, its tables would be slow
_MIX = np.uint64(0x9E3779B97F4A7C15)


def _dealt(relation: Any, question: str, place: int, parts: Sequence[int]) -> Iterator[Any]:
    """The answer to a question, dealt out to parts by its column h."""
    import pyarrow as pa

    for batch in _reader(relation.query(sql.RELEASE, question)):
        table = pa.Table.from_batches([batch])
        mixed = (table.column("h").to_numpy() * _MIX) >> np.uint64(33)
        to = (mixed % np.uint64(len(parts))).astype(np.int64)
        order = np.argsort(to, kind="stable")
        table = table.drop_columns(["h"]).take(pa.array(order)).combine_chunks()
        bounds = np.searchsorted(to[order], np.arange(len(parts) + 1)).tolist()
        rows = [
            (part, place, _blob(piece))
            for part, first, last in zip(parts, bounds[:-1], bounds[1:], strict=True)
            for at in range(first, last, BLOB)
            for piece in table.slice(at, min(BLOB, last - at)).to_batches()
        ]
        if rows:
            yield _rows(rows)


def _reader(relation: Any) -> Any:
    """Batches of a relation; older versions of DuckDB call it otherwise."""
    newer = hasattr(relation, "to_arrow_reader")
    return relation.to_arrow_reader(ROWS) if newer else relation.fetch_arrow_reader(ROWS)


def _blob(batch: Any) -> bytes:
    """A batch with its schema, as bytes."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _rows(rows: Sequence[tuple[int, int, bytes]]) -> Any:
    import pyarrow as pa

    types = pa.int64(), pa.int32(), pa.binary()
    arrays = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["part", "place", "blob"])


def _json_row(place: int, told: Any) -> Any:
    return _rows([(0, place, json.dumps(told).encode())])
