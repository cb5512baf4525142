"""Parquet and CSV files, read by DuckDB: scanned and filtered, never held as a whole, nothing of them written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CoterieError
from ..formats import Format
from . import Box, Number

T = TypeVar("T")

_BATCH = 1 << 18


class FileEngine:
    """A Parquet or CSV file.

    Parameters
    ----------
    path : Path
    format : Format
        Of kind csv (in UTF-8) or parquet.
    names : sequence of str
        The columns.
    memory : int
        How many bytes DuckDB may take.
    """

    def __init__(self, path: Path, format: Format, names: Sequence[str], memory: int) -> None:
        self.names = tuple(names)
        self._private: tempfile.TemporaryDirectory[str] | None = None
        named = path.absolute()
        if not all(sign.isalnum() or sign in "/._- " for sign in str(named)):  # DuckDB takes * and [ for patterns
            self._private = tempfile.TemporaryDirectory(prefix="coterie-")
            named = Path(self._private.name) / f"input{path.suffix.lower()}"
            named.symlink_to(path.absolute())
        self._connection = _connect(str(named), memory)
        self._from = _scan(str(named), format, len(self.names))
        self._columns = [f"f{j}" for j in range(len(self.names))]
        ((self.records,),) = self._quietly(
            lambda: self._connection.execute(f"SELECT count(*) FROM {self._from}").fetchall()
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        if self._private is not None:
            self._private.cleanup()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """These columns of all records, in their order."""
        yield from self._ask(columns, "")

    def select(self, columns: Sequence[str], boxes: Sequence[Box], numbers: Mapping[str, Number]) -> Any:
        """These columns of the records in any of the boxes, in their order."""
        import pyarrow as pa

        inside = " OR ".join(self._inside(box, numbers) for box in boxes)
        found = list(self._ask(columns, f"WHERE {inside}"))
        return pa.Table.from_batches(found) if found else pa.table({name: pa.nulls(0) for name in columns})

    def _inside(self, box: Box, numbers: Mapping[str, Number]) -> str:
        conditions = []
        for name, (above, most) in box.items():
            value = _number(self._column(name), numbers[name])
            conditions += [f"{value} > {_literal(above)}"] if above is not None else []
            conditions += [f"{value} <= {_literal(most)}"] if most is not None else []
        return f"({' AND '.join(conditions) or 'true'})"

    def _column(self, name: str) -> str:
        return self._columns[self.names.index(name)]

    def _ask(self, columns: Sequence[str], where: str) -> Iterator[Any]:
        import pyarrow as pa

        wanted = ", ".join(self._column(name) for name in columns)
        reader = self._quietly(lambda: _reader(self._connection.sql(f"SELECT {wanted} FROM {self._from} {where}")))
        while True:
            batch = self._quietly(lambda: next(reader, None))
            if batch is None:
                return
            yield pa.RecordBatch.from_arrays(batch.columns, names=list(columns))

    def _quietly(self, run: Callable[[], T]) -> T:
        """What `run` gives. DuckDB's own words quote values, so they stay here."""
        try:
            return run()
        except CoterieError:
            raise
        except Exception as error:
            kind = type(error).__name__
        raise CoterieError(
            "The input cannot be read.", f"{kind} of DuckDB", "has every row as many fields as the first?"
        )


def _connect(path: str, memory: int) -> Any:
    import duckdb

    off = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")
    more = ("allow_persistent_secrets", "python_enable_replacements")
    connection = duckdb.connect(":memory:", config={**dict.fromkeys((*off, *more), "false"), "temp_directory": ""})
    connection.execute(f"SET memory_limit = '{memory // (1 << 20)}MiB'")
    connection.execute(f"SET allowed_paths = ['{path}']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET enable_progress_bar = false")  # it would be printed among what we print
    connection.execute("SET lock_configuration = true")
    return connection


def _reader(relation: Any) -> Any:
    """Batches of a relation; older versions of DuckDB call it otherwise."""
    return (
        relation.to_arrow_reader(_BATCH)
        if hasattr(relation, "to_arrow_reader")
        else relation.fetch_arrow_reader(_BATCH)
    )


def _scan(path: str, form: Format, columns: int) -> str:
    """The file as a table with columns f0, f1, …: of a CSV file texts, read strictly."""
    named = ", ".join(f"f{j}" for j in range(columns))
    if form.kind == "parquet":
        return f"read_parquet({_text(path)}, hive_partitioning = false) AS t({named})"
    d = form.details
    types = ", ".join(f"'f{j}': 'VARCHAR'" for j in range(columns))
    missing = "[" + ", ".join(_text(m) for m in d["missing"]) + "]"
    quote = _text(d["quote"] or "")
    return f"""read_csv({_text(path)}, auto_detect = false, columns = {{{types}}}, header = {str(d["header"]).lower()},
        delim = {_text(d["delimiter"])}, quote = {quote}, escape = {quote}, comment = '', skip = 0, nullstr = {missing},
        allow_quoted_nulls = true, ignore_errors = false, null_padding = false, strict_mode = true, encoding = 'utf-8',
        compression = 'none', hive_partitioning = false, union_by_name = false, normalize_names = false)"""


def _number(column: str, how: Number) -> str:
    """A column as the number that it is read as elsewhere: correctly rounded, gaps filled."""
    if how.text:
        plain = column if how.decimal == "." else f"replace({column}, '{how.decimal}', '.')"
        value = f"CAST(trim({plain}) AS DOUBLE)"
    else:
        value = f"CAST({column} AS DOUBLE)"
    return f"coalesce(CASE WHEN isnan({value}) THEN NULL ELSE {value} END, {_literal(how.gap)})"


def _literal(x: float) -> str:
    """A double, exactly: a plain number would be a decimal."""
    return f"'{x!r}'::DOUBLE"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
