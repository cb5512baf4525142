"""Sums of logarithms and of reciprocals over x, x + 1, ..., x + m - 1, in a few operations and without cancellation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_HEAD = 16  # terms that are summed one by one: from there on, four terms of the expansions are exact to 1e-14


def log_rise(x: ArrayLike, m: ArrayLike) -> Floats:
    """The sum of log(x + i) over i = 0 ... m - 1: log of gamma(x + m) / gamma(x), for x > 0 and whole m >= 0.

    By the difference of two expansions of Stirling (Abramowitz and Stegun 1964, 6.1.40), in which what is large and
    equal on both sides is left out before it is computed.
    """
    start, count = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(m, np.float64))
    out = _head(np.log, start, count)
    more, low = np.maximum(count - _HEAD, 0.0), start + _HEAD
    high = low + more
    tail = more * np.log(high) + (low - 0.5) * np.log1p(more / low) - more
    return np.asarray(out + tail + _stirling(high) - _stirling(low), np.float64)


def reciprocal_rise(x: ArrayLike, m: ArrayLike) -> Floats:
    """The sum of 1 / (x + i) over i = 0 ... m - 1: digamma(x + m) - digamma(x), for x > 0 and whole m >= 0.

    By the difference of two expansions (Abramowitz and Stegun 1964, 6.3.18).
    """
    start, count = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(m, np.float64))
    out = _head(np.reciprocal, start, count)
    more, low = np.maximum(count - _HEAD, 0.0), start + _HEAD
    high = low + more
    tail = np.log1p(more / low) + 0.5 * (1.0 / low - 1.0 / high)
    return np.asarray(out + tail + _digamma(high) - _digamma(low), np.float64)


def _head(of: Any, x: Floats, m: Floats) -> Floats:
    out = np.zeros(x.shape)
    for i in range(min(_HEAD, int(np.max(m, initial=0.0)))):
        out += np.where(i < m, of(x + i), 0.0)
    return out


def _stirling(x: Floats) -> Floats:
    y = 1.0 / (x * x)
    return np.asarray((1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x, np.float64)


def _digamma(x: Floats) -> Floats:
    y = 1.0 / (x * x)
    return np.asarray(-y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y / 240))), np.float64)
