"""What Spark's workers see: Parquet files and folders, named by a path or a URI, and Spark DataFrames.

The rows of a DataFrame have no order, and may come out in another one when they are asked for again. So they are
written once, in the order of a key, to a private folder below the place of the bundle; from then on they are files.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..engines import Engine, spark_session
from ..engines.spark import SparkEngine, collected, hashes_of
from ..engines.spark_tasks import RESULT, SCHEMA, rows_of
from ..errors import CoterieError, boundary
from ..formats import Format, default_format
from ..formats.base import check_columns
from ..formats.parquet_folder import ParquetFiles, file_system, is_uri, open_parquet
from ..tables.records import Reading
from .memory_limit import bytes_of, default_limit
from .source import Source

_GROUP = 1 << 18  # records of a group of rows


class ClusterSource(Source):
    """A table for Spark.

    Parameters
    ----------
    table : path, URI or Spark DataFrame
    options : mapping
        How a file is read: nothing, of Parquet.
    memory : int or str, optional
        The most bytes that a worker may take, about.
    """

    def __init__(self, table: Any, options: Mapping[str, Any], memory: int | str | None = None) -> None:
        if options:
            raise CoterieError("Parquet files and DataFrames take no options.", ", ".join(options))
        self.options: dict[str, Any] = {}
        self.limited = memory is not None
        self.memory = default_limit() if memory is None else bytes_of(memory)
        self.frame = table if spark_session.is_frame(table) else None
        self.place = None if self.frame is not None else str(table)
        self.path = None if self.place is None or is_uri(self.place) else Path(self.place)
        self.sha256: str | None = None
        self.files: ParquetFiles | None = None if self.place is None else open_parquet(self.place)
        if self.frame is not None:
            check_columns(list(self.frame.columns), 1, Path("the DataFrame"))

    @cached_property
    def session(self) -> Any:
        """The session of Spark: that of the DataFrame, or the active one, or a new one on this machine."""
        return self.frame.sparkSession if self.frame is not None else spark_session.start()

    @property
    def name(self) -> str | None:
        """The name of the file or the folder."""
        return None if self.place is None else Path(self.place).name

    @property
    def suffix(self) -> str:
        """How the names of files end that are released."""
        return ".parquet"

    @property
    def fits(self) -> bool:
        """It is not here."""
        return False

    @cached_property
    def format(self) -> Format:
        """How the files are packed."""
        if self.files is None or self.frame is not None:
            return default_format("parquet")
        return Format("parquet", {"compression": self.files.codec()})

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.frame.columns) if self.frame is not None else tuple(self.files.names)  # type: ignore[union-attr]

    @property
    def is_text(self) -> bool:
        """It is not."""
        return False

    @property
    def table(self) -> Any:
        """Refused: the table does not come to the driver."""
        raise CoterieError("On Spark, records stay on the workers.", "a look at the whole table")

    def choose(self, engine: str | None) -> str:
        """Spark; another engine was meant for something else."""
        if engine not in (None, "spark"):
            where = "A Spark DataFrame" if self.place is None else f"'{self.place}'"
            raise CoterieError(f"{where} is for the engine spark.", f"'{engine}'", "leave the engine out.")
        return "spark"

    def engine(self, name: str, rules: Mapping[str, Any], rows: int | None = None) -> Engine:
        """The files on Spark."""
        assert name == "spark"
        if self.files is None:
            raise CoterieError(
                "A DataFrame can be read only after it was written to files.", "no place for these", "call save(path)."
            )
        memory = self.memory if self.limited else None
        engine = SparkEngine(self.session, self.files, Reading(rules), memory, rows, hashed=self.frame is None)
        self.sha256 = engine.sha256
        return engine

    def hash(self) -> str:
        """The hash of the files, taken by the workers."""
        assert self.files is not None
        return self.files.hash(hashes_of(self.session, self.files))

    def check_key(self, key: str | None) -> None:
        """Refuse a DataFrame without a key, and a key for anything else."""
        if self.frame is None and key is not None:
            raise refuse_key(key)
        if self.frame is not None and key is None:
            what = "A Spark DataFrame needs a key: its rows have no fixed order, so results would differ between runs."
            hint = 'name a column with unique values: key="id", or [file] key = "id" in the recipe.'
            raise CoterieError(what, "none", hint)
        if key is not None and key not in self.names:
            raise CoterieError("The key must be a column of the DataFrame.", f"'{key}'")

    @boundary
    def lay_down(self, folder: str, key: str, columns: Sequence[str]) -> None:
        """Write some columns of the DataFrame to files, in the order of the key, once and for all."""
        assert self.frame is not None
        wanted = [name for name in self.names if name in {*columns, key}]
        frame = self.frame.select(*(_quoted(name) for name in wanted)).orderBy(_quoted(key))
        names = {name for _, name in collected(frame.mapInArrow(_writer(folder, key), SCHEMA))}
        if not names:
            raise CoterieError("The table must contain records.", "0")
        remove_others(folder, names)
        self.files = open_parquet(folder)

    def forget(self) -> None:
        """The files of a DataFrame are gone."""
        if self.frame is not None:
            self.files = None


def refuse_key(key: str) -> CoterieError:
    """A key for a table whose records have an order already."""
    what = "A key is only for Spark DataFrames: files and other tables have a fixed order."
    return CoterieError(what, f"'{key}'", "leave it out.")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def remove_others(folder: str, names: set[str]) -> None:
    """Remove files of attempts that did not count."""
    from pyarrow import fs

    system, root = file_system(folder)
    for entry in system.get_file_info(fs.FileSelector(root)):
        if entry.base_name not in names:
            system.delete_file(entry.path)


def _writer(folder: str, key: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for mapInArrow that writes a partition to a file, and gives its name."""

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        from coterie.release.cluster_source import written

        yield from rows_of(lambda: written(folder, key, batches))

    write.__annotations__ = {}  # which Spark would read
    return write


