"""A look at a sheet of an Excel file before it is read: what its reader would pass over, or run out of memory on.

The reader gives nothing for an error and for a formula whose value was never calculated, as for an empty cell; and it
makes room for every cell between the outermost ones. An Excel file is a zip file of XML (ECMA-376, part 1).
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from ..errors import CoterieError
from .base import attempt
from .excel_glance import glance, longest, number_of

MOST_BYTES = 2 << 30  # of XML
MOST_CELLS = 30_000_000  # that the reader makes room for
MOST_TEXT = 1 << 30  # characters in all cells together; a text that many cells share stands in the file once
_BLOCK = 1 << 20
_SAVE = "save the table as CSV, which is read part by part."


class _StopError(Exception):
    """A document that no spreadsheet writes."""


class Scan:
    """What there is in a sheet, by row numbers from 1."""

    def __init__(self, lengths: list[int]) -> None:
        self.errors: list[int] = []
        self.uncalculated: list[int] = []
        self.merged: list[str] = []
        self.text = 0
        self.rows: tuple[int, int] = (1 << 30, 0)
        self.columns: tuple[int, int] = (1 << 30, 0)
        self._lengths = lengths
        self._row = self._column = 0
        self._type, self._formula, self._value = "", False, ""
        self._inside = False

    def start(self, tag: str, attributes: list[str]) -> None:
        """A tag opens."""
        tag = tag.rpartition(":")[2]
        if tag == "c":
            self._open_cell(dict(zip(attributes[::2], attributes[1::2], strict=True)))
        elif tag == "v" or tag == "t":
            self._inside = True
        elif tag == "f":
            self._formula = True
        elif tag == "row":
            number = dict(zip(attributes[::2], attributes[1::2], strict=True)).get("r")
            self._row, self._column = int(number) if number else self._row + 1, 0
        elif tag == "mergeCell":
            self.merged.append(dict(zip(attributes[::2], attributes[1::2], strict=True)).get("ref", ""))

    def _open_cell(self, attributes: dict[str, str]) -> None:
        place = attributes.get("r", "")
        letters = place.rstrip("0123456789")
        self._column = number_of(letters) if letters else self._column + 1
        self._type, self._formula, self._value = attributes.get("t", ""), False, ""

    def data(self, text: str) -> None:
        """Characters between tags."""
        if self._inside:
            self._value += text

    def end(self, tag: str) -> None:
        """A tag closes."""
        tag = tag.rpartition(":")[2]
        if tag in ("v", "t"):
            self._inside = False
        elif tag == "c":
            self._close_cell()

    def _close_cell(self) -> None:
        if self._type == "e":
            self.errors.append(self._row)
        elif self._formula and not self._value and self._type != "str":
            self.uncalculated.append(self._row)
        if not self._value:
            return
        self.rows = min(self.rows[0], self._row), max(self.rows[1], self._row)
        self.columns = min(self.columns[0], self._column), max(self.columns[1], self._column)
        if self._type == "s":
            place = int(self._value)
            self.text += self._lengths[place] if place < len(self._lengths) else 0
        else:
            self.text += len(self._value)

    @property
    def area(self) -> int:
        """How many cells lie between the outermost ones."""
        return max(0, self.rows[1] - self.rows[0] + 1) * max(0, self.columns[1] - self.columns[0] + 1)


def check_sheet(path: Path, sheet: str) -> None:
    """Refuse a sheet that its reader would not read as a person does, or has no room for."""
    found, reason = attempt(_scanned, path, sheet)
    if reason is not None or found is None:
        hint = "is it damaged, or protected by a password? Save it again as .xlsx or .csv."
        raise CoterieError(f"'{path.name}' cannot be read as Excel.", reason or None, hint)
    if found.area > MOST_CELLS or found.text > MOST_TEXT:
        got = f"{found.area:,} cells" if found.area > MOST_CELLS else "more text than fits"
        hint = f"is there a stray cell far from the table? Otherwise {_SAVE}"
        raise CoterieError(f"A sheet must have at most {MOST_CELLS:,} cells.", got, hint)
    if found.merged:
        rows = ", ".join(re.sub("[A-Z$]", "", ref).replace(":", " to ") for ref in found.merged[:3])
        hint = "unmerge them and fill every cell; remove any title above the table."
        raise CoterieError("Cells must not be merged.", f"{len(found.merged):,} merged, in rows {rows}", hint)
    if found.errors:
        got = f"{len(found.errors):,} that show an error, {_in_rows(found.errors)}"
        raise CoterieError("Cells must hold values.", got, "correct their formulas, or empty them.")
    if found.uncalculated:
        got = f"{len(found.uncalculated):,} without one, {_in_rows(found.uncalculated)}"
        hint = "open the file in a spreadsheet program and save it, or replace formulas by their values."
        raise CoterieError("Formulas must have been calculated.", got, hint)


def unpacked_bytes(path: Path) -> int:
    """How many bytes there are in an Excel file, by what it says itself; 0 for what is none."""
    found, reason = attempt(_declared, path)
    return int(found) if reason is None else 0


def _declared(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        return sum(info.file_size for info in archive.infolist())


def _scanned(path: Path, sheet: str) -> Scan:
    with zipfile.ZipFile(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
            raise CoterieError("The Excel file is too large to be read.", f"'{path.name}'", _SAVE)
        book = _related(archive, "", "/officeDocument")[0]
        part, texts = _part_of(archive, book, sheet), _related(archive, book, "/sharedStrings")
        seen = glance(archive, part)
        bound = 0 if seen is None or not seen.shared else seen.shared * longest(archive, texts[0])
        if seen is not None and bound <= MOST_TEXT:
            scan = Scan([])
            scan.rows, scan.columns = seen.rows, seen.columns
            return scan
        scan = Scan(_lengths(archive, texts))
        _parse(archive, part, scan.start, scan.end, scan.data)
    return scan


def _part_of(archive: zipfile.ZipFile, book: str, sheet: str) -> str:
    """The part that holds a sheet."""
    keys: list[str] = []

    def start(tag: str, attributes: list[str]) -> None:
        given = {name.rpartition(":")[2]: value for name, value in zip(attributes[::2], attributes[1::2], strict=True)}
        if tag.rpartition(":")[2] == "sheet" and given.get("name") == sheet:
            keys.append(given.get("id", ""))

    _parse(archive, book, start)
    return _related(archive, book, "/worksheet", keys[0])[0]


def _related(archive: zipfile.ZipFile, part: str, kind: str, key: str | None = None) -> list[str]:
    """The parts of a kind that a part refers to."""
    here = PurePosixPath(part)
    found: list[str] = []

    def start(tag: str, attributes: list[str]) -> None:
        given = dict(zip(attributes[::2], attributes[1::2], strict=True))
        fits = tag.rpartition(":")[2] == "Relationship" and given.get("Type", "").endswith(kind)
        if fits and key in (None, given.get("Id")):
            target = given.get("Target", "")
            found.append(target.lstrip("/") if target.startswith("/") else str(here.parent / target))

    name = str(here.parent / "_rels" / f"{here.name}.rels") if part else "_rels/.rels"
    _parse(archive, name, start)
    return found


def _lengths(archive: zipfile.ZipFile, parts: list[str]) -> list[int]:
    """How long the texts are that cells share."""
    lengths: list[int] = []
    inside = [False]

    def start(tag: str, _: list[str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "si":
            lengths.append(0)
        inside[0] = tag == "t"

    def data(text: str) -> None:
        if inside[0] and lengths:
            lengths[-1] += len(text)

    if parts:
        _parse(archive, parts[0], start, None, data)
    return lengths


def _parse(archive: zipfile.ZipFile, part: str, start: Any, end: Any = None, data: Any = None) -> None:
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    parser.StartDoctypeDeclHandler = _refuse  # with one, a few letters can stand for gigabytes
    with archive.open(part) as file:  # which checks the length that the file says, and its sum
        while piece := file.read(_BLOCK):
            parser.Parse(piece, False)
    parser.Parse(b"", True)


def _refuse(*_: Any) -> None:
    raise _StopError


def _in_rows(rows: list[int]) -> str:
    different = list(dict.fromkeys(rows))
    return "in rows " + ", ".join(map(str, different[:5])) + (" and more" if len(different) > 5 else "")
