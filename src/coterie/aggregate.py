"""From a partition to released values: every record of a group gets the group's centre, the same to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CoterieError
from .tables import Numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def group_centres(X: Floats, labels: Ints, centre: str) -> Floats:
    """The centre of each group, a row a group: the mean, or the median of every column.

    A mean takes a second pass over what the first left (offsets are no harm) and stays within its group's values: equal
    values have exactly that value as their mean.
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    if centre == "mean":
        x, m = X[order], sizes[:, None]
        mean = np.add.reduceat(x, starts, axis=0) / m
        mean += np.add.reduceat(x - np.repeat(mean, sizes, axis=0), starts, axis=0) / m
        return np.clip(mean, np.minimum.reduceat(x, starts, axis=0), np.maximum.reduceat(x, starts, axis=0))
    out = np.empty((len(sizes), X.shape[1]))
    for j in range(X.shape[1]):
        x = X[np.lexsort((X[:, j], labels)), j]
        low, high = x[starts + (sizes - 1) // 2], x[starts + sizes // 2]
        out[:, j] = low + (high - low) / 2
    return out


def centre_of_each(X: Floats, labels: Ints, centre: str) -> Floats:
    """In place of each record, the centre of its group; by labels[:, j] in column j, where columns differ."""
    if labels.ndim == 1:
        return group_centres(X, labels, centre)[labels]
    out = np.empty_like(X)
    for j in range(X.shape[1]):
        own = labels[:, j] - labels[:, j].min()
        out[:, j] = group_centres(X[:, j : j + 1], own, centre)[own, 0]
    return out


def released(numbers: Numbers, labels: Ints, centre: str, rounding: str | int | None) -> list[NDArray[Any]]:
    """The columns with every record at its group's centre, in the units, and of the types, of the input."""
    centres = centre_of_each(numbers.values, labels, centre)
    # + 0.0: a negative zero would tell the sign of a mean that rounding hides, and set equal records apart in a file
    columns = [_typed(numbers, j, _rounded(centres[:, j], rounding) + 0.0) for j in range(centres.shape[1])]
    if rounding == "integers":
        columns = _with_integers(numbers, columns)
    if not all(np.isfinite(column).all() for column in columns):
        raise CoterieError("Rounded values must be finite.", f"rounding = {rounding}", "take fewer decimals.")
    return columns


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
