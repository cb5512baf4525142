"""Columns of all kinds as one matrix in which squared Euclid is the distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..tables.columns import Column
from .category_codes import WIDTH, category_codes
from .scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_VALUES = 4e8  # of the matrix: 3 GB
_AT_ONCE = 2**14  # records whose codes are made together, so that they stay in the cache
# With more categories, codes of 128 columns stand for them. Measured with 20,000 records, 3 numbers and 500 or 1,000
# categories (uniform, Zipf, correlated with the numbers): mdav takes 0.8 s in place of 3.3 or 7.6, auto 5 or 6 s in
# place of 9 or 17; the loss changes by -5 to +4 % of itself for mdav, by -1 to +3 % for auto.
MOST_INDICATORS = 256


def encode_columns(
    columns: Sequence[Column],
    scales: Mapping[str, Scale],
    importance: Mapping[str, float] | None = None,
    *,
    exact: bool = False,
    only_used: bool = False,
) -> Floats:
    """Numbers, dates and the ranks of ordinal categories are standardized; in other columns a mismatch costs 1.

    A nominal column becomes an indicator times 1/sqrt(2) for each category, one of two categories a single indicator. A
    missing value lies in the middle: at the mean, or at the same distance, 1/2 or 1/4, from every category. With more
    than MOST_INDICATORS categories, a mismatch costs about 1: see `category_codes`. Equal categories have equal rows in
    every part of a table, since the categories of a column are those of the whole table.

    Parameters
    ----------
    columns : sequence of Column
    scales : mapping
        What to standardize by: the scales of the whole table, of which these records may be a part.
    importance : mapping, optional
        The weights of columns in squared distances, where they are not 1: what a column becomes is multiplied by the
        root of its weight.
    exact : bool
        Whether every category gets its indicator, however many there are: for bounds, and for strata that are merged.
    only_used : bool
        Whether indicators of categories that no record here has are left out, which changes no distance. Two parts may
        then differ in their columns.
    """
    plans = [_columns_of(column, exact, only_used) for column in columns]
    width = sum(plan.width for plan in plans)
    n = len(columns[0].numbers)
    if not _fits(n, plans):
        what = "The matrix of quasi-identifiers must fit into memory."
        raise CoterieError(what, f"{n:,} records in {width:,} columns", "combine rare categories, or use blocks.")
    out = np.empty((n, width))
    at = 0
    for column, plan in zip(columns, plans, strict=True):
        block = out[:, at : at + plan.width]
        if plan.kind == "number":
            block[:, 0] = scales[column.name].scaled(column.numbers)
        else:
            _fill_categories(column, plan, block)
        if importance and column.name in importance:
            block *= np.sqrt(importance[column.name])
        at += plan.width
    return out


def fits_exactly(columns: Sequence[Column]) -> bool:
    """Whether the matrix with an indicator for every category that a record here has fits into memory."""
    return _fits(len(columns[0].numbers), [_columns_of(column, True, True) for column in columns])


def _fits(n: int, plans: Sequence[_Plan]) -> bool:
    return n * sum(plan.width for plan in plans) <= MOST_VALUES


class _Plan(NamedTuple):
    """What a column becomes: one column of numbers or of an indicator, indicators, or codes."""

    kind: Literal["number", "flag", "indicators", "codes"]
    width: int
    place: Ints | None = None  # the column of each category's indicator


def _columns_of(column: Column, exact: bool, only_used: bool) -> _Plan:
    m = len(column.categories)
    if column.is_ordered:
        return _Plan("number", 1)
    if column.kind == "boolean" or m <= 2:
        return _Plan("flag", 1)
    if m > MOST_INDICATORS and not exact:
        return _Plan("codes", WIDTH)
    used = np.ones(m, bool)
    if only_used:
        used = np.bincount(category_numbers(column) + 1, minlength=m + 1)[1:] > 0
    return _Plan("indicators", max(1, int(used.sum())), np.cumsum(used) - 1)


def category_numbers(column: Column) -> Ints:
    """The categories of a nominal or boolean column as whole numbers; -1 where missing."""
    return np.where(column.missing, -1, column.numbers).astype(np.int64)


def _fill_categories(column: Column, plan: _Plan, out: Floats) -> None:
    if plan.kind == "flag":
        out[:, 0] = np.where(column.missing, 0.5, column.numbers)
        return
    there = np.flatnonzero(~column.missing)
    categories = column.numbers[there].astype(np.int64)
    out[:] = 0.0
    if plan.kind == "codes":
        for a in range(0, len(there), _AT_ONCE):
            out[there[a : a + _AT_ONCE]] = category_codes(categories[a : a + _AT_ONCE])
    elif plan.place is not None:
        out[there, plan.place[categories]] = np.sqrt(0.5)
