"""Means and standard deviations that do not depend on how a column is cut into pieces: sums without rounding."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..kernels.exact_sum import DIGITS, add_rows, mean

Floats = NDArray[np.float64]

_LARGEST = 1e150  # its square is a number


class Scale(NamedTuple):
    """Where a column's middle is, and how wide it is; 0 wide, if all values are the same."""

    middle: float
    width: float

    def scaled(self, x: Floats) -> Floats:
        """Values as differences from the middle, in widths; 0 where missing."""
        z = np.zeros(len(x)) if self.width == 0.0 else (x - self.middle) / self.width
        return np.where(np.isnan(z), 0.0, z)

    def filled(self, x: Floats) -> Floats:
        """Values, with the middle where they are missing."""
        return np.where(np.isnan(x), self.middle, x)


class Moments:
    """The mean and the standard deviation (ddof 0) of values that come piece by piece.

    The first value is taken off all, so that squares are of differences; all sums are exact.
    """

    def __init__(self) -> None:
        self._digits = np.zeros((2, DIGITS), np.int64)
        self._shift: float | None = None
        self._low = self._high = 0.0
        self._count = 0

    def add(self, x: Floats, name: str) -> None:
        """Take in more values; missing ones don't count."""
        x = x[~np.isnan(x)]
        if not len(x):
            return
        if self._shift is None:
            self._shift = self._low = self._high = float(x[0])
        self._low, self._high = min(self._low, float(x.min())), max(self._high, float(x.max()))
        d = x - self._shift
        if np.abs(d).max() > _LARGEST:
            raise CoterieError(
                f"The numbers of '{name}' must be below {_LARGEST:g}.", "larger ones", "use another unit."
            )
        add_rows(self._digits, np.column_stack([d, d * d]))
        self._count += len(x)

    def scale(self) -> Scale:
        """What they come to."""
        if self._shift is None or self._low == self._high:
            return Scale(self._shift or 0.0, 0.0)
        means = np.empty(2)
        mean(self._digits, self._count, means)
        return Scale(self._shift + float(means[0]), math.sqrt(max(float(means[1]) - float(means[0]) ** 2, 0.0)))


def scale_of(x: Floats, name: str) -> Scale:
    """The scale of a whole column."""
    moments = Moments()
    moments.add(x, name)
    return moments.scale()
