"""CSV and its kin: every column is read as text, as it stands, and written likewise."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from . import dialect, number_marks
from . import header as heads
from .base import (
    BATCH,
    Format,
    Source,
    attempt,
    check_columns,
    check_options,
    content,
    is_text,
    large,
    plain_text,
    privately,
    text_suffix,
)

OPTIONS = (
    "delimiter", "quote", "encoding", "decimal", "thousands", "prefix", "suffix", "header", "names", "missing",
)  # fmt: skip
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


_LISTS = ("missing", "kept", "prefix", "suffix")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter, quote : str
        One ASCII character each; no quote: nothing is quoted.
    encoding : str
    bom : bool
        Whether the file starts with a byte order mark.
    decimal : str
        "." or ",": how numbers are written in the file, as far as one can tell.
    thousands : str
        What may stand between thousands; nothing, if it is empty.
    prefix, suffix : tuple of str
        What may stand before or after a number. What is released for a group has none of these three.
    header : bool
        Whether the first line holds the names.
    missing : tuple of str
        The texts that mean missing; the first is written.
    newline : str
    final_newline : bool
    kept : tuple of str
        Columns that are written as they were read, whichever of several texts means missing there.
    quoted : bool
        Whether every field stands in quotes; else those that need them do.
    """

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    bom: bool = False
    decimal: str = "."
    header: bool = True
    missing: tuple[str, ...] = ("",)
    newline: str = "\n"
    final_newline: bool = True
    kept: tuple[str, ...] = ()
    quoted: bool = False
    thousands: str = ""
    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()

    def format(self) -> Format:
        """The dialect as a format."""
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        return Format("csv", {**asdict(self), **lists})

    @classmethod
    def of(cls, format: Format) -> Dialect:
        """The dialect that a format says."""
        known = {f: v for f, v in format.details.items() if f in cls.__dataclass_fields__}
        if len(known) < len(format.details):
            unknown = [f"'{f}'" for f in format.details if f not in known]
            raise CoterieError("The details of a CSV format must describe a dialect.", ", ".join(unknown))
        known |= {f: tuple(known[f]) for f in _LISTS if f in known}
        made = cls(**known)
        _check_choices(asdict(made))
        return made


def read(path: Path, options: Mapping[str, Any] | None = None) -> Source:
    """Read a CSV file, each column as text."""
    given = _checked(options)
    data, made, names, shape = _look(content(path), path, given)
    body = memoryview(data)[shape.body : shape.end] if made.header else memoryview(data)[: shape.end]
    table, reason = attempt(_parse, body, names, made, shape)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read as CSV.", reason or None)
    records = shape.records - made.header
    if table.num_rows != records:  # the scan and the parser must agree, or neither is believed
        raise CoterieError(f"'{path}' cannot be read as CSV.", f"{table.num_rows} records where there are {records}")
    heads.check_not_a_record(table, given)
    if "decimal" not in given:
        made = replace(made, decimal=number_marks.decimal_of(table, data, made))
    return Source(table, made.format(), path.name)


def detect(path: Path, options: Mapping[str, Any] | None = None) -> Format:
    """The dialect of a CSV file."""
    return read(path, options).format


def looked(head: bytes, path: Path, options: Mapping[str, Any] | None) -> tuple[Format, list[str]]:
    """The dialect and the names of a file that begins like this."""
    given = _checked(options)
    data, made, names, shape = _look(head, path, given)
    body = memoryview(data)[shape.body : shape.end] if made.header else memoryview(data)[: shape.end]
    table, reason = attempt(_parse, body, names, made, shape)
    if reason is None:
        heads.check_not_a_record(table, given)
        if "decimal" not in given:
            made = replace(made, decimal=number_marks.decimal_of(table, data, made))
    return made.format(), names


def lines_of(table: Any, form: Format) -> Iterator[Any]:
    """The bytes of a table in UTF-8, some thousand records at a time."""
    made = Dialect.of(form)
    columns = [_as_text(name, table.column(i), made) for i, name in enumerate(table.column_names)]
    return _pieces(table.column_names, columns, made)


