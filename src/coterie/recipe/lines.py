"""Where in a TOML text something stands: the line of a key, for messages."""

from __future__ import annotations

import re
from functools import lru_cache

# A recipe may be anyone's. No sign is tried twice (++, *+), so the time is linear in the length of a line.
_HEAD = re.compile(r"\s*+\[(?P<name>[^\]]++)\]\s*+(#.*)?$")
_KEY = re.compile(r"""\s*+(?P<name>(?:"[^"]*+"|'[^']*+'|[A-Za-z0-9_.\- ])++)\s*+=""")
_PART = re.compile(r"""\s*+(?:"([^"]*+)"|'([^']*+)'|([A-Za-z0-9_-]++))\s*+(?:\.|$)""")
_INNER = re.compile(r"""[{,]\s*+([A-Za-z0-9_-]++)\s*+=""")
_DEEPEST = 4  # names inside each other; no recipe has more
_NAME = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_CHAIN = re.compile(rf"{_NAME}(?:[ \t]*+\.[ \t]*+{_NAME})*+")
_LONGEST = 100  # of names with points between them, which tomllib takes the square of the time for


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """The line of the key, or of the nearest section around it that is there; None if none is."""
    places = _places(text)
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None


@lru_cache(maxsize=1)
def _places(text: str) -> dict[tuple[str, ...], int]:
    """The line of every key and section. Of several the first counts."""
    places: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEAD.match(line):
            section = _parts(head["name"])[:_DEEPEST]
            places.setdefault(section, number)
        elif key := _KEY.match(line):
            name = (section + _parts(key["name"]))[:_DEEPEST]
            for length in range(len(section) + 1, len(name) + 1):
                places.setdefault(name[:length], number)
            for inner in _INNER.finditer(line, key.end()):
                places.setdefault((*name, inner[1]), number)
    return places


def has_long_names(text: str) -> bool:
    """Whether names with points between them (a.b.c) go on and on."""
    long = (found[0] for found in _CHAIN.finditer(text) if found[0].count(".") > _LONGEST)
    return any(len(re.findall(_NAME, chain)) > _LONGEST for chain in long)


def _parts(name: str) -> tuple[str, ...]:
    """The first names of a dotted one."""
    parts: list[str] = []
    place = 0
    while len(parts) < _DEEPEST and (found := _PART.match(name, place)):
        parts.append(next(part for part in found.groups() if part is not None))
        place = found.end()
    return tuple(parts)
