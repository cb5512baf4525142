"""From numbers to the matrix that the methods group: float64, C order, finite, standardized, of a safe magnitude."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Matrix:
    """What the methods see.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        The records.
    unit : float
        What 1.0 in `values` stands for: 1.0, unless the data, left as they are, would overflow or vanish when squared.
    """

    values: Floats
    unit: float


def encode(X: Floats, standardize: bool) -> Matrix:
    """Standardize every column to mean 0 and variance 1 (ddof 0), or leave the columns as they are.

    A constant column becomes 0. Unstandardized records are scaled by a power of two where the squares of the largest
    values would leave the range of a double.
    """
    if standardize:
        out = np.empty(X.shape)
        for j in range(X.shape[1]):
            out[:, j] = standardized(np.ascontiguousarray(X[:, j]))
        return Matrix(out, 1.0)
    largest = float(np.abs(X).max())
    if largest == 0.0 or 1e-150 < largest < 1e150:
        return Matrix(X.copy(), 1.0)
    unit = math.ldexp(1.0, math.frexp(largest)[1])
    return Matrix(X / unit, unit)


def standardized(x: Floats) -> Floats:
    """Mean 0, variance 1, whatever the offset and the scale of x."""
    low, high = float(x.min()), float(x.max())
    if low == high:  # decided before any rounding: 0.1, averaged, is not always 0.1
        return np.zeros(len(x))
    x = x / math.ldexp(1.0, math.frexp(max(-low, high))[1])  # neither sums nor squares can overflow
    x -= x.mean()
    x /= max(-x.min(), x.max())
    x /= math.sqrt(float(np.mean(x * x)))
    return x
