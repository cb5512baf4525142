"""What all formats share: how a file was written, and ways to touch files that let no value out in an error."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import NOT_OF_THE_DATA, CoterieError
from .packed import inner_suffix, is_packed, unpacked

# The suffix says the kind: what a file is must not depend on what is in it.
SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".txt": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow",
    ".xlsx": "excel",
    ".sav": "spss", ".zsav": "spss", ".dta": "stata", ".sas7bdat": "sas7bdat", ".xpt": "xport",
}  # fmt: skip
KINDS = tuple(kind for kind in dict.fromkeys(SUFFIXES.values()) if kind != "excel")  # that are written as well
NAMES = {
    "csv": "CSV", "parquet": "Parquet", "arrow": "Arrow", "excel": "Excel", "spss": "SPSS", "stata": "Stata",
    "sas7bdat": "SAS", "xport": "SAS transport",
}  # fmt: skip
BATCH = 1 << 16


@dataclass(frozen=True)
class Format:
    """How a file was written, so that another can be written likewise.

    Attributes
    ----------
    kind : str
        One of `KINDS`: csv, parquet, arrow, spss, stata, sas7bdat, xport.
    details : mapping
        Plain values (text, numbers, booleans, lists, dictionaries): the dialect of a CSV file; the compression of a
        Parquet file; labels, formats and user-missing values of each variable of an SPSS, Stata or SAS file.
    """

    kind: str
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def as_dict(self) -> dict[str, Any]:
        """The format as plain values, for a manifest."""
        return {"kind": self.kind, **copy.deepcopy(dict(self.details))}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Format:
        """The format that `as_dict` gave."""
        details = copy.deepcopy(dict(plain))
        kind = details.pop("kind", None)
        if kind not in KINDS:
            raise CoterieError(f"The kind of a format must be one of {', '.join(KINDS)}.", f"'{kind}'")
        return cls(kind, details)

    def as_it_was(self, columns: Iterable[str]) -> Format:
        """The format, with columns that are written as they were read where several texts mean missing."""
        if self.kind != "csv" or len(self.details.get("missing", ())) < 2:
            return self
        return Format(self.kind, {**self.details, "kept": list(columns)})

    def keep(self, columns: Iterable[str]) -> Format:
        """The format with what it says about these columns alone: labels of a dropped column may disclose."""
        if "variables" not in self.details:
            return self
        wanted = set(columns)
        variables = {name: what for name, what in self.details["variables"].items() if name in wanted}
        return Format(self.kind, {**self.details, "variables": variables})

    def renamed(self, names: Mapping[str, str]) -> Format:
        """The format for a file that has other names for these columns; it says nothing about others."""
        details = dict(self.details)
        if "variables" in details:
            details["variables"] = {names[n]: what for n, what in details["variables"].items() if n in names}
        if "kept" in details:
            details["kept"] = [names[n] for n in details["kept"] if n in names]
        return Format(self.kind, details)

    def with_text(self, column: str) -> Format:
        """The format for a file in which a column has become one of new texts: of what is said of it, its label."""
        variables = dict(self.details.get("variables", {}))
        if column in variables:
            variables[column] = {what: value for what, value in variables[column].items() if what == "label"}
            return Format(self.kind, {**self.details, "variables": variables})
        return self


_DIALECT = ("delimiter", "quote", "encoding", "header")  # without these, nobody can read a CSV file again
_DETAILS: dict[str, Callable[[Any], bool]] = {
    **{name: lambda v: isinstance(v, str) and len(v) == 1 for name in ("delimiter", "decimal")},
    **{name: lambda v: isinstance(v, str) and v != "" for name in ("encoding", "compression")},
    **{name: lambda v: isinstance(v, str) and len(v) < 2 for name in ("quote", "thousands")},
    **{name: lambda v: isinstance(v, bool) for name in ("header", "bom", "final_newline", "quoted")},
    **{
        name: lambda v: isinstance(v, list) and all(isinstance(t, str) for t in v)
        for name in ("missing", "kept", "prefix", "suffix")
    },
    "newline": lambda v: v in ("\n", "\r\n", "\r"),
    "variables": lambda v: isinstance(v, dict) and all(isinstance(what, dict) for what in v.values()),
}


def check_details(form: Format) -> None:
    """Refuse a format that somebody else wrote down, where it lacks something, or says what can't be."""
    lacking = [name for name in _DIALECT if form.kind == "csv" and name not in form.details]
    wrong = [name for name, value in form.details.items() if name in _DETAILS and not _DETAILS[name](value)]
    if lacking or wrong:
        parts = [f"no {_few(lacking)}"] if lacking else []
        parts += [f"{_few(wrong)} that can't be"] if wrong else []
        raise CoterieError("The format of a file must describe how it is written.", ", ".join(parts))


@dataclass(frozen=True)
class Source:
    """A file that was read: its table (of pyarrow, and not shown), its format, its name."""

    table: Any = field(repr=False)
    format: Format
    name: str


