"""Which band of numbers a text is the name of: 30-44, from -5 to -1, 0.5 to <1."""

from __future__ import annotations

import math
import re

_NAME = re.compile(r"(?P<low>\d\S*?)(?:-| to )(?P<high>\S+)|from (?P<below>-\S+) to (?P<until>\S+)")
_NEAR = 1e-9  # of decimal numbers, as parts of the larger one


def band_called(text: str, width: float, whole: bool) -> tuple[float, float] | None:
    """Where the band begins and where the next one does, if it is so wide and begins at a multiple of that; else None.

    A band of one whole number is called as the number is, unless it is negative.
    """
    text = text.strip()
    if whole and width == 1 and text.isascii() and text.isdigit():
        return int(text), int(text) + 1
    found = _NAME.fullmatch(text)
    if found is None:
        return None
    first, last = found["low"] or found["below"], found["high"] or found["until"]
    if not whole and not last.startswith("<"):
        return None
    try:
        return _whole(int(first), int(last), width) if whole else _decimal(float(first), float(last[1:]), width)
    except ValueError:
        return None


def _whole(low: int, last: int, width: float) -> tuple[float, float] | None:
    return (low, last + 1) if low % int(width) == 0 and last + 1 - low == width else None


def _decimal(low: float, high: float, width: float) -> tuple[float, float] | None:
    near = _NEAR * max(abs(low), abs(high), width)
    if not math.isfinite(near) or abs(high - low - width) > near:
        return None
    return (low, high) if abs(low - round(low / width) * width) <= near else None
