"""From a partition to released values: every record of a group gets the group's centre, the same to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from .numeric_table import Numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 2**14  # records that are averaged or measured together: few enough for the processor's caches


def group_centres(X: Floats, labels: Ints, centre: str) -> Floats:
    """The centre of each group, a row a group: the mean, or the median of every column."""
    sizes = np.bincount(labels)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    out = np.empty((len(sizes), X.shape[1]))
    if centre == "mean":
        order = _by_group(labels)
        cuts = np.searchsorted(starts, np.arange(0, len(X), AT_ONCE)).tolist()
        for a, b in pairwise([*cuts, len(sizes)]):
            if a < b:  # else one group goes on
                out[a:b] = means(X[order[starts[a] : starts[b]]], sizes[a:b])
        return out
    for j in range(X.shape[1]):
        x = X[np.lexsort((X[:, j], labels)), j]
        low, high = x[starts[:-1] + (sizes - 1) // 2], x[starts[:-1] + sizes // 2]
        out[:, j] = low + (high - low) / 2
    return out


def means(x: Floats, sizes: Ints) -> Floats:
    """The mean of each group, where the records stand group after group.

    It takes a second pass over what the first left (offsets are no harm) and stays within its group's values: equal
    values have exactly that value as their mean.
    """
    starts, m = np.cumsum(sizes) - sizes, sizes[:, None]
    mean = np.add.reduceat(x, starts, axis=0) / m
    mean += np.add.reduceat(x - np.repeat(mean, sizes, axis=0), starts, axis=0) / m
    return np.clip(mean, np.minimum.reduceat(x, starts, axis=0), np.maximum.reduceat(x, starts, axis=0))


def _by_group(labels: Ints) -> Ints:
    """The records group after group, each group's in their order: a stable argsort, in a third of its time."""
    bits = len(labels).bit_length()
    keys = np.left_shift(labels, bits, dtype=np.int64)  # no group is empty, so a label has no more bits
    keys |= np.arange(len(labels))
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


def centres_by_column(X: Floats, labels: Ints, centre: str) -> list[tuple[Floats, Ints]]:
    """For each column the centres of the groups, and the group of each record: labels[:, j], where columns differ."""
    if labels.ndim == 1:
        centres = group_centres(X, labels, centre)
        return [(centres[:, j], labels) for j in range(X.shape[1])]
    groups = [labels[:, j] - labels[:, j].min() for j in range(X.shape[1])]
    return [(group_centres(X[:, j : j + 1], own, centre)[:, 0], own) for j, own in enumerate(groups)]


def released(numbers: Numbers, labels: Ints, centre: str, rounding: str | int | None) -> Iterator[NDArray[Any]]:
    """The columns with every record at its group's centre, in the units, and of the types, of the input."""
    centres, groups = zip(*centres_by_column(numbers.values, labels, centre), strict=True)
    # + 0.0: a negative zero would tell the sign of a mean that rounding hides, and set equal records apart in a file
    values = [_typed(numbers, j, _rounded(x, rounding) + 0.0) for j, x in enumerate(centres)]
    if rounding == "integers":
        values = _with_integers(numbers, values)
    if not all(np.isfinite(x).all() for x in values):
        raise CoterieError("Rounded values must be finite.", f"rounding = {rounding}", "take fewer decimals.")
    return (x[own] for x, own in zip(values, groups, strict=True))  # one by one: a table has room for its own only


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
