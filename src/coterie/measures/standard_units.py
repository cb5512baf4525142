"""Numbers in units of their spread: what lets columns of any unit be compared, whatever their offset and magnitude."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column

Floats = NDArray[np.float64]

NUMBERS = ("numeric", "integer", "datetime")


class Scale:
    """The mean and the standard deviation (ddof 1, as in R) of the values present in a column."""

    def __init__(self, x: Floats) -> None:
        here = present(x)
        self.unit, self.mean, self.sd = 1.0, 0.0, 0.0
        low, high = (float(here.min()), float(here.max())) if len(here) else (0.0, 0.0)
        if low == high:  # decided before any rounding: 0.1, averaged, is not always 0.1
            return
        self.unit = math.ldexp(1.0, math.frexp(max(-low, high))[1])  # neither sums nor squares can overflow
        y = here / self.unit
        self.mean = float(y.mean())
        y -= self.mean
        self.sd = math.sqrt(float(np.sum(y * y)) / (len(y) - 1))

    @property
    def constant(self) -> bool:
        """Whether there is no spread to measure by."""
        return self.sd == 0.0

    def __call__(self, x: Floats) -> Floats:
        """How many standard deviations each value lies above the mean; NaN where it is missing."""
        return (x / self.unit - self.mean) / self.sd


def in_sds(before: Floats, after: Floats) -> tuple[Floats, Floats] | None:
    """Both columns by the mean and the standard deviation of the first; None if that is constant."""
    scale = Scale(before)
    return None if scale.constant else (scale(before), scale(after))


def present(x: Floats) -> Floats:
    """The values that are not missing."""
    gone = np.isnan(x)
    return x[~gone] if gone.any() else x


def is_number(column: Column) -> bool:
    """Whether the numbers of a column are amounts or moments, not codes."""
    return column.kind in NUMBERS


def finite(value: float) -> float | None:
    """The number, 0.0 in place of -0.0; None in place of NaN and infinities."""
    return float(value) + 0.0 if math.isfinite(value) else None


SMALL = 250_000  # multiplications: BLAS does that many in one thread


def product(A: Floats, B: Floats) -> Floats:
    """A @ B, a few rows at a time: in one thread, so that neither digits nor time depend on how many there are."""
    out = np.empty((len(A), B.shape[1]))
    step = max(1, SMALL // max(1, B.size))
    for at in range(0, len(A), step):
        np.matmul(A[at : at + step], B, out=out[at : at + step])
    return out


TILE = 64  # columns of a product that are computed together


def gram(A: Floats, B: Floats) -> Floats:
    """A.T @ B, a few rows and columns at a time, as in `product`."""
    out = np.zeros((A.shape[1], B.shape[1]))
    for i in range(0, len(out), TILE):
        for j in range(0, out.shape[1], TILE):
            tile = out[i : i + TILE, j : j + TILE]
            left, right = A[:, i : i + TILE], B[:, j : j + TILE]
            step = max(1, SMALL // max(1, tile.size))
            for at in range(0, len(A), step):
                tile += left[at : at + step].T @ right[at : at + step]
    return out
