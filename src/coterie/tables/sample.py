"""Some values of a column, the same whether the table is there at once or comes part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow import array_of, bits_of, countable, flags_of, nulls_of

MOST = 20_000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
_LAST = np.uint64(2**64 - 1)


class Sample:
    """At most 20,000 of the values that are there, spread over the whole column.

    The multiples of the golden ratio, of which only the fractions count, are spread evenly, and so are those of every
    second, third and so on of them. Values are kept whose multiple is small: one in 2, 4, 8 as it must be. Every so
    many records would do in other files, but of one that has four records for each person in turn, it takes only
    the first of each.

    Attributes
    ----------
    there : int
        How many values there are, of which these are some. NaN is none, and neither are lists and the like.
    values : pyarrow Array or None
        The sample, in the order of the records.
    """

    def __init__(self) -> None:
        self.there = 0
        self.values: Any = None
        self._ranks: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._halved = 0

    def add(self, array: Any) -> None:
        """Take in more records."""
        import pyarrow as pa

        several = pa.types.is_nested(array.type) and not str(array.type).startswith("run_end_encoded")
        array, several = (array, True) if several or not len(array) else countable(array)
        if several:
            return
        places = np.flatnonzero(_is_there(array))
        ranks = np.arange(self.there, self.there + len(places), dtype=np.uint64) * _GOLDEN
        self.there += len(places)
        while _kept(self._ranks, self._halved).sum() + _kept(ranks, self._halved).sum() > MOST:
            self._halved += 1
        old, new = _kept(self._ranks, self._halved), _kept(ranks, self._halved)
        rows = places[new].astype(np.int64)
        values = array.take(array_of(rows, np.zeros(len(rows), bool), pa.int64()))
        self.values = values if self.values is None else pa.concat_arrays([self.values.filter(bits_of(old)), values])
        self._ranks = np.concatenate([self._ranks[old], ranks[new]])


def _kept(ranks: NDArray[np.uint64], halved: int) -> NDArray[np.bool_]:
    return ranks <= _LAST >> np.uint64(halved)


def _is_there(array: Any) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    there = ~nulls_of(array)
    return there & ~flags_of(pc.fill_null(pc.is_nan(array), False)) if pa.types.is_floating(array.type) else there
