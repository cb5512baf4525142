"""Sums without rounding: a running centroid that cannot drift.

A double is a 53-bit integer times a power of two, so a sum of doubles is an integer on a fixed grid of 2**-1126
(below the least subnormal). Each column's sum is kept as that integer, in signed 32-bit digits held in int64: adding
and removing a value is exact, whatever the order, and 2**30 values fit before a digit could overflow. Only
reading the sum rounds, once, to the nearest double: the same double that `math.fsum` of the records gives.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

DIGITS = 69
_BIAS = 1126  # frexp's exponent is at least -1073 and its mantissa has 53 bits: the lowest bit lands on 0
GRID = _BIAS  # a sum is a whole number of units of 2**-GRID
_MASK = 0xFFFFFFFF


@kernel
def add(digits: NDArray[np.int64], x: float, sign: int) -> None:
    """Add sign * x to the sum, exactly."""
    if x == 0.0:
        return
    fraction, exponent = math.frexp(x)
    mantissa = np.int64(fraction * 9007199254740992.0)
    if mantissa < 0:
        mantissa = -mantissa
        sign = -sign
    position = exponent - 53 + _BIAS
    i, shift = position >> 5, position & 31
    low = (mantissa & _MASK) << shift
    high = (mantissa >> 32) << shift
    digits[i] += sign * (low & _MASK)
    digits[i + 1] += sign * ((low >> 32) + (high & _MASK))
    digits[i + 2] += sign * (high >> 32)


@kernel
def _carry(digits: NDArray[np.int64], out: NDArray[np.int64], sign: np.int64) -> int:
    """Write sign * sum as digits in [0, 2**32) to out; the carry left over is negative if the sum is."""
    carry = 0
    for i in range(DIGITS):
        value = sign * digits[i] + carry
        out[i] = value & _MASK
        carry = value >> 32
    return carry


@kernel
def _rounded(digits: NDArray[np.int64], scratch: NDArray[np.int64]) -> float:
    """Give the double nearest to the sum (ties to even)."""
    sign = np.int64(1)
    if _carry(digits, scratch, sign) < 0:
        sign = np.int64(-1)
        _carry(digits, scratch, sign)
    top = DIGITS - 1
    while top >= 0 and scratch[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    bits = 0
    while scratch[top] >> bits:
        bits += 1
    below = scratch[top - 1] if top >= 1 else 0
    last = scratch[top - 2] if top >= 2 else 0
    room = 32 - bits
    # the leading 64 bits; one bit for all that is below them keeps the rounding right
    lead = (np.uint64(scratch[top]) << np.uint64(32)) | np.uint64(below)
    lead = (lead << np.uint64(room)) | (np.uint64(last) >> np.uint64(32 - room))
    sticky = (last << room) & _MASK
    for i in range(top - 2):
        sticky |= scratch[i]
    if sticky:
        lead |= np.uint64(1)
    return sign * math.ldexp(float(lead), 32 * top + bits - 64 - _BIAS)


@kernel
def add_rows(digits: NDArray[np.int64], X: NDArray[np.float64]) -> None:
    """Add the rows of X to the column sums, digits[column]."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            add(digits[j], X[i, j], 1)


@kernel
def mean(digits: NDArray[np.int64], n: int, out: NDArray[np.float64]) -> None:
    """Write the mean of the n rows added so far: the rounded sum of each column over n."""
    scratch = np.empty(DIGITS, np.int64)
    for j in range(out.shape[0]):
        out[j] = _rounded(digits[j], scratch) / n


@kernel
def group_means(X: NDArray[np.float64], order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the mean of the records order[starts[g]:starts[g + 1]] in row g, for every group g."""
    out = np.empty((starts.shape[0] - 1, X.shape[1]))
    digits = np.empty((X.shape[1], DIGITS), np.int64)
    for g in range(out.shape[0]):
        digits[:] = 0
        for i in order[starts[g] : starts[g + 1]]:
            for j in range(X.shape[1]):
                add(digits[j], X[i, j], 1)
        mean(digits, starts[g + 1] - starts[g], out[g])
    return out


@kernel
def _put(digits: NDArray[np.int64], value: int | np.int64, position: int) -> None:
    """Add value * 2**position, a whole number of fewer than 62 bits, to a sum whose lowest bit is 1."""
    i, shift = position >> 5, position & 31
    low = (value & _MASK) << shift
    high = (value >> 32) << shift
    digits[i] += low & _MASK
    digits[i + 1] += (low >> 32) + (high & _MASK)
    digits[i + 2] += high >> 32


@kernel
def add_moments(x: NDArray[np.float64], sums: NDArray[np.int64], squares: NDArray[np.int64]) -> None:
    """Add the values to one sum and their squares, exactly, to another, whose grid is that of the first squared."""
    for i in range(x.shape[0]):
        if x[i] == 0.0:
            continue
        add(sums, x[i], 1)
        fraction, exponent = math.frexp(abs(x[i]))
        mantissa = np.int64(fraction * 9007199254740992.0)
        high, low = mantissa >> 27, mantissa & 0x7FFFFFF
        position = 2 * (exponent - 53 + _BIAS)
        _put(squares, low * low, position)
        _put(squares, 2 * high * low, position + 27)
        _put(squares, high * high, position + 54)


@kernel
def add_at(digits: NDArray[np.int64], where: NDArray[np.int64], x: NDArray[np.float64]) -> None:
    """Add every value to the sum that `where` names: digits[where[i]]."""
    for i in range(x.shape[0]):
        add(digits[where[i]], x[i], 1)
