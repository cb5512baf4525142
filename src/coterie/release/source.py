"""Where everything begins: a table or a file, opened, hashed and read once, and handed to all who need it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..engines import ENGINES, Engine
from ..engines.memory import MemoryEngine
from ..errors import CoterieError, boundary
from ..formats import Format, content_hash, kind_of, without_user_missing
from ..formats import read as read_file
from ..formats.base import attempt, check_file, text_suffix
from ..formats.excel_scan import unpacked_bytes
from ..formats.packed import is_packed, unpacked_size
from ..formats.parquet_folder import is_uri, open_parquet
from ..formats.streams import peek
from ..recipe import ColumnRule, Recipe
from ..tables.dress import PLAIN, Dress, dress_of
from ..tables.frames import Table, open_table
from ..tables.records import Places, Reading, without_texts
from .memory_limit import bytes_of, default_limit
from .places import Lines, Rows
from .refused import IN_PARTS, refuse_in_parts

_TIMES = 12  # the bytes that protecting takes in memory, for each byte of a CSV file or value of 8 bytes


class Source:
    """A table in memory or a file, opened once; what was read is kept for later use.

    Attributes
    ----------
    path : Path or None
    options : mapping
        The reading options that were given.
    memory : int
        Approximate memory limit in bytes.
    """

    session: Any  # of Spark, where the table is there

    def __init__(self, table: Any, options: Mapping[str, Any], memory: int | str | None = None) -> None:
        self.options = dict(options)
        self.limited = memory is not None
        self.memory = default_limit() if memory is None else bytes_of(memory)
        self.path = Path(table) if isinstance(table, (str, Path)) else None
        if self.path is None:
            self._open_table(table)
            return
        kind_of(self.path)
        check_file(self.path)
        self._state = _state_of(self.path)
        self.sha256: str | None = _hash(self.path)

    def _open_table(self, table: Any) -> None:
        if self.options:
            what = "Reading options apply to files, not to a table in memory."
            raise CoterieError(what, ", ".join(self.options), "leave these options out.")
        opened = open_table(table)
        if opened.records == 0:
            raise CoterieError("The table must contain records.", "0")
        self.sha256 = None
        self._read = (opened, None, None)

    @property
    def name(self) -> str | None:
        """The name of the file."""
        return None if self.path is None else self.path.name

    @property
    def suffix(self) -> str:
        """How the name of the file ends that is released: packed files and spreadsheets come out as text."""
        if self.path is None:
            return ".parquet"
        return ".csv" if kind_of(self.path) == "excel" else text_suffix(self.path)

    @cached_property
    @boundary
    def fits(self) -> bool:
        """Whether protecting it in memory stays within the limit, by what the file's size tells."""
        if self.path is None or (kind_of(self.path) not in (*IN_PARTS, "excel") and not self.limited):
            return True
        return needed(self.path) <= self.memory

    @cached_property
    @boundary
    def _peeked(self) -> tuple[Format, list[str]]:
        assert self.path is not None
        return peek(self.path, self.options)

    @cached_property
    @boundary
    def _read(self) -> tuple[Table, Format | None, Table | None]:
        """The whole table, its format, and the same without codes that mean missing, where these are kept."""
        assert self.path is not None
        if self._is_sheet and not self.fits:
            what = f"An Excel file must fit into memory, and the limit is {self.memory >> 20:,} MiB."
            raise CoterieError(what, f"'{self.path.name}'", "save it as CSV, which is read part by part.")
        several = self._several_missing
        read = read_file(self.path, {**self.options, "missing": []} if several else self.options)
        form, numbers = read.format, None
        if several:  # columns that are kept keep each its own
            form = Format(form.kind, {**form.details, "missing": list(several)})
        elif form.kind in ("spss", "stata"):
            numbers = open_table(without_user_missing(read.table, form))
        if _state_of(self.path) != self._state or _hash(self.path) != self.sha256:
            raise CoterieError("The input must not change while it is read.", f"'{self.path.name}', which changed")
        return open_table(read.table), form, numbers

    @property
    def _several_missing(self) -> tuple[str, ...]:
        """The texts that mean missing, if there are several."""
        given = self.options.get("missing", ())
        several = isinstance(given, (list, tuple)) and len(given) > 1 and all(isinstance(m, str) for m in given)
        empty = ("",) if several and "" not in given and self._is_sheet else ()  # an empty cell is always missing
        return (*given, *empty) if several else ()

    @property
    def _is_sheet(self) -> bool:
        return self.path is not None and kind_of(self.path) == "excel"

    @property
    def _only_peeked(self) -> bool:
        """Whether its beginning has to do, because the whole would not fit."""
        return self.path is not None and not self.fits and kind_of(self.path) in IN_PARTS

    @property
    def table(self) -> Table:
        """The whole table."""
        return self._read[0]

    @property
    def format(self) -> Format | None:
        """How the file is written; None for a table in memory."""
        return self._peeked[0] if self._only_peeked else self._read[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self._peeked[1]) if self._only_peeked else self.table.names

    @property
    def details(self) -> Mapping[str, Any]:
        """How the file is written, such as its delimiter; nothing for a table in memory."""
        return {} if self.format is None else self.format.details

    @property
    def is_text(self) -> bool:
        """Whether it is a file of texts, which spreadsheets open."""
        return self.format is not None and self.format.kind == "csv"

    @boundary
    def arrow(self, name: str) -> Any:
        """A column of the whole table, to calculate with: what means missing is."""
        array = (self._read[2] or self._read[0]).arrow(name)
        return without_texts(array, self._several_missing) if self._several_missing else array

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers in text."""
        return str(self.details.get("decimal") or ".")

    @property
    def dress(self) -> Dress:
        """What is taken off numbers in text before they are read."""
        return dress_of(self.details) if self.is_text else PLAIN

    @cached_property
    def places(self) -> Places:
        """Says where in the file records are."""
        if self.path is None or not self.is_text:
            return Places()
        if self._is_sheet:
            return Rows(self.path, self.options)
        return Lines(self.path, self.details, len(self.names))

    def choose(self, engine: str | None) -> str:
        """The engine: the one that was asked for, if the table can be there, or by size."""
        if engine is not None and engine not in ENGINES:
            raise CoterieError(f"'engine' must be one of {', '.join(ENGINES)}.", f"'{engine}'")
        if engine == "spark":
            what = "Spark works only for protect, assess and verify, on a table opened for Spark."
            hint = "open_source(path, engine='spark'); for other work, leave the engine out."
            raise CoterieError(what, "another table, or other work", hint)
        chosen = engine or ("memory" if self.fits else "duckdb")
        if chosen != "memory":
            refuse_in_parts(self.path, self.memory)
        return chosen

    def engine(self, name: str, rules: Mapping[str, Any], rows: int | None = None) -> Engine:
        """The table in an engine. In memory, columns that were read for one recipe are there for the next."""
        if name == "duckdb":
            from ..engines.duckdb import DuckDBEngine

            assert self.path is not None
            assert self.sha256 is not None
            form, names = self._peeked
            decimal, dress = str(form.details.get("decimal") or "."), dress_of(form.details)
            places = Lines(self.path, form.details, len(names)) if form.kind == "csv" else Places()
            reading = Reading(rules, decimal, self._several_missing, dress=dress, places=places)
            reading = replace(reading, missing_texts=_missing_texts(form))
            return DuckDBEngine(self.path, form, names, reading, self.memory, self.sha256, rows)
        reading = Reading(rules, self.decimal, dress=self.dress, places=self.places)
        reading = replace(reading, missing_texts=_missing_texts(self.format))
        return MemoryEngine(self.names, self.table.records, self.arrow, reading, self._typed)

    @cached_property
    def _typed(self) -> dict[Any, Any]:
        """Columns of the whole table as they were read, by name and rule."""
        return {}


@boundary
def open_source(
    table: Any,
    read: Mapping[str, Any] | None = None,
    *,
    memory: int | str | None = None,
    engine: str | None = None,
) -> Source:
    """Open a table or a file once, to draft, assess, compare and protect it.

    Parameters
    ----------
    table : DataFrame, pyarrow Table, path or Source
        A Source is returned unchanged. A path may be a folder of Parquet files.
    read : mapping, optional
        How to read a file, where that cannot be detected: delimiter, encoding, decimal, missing and so on.
    memory : int or str, optional
        Approximate memory limit, such as "2GB". Files that need more are read part by part.
    engine : str, optional
        The engine that will be used, if known: files for "spark" are opened differently.
    """
    if isinstance(table, Source):
        if (read and dict(read) != table.options) or (memory is not None and bytes_of(memory) != table.memory):
            raise CoterieError("An open source cannot be read with other options.", "other options", "open it anew.")
        return table
    from ..engines.spark_session import is_frame

    if engine == "spark" or is_frame(table) or (isinstance(table, str) and is_uri(table)):
        from .cluster_source import ClusterSource

        if not is_frame(table) and not isinstance(table, (str, Path)):
            what = "The engine spark works on Parquet files and Spark DataFrames."
            raise CoterieError(what, f"an object of type {type(table).__name__}", "use engine memory.")
        return ClusterSource(table, read or {}, memory)
    return Source(table, read or {}, memory)


def _missing_texts(form: Format | None) -> tuple[str, ...]:
    """The texts that mean missing in a file of texts."""
    return tuple(form.details.get("missing") or ()) if form is not None and form.kind == "csv" else ()


def rules_of(recipe: Recipe) -> dict[str, ColumnRule]:
    """The columns that are read as numbers, and how: quasi-identifiers, confidential columns and weights."""
    rules = {name: rule for name, rule in recipe.columns.items() if rule.role in ("quasi", "confidential")}
    if recipe.weights is not None:
        rules[recipe.weights.column] = ColumnRule(role="other", kind="numeric")
    return rules


def needed(path: Path) -> int:
    """About how many bytes a file takes to be protected in memory."""
    if kind_of(path) != "parquet":
        check_file(path)
        most = 4 * default_limit() // _TIMES  # what is beyond need not be counted: no machine has so much
        size, reason = attempt(unpacked_size, path, most) if is_packed(path) else (path.stat().st_size, None)
        if reason is not None:
            raise CoterieError(f"'{path}' cannot be unpacked.", reason or None, "is it damaged?")
        return _TIMES * max(int(size), unpacked_bytes(path) if kind_of(path) == "excel" else 0)
    if os.path.isdir(path):
        files = open_parquet(str(path))
        return _TIMES * 8 * files.records * len(files.names)
    from pyarrow import parquet

    metadata, reason = attempt(parquet.read_metadata, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read as Parquet.", reason or None)
    return _TIMES * 8 * int(metadata.num_rows) * int(metadata.num_columns)


def _state_of(path: Path) -> tuple[int, ...] | None:
    """What tells that a file was written to; None if it is none, which its reader will say."""
    try:
        if os.path.isdir(path):
            inside = sorted(path.rglob("*"))
            return tuple(number for entry in inside if entry.is_file() for number in _state_of(entry) or ())
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _hash(path: Path) -> str:
    digest, reason = attempt(content_hash, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read.", reason or None)
    return str(digest)
