"""How much memory may be taken: as people write it, or by what the machine has."""

from __future__ import annotations

import os
import re

from ..errors import CoterieError

_SHARE = 0.6  # of the machine's memory, where nothing is said: the rest is for others
_UNKNOWN = 4 << 30  # bytes: where no system tells
_MOST = 1 << 50  # bytes: more than any machine has, and DuckDB takes it


def bytes_of(limit: int | str) -> int:
    """A memory limit in bytes, or as people write it: 2GB, 512MB, 1.5 GiB."""
    if isinstance(limit, bool) or not isinstance(limit, (int, str)):
        raise CoterieError("A memory limit must be a number of bytes, or a string such as '2GB'.", type(limit).__name__)
    if isinstance(limit, int):
        return _sensible(limit)
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", limit.lower())
    if not parts:
        raise CoterieError("A memory limit must be a number and a unit.", f"'{limit}'", "for example 2GB.")
    return _sensible(float(parts[1]) * (1024 if parts[3] else 1000) ** " kmgt".index(parts[2] or " "))


def _sensible(limit: float) -> int:
    if not 1 <= limit <= _MOST:
        raise CoterieError("A memory limit must be between 1 byte and 1024 TiB.", "less" if limit < 1 else "more")
    return int(limit)


def default_limit() -> int:
    """A share of the memory that the machine has."""
    try:
        return int(_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError):  # not every system tells
        return _UNKNOWN
    except AttributeError:  # Windows
        return int(_SHARE * _windows_memory()) or _UNKNOWN


def _windows_memory() -> int:
    """The bytes of memory that Windows says there are; 0 if it does not."""
    import ctypes

    state = (ctypes.c_uint64 * 8)()  # MEMORYSTATUSEX: its length and the load in the first, then the whole
    state[0] = ctypes.sizeof(state)
    system = getattr(ctypes, "windll", None)
    return int(state[1]) if system is not None and system.kernel32.GlobalMemoryStatusEx(state) else 0
