"""Tables of any library for a release: columns as Arrow arrays one by one, and the same kind of table back.

Columns that are not masked are never converted, so that whatever their type holds survives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ..errors import NOT_OF_THE_DATA, CoterieError
from .arrow import as_array, used_levels

Ints = NDArray[np.int64]


def as_frame(X: Any) -> Any:
    """X as a narwhals frame; None where it is no frame."""
    if isinstance(X, np.ndarray):
        return None
    unreadable = False
    try:
        frame = nw.from_native(X, pass_through=True, eager_only=True, allow_series=True)
    except Exception:
        unreadable = True
    if unreadable:
        check_names([str(c) for c in getattr(X, "column_names", getattr(X, "columns", ()))])  # the usual reason
        raise CoterieError("X must be a table that narwhals can read.", type_of(X))
    if hasattr(frame, "collect"):  # lazy, in whichever library
        raise CoterieError("X must be in memory.", type_of(X), "call .collect() first.")
    if isinstance(frame, nw.Series):
        raise CoterieError("X must have two dimensions.", f"one column, {type_of(X)}", "call .to_frame() first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def check_names(names: Sequence[str]) -> None:
    """Refuse names that stand twice."""
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise CoterieError("Column names must be unique.", f"{listed(twice)} more than once")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names for a message, the rest counted."""
    shown = ", ".join(f"'{n}'" for n in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def type_of(X: Any) -> str:
    """The type of an object for a message."""
    return f"an object of type {type(X).__module__.split('.')[0]}.{type(X).__name__}"


class Table(Protocol):
    """What a release is made from."""

    names: tuple[str, ...]
    records: int

    def arrow(self, name: str) -> Any:
        """A column as a pyarrow Array."""

    def build(
        self, names: Sequence[str], masked: Mapping[str, Any], rows: Ints, new: Mapping[str, Any] | None = None
    ) -> Any:
        """A table of these columns and rows, some of them replaced by Arrow arrays (of the same rows).

        Masked columns get the types they had; new ones keep that of their array.
        """


def open_table(table: Any) -> Table:
    """A pandas, polars or pyarrow table, ready to be read column by column."""
    frame = as_frame(table)
    if frame is None:
        kind = f"{type(table).__module__.split('.')[0]}.{type(table).__name__}"
        raise CoterieError(
            "The table must be a pandas, polars or pyarrow table, or a file.", f"an object of type {kind}"
        )
    check_names([str(c) for c in frame.columns])
    if not all(isinstance(c, str) for c in frame.columns):
        raise CoterieError("Column names must be strings.", "others", "rename the columns.")
    if frame.implementation.is_pyarrow():
        return ArrowTable(nw.to_native(frame))
    return FrameTable(frame)


def as_arrow(table: Any) -> Any:
    """A table of any library as a pyarrow Table, to be written."""
    frame = as_frame(table)
    if frame.implementation.is_pyarrow():
        return nw.to_native(frame)
    try:
        return frame.to_arrow().replace_schema_metadata(None)
    except NOT_OF_THE_DATA:
        raise
    except Exception:  # whose own words may quote a value
        columns = FrameTable(frame)
    for name in columns.names:
        columns.arrow(name)  # which says the column that is to blame
    raise CoterieError("The table must be one that pyarrow can hold, to be written.", type_of(table))


def with_names(table: Any, names: Sequence[str]) -> Any:
    """The same table under other names of columns."""
    frame = as_frame(table)
    if frame.implementation.is_pyarrow():
        return nw.to_native(frame).rename_columns(list(names))
    return nw.to_native(frame.rename(dict(zip(frame.columns, names, strict=True))))


class ArrowTable:
    """A pyarrow Table."""

    def __init__(self, table: Any) -> None:
        check_names(table.column_names)
        self._table = table
        self.names = tuple(table.column_names)
        self.records = table.num_rows

    def arrow(self, name: str) -> Any:
        """A column as one Array."""
        return as_array(self._table.column(name))

    def build(
        self, names: Sequence[str], masked: Mapping[str, Any], rows: Ints, new: Mapping[str, Any] | None = None
    ) -> Any:
        """A new Table, without what its maker noted beside the data."""
        import pyarrow as pa

        masked = {**masked, **(new or {})}
        take = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])
        arrays = [masked[n] if n in masked else used_levels(taken(n, self.arrow(n), take)) for n in names]
        return pa.Table.from_arrays(arrays, names=list(names))


def taken(name: str, array: Any, rows: Any) -> Any:
    """Rows of an array; those of views of texts, which pyarrow does not take, by way of texts."""
    import pyarrow as pa

    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}.get(str(array.type))
    try:
        return array.take(rows) if plain is None else array.cast(plain).take(rows).cast(array.type)
    except pa.ArrowNotImplementedError:
        what = f"The column '{name}' must have a type whose rows pyarrow can reorder."
        raise CoterieError(what, f"type {array.type}", "cast it, or drop it as an identifier.") from None


