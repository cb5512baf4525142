"""Tables in and out: NumPy arrays, pandas, polars and pyarrow, through narwhals; the same kind comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..tables.arrow import arrow_table
from ..tables.frames import as_frame, check_names, listed, type_of

Floats = NDArray[np.float64]
LARGEST = 1e300  # beyond it, a sum of a few values is no number any more


@dataclass(frozen=True, eq=False)
class Numbers:
    """A numeric table: its values as one matrix, and what is needed to give a table of the same kind back."""

    values: Floats
    names: tuple[str, ...]
    dtypes: tuple[np.dtype[Any] | None, ...]  # where the column is of a float or integer type of NumPy's
    source: Any  # the narwhals frame, or None for an array

    def is_integer(self, j: int) -> bool:
        """Whether column j holds integers by its type."""
        dtype = self.dtypes[j]
        return dtype is not None and dtype.kind in "iu"

    def like(self, columns: Iterable[NDArray[Any]]) -> Any:
        """A table of the same kind, with the same index, names and order, holding these columns."""
        if self.source is None:
            return _matrix(columns, self.values.shape)
        frame = self.source
        if frame.implementation.is_pyarrow():
            return arrow_table(dict(zip(self.names, columns, strict=True)))
        backend = frame.implementation
        make = [nw.new_series(name=n, values=c, backend=backend) for n, c in zip(frame.columns, columns, strict=True)]
        return _without_notes(nw.to_native(frame.with_columns(*make)))


def _matrix(columns: Iterable[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[Any]:
    """Columns of one type as an array; each is asked for when there is room for it."""
    rest = iter(columns)
    first = next(rest)
    out = np.empty(shape, first.dtype)
    out[:, 0] = first
    for j, column in enumerate(rest, 1):
        out[:, j] = column
    return out


def _without_notes(table: Any) -> Any:
    """A DataFrame without what its maker noted beside the data: it would be released along with them."""
    if getattr(table, "attrs", None):
        table.attrs = {}
    return table


def read(X: Any) -> Numbers:
    """Check a table and read its numbers."""
    frame = as_frame(X)
    numbers = _from_array(X) if frame is None else _from_frame(frame)
    n, p = numbers.values.shape
    if p == 0:
        raise CoterieError("X must have at least one column.", f"{n} records and 0 columns (0 features)")
    if n == 0:
        raise CoterieError("X must contain records.", f"0 records (n_samples=0) and {p} columns")
    _check_finite(numbers)
    return numbers


def _from_frame(frame: Any) -> Numbers:
    names = tuple(str(c) for c in frame.columns)
    check_names(names)
    wrong = [n for n, dtype in zip(names, frame.schema.values(), strict=True) if not dtype.is_numeric()]
    if wrong:
        raise CoterieError(
            "All columns must be numeric.",
            f"{listed(wrong)} of type {_listed_types(frame, wrong)}",
            "leave these columns out, or convert them to numbers first.",
        )
    values, dtypes = np.empty((len(frame), len(names))), []
    for j, name in enumerate(frame.columns):
        column = frame.get_column(name)
        missing = int(column.null_count())
        if missing:
            raise _missing(str(name), missing)
        dtypes.append(_numpy_dtype(column.dtype))
        values[:, j] = _as_floats(column)
    return Numbers(values, names, tuple(dtypes), frame)


def _as_floats(column: Any) -> Floats:
    """A column as float64; integers beyond 2**53 are rounded, as NumPy does."""
    dtype = _numpy_dtype(column.dtype)
    try:
        if dtype is not None and column.implementation.is_pyarrow():  # without pandas, as in `arrow_table`
            chunks = column.to_native().chunks
            parts = [np.frombuffer(c.buffers()[1], dtype)[c.offset : c.offset + len(c)] for c in chunks if len(c)]
            return np.concatenate([np.empty(0), *parts])
        return np.asarray(column.to_numpy()).astype(np.float64)
    except Exception:  # whose own words may quote a value
        raise CoterieError(
            "All columns must be numeric.", f"'{column.name}', which cannot be read as numbers"
        ) from None


def _numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    if dtype.is_integer() or dtype.is_float():
        name = str(dtype).lower()
        return np.dtype(name) if hasattr(np, name) else None
    return None


def _from_array(X: Any) -> Numbers:
    if hasattr(X, "__arrow_c_array__") or hasattr(X, "__dataframe__"):
        raise CoterieError(
            "X must be an array, a DataFrame or a pyarrow Table.", type_of(X), "convert it to one of these."
        )
    if isinstance(X, np.ma.MaskedArray) and (masked := int(np.sum(np.ma.getmaskarray(X)))):
        raise CoterieError("X must not have missing values.", f"{masked} masked values")
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise CoterieError("X must be dense.", type_of(X), "call .toarray() first.")
    try:
        array = np.asarray(X)
    except Exception:
        raise CoterieError("X must be a table of numbers.", type_of(X)) from None
    if array.ndim != 2:
        hint = "for a single column, X.reshape(-1, 1)." if array.ndim == 1 else None
        raise CoterieError("X must have two dimensions, records and columns.", f"{array.ndim} dimensions", hint)
    if array.dtype.kind not in "fiu":
        hint = "X.astype(float), if all are numbers." if array.dtype.kind in "Ob" else None
        raise CoterieError("X must hold real numbers.", f"an array of type {array.dtype}", hint)
    p = array.shape[1]
    names = tuple(str(j) for j in range(p))
    return Numbers(np.ascontiguousarray(array, np.float64), names, (array.dtype,) * p, None)


def _check_finite(numbers: Numbers) -> None:
    for j, name in enumerate(numbers.names):
        column = numbers.values[:, j]
        if column.min() >= -LARGEST and column.max() <= LARGEST:  # not so if NaN is among them
            continue
        nans, infinite = int(np.isnan(column).sum()), int(np.isinf(column).sum())
        if nans:
            raise _missing(name, nans)
        if infinite:
            raise CoterieError("All values must be finite.", f"{infinite} infinite values (inf) in column '{name}'")
        raise CoterieError(
            f"Values must be below {LARGEST:g} in magnitude.", f"larger ones in column '{name}'", "use another unit."
        )


def _missing(name: str, count: int) -> CoterieError:
    return CoterieError(
        "X must not have missing values.",
        f"{count} missing (NaN or null) in column '{name}'",
        "drop these records or impute the values first.",
    )


def _listed_types(frame: Any, names: Sequence[str]) -> str:
    types = {str(n): type(dtype).__name__ for n, dtype in zip(frame.columns, frame.schema.values(), strict=True)}
    return ", ".join(sorted({types[n] for n in names}))
