"""Memory that is free again goes back to the system.

Threads leave behind what they had: the C library keeps it for the next one who asks, and a peak later comes on top.
"""

from __future__ import annotations

import sys

_WORTH_IT = 100_000  # records: of fewer, there is little to give back, and asking takes a millisecond


def give_back(records: int) -> None:
    """Give the system what so many records took: Arrow's memory, and that of the C library where it can (glibc)."""
    if records < _WORTH_IT:
        return
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform != "linux":
        return
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):  # another C library
        return
