"""Noise in groups in which a confidential column is constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column
from .grouping import constant_in

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST = 15  # decimals: beyond, floats have none of their own


def noisy(column: Column, noise: float, groupings: Sequence[Ints], rng: np.random.Generator) -> Column:
    """The column with normal noise, `noise` of its standard deviation, in the groups in which it is constant.

    What comes out is as round as the column's own values: other digits would show which records have noise, and round
    to the value that it is to hide.
    """
    constant = np.zeros(len(column.numbers), bool)
    for labels in groupings:
        constant |= constant_in(labels, column)
    spread = noise * float(np.nanstd(column.numbers))
    numbers = column.numbers + np.where(constant, rng.normal(0.0, 1.0, len(constant)) * spread, 0.0)
    places = decimals_of(column.numbers)
    if places is not None:
        with np.errstate(over="ignore"):  # so large that it has no decimals
            rounded = np.round(numbers, places)
        numbers = np.where(constant & np.isfinite(rounded), rounded, numbers)
    return Column(column.name, column.kind, numbers + 0.0, column.categories)


def decimals_of(numbers: Floats) -> int | None:
    """The fewest decimals that all numbers can be written with, -2 for hundreds; None if they have too many.

    Numbers that are floats of 32 bits are taken for what these stand for.
    """
    present = np.unique(numbers[~np.isnan(numbers)])
    if not present.any():
        return 0
    with np.errstate(over="ignore"):
        single = present.astype(np.float32)
        kind = np.float32 if np.array_equal(single, present) else np.float64
        for places in range(-_MOST, _MOST + 1):
            rounded = np.round(present, places)
            if np.array_equal(rounded.astype(kind), present.astype(kind)):
                return places
    return None


def unmoved_groups(labels: Ints, before: Column, after: Column) -> int:
    """In how many groups with one value noise has changed no record."""
    there = ~before.missing
    moved = np.bincount(labels, (before.numbers != after.numbers) & there)
    one = np.bincount(labels, constant_in(labels, before) & there)
    return int(np.count_nonzero((one > 0) & (moved == 0)))
