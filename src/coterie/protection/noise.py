"""Noise in groups in which a confidential column is constant."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..tables.columns import Column
from ..tables.kinds.numbers import LARGEST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_MOST = 15  # decimals: beyond, floats have none of their own


@dataclass
class Digits:
    """The fewest decimals that all numbers of a column can be written with, from pieces that come in any order.

    Numbers that are floats of 32 bits are taken for what these stand for.
    """

    single: bool = True  # whether all are floats of 32 bits
    as_single: int | None = -_MOST - 1
    as_double: int | None = -_MOST - 1

    def add(self, numbers: Floats) -> None:
        """Take in more numbers."""
        present = np.unique(numbers[~np.isnan(numbers)])
        if not present.any():
            return
        with np.errstate(over="ignore"):
            self.single = self.single and bool(np.array_equal(present.astype(np.float32), present))
            self.as_double = _most(self.as_double, _decimals(present, np.float64))
            if self.single:
                self.as_single = _most(self.as_single, _decimals(present, np.float32))

    def merge(self, other: Digits) -> None:
        """Take in what another has seen."""
        self.single = self.single and other.single
        self.as_single = _most(self.as_single, other.as_single)
        self.as_double = _most(self.as_double, other.as_double)

    def places(self) -> int | None:
        """How many decimals, -2 for hundreds; None if there are too many."""
        places = self.as_single if self.single else self.as_double
        return 0 if places == -_MOST - 1 else places


def _most(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def _decimals(present: Floats, kind: type[np.floating]) -> int | None:
    for places in range(-_MOST, _MOST + 1):
        if np.array_equal(np.round(present, places).astype(kind), present.astype(kind)):
            return places
    return None


def noisy(column: Column, spread: float, places: int | None, constant: Flags, draws: Floats) -> Column:
    """The column with noise of this spread in the records that are in groups in which it is constant.

    What comes out is as round as the column's own values: other digits would show which records have noise, and round
    to the value that it is to hide. `draws` are standard normal numbers for the records where `constant`.
    """
    numbers = column.numbers.copy()
    with np.errstate(over="ignore"):
        new = numbers[constant] + draws * spread
    if np.any(np.abs(new) >= LARGEST):
        what = f"With noise, the numbers of '{column.name}' must be below {LARGEST:g}."
        raise CoterieError(what, "larger ones", "take less noise, or another unit.")
    if places is not None:
        with np.errstate(over="ignore"):  # so large that it has no decimals
            rounded = np.round(new, places)
        new = np.where(np.isfinite(rounded), rounded, new)
    numbers[constant] = new
    return column.with_numbers(numbers + 0.0)


def normal_draws(seed: int, column: int, records: Ints) -> Floats:
    """A standard normal number for each record: by its number, so that it is the same in whichever part it stands."""
    words = mixed(records.astype(np.uint64), mixed(np.uint64(column), np.uint64(seed & (2**64 - 1))))
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    inverse = NormalDist().inv_cdf
    return np.array([inverse(u) for u in uniform.tolist()])


def mixed(x: NDArray[np.uint64] | np.uint64, key: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195): every bit of the key and x matters."""
    with np.errstate(over="ignore"):
        z = np.asarray(x, np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.asarray(key, np.uint64)
        for _ in range(2):  # twice: neighbouring records must share nothing
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
    return z
