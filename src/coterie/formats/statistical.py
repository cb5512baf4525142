"""SPSS, Stata and SAS files, through pyreadstat: labels, formats, measures and user-missing values survive.

File labels and notes, and the moment of writing, are not written: they say more than the records do. Stata's missing
values .a to .z are kept as NaN whose payload is the letter, as the R package haven keeps them: whoever asks for NaN
finds a missing value, and the file gets its letter back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from .base import (
    NAMES,
    Format,
    Source,
    attempt,
    check_columns,
    check_file,
    check_options,
    is_text,
    plain_text,
    privately,
)
from .clock import clock_of, default_format, from_numbers, is_moment, to_numbers

_MAGIC = {
    "spss": (b"$FL2", b"$FL3"),
    "xport": (b"HEADER RECORD*******LIB",),
    "sas7bdat": (b"\0" * 12 + b"\xc2\xea\x81\x60",),
}
_RELEASES = {119: 15, 118: 14, 117: 13, 115: 12, 114: 10}  # of the dta format, and what pyreadstat calls them
_NAN = 0x7FF8_0000_0000_0000
_LETTERS = 0xFF
_INT32 = (-2_147_483_647, 2_147_483_620)  # the integers that Stata does not take for missing values
_LABEL = 80  # characters of a column's label in a Stata file
_TEXT = 243  # bytes of a text in a Stata file before version 13, as far as pyreadstat writes them


def read(path: Path, kind: str, options: Mapping[str, Any] | None = None) -> Source:
    """Read an SPSS, Stata or SAS file; labelled values are their codes."""
    given = check_options(options, ("encoding",), kind)
    check_file(path)
    start, reason = attempt(_start, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read.", reason or None)
    if not _is_kind(start, kind):
        raise CoterieError(f"The file must have the format that its name says, {NAMES[kind]}.", f"'{path.name}'")
    library = _library()
    reader = getattr(library, {"spss": "read_sav", "stata": "read_dta"}.get(kind, f"read_{kind}"))
    asked: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True, **given}
    if kind in ("spss", "stata"):  # SAS's letters could not be written again
        asked["user_missing"] = True
    got, reason = attempt(reader, path, **asked)
    if reason is not None:
        hint = "it may be damaged, or its stated encoding may be wrong."
        raise CoterieError(f"'{path}' cannot be read as {NAMES[kind]}.", reason or None, hint)
    data, about = got
    table = _table(data, about, kind)
    check_columns(table.column_names, table.num_rows, path)
    variables = {name: _variable(about, name) for name in table.column_names}
    return Source(table, Format(kind, {**_version(start, kind), "variables": variables}), path.name)


def _library() -> Any:
    if find_spec("pyreadstat") is None:
        hint = "install it with: pip install 'coterie[files]'"
        raise CoterieError("SPSS, Stata and SAS files need pyreadstat.", "an environment without it", hint)
    return import_module("pyreadstat")


def _start(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(256)


def _is_kind(start: bytes, kind: str) -> bool:
    if kind == "stata":
        return start.startswith(b"<stata_dta>") or (start[0] in range(104, 117) and start[1] in (1, 2))
    return start.startswith(_MAGIC[kind])


def _version(start: bytes, kind: str) -> dict[str, Any]:
    """What the first bytes of a file say of the version of its format."""
    if kind == "spss":
        packed = max(start[72:76])
        return {"compression": {1: "rows", 2: "zlib"}.get(packed, "none")}
    if kind == "stata":
        match = re.match(rb"<stata_dta><header><release>(\d+)", start)
        return {"version": _RELEASES.get(int(match.group(1)) if match else start[0], 15 if match else 8)}
    return {"version": 8 if start[20:25] == b"LIBV8" else 5} if kind == "xport" else {}


def _variable(about: Any, name: str) -> dict[str, Any]:
    """What a file says of a variable, as plain values; what it does not say is left out."""
    labels = about.variable_value_labels.get(name) or {}
    ranges = about.missing_ranges.get(name) or []
    measure = about.variable_measure.get(name)
    said = {
        "type": about.readstat_variable_types.get(name),
        "label": about.column_names_to_labels.get(name),
        "format": about.original_variable_types.get(name),
        "informat": getattr(about, "original_variable_informats", {}).get(name),
        "labels": [[code, text] for code, text in labels.items()],
        "missing": [[_end(r["lo"]), _end(r["hi"])] if isinstance(r, dict) else [r, r] for r in ranges],
        "letters": list(about.missing_user_values.get(name) or []),
        "width": about.variable_display_width.get(name),
        "measure": measure if measure in ("nominal", "ordinal", "scale") else None,
    }
    return {what: value for what, value in said.items() if value}


def _end(bound: Any) -> Any:
    """An end of a range; None where it has none (LOWEST, HIGHEST), as JSON has no infinity."""
    return None if isinstance(bound, float) and abs(bound) > 1.7e308 else bound


def _table(data: Mapping[str, Any], about: Any, kind: str) -> Any:
    import pyarrow as pa

    columns = {}
    for name, values in data.items():
        type_ = about.readstat_variable_types[name]
        if type_ == "string":
            columns[name] = pa.array([v or None for v in values], pa.string())  # blank is missing in all of them
        elif about.missing_user_values.get(name):
            columns[name] = _lettered(values)
        else:
            column = pa.array(values, pa.float64(), from_pandas=True)
            clock = clock_of(kind, about.original_variable_types.get(name))
            if clock is not None:
                column = from_numbers(column, clock)
            elif type_.startswith("int"):
                column = column.cast(pa.int32())
            columns[name] = column
    return pa.table(columns)


def _lettered(values: Any) -> Any:
    """Numbers among which letters stand for missing values."""
    import pyarrow as pa

    letters = np.array([ord(v) if isinstance(v, str) else 0 for v in values], np.uint64)
    numbers = np.array([np.nan if v is None or isinstance(v, str) else v for v in values], np.float64)
    null = np.isnan(numbers) & (letters == 0)
    numbers = np.where(letters > 0, (letters | np.uint64(_NAN)).view(np.float64), numbers)
    return pa.array(numbers, pa.float64(), mask=null, from_pandas=False)


def _letters(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The letter of each NaN that has one; 0 elsewhere."""
    bits = np.ascontiguousarray(numbers, np.float64).view(np.uint64)
    return np.where(np.isnan(numbers), bits & np.uint64(_LETTERS), np.uint64(0))


