"""All Numba code and nothing else. Kernels trust their input; the callers have checked it."""