class FrameTable:
    """A DataFrame of pandas, polars or another library that narwhals knows."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names = tuple(frame.columns)
        self.records = len(frame)
        index = getattr(nw.to_native(frame), "index", None)
        if index is not None and (getattr(index, "nlevels", 1) > 1 or index.name is not None or not _counts(index)):
            what = "A release has no index, and this index may hold information."
            raise CoterieError(
                what, f"an index of type {type(index).__name__}", "call .reset_index() and give it a role."
            )

    def arrow(self, name: str) -> Any:
        """A column as one Array."""
        failed = False
        try:
            return as_array(self._frame.get_column(name).to_arrow())
        except NOT_OF_THE_DATA:
            raise
        except Exception:  # whose own words may quote a value
            failed = True
        if failed:
            kind = type(self._frame.schema[name]).__name__
            raise CoterieError(f"The column '{name}' must hold values of one type.", f"type {kind}")
        return None

    def build(
        self, names: Sequence[str], masked: Mapping[str, Any], rows: Ints, new: Mapping[str, Any] | None = None
    ) -> Any:
        """A frame of the same library, with a new index where it has one."""
        import pyarrow as pa

        masked = {**masked, **(new or {})}
        kept = [n for n in names if n not in masked]
        native = nw.to_native(self._frame.select(kept)[rows.tolist()]) if kept else None
        if native is not None and hasattr(native, "reset_index"):
            native = native.reset_index(drop=True)
            native.attrs = {}
        if native is not None:
            native = _without_levels(native)
        changed = nw.DataFrame.from_arrow(pa.table(dict(masked)), backend=self._frame.implementation)
        columns = {
            n: changed.get_column(n) if n in (new or {}) else self._as_it_was(n, changed.get_column(n), masked[n].type)
            for n in masked
        }
        whole = changed if native is None else nw.from_native(native)
        return nw.to_native(whole.with_columns(*columns.values()).select(list(names)))

    def _as_it_was(self, name: str, series: Any, kind: Any) -> Any:
        """A masked column, of this Arrow type, in the type it had, where that holds the new values and nothing more."""
        import pyarrow as pa

        column = self._frame.get_column(name)
        new, old, was = nw.to_native(series), nw.to_native(column), column.dtype  # the schema looks at all columns
        if (was.is_integer() and pa.types.is_floating(kind)) or isinstance(was, nw.Object):
            return series
        if _is_other(was, kind):  # it was prepared, and has become something else
            return series
        try:
            if isinstance(was, nw.Enum) and hasattr(new, "cast"):  # polars: the categories are its type
                used = set(series.drop_nulls().cast(nw.String).to_list())
                return nw.from_native(
                    new.cast(type(old.dtype)([c for c in was.categories if c in used])), series_only=True
                )
            new = new.astype(old.dtype) if hasattr(new, "astype") else new.cast(old.dtype)
        except Exception:
            return series  # blanked cells in a type without gaps
        if hasattr(new, "cat") and hasattr(new.cat, "remove_unused_categories"):
            new = new.cat.remove_unused_categories()
        if nw.from_native(new, series_only=True).null_count() != series.null_count():
            return series  # new categories, which the old type does not have
        return nw.from_native(new, series_only=True)


def _is_other(was: Any, kind: Any) -> bool:
    """Whether texts, or finer numbers, stand in a column of numbers or dates: its old type would change them."""
    import pyarrow as pa

    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return bool(was.is_numeric() or was.is_temporal() or isinstance(was, nw.Boolean))
    if pa.types.is_dictionary(kind):
        return not isinstance(was, (nw.Categorical, nw.Enum, nw.String))
    return bool(pa.types.is_float64(kind) and isinstance(was, nw.Float32))


def _counts(index: Any) -> bool:
    """Whether an index only counts rows, or says which of them were kept."""
    return getattr(index, "dtype", None) is not None and index.dtype.kind in "iu"


def _without_levels(native: Any) -> Any:
    """A frame whose categories all occur: others could tell of records that were left out."""
    if not hasattr(native, "iloc"):
        return _without_levels_of_type(native)
    for name in native.columns:
        series = native[name]
        if hasattr(series, "cat"):
            native[name] = series.cat.remove_unused_categories()
        elif str(getattr(series.dtype, "pyarrow_dtype", "")).startswith("dictionary"):
            native[name] = type(series.array)(used_levels(as_array(series.array.__arrow_array__())))
    return native


def _without_levels_of_type(native: Any) -> Any:
    """A frame of polars, where categories belong to the type of a column."""
    frame = nw.from_native(native)
    for name, kind in frame.schema.items():
        if not isinstance(kind, (nw.Enum, nw.Categorical)):
            continue
        old = nw.to_native(frame.get_column(name))
        texts = nw.to_native(frame.get_column(name).cast(nw.String))
        to = old.dtype
        if isinstance(kind, nw.Enum):
            used = set(texts.drop_nulls().unique().to_list())
            to = type(to)([c for c in kind.categories if c in used])
        native = native.with_columns(texts.cast(to).alias(name))
    return native
