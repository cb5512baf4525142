"""A quick look at the XML of a sheet that is written as usual, without formulas, errors or merged cells: most are.

It is taken for what it seems only if every tag is written in one way; for all else, `excel_scan.py` reads it in full.
"""

from __future__ import annotations

import re
import zipfile
from itertools import pairwise
from typing import NamedTuple

_BLOCK = 1 << 22
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([1-9][0-9]{0,6})"')
# quotes or blanks that an attribute may have elsewhere, markup that is no tag, prefixes, other encodings
_UNUSUAL = (b"='", b" =", b"= ", b"\n=", b"=\n", b"\r", b"\t", b"<!", b":c ", b":c>", b"<c>", b"\0", b"&#")
_SPECIAL = (b't="e"', b"<f>", b"<f ", b"<f/", b"<mergeCell")


class Glance(NamedTuple):
    """What is in a sheet: the outermost rows and columns, and how many cells share a text."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    shared: int


def glance(archive: zipfile.ZipFile, part: str) -> Glance | None:
    """What a quick look tells of a sheet; None if it must be read in full."""
    columns: set[bytes] = set()
    rows: set[bytes] = set()
    shared, left = 0, b""
    with archive.open(part) as file:  # which checks the length that the file says, and its sum
        while piece := file.read(_BLOCK):
            text, cut, left = (left + piece).rpartition(b"</row>")
            if not cut:
                text, left = b"", text + left
                if len(left) > 8 * _BLOCK:
                    return None
            if any(sign in text for sign in (*_UNUSUAL, *_SPECIAL)):
                return None
            cells = _CELL.findall(text)
            if len(cells) != text.count(b"<c "):
                return None
            columns.update(cell[0] for cell in cells)
            rows.update(cell[1] for cell in cells)
            shared += text.count(b't="s"')
    if any(sign in left for sign in (*_UNUSUAL, *_SPECIAL, b"<c ")):
        return None
    places = [number_of(letters.decode()) for letters in columns] or [0]
    numbers = [int(row) for row in rows] or [0]
    return Glance((min(numbers), max(numbers)), (min(places), max(places)), shared)


def longest(archive: zipfile.ZipFile, part: str) -> int:
    """At most how long a text is that cells share, in bytes."""
    most = size = 0
    with archive.open(part) as file:
        while piece := file.read(_BLOCK):
            starts = [found.start() for found in re.finditer(rb"<si", piece)]
            if not starts:
                size += len(piece)
                continue
            most = max(most, size + starts[0], *(b - a for a, b in pairwise(starts)))
            size = len(piece) - starts[-1]
    return max(most, size)


def number_of(letters: str) -> int:
    """The number of a column, from 1."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number