def written(folder: str, key: str, batches: Iterator[Any]) -> Iterator[tuple[int, int, bytes]]:
    """Write a partition, whose records are in the order of the key, to a file of its own."""
    import pyarrow as pa
    from pyarrow import parquet
    from pyspark import TaskContext

    number = TaskContext.get().partitionId()
    name = f"part-{number:09d}-{uuid.uuid4().hex[:12]}.parquet"  # names are sorted, and give the order of the records
    system, root = file_system(folder)
    stream, writer, held, last = None, None, [], None
    for batch in batches:
        if not batch.num_rows:
            continue
        last = _check_key(batch.column(key), key, last)
        held.append(_in_utc(batch))
        if writer is None:
            stream = system.open_output_stream(f"{root}/{name}")
            writer = parquet.ParquetWriter(stream, held[0].schema)
        if sum(one.num_rows for one in held) >= _GROUP:
            writer.write_table(pa.Table.from_batches(held), row_group_size=2 * _GROUP)
            held = []
    if stream is None or writer is None:
        return
    if held:
        writer.write_table(pa.Table.from_batches(held), row_group_size=2 * _GROUP)
    writer.close()
    stream.close()  # which the writer doesn't: an object store says only then whether it has the file
    yield number, RESULT, pickle.dumps(name)


def _check_key(column: Any, key: str, last: Any) -> Any:
    """Refuse keys that are missing or repeat: each edge must be above the one before. Gives the last one.

    So are those that Spark holds for equal and others don't, or the other way round: the order of texts that differ by
    case alone under a collation, of two zeros, and of what is no number is anybody's guess.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    what, hint = "The values of a key must be unique and not missing.", "use another column, or create one."
    if pa.types.is_nested(column.type):
        raise CoterieError("A key must be a column of simple values.", f"'{key}' of type {column.type}", hint)
    if column.null_count:
        raise CoterieError(what, f"missing ones in '{key}'", hint)
    before = column if last is None else pa.concat_arrays([last, column])
    if len(before) > 1 and not pc.all(pc.less(before[:-1], before[1:])).as_py():
        raise CoterieError(what, f"'{key}', whose values repeat", hint)
    return column[-1:]


def _in_utc(batch: Any) -> Any:
    """Moments in universal time: Spark labels them with the zone of its session."""
    import pyarrow as pa

    arrays, fields = [], []
    for field, array in zip(batch.schema, batch.columns, strict=True):
        zoned = pa.types.is_timestamp(field.type) and field.type.tz is not None
        kind = pa.timestamp(field.type.unit, "UTC") if zoned else field.type
        arrays.append(array.cast(kind) if zoned else array)
        fields.append(pa.field(field.name, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