def _look(content: bytes, path: Path, given: dict[str, Any]) -> tuple[bytes, Dialect, list[str], dialect.Shape]:
    """The text of a file, its dialect, its names and its shape."""
    data, encoding, bom = dialect.decoded(content, given.get("encoding"))
    if not data.strip(b"\r\n"):
        raise CoterieError("The input must not be empty.", f"'{path}' without any text")
    if b"\0" in data:
        got = f"a NUL byte in line {dialect.line_of(data, data.index(0))}"
        raise CoterieError(
            "A CSV file must hold text.", got, "is it a spreadsheet, compressed, or UTF-16 without a byte order mark?"
        )
    quote = given.get("quote", '"')
    named = "\t" if text_suffix(path) in (".tsv", ".tab") else None
    delimiter = given.get("delimiter") or dialect.delimiter_of(data, quote, named)
    shape = dialect.shape_of(data, delimiter, quote)
    header, names = heads.names_of(heads.fields_of(shape.header, delimiter, quote), given)
    check_columns(names, shape.records - header, path)
    made = Dialect(
        delimiter, quote, encoding, bom, given.get("decimal", "."), header, tuple(given.get("missing", ("",))),
        shape.newline, shape.final_newline, (), shape.quoted, given.get("thousands", ""),
        tuple(given.get("prefix", ())), tuple(given.get("suffix", ())),
    )  # fmt: skip
    return data, made, names, shape


