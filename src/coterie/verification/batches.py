"""Arrow batches of tables, Parquet, Feather, SPSS, Stata and SAS files, in types that DuckDB takes as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import CoterieError

Batches = tuple[list[str], Any, Iterable[Any]]  # names, schema, batches
ROWS = 1 << 17


def reader(schema: Any, batches: Iterable[Any], position: Sequence[int], moments: bool = False) -> Any:
    """The wanted columns, as c0, c1, …, for one pass of DuckDB; dates and times as such if their `moments` matter."""
    import pyarrow as pa

    made_plain = _moment if moments else plain
    # not pa.array, which imports pandas wherever that is installed
    empty = [made_plain(pa.nulls(0, schema.types[j]), schema.names[j]) for j in position]
    to = pa.schema([(f"c{j}", array.type) for j, array in enumerate(empty)])

    def converted() -> Iterator[Any]:
        for batch in batches:
            arrays = [made_plain(batch.column(j), schema.names[j]) for j in position]
            made = pa.RecordBatch.from_arrays(arrays, schema=to)
            made.validate(full=True)  # a file may hold anything; DuckDB trusts offsets and texts
            yield made

    return pa.RecordBatchReader.from_batches(to, converted())


def plain(array: Any, name: str) -> Any:
    """The same values in a type that DuckDB keeps exactly: booleans, integers, floats, texts, bytes.

    Dates and times become the integers they are stored as (DuckDB cuts some to microseconds), decimals become texts (it
    turns the widest into floats).
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, is_ = array.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage, name)
    if is_.is_dictionary(kind):
        return plain(array.dictionary_decode(), name)
    if is_.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array), name)
    if is_.is_null(kind):
        return pa.nulls(len(array), pa.int8())
    if is_.is_float16(kind):
        return array.cast(pa.float32())
    if is_.is_decimal(kind):
        return array.cast(pa.string())
    if is_.is_temporal(kind) and not is_.is_interval(kind):
        return array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if str(kind) in ("string_view", "binary_view"):
        return array.cast(pa.large_string() if str(kind) == "string_view" else pa.large_binary())
    texts = is_.is_string(kind) or is_.is_large_string(kind)
    bytes_ = is_.is_binary(kind) or is_.is_large_binary(kind) or is_.is_fixed_size_binary(kind)
    if texts or bytes_ or is_.is_boolean(kind) or is_.is_integer(kind) or is_.is_floating(kind):
        return array
    raise CoterieError("Columns must hold plain values.", f"'{name}', whose values have parts or a type of their own")


def _moment(array: Any, name: str) -> Any:
    """The same as `plain`, but dates and times stay what they are, to the last nanosecond, by their zone's clock."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, is_ = array.type, pa.types
    if is_.is_dictionary(kind):
        return _moment(array.dictionary_decode(), name)
    if is_.is_run_end_encoded(kind):
        return _moment(pc.run_end_decode(array), name)
    if is_.is_date64(kind):
        return array.cast(pa.timestamp("ms"))
    if is_.is_timestamp(kind) and kind.tz is not None:
        return pc.local_timestamp(array)
    return array if is_.is_date32(kind) or is_.is_timestamp(kind) else plain(array, name)


def of_parquet(places: Sequence[Path | str], columns: Sequence[str]) -> Batches:
    """Parquet files of one schema, one after the other, batch by batch."""
    schema = schema_of_parquet(places[0])
    for place in places[1:]:  # before any is read; and none stays open, there may be thousands
        if not schema.equals(schema_of_parquet(place)):
            raise differing()
    names = schema.names
    wanted = [c for c in dict.fromkeys(columns) if c in names]
    if any(names.count(c) > 1 for c in wanted) or len(wanted) < len(columns):
        return names, schema, ()  # to be complained about

    def batches() -> Iterator[Any]:
        for place in places:
            with _parquet(place) as file:
                yield from _of_one(file, wanted)

    import pyarrow as pa

    return wanted, pa.schema([schema.field(c) for c in wanted]), batches()


def _of_one(file: Any, wanted: Sequence[str]) -> Iterator[Any]:
    for group in range(file.num_row_groups):  # one by one: of all together, pyarrow would keep what it has read
        for batch in file.iter_batches(ROWS, columns=list(wanted), row_groups=[group]):
            if sorted(batch.schema.names) != sorted(wanted):  # a dot in a name is taken for a path, too
                raise CoterieError("Column names must be unique.", "a column inside another one with the same name")
            yield batch.select(list(wanted))


def schema_of_parquet(place: Path | str) -> Any:
    """The Arrow schema of a Parquet file."""
    with _parquet(place) as file:
        return file.schema_arrow


def differing() -> CoterieError:
    """What is said where not all files have one schema."""
    return CoterieError("All files of a release must have the same columns, of the same types.", "other ones in some")


def _parquet(place: Path | str) -> Any:
    """A Parquet file by its path, or by the URI of a file system that pyarrow knows."""
    from pyarrow import fs, parquet

    if isinstance(place, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", place):  # not a drive of Windows
        system, path = fs.FileSystem.from_uri(place)
        return parquet.ParquetFile(path, filesystem=system)
    return parquet.ParquetFile(place)


def of_feather(path: Path) -> Batches:
    """An Arrow file, or a stream of Arrow batches in a file."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        magic = file.read(6)
    source = pa.memory_map(str(path))
    if magic == b"ARROW1":
        found = pa.ipc.open_file(source)
        return found.schema.names, found.schema, (found.get_batch(j) for j in range(found.num_record_batches))
    stream = pa.ipc.open_stream(source)
    return stream.schema.names, stream.schema, stream


