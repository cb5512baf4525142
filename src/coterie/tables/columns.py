"""A column as every stage after reading sees it: one array of floats, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

KINDS = ("numeric", "integer", "ordinal", "nominal", "datetime", "boolean")


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a column as numbers.

    Attributes
    ----------
    name : str
    kind : str
        One of KINDS.
    numbers : ndarray of shape (n,)
        The values of a numeric or integer column; microseconds since 1970 of a date, time or timestamp; for the other
        kinds the index into `categories`. NaN where the value is missing.
    categories : tuple of str
        What the codes of an ordinal column (in its order), of a nominal (sorted as text) or of a boolean one (false,
        true) stand for; empty otherwise. A column before and after masking has the same categories.
    """

    name: str
    kind: str
    numbers: Floats
    categories: tuple[str, ...] = ()

    @property
    def missing(self) -> Flags:
        """Which records lack a value."""
        return np.isnan(self.numbers)

    @property
    def has_codes(self) -> bool:
        """Whether the numbers are codes of categories."""
        return self.kind in ("ordinal", "nominal", "boolean")

    @property
    def is_ordered(self) -> bool:
        """Whether larger numbers mean more."""
        return self.kind not in ("nominal", "boolean")

    def at(self, rows: NDArray[np.int64]) -> Column:
        """Some records of the column."""
        return Column(self.name, self.kind, self.numbers[rows], self.categories)

    def with_numbers(self, numbers: Floats) -> Column:
        """The same column with other values."""
        return Column(self.name, self.kind, numbers, self.categories)


def rounded(x: Floats, step: float) -> Floats:
    """Numbers rounded, half to even, to multiples of a step; as they are, if it is 0."""
    if step == 0.0:
        return x
    if step >= 1.0:
        return np.round(x / step) * step
    with np.errstate(over="ignore"):  # so large that it has no decimals
        rounded = np.round(x, round(-np.log10(step)))
    return np.where(np.isfinite(rounded), rounded, x)


Columns = Mapping[str, Column]


def joined_columns(parts: Sequence[Column]) -> Column:
    """The records of several parts of a column, one after the other; nominal codes are those of all categories."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if first.kind != "nominal" or all(part.categories == first.categories for part in parts):
        return first.with_numbers(np.concatenate([part.numbers for part in parts]))
    every = tuple(sorted({c for part in parts for c in part.categories}))
    place = {c: float(i) for i, c in enumerate(every)}
    numbers = []
    for part in parts:
        codes = np.array([place[c] for c in part.categories] + [np.nan])
        numbers.append(codes[np.where(part.missing, -1, part.numbers).astype(np.int64)])
    return Column(first.name, first.kind, np.concatenate(numbers), every)
