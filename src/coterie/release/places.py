"""Where records are in a file, for errors: lines of a text file, rows of a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..formats.base import attempt
from ..formats.excel import first_row
from ..formats.packed import unpacked
from ..tables.records import Places, listed


class Lines(Places):
    """Lines of a CSV file: values may hold line breaks, so a record's line is not its number."""

    def __init__(self, path: Path, details: Mapping[str, Any], columns: int) -> None:
        self._path, self._details, self._alone = path, dict(details), columns == 1

    def words(self, numbers: list[int]) -> str:
        """The lines in which these records begin."""
        lines, reason = attempt(self._lines, numbers)
        return listed("line", lines) if reason is None and lines else super().words(numbers)

    def _lines(self, numbers: list[int]) -> list[int]:
        d = self._details
        wanted = {number + int(d["header"]): place for place, number in enumerate(numbers)}
        found = [0] * len(numbers)
        how: dict[str, Any] = {"quotechar": d["quote"]} if d["quote"] else {"quoting": csv.QUOTE_NONE}
        old = csv.field_size_limit(1 << 30)
        try:
            with unpacked(self._path) as file:
                text = io.TextIOWrapper(file, d["encoding"], newline="")
                if d["bom"]:
                    text.read(1)
                reader = csv.reader(text, delimiter=d["delimiter"], **how)
                start, number, last = 1, 0, max(wanted)
                for fields in reader:
                    if fields or self._alone:  # in a single column, an empty line is a value
                        if number in wanted:
                            found[wanted[number]] = start
                        number += 1
                    start = reader.line_num + 1
                    if number > last:
                        return found
        finally:
            csv.field_size_limit(old)
        return []


class Rows(Places):
    """Rows of a spreadsheet."""

    def __init__(self, path: Path, options: Mapping[str, Any]) -> None:
        self._path, self._options = path, dict(options)

    def words(self, numbers: list[int]) -> str:
        """The rows of these records."""
        first, reason = attempt(first_row, self._path, self._options)
        return listed("row", [number + first for number in numbers]) if reason is None else super().words(numbers)
