"""The one way in which Coterie compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile on first use, cached on disk, without the GIL.

    ``nnan`` and ``nsz`` let minima and maxima run in SIMD; neither reorders an operation, so every result is,
    bit for bit, that of the plain loop. Ties decide these algorithms: reassociation and contraction stay off.
    """
    return cast(F, njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})(function))
