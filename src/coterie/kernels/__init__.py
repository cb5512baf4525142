"""All Numba code and nothing else. Kernels trust their input; the callers have checked it."""

from ._ahead import compile_ahead
from ._interpreted import at_hand, by_hand
from ._jit import compile_for_kernels, seconds_compiling

__all__ = ["at_hand", "by_hand", "compile_ahead", "compile_for_kernels", "seconds_compiling"]
