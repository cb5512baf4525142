"""All that is asked of Arrow arrays beyond pyarrow's own functions: buffers as NumPy arrays and back, without pandas.

pyarrow's own conversions import pandas wherever that is installed, which takes as long as a small job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def as_array(array: Any) -> Any:
    """One pyarrow Array, not one of chunks; a dictionary stays one."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = (
            array.unify_dictionaries().combine_chunks()
            if pa.types.is_dictionary(array.type)
            else array.combine_chunks()
        )
    return array


def used_levels(array: Any) -> Any:
    """A dictionary without the levels that no record has, which could tell of records that were left out.

    Other arrays stay as they are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(array.type):
        return array
    used = pc.unique(array.indices.drop_null())
    used = used.take(pc.sort_indices(used))
    indices = pc.index_in(array.indices, used)
    return pa.DictionaryArray.from_arrays(
        indices.cast(array.type.index_type), array.dictionary.take(used), ordered=array.type.ordered
    )


def countable(array: Any) -> tuple[Any, bool]:
    """A column in a type whose values pyarrow can count, and whether they have several parts: these become texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    view = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}.get(str(kind))
    if view is not None:
        return array.cast(view), False
    if pa.types.is_dictionary(kind):
        return countable(array.dictionary_decode())
    if isinstance(kind, pa.BaseExtensionType):
        return countable(array.storage)
    if str(kind).startswith("run_end_encoded"):
        return countable(pc.run_end_decode(array))
    if not pa.types.is_nested(kind):
        return array, False
    return pa.array([None if value is None else repr(value) for value in array.to_pylist()], pa.string()), True


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def floats_of(array: Any) -> Floats:
    """A numeric Arrow array as floats, NaN for null; without pandas, which pyarrow's own way would import."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pc.cast(array, pa.float64(), safe=False)
    values = np.frombuffer(array.buffers()[1], np.float64)[array.offset : array.offset + len(array)].copy()
    if array.null_count:
        values[nulls_of(array)] = np.nan
    return values


def nulls_of(array: Any) -> NDArray[np.bool_]:
    """Which values are null."""
    import pyarrow.compute as pc

    return flags_of(pc.is_null(array))


def flags_of(array: Any) -> NDArray[np.bool_]:
    """A boolean Arrow array without nulls as NumPy's."""
    bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def bits_of(flags: NDArray[np.bool_]) -> Any:
    """NumPy's booleans as an Arrow array."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, pa.py_buffer(np.packbits(flags, bitorder="little"))])


def array_of(values: NDArray[Any], missing: NDArray[np.bool_], kind: Any) -> Any:
    """NumPy values as an Arrow array of this type, null where missing; without pandas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = np.ascontiguousarray(values)
    bits = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    plain = pa.from_numpy_dtype(values.dtype)
    array = pa.Array.from_buffers(plain, len(values), [bits, pa.py_buffer(values)])
    return array if plain == kind else pc.cast(array, kind)


def texts_of(numbers: Floats, write: Callable[[float], str], kind: Any) -> Any:
    """Numbers as text, each different one written once, null where NaN."""
    import pyarrow as pa

    missing = np.isnan(numbers)
    values, which = np.unique(np.where(missing, 0.0, numbers), return_inverse=True)
    names = pa.array([write(float(v)) for v in values], kind)
    codes = array_of(which.reshape(-1).astype(np.int64), missing, pa.int64())
    return names.take(codes)


def arrow_table(columns: Mapping[str, NDArray[Any]]) -> Any:
    """A pyarrow Table over the memory of NumPy columns.

    pyarrow's own conversions import pandas wherever that is installed, which takes as long as a small job.
    """
    import pyarrow as pa

    arrays = []
    for column in columns.values():
        values = np.ascontiguousarray(column)
        kind = pa.from_numpy_dtype(values.dtype)
        arrays.append(pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)]))
    return pa.Table.from_arrays(arrays, names=list(columns))
