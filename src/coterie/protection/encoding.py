"""Columns of all kinds as one matrix in which squared Euclid is the distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..microaggregation.matrix import standardized
from ..tables.columns import Column
from .category_codes import WIDTH, category_codes
from .scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_VALUES = 4e8  # of the matrix: 3 GB
_TINY = np.finfo(float).tiny  # in place of 0 as the number of records of a group that has none
_AT_ONCE = 2**14  # records whose codes are made together, so that they stay in the cache
# With more categories, codes of 128 columns stand for them. Measured with 20,000 records, 3 numbers and 500 or 1,000
# categories (uniform, Zipf, correlated with the numbers): mdav takes 0.8 s in place of 3.3 or 7.6, auto 5 or 6 s in
# place of 9 or 17; the loss changes by -5 to +4 % of itself for mdav, by -1 to +3 % for auto.
MOST_INDICATORS = 256


def encode_columns(
    columns: Sequence[Column],
    scales: Mapping[str, Scale] | None = None,
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
    scales : mapping, optional
        What to standardize by, where these columns are a part of a table.
    exact : bool
        Whether every category gets its indicator, however many there are: for bounds, and for strata that are merged.
    only_used : bool
        Whether indicators of categories that no record here has are left out, which changes no distance. Two parts may
        then differ in their columns.
    """
    plans = [_columns_of(column, exact, only_used) for column in columns]
    width = sum(plan.width for plan in plans)
    n = len(columns[0].numbers)
    if n * width > MOST_VALUES:
        what = "The quasi-identifiers must fit into memory as a matrix."
        raise CoterieError(what, f"{n:,} records in {width:,} columns", "join rare categories, or use blocks.")
    out = np.empty((n, width))
    at = 0
    for column, plan in zip(columns, plans, strict=True):
        block = out[:, at : at + plan.width]
        if plan.kind == "number":
            block[:, 0] = _numbers(column, None if scales is None else scales.get(column.name))
        else:
            _fill_categories(column, plan, block)
        at += plan.width
    return out


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


def _numbers(column: Column, scale: Scale | None) -> Floats:
    if scale is not None:
        return scale.scaled(column.numbers)
    out, there = np.zeros(len(column.numbers)), ~column.missing
    if there.any():
        out[there] = standardized(column.numbers[there])
    return out


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


def nominal_sse(categories: Ints, labels: Ints, m: int, weights: Floats | None = None) -> Floats:
    """The SSE of each group in a nominal or boolean column of m categories, by true indicators, however many.

    `categories` are -1 where missing. The groups are numbered by `labels` from 0 on. With category c in n_c of a
    group's n records, it is (sum of n_c - sum of n_c² / n) / 2: indicators times 1/sqrt(2) have the squared length 1/2,
    and missing values are at 0. With weights, these are sums of weights.
    """
    groups = int(labels.max()) + 1
    w = np.ones(len(labels)) if weights is None else weights
    there = categories >= 0
    if m <= 2:  # a single indicator, 1/2 where missing
        return _numeric_sse(np.where(there, categories, 0.5), labels, w)
    key, which = np.unique(labels[there] * m + categories[there], return_inverse=True)
    often = _sums(which.reshape(-1), w[there], len(key))
    squares = _sums(key // m, often * often, groups) / np.maximum(_sums(labels, w, groups), _TINY)
    return np.maximum(0.5 * (_sums(key // m, often, groups) - squares), 0.0)


def _numeric_sse(x: Floats, labels: Ints, w: Floats) -> Floats:
    groups = int(labels.max()) + 1
    total = np.maximum(_sums(labels, w, groups), _TINY)
    mean = _sums(labels, w * x, groups) / total
    mean += _sums(labels, w * (x - mean[labels]), groups) / total
    return _sums(labels, w * np.square(x - mean[labels]), groups)


def _sums(which: Ints, values: Floats, groups: int) -> Floats:
    return np.bincount(which, values, groups).astype(np.float64)


def sse_of_groups(
    columns: Sequence[Column], labels: Ints, scales: Mapping[str, Scale] | None = None, weights: Floats | None = None
) -> Floats:
    """The SSE of each group in the exact encoding of these columns, which is never held as a whole."""
    w = np.ones(len(labels)) if weights is None else weights
    out = np.zeros(int(labels.max()) + 1)
    for column in columns:
        if column.is_ordered:
            out += _numeric_sse(_numbers(column, None if scales is None else scales.get(column.name)), labels, w)
        else:
            out += nominal_sse(category_numbers(column), labels, len(column.categories), w)
    return out


def nominal_sst(counts: Floats | Ints, missing: float = 0) -> float:
    """The sum of squares about the mean of all in a nominal or boolean column, from how often each category occurs."""
    categories = np.arange(-1, len(counts))
    often = np.concatenate([[missing], counts]).astype(float)
    here = often > 0
    if not here.any():
        return 0.0
    everyone = np.zeros(int(here.sum()), np.int64)
    return float(nominal_sse(categories[here], everyone, len(counts), often[here])[0])


def cut_columns(columns: Sequence[Column], scales: Mapping[str, Scale]) -> tuple[Floats, Floats]:
    """The columns at which blocks are cut, numeric and integer ones, scaled and as they are; gaps are in the middle."""
    numbers = [c for c in columns if c.kind in ("numeric", "integer")]
    scaled = np.column_stack([scales[c.name].scaled(c.numbers) for c in numbers])
    return scaled, np.column_stack([scales[c.name].filled(c.numbers) for c in numbers])
