"""From a partition to released values: every record of a group gets the group's centre, the same to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..measures.group_centres import centres_by_column
from .numeric_table import Numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def released(
    numbers: Numbers, labels: Ints, centre: str, rounding: str | int | None, order: Ints | None = None
) -> Iterator[NDArray[Any]]:
    """The columns with every record at its group's centre, in the units, and of the types, of the input.

    `order` is as for `group_centres`.
    """
    centres, groups = zip(*centres_by_column(numbers.values, labels, centre, order), strict=True)
    # + 0.0: a negative zero would tell the sign of a mean that rounding hides, and set equal records apart in a file
    values = [_typed(numbers, j, _rounded(x, rounding) + 0.0) for j, x in enumerate(centres)]
    if rounding == "integers":
        values = _with_integers(numbers, values)
    if not all(np.isfinite(x).all() for x in values):
        raise CoterieError("Rounded values must be finite.", f"rounding = {rounding}", "take fewer decimals.")
    return (x[group] for x, group in zip(values, groups, strict=True))  # one by one: a table has room for its own only


def alike(columns: list[NDArray[Any]]) -> Ints:
    """For each record, how many have all of these values, itself included."""
    classes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        _, value = np.unique(column, return_inverse=True)
        _, classes = np.unique(classes * (value.max() + 1) + value, return_inverse=True)
    return np.bincount(classes)[classes]


def _rounded(x: Floats, rounding: str | int | None) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused afterwards
        return np.round(x, rounding) if isinstance(rounding, int) else x


def _typed(numbers: Numbers, j: int, x: Floats) -> NDArray[Any]:
    """Floats keep their width; everything else is released as float64."""
    dtype = numbers.dtypes[j]
    with np.errstate(over="ignore"):
        return x.astype(dtype) if dtype is not None and dtype.kind == "f" else x


def _with_integers(numbers: Numbers, columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    if not any(numbers.is_integer(j) for j in range(len(columns))):
        what = "rounding='integers' needs a column of an integer type."
        raise CoterieError(what, "none", "a number of decimals rounds every column.")
    return [_as_integers(numbers, j, column) for j, column in enumerate(columns)]


def _as_integers(numbers: Numbers, j: int, x: NDArray[Any]) -> NDArray[Any]:
    """Integer columns come back as integers of their type, rounded half to even."""
    if not numbers.is_integer(j):
        return x
    if np.abs(x).max() >= 2**53:
        raise CoterieError(
            "rounding='integers' needs values that a float holds exactly, below 2**53.",
            f"larger ones in column '{numbers.names[j]}'",
            "use another unit, or rounding=None.",
        )
    rounded: NDArray[Any] = np.rint(x).astype(numbers.dtypes[j])
    return rounded