def attempt(function: Callable[..., Any], *given: Any, **named: Any) -> tuple[Any, str | None]:
    """What a library's function returns, or None and a reason that quotes nothing.

    Libraries quote rows in their errors. The error is let go of here, so that the caller raises its own with neither
    cause nor context.
    """
    try:
        return function(*given, **named), None
    except NOT_OF_THE_DATA:
        raise
    except OSError as error:
        # an errno below 0 or a missing one is a library's own
        return None, os.strerror(error.errno) if error.errno and error.errno > 0 else ""
    except Exception:
        return None, ""


def content(path: Path) -> bytes:
    """All bytes of a file."""
    check_file(path)
    data, reason = attempt(_all_bytes, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read.", reason or None, "is it damaged?" if is_packed(path) else None)
    assert isinstance(data, bytes)
    return data


def _all_bytes(path: Path) -> bytes:
    with unpacked(path) as file:
        return file.read()


def check_file(path: Path) -> None:
    """Refuse what is no file, or has nothing in it; whoever opens a folder looks into it."""
    if os.path.isdir(path):
        return
    if not path.is_file():
        missing = "" if path.exists() else ", which does not exist"
        raise CoterieError("The input must be a file.", f"'{path}'{missing}")
    if path.stat().st_size == 0:
        raise CoterieError("The input must not be empty.", f"'{path}' with 0 bytes")


def content_hash(path: Path) -> str:
    """The SHA-256 of a file; of a folder of Parquet files, that of a list of theirs."""
    if os.path.isdir(path):
        from .parquet_folder import open_parquet

        return open_parquet(str(path)).hash()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def kind_of(path: Path) -> str:
    """The kind of format that a file's name says; a folder is a table of Parquet files."""
    if os.path.isdir(path):
        return "parquet"
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return "csv"
    if suffix == ".gz":
        inner_suffix(path)
        return "csv"
    kind = SUFFIXES.get(suffix)
    if kind is None:
        known = ", ".join((*SUFFIXES, ".csv.gz", ".zip"))
        sheet = suffix in (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
        hint = "save it as .xlsx or .csv." if sheet else "save or export it in one of these formats."
        raise CoterieError(f"Files must end in one of {known}.", f"'{path.name}'", hint)
    return kind


def text_suffix(path: Path) -> str:
    """How the name of a file ends, packed or not."""
    if os.path.isdir(path):
        return ".parquet"
    return inner_suffix(path) if is_packed(path) else path.suffix.lower()


def check_options(options: Mapping[str, Any] | None, known: Iterable[str], kind: str) -> dict[str, Any]:
    """Refuse an option that the format has no use for."""
    options = dict(options or {})
    allowed = list(known)
    unknown = [str(o) for o in options if o not in allowed]
    if unknown:
        what = f"Options for {NAMES[kind]} files are {', '.join(allowed)}." if allowed else None
        raise CoterieError(what or f"{NAMES[kind]} files take no options.", ", ".join(f"'{o}'" for o in unknown))
    return options


def check_columns(names: list[str], records: int, path: Path) -> None:
    """Refuse columns that cannot be told apart by name, and a file without records.

    Columns are told by position: what stands where names should may be data.
    """
    empty = [i for i, name in enumerate(names, 1) if not name.strip()]
    seen: dict[str, int] = {}
    twice = [(seen[name], i) for i, name in enumerate(names, 1) if seen.setdefault(name, i) != i]
    if not names:
        raise CoterieError("The file must have columns.", f"none in '{path.name}'")
    again = "or say names for all columns and header = true (--read header=true --read names=a,b,…)."
    if empty:
        got = f"an empty name for column {_few(empty)} of {len(names)}"
        hint = f"if there is a title above the names, remove it; otherwise name the columns in the first line, {again}"
        raise CoterieError("Every column must have a name.", got, hint)
    if twice:
        got = "the same name for columns " + _few([f"{a} and {b}" for a, b in twice])
        raise CoterieError("Column names must be unique.", got, f"rename one in the first line, {again}")
    if records == 0:
        raise CoterieError("The file must have records.", f"none below the names in '{path.name}'")


def _few(things: list[Any]) -> str:
    shown = ", ".join(str(t) for t in things[:5])
    return shown + (f" and {len(things) - 5} more" if len(things) > 5 else "")


def privately(path: Path, write: Callable[[], None]) -> None:
    """Let `write` fill a file that only its owner may read, down to the disk; whatever fails leaves nothing behind."""
    done = False
    reason: str | None = None
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.close(handle)
        os.chmod(path, 0o600)
        write()
        if path.is_file():  # a library that fails may take it away, and says why itself
            with open(path, "rb+") as written:
                os.fsync(written.fileno())
        done = True
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else ""
    finally:
        if not done and path.is_file():
            path.unlink()
    if reason is not None:  # by name: of a bundle, the folder is one that nobody gets to see
        raise CoterieError(f"'{path.name}' cannot be written.", reason or None)


def plain_text(column: Any) -> Any:
    """A column whose dictionary is dissolved, if it has one."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, plain or in a dictionary."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    view = getattr(pa.types, "is_string_view", lambda _: False)  # since pyarrow 16
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or view(kind))


def large(text: str) -> Any:
    """A text as a scalar of the type that columns of text are written from."""
    import pyarrow as pa

    return pa.scalar(text, pa.large_string())
