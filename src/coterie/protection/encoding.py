"""Columns of all kinds as one matrix in which squared Euclid is the distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..microaggregation.matrix import standardized
from ..tables.columns import Column
from .scales import Scale

Floats = NDArray[np.float64]

MOST_VALUES = 4e8  # of the matrix: 3 GB


def encode_columns(columns: Sequence[Column], scales: Mapping[str, Scale] | None = None) -> Floats:
    """Numbers, dates and the ranks of ordinal categories are standardized; in other columns a mismatch costs 1.

    A nominal column becomes an indicator times 1/sqrt(2) for each category, one of two categories a single indicator. A
    missing value lies in the middle: at the mean, or at the same distance, 1/2 or 1/4, from every category. `scales`
    say what to standardize by, where these columns are a part of a table.
    """
    width = sum(_width(column) for column in columns)
    n = len(columns[0].numbers)
    if n * width > MOST_VALUES:
        what = "The quasi-identifiers must fit into memory with every category as a column."
        raise CoterieError(what, f"{n:,} records in {width:,} columns", "join rare categories.")
    out = np.empty((n, width))
    at = 0
    for column in columns:
        at = _fill(column, out, at, None if scales is None else scales.get(column.name))
    return out


def _width(column: Column) -> int:
    return len(column.categories) if column.kind == "nominal" and len(column.categories) > 2 else 1


def _fill(column: Column, out: Floats, at: int, scale: Scale | None) -> int:
    """Write the columns of one column from `at` on; give where the next begins."""
    missing = column.missing
    width = _width(column)
    if column.kind in ("nominal", "boolean"):
        if width == 1:
            out[:, at] = np.where(missing, 0.5, column.numbers)
        else:
            out[:, at : at + width] = 0.0
            there = np.flatnonzero(~missing)
            out[there, at + column.numbers[there].astype(np.int64)] = np.sqrt(0.5)
        return at + width
    out[:, at] = 0.0
    if scale is not None:
        out[:, at] = scale.scaled(column.numbers)
    elif not missing.all():
        out[~missing, at] = standardized(column.numbers[~missing])
    return at + 1


def cut_columns(columns: Sequence[Column], scales: Mapping[str, Scale]) -> tuple[Floats, Floats]:
    """The columns at which blocks are cut, numeric and integer ones, scaled and as they are; gaps are in the middle."""
    numbers = [c for c in columns if c.kind in ("numeric", "integer")]
    scaled = np.column_stack([scales[c.name].scaled(c.numbers) for c in numbers])
    return scaled, np.column_stack([scales[c.name].filled(c.numbers) for c in numbers])