def of_statistics(path: Path, read: str, columns: Sequence[str], keys: Sequence[str], moments: bool = False) -> Batches:
    """An SPSS, Stata or SAS file; dates and times as such if their `moments` matter, else the numbers they are.

    Values that are missing for different reasons are different values of a key: anyone can tell them apart. Of other
    columns, what the file declares as missing is missing, or codes such as 98 and 99 would count as answers.
    """
    import pyarrow as pa

    function, names = _statistics_reader(read), names_of_statistics(path, read)
    wanted = [c for c in columns if c in names]
    if len(wanted) < len(columns):
        return names, pa.schema([]), ()  # to be complained about
    known, others = ([c for c in wanted if (c in keys) is key] for key in (True, False))
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": not moments}
    if moments and read == "read_sav":
        options["extra_date_formats"] = ["MOYR", "QYR", "WKYR"]  # which pyreadstat leaves as numbers
    codes = {} if read in ("read_por", "read_xport") else {"user_missing": True}
    found = dict(function(str(path), usecols=known, **codes, **options)[0])
    if others:
        found |= function(str(path), usecols=others, **options)[0]
    made = _of_moments if moments else of_objects
    table = pa.table({c: made(list(found[c]), c in keys) for c in wanted})
    return wanted, table.schema, table.to_batches(ROWS)


def names_of_statistics(path: Path, read: str) -> list[str]:
    """The columns of an SPSS, Stata or SAS file."""
    return list(_statistics_reader(read)(str(path), metadataonly=True)[1].column_names)


def _statistics_reader(read: str) -> Any:
    try:
        return getattr(import_module("pyreadstat"), read)
    except ImportError:
        hint = "pip install 'coterie[files]'"
        raise CoterieError("SPSS, Stata and SAS files are read by pyreadstat.", "no such package", hint) from None


def of_table(release: Any, columns: Sequence[str], keys: Sequence[str]) -> Batches:
    """A pandas or polars DataFrame, a pyarrow Table, or anything else that gives a stream of Arrow batches."""
    import narwhals as nw
    import pyarrow as pa

    frame = nw.from_native(release, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        names = [str(c) for c in frame.columns]
        wanted = [c for c in columns if names.count(c) == 1]
        if len(wanted) < len(columns):
            return names, pa.schema([]), ()
        table = pa.table({c: _of_series(frame.get_column(frame.columns[names.index(c)]), c in keys) for c in wanted})
        return wanted, table.schema, table.to_batches(ROWS)
    if hasattr(frame, "collect"):
        raise CoterieError(
            "A table must be in memory.", f"a lazy one ({type(release).__name__})", "call .collect() first."
        )
    if not hasattr(release, "__arrow_c_stream__"):
        what = "The release must be the path of a file, or a pandas, polars or pyarrow table."
        raise CoterieError(what, f"an object of type {type(release).__name__}")
    stream = pa.RecordBatchReader.from_stream(release)
    return stream.schema.names, stream.schema, stream


def _of_series(column: Any, exact: bool) -> Any:
    """A column as Arrow. pandas' way there makes NaN and None the same, and 1 and 1.0 in a column of objects."""
    import pyarrow as pa

    dtype = getattr(column.to_native(), "dtype", None)
    if str(dtype).lower() == "object":
        return of_objects(column.to_list(), exact)
    if type(dtype).__module__.startswith("numpy") and column.dtype.is_float():
        return pa.array(column.to_numpy())
    return column.to_arrow()


def of_objects(values: Sequence[Any], exact: bool) -> Any:
    """Python objects as Arrow: of one type as they are or as texts, of several as texts that tell the type."""
    import pyarrow as pa

    if all(type(v) is float or v is None for v in values):
        return pa.array(values, pa.float64(), from_pandas=False)
    nothing = [_is_nothing(v) for v in values]
    types = {type(v) for v, missing in zip(values, nothing, strict=True) if not missing}
    lost = {type(v) for v, missing in zip(values, nothing, strict=True) if missing}
    if len(types) <= 1 and (len(lost) <= 1 or not exact):
        return pa.array([None if m else str(v) for v, m in zip(values, nothing, strict=True)], pa.large_string())
    if exact:
        return pa.array([f"{type(v).__name__} {v!r}" for v in values], pa.large_string())
    told = (None if m else f"{type(v).__name__} {v!r}" for v, m in zip(values, nothing, strict=True))
    return pa.array(list(told), pa.large_string())


def _of_moments(values: Sequence[Any], exact: bool) -> Any:
    """The same, but dates and times as such."""
    import datetime as dt

    import pyarrow as pa

    present = [None if _is_nothing(v) else v for v in values]
    types = {type(v) for v in present if v is not None}
    if types in ({dt.date}, {dt.datetime}):
        return pa.array(present, pa.date32() if dt.date in types else pa.timestamp("us"))
    return of_objects(values, exact)


def _is_nothing(value: Any) -> bool:
    """Whether an object is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
