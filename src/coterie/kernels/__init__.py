"""All Numba code and nothing else. Kernels trust their input; the callers have checked it."""

from ._interpreted import by_hand
from ._jit import seconds_compiling

__all__ = ["by_hand", "seconds_compiling"]