def _checked(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options that were given, or what is wrong with them."""
    given = {name: value for name, value in check_options(options, OPTIONS, "csv").items() if value is not None}
    if (options or {}).get("quote", '"') is None:
        given["quote"] = ""  # nothing is quoted
    given = number_marks.as_lists(given)
    _check_choices(given)
    if "names" in given:
        if not isinstance(given["names"], (list, tuple)) or not all(isinstance(n, str) for n in given["names"]):
            raise CoterieError("The names must be a list of strings.", type(given["names"]).__name__)
    elif given.get("header") is False:
        raise CoterieError("A file without a header needs names.", "header = false", heads.NAMES_NEEDED)
    return given


def _check_choices(given: Mapping[str, Any]) -> None:
    for name in ("delimiter", "quote"):
        value = given.get(name, ",")
        fine = isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\r\n\0"
        if not fine and not (name == "quote" and value == ""):
            raise CoterieError(f"The {name} must be one ASCII character.", f"{value!r}")
    if given.get("delimiter", ",") == given.get("quote", '"'):
        raise CoterieError("Delimiter and quote must differ.", f"{given['delimiter']!r} for both")
    number_marks.check_marks(given)
    if not isinstance(given.get("header", True), bool):
        raise CoterieError("header must be true or false.", f"{given['header']!r}")
    if "encoding" in given:
        if not isinstance(given["encoding"], str):
            raise CoterieError("The encoding must be a name.", type(given["encoding"]).__name__)
        dialect.codec_name(given["encoding"])
    missing = given.get("missing", ("",))
    if not isinstance(missing, (list, tuple)) or not all(isinstance(m, str) and len(m) < 100 for m in missing):
        raise CoterieError("The markers of missing values must be a list of short strings.", type(missing).__name__)


def _parse(body: memoryview, names: list[str], made: Dialect, shape: dialect.Shape) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    block = max(1 << 22, 2 * shape.longest)
    return arrow_csv.read_csv(
        pa.BufferReader(pa.py_buffer(body)),
        arrow_csv.ReadOptions(column_names=names, block_size=min(block, (1 << 31) - 1)),
        arrow_csv.ParseOptions(
            delimiter=made.delimiter,
            quote_char=made.quote or False,
            newlines_in_values=shape.broken,
            ignore_empty_lines=shape.fields > 1,  # in a single column, an empty line is a value
        ),
        arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=list(made.missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,  # programs that quote everything quote what is missing, too
            check_utf8=False,  # done
        ),
    )


def write(table: Any, format: Format, path: Path) -> None:
    """Write a table as a CSV file of this dialect."""
    made = Dialect.of(format)
    columns = [_as_text(name, table.column(i), made) for i, name in enumerate(table.column_names)]
    pieces = _pieces(table.column_names, columns, made)
    failed: list[bool] = []

    def save() -> None:
        encoder = codecs.getincrementalencoder(made.encoding)()
        with open(path, "wb") as file:
            file.write(next((mark for mark, name in _MARKS.items() if made.bom and name == made.encoding), b""))
            for piece in pieces:
                try:
                    file.write(piece if made.encoding == "utf-8" else encoder.encode(str(piece, "utf-8")))
                except UnicodeEncodeError:  # it holds the text
                    failed.append(True)
                    return
            file.write(encoder.encode("", final=True))

    privately(path, save)
    if failed:
        path.unlink(missing_ok=True)
        _raise_unencodable(table.column_names, columns, made.encoding)


def _refuse_nul(names: list[str], columns: list[Any]) -> None:
    """Refuse texts with a NUL: readers of CSV files stop at it, leave it out, or take the file for another."""
    import pyarrow.compute as pc

    for name, column in zip(names, columns, strict=True):
        count = pc.sum(pc.match_substring(column, "\0")).as_py() or 0
        if count or "\0" in name:
            got = f"{count} texts in column '{name}'" if count else f"the column name '{name}'"
            raise CoterieError(
                "A CSV file cannot contain NUL characters.", got, "write Parquet, or remove them from the text."
            )


def _raise_unencodable(names: list[str], columns: list[Any], encoding: str) -> None:
    for name, column in zip(names, columns, strict=True):
        count = sum(not _encodes(text, encoding) for text in column.unique().to_pylist() if text is not None)
        if count or not _encodes(name, encoding):
            got = f"{count} values in column '{name}' that it cannot represent"
            raise CoterieError(f"The file must be written in its encoding, {encoding}.", got, "use utf-8.")
    raise CoterieError(f"The file must be written in its encoding, {encoding}.")


def _encodes(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _as_text(name: str, column: Any, made: Dialect) -> Any:
    """A column as the text of its fields, with quotes where needed; null where missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(column.type):
        return _number_text(name, plain_text(column), made)
    column = plain_text(column).cast(pa.large_string())
    if name in made.kept and not column.null_count:
        return _quoted(name, column, made)
    if "" in made.missing:  # there, an empty text and nothing are the same
        column = pc.if_else(pc.equal(column, large("")), pa.scalar(None, pa.large_string()), column)
    markers = [m for m in made.missing if m]
    clash = pc.sum(pc.is_in(column, value_set=pa.array(markers, pa.large_string()))).as_py() if markers else 0
    if clash:
        got = f"{clash} such texts in column '{name}'"
        raise CoterieError("A value must not equal a marker of missing values.", got, "choose another marker.")
    if column.null_count and not made.missing:
        raise CoterieError("A marker for missing values is needed.", f"missing values in column '{name}'")
    return _quoted(name, column, made)


def _quoted(name: str, column: Any, made: Dialect) -> Any:
    import pyarrow.compute as pc

    signs = _any_of(made.delimiter + made.quote + "\r\n\ufeff")  # the last would be a mark at the start
    special = pc.is_valid(column) if made.quoted else pc.match_substring_regex(column, signs)
    count = pc.sum(special).as_py()
    if not count:
        return column
    if not made.quote:
        got = f"{count} texts of column '{name}' with a delimiter or a line break"
        raise CoterieError("Without a quote character, fields must not contain a delimiter or a line break.", got)
    mark = large(made.quote)
    inner = pc.replace_substring(column, made.quote, made.quote * 2)
    return pc.if_else(special, pc.binary_join_element_wise(mark, inner, mark, large("")), column)


def _any_of(characters: str) -> str:
    return "[" + "".join(f"\\x{{{ord(c):x}}}" for c in characters) + "]"


def _number_text(name: str, column: Any, made: Dialect) -> Any:
    """Numbers, booleans, dates and times as text: the shortest that reads back as the same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, is_a = column.type, pa.types
    if is_a.is_floating(kind):
        text = _float_text(name, column)
    elif is_a.is_null(kind) or any(
        test(kind) for test in (is_a.is_integer, is_a.is_boolean, is_a.is_date, is_a.is_time, is_a.is_decimal)
    ):
        text = column.cast(pa.large_string())
    elif is_a.is_timestamp(kind):
        text = pc.replace_substring_regex(column.cast(pa.large_string()), r"(\.\d*?)0+(\D.*)?\z", r"\1\2")
        text = pc.replace_substring_regex(text, r"\.(\D.*)?\z", r"\1")
    else:
        raise CoterieError("A CSV file can hold text, numbers, booleans, dates and times.", f"{kind} in '{name}'")
    if made.decimal == "," and (is_a.is_floating(kind) or is_a.is_decimal(kind)):
        text = pc.replace_substring(text, ".", ",")
    if text.null_count and not made.missing:
        raise CoterieError("A marker for missing values is needed.", f"missing values in column '{name}'")
    clear = made.delimiter in ";\t|" or (made.delimiter == "," and made.decimal == ".")
    return text if clear and made.quote in "\"'" and not made.quoted else _quoted(name, text, made)


def _float_text(name: str, column: Any) -> Any:
    """Arrow's text is the shortest, but it takes to powers of ten early: there, Python's."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == pa.float16():
        column = column.cast(pa.float32())
    if pc.any(pc.is_inf(column)).as_py():
        raise CoterieError("Numbers must be finite.", f"infinite ones in column '{name}'")
    column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    column = pc.if_else(pc.equal(column, pa.scalar(0, column.type)), pa.scalar(0, column.type), column)  # no -0
    text = column.cast(pa.large_string())
    powers = pc.fill_null(pc.match_substring(text, "e"), False)
    if pc.any(powers).as_py() and column.type == pa.float64():
        ours = pa.array([repr(x).removesuffix(".0") for x in column.filter(powers).to_pylist()], pa.large_string())
        text = pc.replace_with_mask(_whole(text), _whole(powers), ours)
    return text


def _whole(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _pieces(names: list[str], columns: list[Any], made: Dialect) -> Iterator[Any]:
    """The bytes of the file in UTF-8, some thousand records at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    _refuse_nul(names, columns)
    newline = large(made.newline)
    if made.header:
        heads = [_quoted("", pa.chunked_array([pa.array([n], pa.large_string())]), made)[0].as_py() for n in names]
        yield (made.delimiter.join(heads) + made.newline).encode("utf-8")
    null = _quoted("", pa.chunked_array([pa.array(list(made.missing[:1]), pa.large_string())]), made)
    null_text = null[0] if made.missing else large("")
    table = pa.table([pc.fill_null(c, null_text) for c in columns], names=[str(i) for i in range(len(names))])
    left = table.num_rows
    for start in range(0, table.num_rows, BATCH):
        part = table.slice(start, BATCH).combine_chunks()
        left -= part.num_rows
        fields = [_whole(c) for c in part.columns]
        lines = pc.binary_join_element_wise(*fields, large(made.delimiter))
        lines = pc.binary_join_element_wise(lines, newline, large(""))
        text = _bytes(lines)
        if not left and not made.final_newline:
            text = text[: -len(made.newline)]
            if not fields[-1][-1].as_py() and len(fields) == 1 and made.quote:
                text = bytes(text) + (made.quote * 2).encode()  # else the last record would be no record
        yield text


def _bytes(lines: Any) -> Any:
    """The texts of an array, one after the other, as they lie in memory."""
    import numpy as np

    offsets = np.frombuffer(lines.buffers()[1], np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(lines.buffers()[2])[offsets[0] : offsets[-1]]
