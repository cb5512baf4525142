"""The released table: masked columns in the types they had, the others untouched, rows in random order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats import without_user_missing
from ..recipe import Recipe
from ..tables.arrow import as_array, used_levels
from .solving import Released
from .source import Source
from .spreadsheets import without_formulas

Ints = NDArray[np.int64]


def columns_written(names: Sequence[str], recipe: Recipe) -> list[str]:
    """The columns of the release, in the order of the input."""
    return [name for name in names if recipe.columns[name].role != "identifier"]


def table_of(part: Released, source: Source, recipe: Recipe) -> Any:
    """The released table in the container of the input, where all records are in memory."""
    order = _order(len(part.records), recipe, ())
    masked = {name: part.records.written(name, column.numbers[order]) for name, column in part.after.items()}
    data = source.table.build(columns_written(source.names, recipe), masked, part.records.numbers[order])
    return without_formulas(data, recipe) if source.is_text else data


def piece_of(part: Released, names: Sequence[str], recipe: Recipe, is_text: bool) -> Any:
    """A piece of the released table, as Arrow has it, where the records come piece by piece."""
    import pyarrow as pa

    order = _order(len(part.records), recipe, (part.number,))
    take = pa.Array.from_buffers(pa.int64(), len(order), [None, pa.py_buffer(order)])
    arrays = []
    for name in names:
        if name in part.after:
            arrays.append(part.records.written(name, part.after[name].numbers[order]))
        else:
            arrays.append(used_levels(as_array(part.records.arrow(name)).take(take)))
    table = pa.Table.from_arrays(arrays, names=list(names))
    return without_formulas(table, recipe) if is_text else table


def _order(records: int, recipe: Recipe, piece: tuple[int, ...]) -> Ints:
    """A random order of the rows, or their own."""
    if not recipe.shuffle:
        return np.arange(records)
    return np.random.default_rng([recipe.seed or 0, 0, *piece]).permutation(records)


def answers(data: Any, source: Source, recipe: Recipe) -> Any:
    """The released table without the codes that its file declares as missing in confidential columns: no answers."""
    if source.format is None:
        return data
    return without_user_missing(data, source.format, list(recipe.of_role("confidential")))
