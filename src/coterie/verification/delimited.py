"""CSV files, as text. DuckDB reads them; pyarrow reads them once more, and both must see the same.

A reader alone won't do: DuckDB passes over blank lines, a delimiter at the end of a row, and blanks around quotes, so
that records would look alike which another reader tells apart.
"""

from __future__ import annotations

import codecs
import csv
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from .literals import literal

SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
DELIMITERS = (",", ";", "\t", "|")
OPTIONS = ("delimiter", "quote", "encoding", "header", "names")


@dataclass(frozen=True)
class File:
    """A CSV file in UTF-8 and how it is written; `path` may be a private copy."""

    path: Path
    names: tuple[str, ...]
    delimiter: str
    quote: str | None
    header: bool

    @classmethod
    def find(cls, path: Path, columns: Sequence[str], dialect: Mapping[str, Any] | None, private: Path) -> File:
        """Check the dialect, find out what it leaves open, and turn the file into UTF-8 where it isn't."""
        given = _checked(dialect)
        quote = given.get("quote", '"')
        wanted = [given["delimiter"]] if "delimiter" in given else list(DELIMITERS)
        utf8 = _in_utf8(path, given.get("encoding"), private)
        if not given.get("header", True):
            names = tuple(given["names"])
            if "delimiter" not in given:
                raise CoterieError("Without a header, the delimiter must be given.", "none in 'dialect'")
            return cls(utf8, names, wanted[0], quote, False)
        if "names" in given:  # instead of those in the first line
            if "delimiter" not in given:
                raise CoterieError("With names, the delimiter must be given.", "none in 'dialect'")
            return cls(utf8, tuple(given["names"]), wanted[0], quote, True)
        heads = {delimiter: _first_row(utf8, delimiter, quote) for delimiter in wanted}
        if not any(heads.values()):
            hint = "is it in UTF-8, with the names in its first line?"
            raise CoterieError(f"The header of '{path.name}' cannot be read.", hint=hint)
        able = [d for d in wanted if all(c in heads[d] for c in columns)] or wanted
        most = max(len(heads[d]) for d in able)
        best = [d for d in able if len(heads[d]) == most]
        if len(best) > 1 and most > 1:
            raise CoterieError(
                f"The delimiter of '{path.name}' is in doubt.", hint="give it as dialect={'delimiter': …}."
            )
        return cls(utf8, heads[best[0]], best[0], quote, True)

    def fill(self, connection: Any, path: str, table: str, position: Sequence[int]) -> None:
        """Make a table of the wanted columns, as c0, c1, …; NULL where nothing is written. `path` leads to the file."""
        types = ", ".join(f"'f{j}': 'VARCHAR'" for j in range(len(self.names)))
        quote = literal(self.quote or "")
        wanted = ", ".join(f"f{j} AS c{i}" for i, j in enumerate(position))
        connection.execute(f"""
            CREATE TABLE {table} AS SELECT {wanted} FROM read_csv({literal(path)}, auto_detect = false,
              columns = {{{types}}}, header = {str(self.header).lower()}, delim = {literal(self.delimiter)},
              quote = {quote}, escape = {quote}, comment = '', skip = 0, nullstr = '', allow_quoted_nulls = false,
              ignore_errors = false, null_padding = false, strict_mode = true, encoding = 'utf-8', compression = 'none',
              hive_partitioning = false, union_by_name = false, normalize_names = false)""")
        self._check_by_another(connection, table, position)

    def _check_by_another(self, connection: Any, table: str, position: Sequence[int]) -> None:
        connection.register("other", self._other(position))
        differ = " OR ".join(f"a.c{i} IS DISTINCT FROM b.f{j}" for i, j in enumerate(position))
        ((differing,),) = connection.execute(f"""
            SELECT count(*) FILTER (a.here IS DISTINCT FROM b.here OR {differ})
            FROM (SELECT *, true AS here FROM {table}) AS a
              POSITIONAL JOIN (SELECT *, true AS here FROM other) AS b""").fetchall()
        connection.unregister("other")
        if differing:
            what = "Every reader must see the same in a CSV file."
            hint = "look for blank lines, and for blanks around quotes."
            raise CoterieError(what, f"{differing:,} rows in which two readers differ", hint)

    def _other(self, position: Sequence[int]) -> Any:
        """The file as pyarrow reads it."""
        import pyarrow as pa
        from pyarrow import csv as reader

        names = [f"f{j}" for j in range(len(self.names))]
        return reader.open_csv(
            pa.OSFile(str(self.path)),
            reader.ReadOptions(column_names=names, skip_rows_after_names=int(self.header), block_size=1 << 23),
            reader.ParseOptions(
                delimiter=self.delimiter,
                quote_char=self.quote or False,
                newlines_in_values=True,
                ignore_empty_lines=False,
            ),
            reader.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                include_columns=[names[j] for j in dict.fromkeys(position)],
            ),
        )


