"""Bands of numbers: their edges, their names and their middles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

MOST_BANDS = 4096


def known_edges(rule: Any) -> tuple[float, ...] | None:
    """Where bands begin, as far as the rule alone says it; None where that depends on the column's range."""
    if rule.bands is not None:
        return tuple(rule.bands)
    if rule.width is not None and rule.bottom is not None and rule.top is not None:
        return edges_between(rule.bottom, rule.top, rule.width)
    return None


def edges_between(low: float, high: float, width: float) -> tuple[float, ...] | None:
    """Where bands of equal width begin, from that of one number to that of another; None if there are too many."""
    step = Decimal(repr(width))
    first = math.floor(Decimal(repr(low)) / step)
    count = math.floor(Decimal(repr(high)) / step) - first + 1
    if count > MOST_BANDS:
        return None
    return tuple(_number((first + i) * step) for i in range(count))


def _number(exact: Decimal) -> float:
    return int(exact) if exact == int(exact) else float(exact)


def ends_of(rule: Any, edges: Sequence[float]) -> list[float | None]:
    """Where each band ends; None for the last, if it is open above."""
    if rule.width is None:
        return [*edges[1:], None]
    return [*edges[1:], _number(Decimal(repr(edges[-1])) + Decimal(repr(rule.width)))]


def names_of(rule: Any, edges: Sequence[float]) -> tuple[str, ...]:
    """The names of bands, from the lowest on; the first is that of numbers below all edges, where the rule has one."""
    names = []
    for low, high in zip(edges, ends_of(rule, edges), strict=True):
        if high is None or (rule.top is not None and low <= rule.top < high):
            names.append(rule.top_label or _from(low))
        elif rule.bottom is not None and low <= rule.bottom < high:
            names.append(rule.bottom_label or f"<{plain(high)}")
        else:
            names.append(_between(low, high, rule.kind == "integer"))
    return (rule.bottom_label, *names) if has_own_band_below(rule) else tuple(names)


def has_own_band_below(rule: Any) -> bool:
    """Whether numbers below the first edge have a band of their own."""
    return rule.bands is not None and rule.bottom_label is not None and rule.bottom is None


def middles_of(rule: Any, edges: Sequence[float]) -> list[float]:
    """The middle of each band, within the bounds; of whole numbers, rounded down."""
    out: list[float] = []
    for low, high in zip(edges, ends_of(rule, edges), strict=True):
        whole = rule.kind == "integer"
        last = math.inf if high is None else high - 1 if whole else high
        least = low if rule.bottom is None else max(low, rule.bottom)
        most = last if rule.top is None else min(last, rule.top)
        out.append((least + most) // 2 if whole else (least + most) / 2)
    return out


def _between(low: float, high: float, whole: bool) -> str:
    """A band as one says it. None begins with a sign: spreadsheets would calculate."""
    if whole and high - low == 1 and low >= 0:
        return plain(low)
    until = plain(high - 1) if whole else f"<{plain(high)}"
    if low < 0:
        return f"from {plain(low)} to {until}"
    return f"{plain(low)}-{until}" if whole else f"{plain(low)} to {until}"


def _from(low: float) -> str:
    return f"{plain(low)}+" if low >= 0 else f"from {plain(low)} on"


def plain(number: float) -> str:
    """A number in all its digits, as bands are named."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))
