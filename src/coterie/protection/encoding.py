"""Columns of all kinds as one matrix in which squared Euclid is the distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..columns import Column
from ..encode import standardized
from ..errors import CoterieError

Floats = NDArray[np.float64]

MOST_VALUES = 4e8  # of the matrix: 3 GB


def encode_columns(columns: Sequence[Column]) -> Floats:
    """Numbers, dates and the ranks of ordinal categories are standardized; in other columns a mismatch costs 1.

    A nominal column becomes an indicator times 1/sqrt(2) for each category, one of two categories a single indicator. A
    missing value lies in the middle: at the mean, or at the same distance, 1/2 or 1/4, from every category.
    """
    width = sum(_width(column) for column in columns)
    n = len(columns[0].numbers)
    if n * width > MOST_VALUES:
        what = "The quasi-identifiers must fit into memory with every category as a column."
        raise CoterieError(what, f"{n:,} records in {width:,} columns", "join rare categories.")
    out = np.empty((n, width))
    at = 0
    for column in columns:
        at = _fill(column, out, at)
    return out


def _width(column: Column) -> int:
    return len(column.categories) if column.kind == "nominal" and len(column.categories) > 2 else 1


def _fill(column: Column, out: Floats, at: int) -> int:
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
    if not missing.all():
        out[~missing, at] = standardized(column.numbers[~missing])
    return at + 1
