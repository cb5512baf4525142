"""Sums, means and standard deviations that do not depend on how a table is split, nor on the order of its parts.

Every sum is a whole number on a fixed grid, so adding is exact. Only reading a mean or a width rounds, once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.exact_sum import DIGITS, GRID, add_at, add_moments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 1 << 26  # values that are added before digits are carried: far below what would overflow them


class Scale(NamedTuple):
    """The mean of a column and its standard deviation (ddof 0); 0 wide, if all values are the same."""

    middle: float
    width: float

    def scaled(self, x: Floats) -> Floats:
        """Values as differences from the mean, in standard deviations; 0 where missing."""
        z = np.zeros(len(x)) if self.width == 0.0 else (x - self.middle) / self.width
        z[np.isnan(z)] = 0.0
        return z

    def filled(self, x: Floats) -> Floats:
        """Values, with the mean where they are missing."""
        return np.where(np.isnan(x), self.middle, x)


@dataclass
class Moments:
    """Count, exact sum, exact sum of squares and range of values that come in pieces, in any order."""

    count: int = 0
    total: int = 0  # in units of 2**-GRID
    squares: int = 0  # in units of 2**-(2 GRID)
    low: float = math.inf
    high: float = -math.inf

    def add(self, x: Floats) -> None:
        """Take in more values; missing ones don't count."""
        x = x[~np.isnan(x)]
        if not len(x):
            return
        self.count += len(x)
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        for start in range(0, len(x), _AT_ONCE):
            sums, squares = np.zeros(DIGITS, np.int64), np.zeros(2 * DIGITS + 2, np.int64)
            add_moments(x[start : start + _AT_ONCE], sums, squares)
            self.total += _whole(sums)
            self.squares += _whole(squares)

    def merge(self, other: Moments) -> None:
        """Take in what another has seen."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    def scale(self) -> Scale:
        """Mean and standard deviation, each rounded once."""
        if not self.count:
            return Scale(0.0, 0.0)
        if self.low == self.high:  # decided without rounding: 0.1, averaged, is not always 0.1
            return Scale(self.low, 0.0)
        middle = float(Fraction(self.total, self.count << GRID))
        spread = self.count * self.squares - self.total**2  # count**2 times the variance, on the grid
        return Scale(middle, _root(spread, self.count << GRID))


def _root(square: int, over: int) -> float:
    """The square root of a whole number, divided by another: good to the last digits whatever its magnitude."""
    bits = max(0, 140 - square.bit_length())
    bits += bits & 1
    return float(Fraction(math.isqrt(square << bits), over << (bits // 2)))


@dataclass
class Totals:
    """Exact sums of weights for numbered things, such as categories."""

    sums: list[int] = field(default_factory=list)  # in units of 2**-GRID

    def add(self, where: Ints, x: Floats) -> None:
        """Add each value to the thing that `where` names."""
        if not len(x):
            return
        digits = np.zeros((int(where.max()) + 1, DIGITS), np.int64)
        add_at(digits, where, x)
        self.merge(Totals([_whole(row) for row in digits]))

    def count(self, counts: Ints) -> None:
        """Add whole numbers, one for each thing."""
        self.merge(Totals([count << GRID for count in counts.tolist()]))

    def merge(self, other: Totals, number: Sequence[int] | None = None) -> None:
        """Take in the sums of another; `number` says which of these things each of its is, if not the same."""
        places = range(len(other.sums)) if number is None else number[: len(other.sums)]
        self.sums += [0] * (max(places, default=-1) + 1 - len(self.sums))
        for i, value in zip(places, other.sums, strict=True):
            self.sums[i] += value


def as_float(total: int) -> float:
    """A sum on the grid as the nearest float."""
    return float(Fraction(total, 1 << GRID))


def _whole(digits: Ints) -> int:
    """The whole number that some digits of 32 bits stand for."""
    total = 0
    for digit in reversed(digits.tolist()):
        total = (total << 32) + digit
    return total