def without_user_missing(table: Any, format: Format, columns: list[str] | None = None) -> Any:
    """The table with nulls for user-missing values."""
    variables = format.details.get("variables", {})
    for i, name in enumerate(table.column_names):
        about = variables.get(name, {})
        if (columns is None or name in columns) and (about.get("missing") or about.get("letters")):
            column = _blanked(name, table.column(i).combine_chunks(), format.kind, about)
            table = table.set_column(i, name, column)
    return table


def _blanked(name: str, column: Any, kind: str, about: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    ranges = about.get("missing", [])
    if is_text(column.type):
        codes = {lo for lo, _ in ranges}
        return pa.array([None if text in codes else text for text in plain_text(column).to_pylist()], pa.string())
    clock = clock_of(kind, about.get("format"))
    numbers = _numbers(name, column, kind, about.get("format"))
    out = _within(numbers, ranges)
    made = pa.array(np.where(out, 0.0, numbers), mask=out)
    if clock is not None:  # without the codes, all may be dates
        return from_numbers(made, clock)
    return made if is_moment(column.type) else made.cast(column.type)


def _within(numbers: NDArray[np.float64], ranges: list[list[Any]]) -> NDArray[np.bool_]:
    out = np.isnan(numbers)
    for lo, hi in ranges:
        out |= (numbers >= (-np.inf if lo is None else lo)) & (numbers <= (np.inf if hi is None else hi))
    return out


def labelled(format: Format) -> set[str]:
    """The columns with labels of values, other than of those that mean missing."""
    variables = format.details.get("variables", {})
    return {
        name for name, about in variables.items() if any(_is_value(code, about) for code, _ in about.get("labels", ()))
    }


def mean_missing(format: Format, column: str, texts: Iterable[str]) -> list[str]:
    """Those of some texts that the file declares as missing in this column, where they stand for codes."""
    about = format.details.get("variables", {}).get(column, {})
    return [text for text in texts if not (_is_value(text, about) and _is_value(_code(text), about))]


def _code(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _is_value(code: Any, about: Mapping[str, Any]) -> bool:
    """Whether a labelled code stands for a value, not for a missing one."""
    ranges = about.get("missing", [])
    if isinstance(code, str):
        return code not in about.get("letters", ()) and all(code != lo for lo, _ in ranges)
    return not bool(_within(np.array([code], np.float64), ranges)[0])


def without_labels(format: Format, columns: Iterable[str]) -> Format:
    """The format without labels of values in these columns."""
    variables, gone = dict(format.details.get("variables", {})), set(columns)
    for name in gone.intersection(variables):
        variables[name] = {what: value for what, value in variables[name].items() if what != "labels"}
    return Format(format.kind, {**format.details, "variables": variables})


def without_declared_missing(format: Format, columns: Iterable[str]) -> Format:
    """The format without values that mean missing in these columns."""
    variables, gone = dict(format.details.get("variables", {})), set(columns)
    if not gone.intersection(variables):
        return format
    for name in gone.intersection(variables):
        kept = {what: value for what, value in variables[name].items() if what not in ("missing", "letters")}
        variables[name] = kept
    return Format(format.kind, {**format.details, "variables": variables})


def with_labels_in_use(table: Any, format: Format, columns: Iterable[str]) -> Format:
    """The format with labels of those values alone, in these columns, that a record has."""
    variables = dict(format.details.get("variables", {}))
    for name in columns:
        about = variables.get(name, {})
        if about.get("labels"):
            held = set(plain_text(table.column(name)).unique().to_pylist())
            variables[name] = {**about, "labels": [[code, text] for code, text in about["labels"] if code in held]}
    return Format(format.kind, {**format.details, "variables": variables})


def write(table: Any, format: Format, path: Path) -> None:
    """Write a table as an SPSS, Stata or SAS transport file, with what the format says of its columns."""
    if format.kind == "sas7bdat":
        hint = "write .xpt (SAS transport) or .parquet instead."
        raise CoterieError(".sas7bdat files can be read but not written.", hint=hint)
    library = _library()
    if find_spec("pandas") is None:
        raise CoterieError("To write SPSS, Stata and SAS files, pyreadstat needs pandas.", hint="install pandas.")
    frame, formats = _frame(table, format)
    variables = {name: _about(table.schema.field(name).type, format, name) for name in table.column_names}
    writer, named = _call(library, frame, formats, variables, format)
    reasons: list[str] = []

    def save() -> None:
        _, reason = attempt(writer, frame, str(path), **named)
        if reason is None:
            _drop_moment(path, format.kind)
        else:
            reasons.append(reason)

    privately(path, save)
    if reasons:
        path.unlink(missing_ok=True)
        hint = "its column names, text lengths and labels must be allowed by the format."
        raise CoterieError(f"'{path.name}' cannot be written as {NAMES[format.kind]}.", reasons[0] or None, hint)


def _about(type_: Any, format: Format, name: str) -> dict[str, Any]:
    """What the format says of a variable; of its label alone if texts have become numbers or the other way round."""
    about: dict[str, Any] = format.details.get("variables", {}).get(name, {})
    fits = is_text(type_) == (about.get("type") == "string")
    return about if fits else {what: value for what, value in about.items() if what == "label"}


def _call(
    library: Any, frame: Any, formats: dict[str, str], variables: dict[str, dict[str, Any]], format: Format
) -> tuple[Any, dict[str, Any]]:
    """The function of pyreadstat that writes the format, and what to tell it."""
    named: dict[str, Any] = {
        "column_labels": {name: about["label"] for name, about in variables.items() if "label" in about},
        "variable_format": formats,
    }
    if format.kind == "xport":
        informats = {name: about["informat"] for name, about in variables.items() if "informat" in about}
        named |= {"file_format_version": format.details.get("version", 8)}
        return library.write_xport, named | ({"variable_informat": informats} if informats else {})
    named["variable_value_labels"] = {
        name: _codes(frame[name], about["labels"]) for name, about in variables.items() if about.get("labels")
    }
    if format.kind == "stata":
        labels = named["column_labels"]  # R writes longer ones, which are read, but could not be written again
        named["column_labels"] = {name: label[:_LABEL] for name, label in labels.items()}
        letters = {name: about["letters"] for name, about in variables.items() if about.get("letters")}
        version = format.details.get("version", 15)
        if version < 14 and not _is_ascii(frame, named):
            version = 14  # older versions have no UTF-8, and pyreadstat writes nothing else
        elif version < 13 and _longest(frame) > _TEXT:
            version = 13
        return library.write_dta, named | {"version": version, "missing_user_values": letters}
    compression = format.details.get("compression")
    named |= {"compress": compression == "zlib", "row_compress": compression == "rows"}
    named["variable_display_width"] = {name: about["width"] for name, about in variables.items() if "width" in about}
    named["variable_measure"] = {name: about["measure"] for name, about in variables.items() if "measure" in about}
    named["missing_ranges"] = {
        name: [_range(lo, hi) for lo, hi in about["missing"]] for name, about in variables.items() if "missing" in about
    }
    return library.write_sav, named


def _codes(values: Any, labels: list[list[Any]]) -> dict[Any, str]:
    """Value labels with codes of the type that the column is written as."""
    if values.dtype.kind == "f":
        return {float(code) if not isinstance(code, str) else code: text for code, text in labels}
    return {int(c) if isinstance(c, float) and c.is_integer() else c: text for c, text in labels}


def _range(lo: Any, hi: Any) -> Any:
    if isinstance(lo, str) and lo == hi:
        return lo
    largest = float(np.finfo(np.float64).max)
    return {"lo": -largest if lo is None else lo, "hi": largest if hi is None else hi}


def _is_ascii(frame: Any, named: dict[str, Any]) -> bool:
    texts = [*frame.columns, *named["column_labels"].values()]
    texts += [text for labels in named["variable_value_labels"].values() for text in labels.values()]
    return all(str(t).isascii() for t in texts) and all(text.isascii() for text in _texts(frame))


def _longest(frame: Any) -> int:
    return max(map(len, _texts(frame)), default=0)


def _texts(frame: Any) -> Iterator[str]:
    return (str(v) for name in frame.columns if frame[name].dtype.kind not in "fi" for v in frame[name])


def _frame(table: Any, format: Format) -> tuple[Any, dict[str, str]]:
    """The frame that pyreadstat writes, and the display format of each column."""
    import pyarrow as pa

    plain: dict[str, Any] = {}
    mixed: dict[str, Any] = {}  # integers with gaps or letters, which a frame must hold as objects
    formats: dict[str, str] = {}
    for i, name in enumerate(table.column_names):
        column = plain_text(table.column(i)).combine_chunks()
        about = _about(column.type, format, name)
        shown = about.get("format")
        if is_text(column.type):
            plain[name] = column.cast(pa.string())
        else:
            if is_moment(column.type) and clock_of(format.kind, shown) is None:
                shown = default_format(format.kind, column.type)
            numbers = _numbers(name, column, format.kind, shown)
            whole = about.get("type", "").startswith("int") or pa.types.is_integer(column.type)
            plain[name], objects = (
                _stata_values(numbers, whole) if format.kind == "stata" else (pa.array(numbers), None)
            )
            if objects is not None:
                mixed[name] = objects
        if shown:
            formats[name] = shown
    frame = pa.table(plain).to_pandas()
    for name, objects in mixed.items():
        frame[name] = objects
    return frame, formats


def _stata_values(numbers: NDArray[np.float64], whole: bool) -> tuple[Any, Any]:
    """A column for Stata: of integers if it had them and still has, with its letters where it has some."""
    import pyarrow as pa

    letters, gaps = _letters(numbers), np.isnan(numbers)
    seen = numbers[~gaps]
    whole = whole and bool((seen == np.rint(seen)).all() and ((seen >= _INT32[0]) & (seen <= _INT32[1])).all())
    if whole and not gaps.any():
        return pa.array(numbers.astype(np.int32)), None
    if not letters.any() and not whole:
        return pa.array(numbers), None
    objects = np.empty(len(numbers), object)
    objects[~gaps] = [int(x) for x in seen] if whole else [float(x) for x in seen]
    objects[letters > 0] = [chr(int(c)) for c in letters[letters > 0]]
    return pa.array(np.zeros(len(numbers))), objects


def _numbers(name: str, column: Any, kind: str, format: str | None) -> NDArray[np.float64]:
    """A column as the doubles that these formats keep; NaN where null."""
    import pyarrow as pa

    is_a = pa.types
    if is_moment(column.type):
        clock = clock_of(kind, format) or clock_of(kind, default_format(kind, column.type))
        assert clock is not None
        return to_numbers(column, clock)
    if is_a.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not (is_a.is_integer(column.type) or is_a.is_floating(column.type) or is_a.is_decimal(column.type)):
        got = f"{column.type} in column '{name}'"
        raise CoterieError(f"{NAMES[kind]} files can hold text, numbers, dates and times.", got)
    made, reason = attempt(column.cast, pa.float64())
    if reason is not None:
        raise CoterieError(f"{NAMES[kind]} files keep numbers of 15 digits.", f"more in column '{name}'")
    return np.asarray(made.to_numpy(zero_copy_only=False), dtype=np.float64)


def _drop_moment(path: Path, kind: str) -> None:
    """Overwrite when the file was written: it tells of the custodian's work, and no two files would be the same."""
    with open(path, "r+b") as file:
        start = file.read(1024)
        if kind == "spss":
            places = [(92, b"01 Jan 7000:00:00")]
        elif kind == "stata":
            at = start.find(b"<timestamp>")
            places = [(at + 12 if at >= 0 else 91, b"01 Jan 1970 00:00")]
        else:
            moments = re.finditer(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d", start[:560])
            places = [(match.start(), b"01JAN70:00:00:00") for match in moments]
        for place, text in places:
            file.seek(place)
            file.write(text)
