"""Reading facts that may lack anything: every reader gives something of its type, or None."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

Facts = Mapping[str, Any]


def part(facts: Any, *path: str) -> Facts:
    """The mapping at that path, or an empty one."""
    for key in path:
        facts = facts.get(key) if isinstance(facts, Mapping) else None
    return facts if isinstance(facts, Mapping) else {}


def items(facts: Any, *path: str) -> list[Any]:
    """The list at that path, or an empty one."""
    at = part(facts, *path[:-1]).get(path[-1]) if path else facts
    return list(at) if isinstance(at, (list, tuple)) else []


def rows(facts: Any, *path: str) -> list[Facts]:
    """The mappings of the list at that path."""
    return [row for row in items(facts, *path) if isinstance(row, Mapping)]


def number(value: Any) -> float | None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def count(value: Any) -> int | None:
    """A whole number >= 0."""
    value = number(value)
    return int(value) if value is not None and value >= 0 and value == int(value) else None


def text(value: Any) -> str | None:
    """A text with something in it."""
    return value if isinstance(value, str) and value.strip() else None


def names(value: Any) -> list[str]:
    """The texts of a list."""
    return [v for v in items(value) if isinstance(v, str)]


def numbers(value: Any) -> list[float | None]:
    """The numbers of a list, with None where there is none."""
    return [number(v) for v in items(value)]


def sizes(value: Any) -> dict[str, int]:
    """How many there are of each size, in the order of the sizes: {"5": 200, "10-19": 3}."""
    found = {str(size): n for size, v in part(value).items() if (n := count(v)) is not None}
    return dict(sorted(found.items(), key=lambda pair: _leading(pair[0])))


def _leading(size: str) -> tuple[float, str]:
    digits = "".join(c if c.isdecimal() else " " for c in size).split()
    return (float(digits[0]) if digits else math.inf, size)


def column_names(facts: Any) -> list[str]:
    """The names of the table's columns."""
    return [name for row in rows(facts, "columns") if (name := text(row.get("name"))) is not None]


def largest_k(facts: Any) -> int | None:
    """The largest k that was asked for."""
    asked = [row.get("k") for row in (*rows(facts, "groupings"), *rows(facts, "measures", "risk", "scenarios"))]
    asked += [part(facts, "recipe").get("k"), part(facts).get("suppressed_below")]
    return max((k for v in asked if (k := count(v))), default=None)


def setting(recipe: Any, section: str, key: str) -> Any:
    """A setting of a section of the recipe, which may be given alone: missing = "group"."""
    given = part(recipe).get(section)
    return given.get(key) if isinstance(given, Mapping) else given


def least_k(facts: Any) -> int | None:
    """The least k that was asked for: what holds for every record whatever the scenario."""
    asked = [row.get("k") for row in rows(facts, "groupings")] or [part(facts, "recipe").get("k")]
    return min((k for v in asked if (k := count(v))), default=None)
