"""The released table: masked columns in the types they had, the others untouched, rows in random order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats import without_user_missing
from ..recipe import Recipe
from ..tables.arrow import as_array, used_levels
from ..tables.frames import taken, with_names
from ..tables.pseudonyms import pseudonyms
from .solving import Released
from .source import Source
from .spreadsheets import without_formulas

Ints = NDArray[np.int64]


NUMBER = "\ue000number"  # the column of record numbers, until it gets its name: no column is called so


def columns_written(names: Sequence[str], recipe: Recipe) -> list[str]:
    """The columns of the input that are in the release, in their order."""
    released = recipe.released
    return [name for name in names if name in released]


def table_of(part: Released, source: Source, recipe: Recipe) -> Any:
    """The released table in the container of the input, where all records are in memory."""
    order = _order(len(part.records), recipe, ())
    masked = {name: part.records.written(name, column.numbers[order]) for name, column in part.after.items()}
    rows = part.records.numbers[order]
    for name in part.records.reading.preparing:
        if name not in masked:
            masked[name] = _kept(name, part, source, rows)
    names, new = columns_written(source.names, recipe), _new_columns(part, order, recipe, source.is_text)
    numbered = [NUMBER, *names] if NUMBER in new else names
    data = source.table.build(numbered, masked, rows, new)
    if (written := _names_written(names, recipe)) != names:
        data = with_names(data, written)
    return without_formulas(data, recipe) if source.is_text else data


def _kept(name: str, part: Released, source: Source, rows: Ints) -> Any:
    """A column that is prepared and kept; which of several texts means missing stays."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = as_array(part.records.arrow(name))
    if source.is_text:
        array = pc.if_else(pc.is_null(array), source.table.arrow(name), array)
    take = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])
    return used_levels(taken(name, array, take))


def piece_of(part: Released, names: Sequence[str], recipe: Recipe, is_text: bool) -> Any:
    """A piece of the released table, as Arrow has it, where the records come piece by piece."""
    import pyarrow as pa

    order = _order(len(part.records), recipe, (part.number,))
    take = pa.Array.from_buffers(pa.int64(), len(order), [None, pa.py_buffer(order)])
    new = _new_columns(part, order, recipe, is_text)
    arrays = [new[NUMBER]] if NUMBER in new else []
    for name in names:
        if name in new:
            arrays.append(new[name])
        elif name in part.after:
            arrays.append(part.records.written(name, part.after[name].numbers[order]))
        else:
            arrays.append(used_levels(as_array(part.records.arrow(name)).take(take)))
    table = pa.Table.from_arrays(arrays, names=_names_written(names, recipe))
    return without_formulas(table, recipe) if is_text else table


def _names_written(names: Sequence[str], recipe: Recipe) -> list[str]:
    """What these columns are called in the release, after that of record numbers."""
    first = [] if recipe.output.number is None else [recipe.output.number]
    return [*first, *(recipe.released[name] for name in names)]


def _new_columns(part: Released, order: Ints, recipe: Recipe, is_text: bool) -> dict[str, Any]:
    """Columns that the input does not have: record numbers, in the order of the rows, and pseudonyms of units."""
    import pyarrow as pa

    new: dict[str, Any] = {}
    if recipe.output.number is not None:
        numbers = np.arange(part.before + 1, part.before + len(order) + 1)
        array = pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])
        new[NUMBER] = array.cast(pa.string()) if is_text else array
    if recipe.pseudonym is not None and recipe.unit is not None:
        new[recipe.pseudonym] = pseudonyms(part.records.units(recipe.pseudonym)[order], str(recipe.unit.key))
    return new


def _order(records: int, recipe: Recipe, piece: tuple[int, ...]) -> Ints:
    """A random order of the rows, or their own."""
    if not recipe.shuffle:
        return np.arange(records)
    return np.random.default_rng([recipe.seed or 0, 0, *piece]).permutation(records)


def answers(data: Any, source: Source, recipe: Recipe) -> Any:
    """The released table without the codes that its file declares as missing in confidential columns: no answers."""
    if source.format is None:
        return data
    names = recipe.released
    asked = [
        name for name in recipe.of_role("confidential") if not recipe.columns[name].prepared
    ]  # which have none left
    return without_user_missing(data, source.format.renamed(names), [names[name] for name in asked])
