"""How the values of a column are written: one number may be written in several ways, as 7, 007 and +7.

Columns of strata are released as they are. Whoever looks at the file tells 7 from 007, so that all records of a stratum
must get the same of them: the way that is most frequent in the column, and of equally frequent ones the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrow import array_of, as_array, floats_of, nulls_of
from .columns import Column

Floats = NDArray[np.float64]


class Spelling(NamedTuple):
    """Numbers in ascending order, and how each is written, as Arrow has it."""

    numbers: Floats
    written: Any

    def put(self, numbers: Floats, array: Any) -> Any:
        """An array of these numbers, in which those that are known are written as they were."""
        import pyarrow as pa
        import pyarrow.compute as pc

        place = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        known = self.numbers[place] == numbers
        if not known.any():
            return array
        was = self.written.cast(array.type).take(array_of(place.astype(np.int64), ~known, pa.int64()))
        bits = pa.py_buffer(np.packbits(known, bitorder="little"))
        return pc.if_else(pa.Array.from_buffers(pa.bool_(), len(known), [None, bits]), was, array)


class Spellings:
    """How often each number of a column is written in each way."""

    def __init__(self) -> None:
        self._counts: dict[float, Counter[Any]] = {}
        self._type: Any = None

    def add(self, column: Column, array: Any) -> None:
        """Take in some records; `array` holds their values as the table has them."""
        array = as_array(array)
        if not _has_spellings(array.type):
            return
        self._type = array.type
        encoded = _plain(array).dictionary_encode()
        rows = np.flatnonzero(~nulls_of(array))
        codes = floats_of(encoded.indices.drop_null()).astype(np.int64)
        used, first, count = np.unique(codes, return_index=True, return_counts=True)
        values = encoded.dictionary.to_pylist()
        for code, row, often in zip(used.tolist(), rows[first].tolist(), count.tolist(), strict=True):
            number = float(column.numbers[row])
            if not np.isnan(number):
                self._counts.setdefault(number, Counter())[values[code]] += often

    def merge(self, other: Spellings) -> None:
        """Take in what was seen of other records."""
        self._type = self._type or other._type
        for number, counts in other._counts.items():
            self._counts.setdefault(number, Counter()).update(counts)

    def spelling(self) -> Spelling | None:
        """The most frequent way of each number; None where there is but one way."""
        import pyarrow as pa

        if not self._counts:
            return None
        numbers = sorted(self._counts)
        chosen = [min(self._counts[n].items(), key=lambda pair: (-pair[1], pair[0]))[0] for n in numbers]
        plain = _plain(pa.nulls(0, self._type)).type
        array = pa.array(chosen, plain)
        return Spelling(np.array(numbers), array if plain == self._type else _back(array, self._type))


def spelled(spellings: Mapping[str, Spellings]) -> dict[str, Spelling]:
    """The columns that have spellings, and these."""
    found = {name: one.spelling() for name, one in spellings.items()}
    return {name: one for name, one in found.items() if one is not None}


def _has_spellings(kind: Any) -> bool:
    """Texts; and types that have more digits than a float, of which several values are one number."""
    import pyarrow as pa

    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"
    return bool(text or pa.types.is_decimal(kind) or (pa.types.is_temporal(kind) and kind.bit_width == 64))


def _plain(array: Any) -> Any:
    """The same values in a type that Python's own values tell apart."""
    import pyarrow as pa

    if pa.types.is_temporal(array.type):
        return array.view(pa.int64())
    return array.cast(pa.large_string()) if str(array.type) == "string_view" else array


def _back(array: Any, kind: Any) -> Any:
    import pyarrow as pa

    return array.view(kind) if pa.types.is_temporal(kind) else array.cast(kind)