def _checked(dialect: Mapping[str, Any] | None) -> dict[str, Any]:
    if dialect is not None and not isinstance(dialect, Mapping):
        raise CoterieError("'dialect' must be a mapping.", f"an object of type {type(dialect).__name__}")
    given = {name: value for name, value in (dialect or {}).items() if value is not None or name == "quote"}
    unknown = [str(name) for name in given if name not in OPTIONS]
    if unknown:
        raise CoterieError(f"A dialect has {', '.join(OPTIONS)}.", ", ".join(unknown))
    for name in ("delimiter", "quote"):
        sign = given.get(name)
        if sign is not None and not (
            isinstance(sign, str) and len(sign) == 1 and sign.isascii() and sign not in "\r\n\0"
        ):
            raise CoterieError(f"'{name}' must be one ASCII character.", f"an object of type {type(sign).__name__}")
    if "delimiter" in given and given["delimiter"] == given.get("quote", '"'):
        raise CoterieError("Delimiter and quote must differ.", "the same character for both")
    if not isinstance(given.get("header", True), bool) or ("names" in given and "header" not in given):
        raise CoterieError("'header' must be True or False; with names, it must be given.", "another, or none")
    if not given.get("header", True) and "names" not in given:
        raise CoterieError("'names' must be given if 'header' is False.", "none")
    names = given.get("names", ())
    if isinstance(names, str) or not all(isinstance(n, str) for n in names):
        raise CoterieError("'names' must be a list of column names.", f"an object of type {type(names).__name__}")
    return given


def _in_utf8(path: Path, encoding: Any, private: Path) -> Path:
    """The file, or a private copy in UTF-8. DuckDB would want an extension for most encodings."""
    try:
        name = codecs.lookup(encoding or _by_mark(path)).name
        "".encode(name)  # some that Python knows are none of texts
    except (LookupError, TypeError):
        name = ""
    except OSError as error:
        raise CoterieError(f"'{path.name}' cannot be read.", type(error).__name__) from None
    if not name:
        raise CoterieError("'encoding' must be one that Python knows.", f"an object of type {type(encoding).__name__}")
    if name in ("utf-8", "utf-8-sig", "ascii"):
        return path
    copy, failed = private / "utf8.csv", False
    try:
        with open(path, encoding=name, newline="") as source, open(copy, "x", encoding="utf-8", newline="") as to:
            shutil.copyfileobj(source, to, 1 << 20)
    except (UnicodeError, OSError):
        failed = True  # the error holds what could not be decoded
    if failed:
        raise CoterieError(f"'{path.name}' cannot be read.", f"bytes that are not {name}, or no room for a copy")
    return copy


def _by_mark(path: Path) -> str:
    with open(path, "rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"


def _first_row(path: Path, delimiter: str, quote: str | None) -> tuple[str, ...]:
    """The names in the first row; none if it can't be read like that."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            quotes: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
            row = next(csv.reader(file, delimiter=delimiter, strict=True, **quotes), [])
    except (csv.Error, UnicodeError, OSError):
        row = []
    return tuple(row)
