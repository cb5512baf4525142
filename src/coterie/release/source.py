"""Where a release begins: a table in memory or a file, with what is known of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from ..formats import Format, without_user_missing
from ..formats import read as read_file
from ..tables.frames import Table, open_table


@dataclass(frozen=True)
class Opened:
    """The table, and what is known of the file it comes from."""

    table: Table
    name: str | None = None
    format: Format | None = None
    suffix: str = ".parquet"
    sha256: str | None = None
    as_numbers: Table | None = None  # the same without the codes that mean missing

    @property
    def details(self) -> Mapping[str, Any]:
        """How the file is written, such as its delimiter; nothing for a table in memory."""
        return {} if self.format is None else self.format.details

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers in text."""
        return str(self.details.get("decimal") or ".")

    @property
    def is_text(self) -> bool:
        """Whether it is a file of texts, which spreadsheets open."""
        return self.format is not None and self.format.kind == "csv"

    def arrow(self, name: str) -> Any:
        """A column to calculate with."""
        return (self.as_numbers or self.table).arrow(name)


def open_source(table: Any, options: Mapping[str, Any]) -> Opened:
    """Open a table or a file; `options` are those of the file."""
    if isinstance(table, (str, Path)):
        return _open_file(Path(table), options)
    if options:
        what = "[file] says how a file is read, and this is a table in memory."
        raise CoterieError(what, ", ".join(options), "leave these options out.")
    opened = open_table(table)
    if opened.records == 0:
        raise CoterieError("The table must hold records.", "0")
    return Opened(opened)


def _open_file(path: Path, options: Mapping[str, Any]) -> Opened:
    was = _state(path)
    read = read_file(path, options)
    plain, numbers = read.table, None
    if read.format.kind in ("spss", "stata"):
        numbers = open_table(without_user_missing(plain, read.format))
    elif len(read.format.details.get("missing", ())) > 1:  # columns that are kept keep each their own
        numbers = open_table(plain)
        plain = read_file(path, {**options, "missing": []}).table
    digest = sha256(path)
    if _state(path) != was:
        raise CoterieError("The input must not change while it is read.", f"'{path.name}', which did")
    return Opened(open_table(plain), read.name, read.format, path.suffix.lower(), digest, numbers)


def _state(path: Path) -> tuple[int, ...] | None:
    """What tells that a file was written to; None if it is none, which its reader will say."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def sha256(path: Path) -> str:
    """The hash of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
