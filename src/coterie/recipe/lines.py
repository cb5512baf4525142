"""Where in a TOML text something stands: the line of a key, for messages."""

from __future__ import annotations

import re

_HEAD = re.compile(r"\s*\[\s*(?P<name>[^\]]+?)\s*\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*(?P<name>("[^"]*"|'[^']*'|[A-Za-z0-9_.\- ])+?)\s*=""")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """The line of the key, or of the nearest section around it that is there; None if none is."""
    places = _places(text)
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None


def _places(text: str) -> dict[tuple[str, ...], int]:
    """The line of every key and section. Of several the first counts."""
    places: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEAD.match(line):
            section = _parts(head["name"])
            places.setdefault(section, number)
        elif key := _KEY.match(line):
            name = section + _parts(key["name"])
            for length in range(len(section) + 1, len(name) + 1):
                places.setdefault(name[:length], number)
            for inner in re.finditer(r"""[{,]\s*([A-Za-z0-9_-]+)\s*=""", line[key.end() :]):
                places.setdefault((*name, inner[1]), number)
    return places


def _parts(name: str) -> tuple[str, ...]:
    return tuple(next(part for part in found.groups() if part is not None) for found in _PART.finditer(name))
