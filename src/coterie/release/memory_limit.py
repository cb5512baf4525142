"""How much memory may be taken: as people write it, or by what the machine has."""

from __future__ import annotations

import os
import re

from ..errors import CoterieError

_SHARE = 0.6  # of the machine's memory, where nothing is said: the rest is for others
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
    except (AttributeError, ValueError, OSError):  # not every system tells
        return 4 << 30
