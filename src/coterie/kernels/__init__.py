"""All Numba code and nothing else. Kernels trust their input; the callers have checked it."""

from ._jit import seconds_compiling

__all__ = ["seconds_compiling"]
