"""How a file or a table becomes a DuckDB relation, with nothing lost, guessed or left behind on the way.

DuckDB may open nothing but the one file and loads no extension; what does not fit into memory goes to a private folder.
Columns get names by position (c0, c1, …): DuckDB would take "Age" and "age" for one.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..errors import NOT_OF_THE_DATA, CoterieError, PromiseError
from . import batches as arrow
from . import delimited
from .claims import Claims, listed

T = TypeVar("T")

HELD = "held"  # the table that holds the columns in question
STATISTICS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
PARQUET = (".parquet", ".pq")
FEATHER = (".feather", ".arrow", ".ipc")
SUFFIXES = (*delimited.SUFFIXES, *PARQUET, *FEATHER, *STATISTICS)


def quietly(run: Callable[[], T], what: str, hint: str | None = None) -> T:
    """What `run` gives, or an error that says nothing of what went wrong but its type.

    Libraries quote values in their messages. Raised here, after the `except`, the error has no cause and no context.
    """
    try:
        return run()
    except NOT_OF_THE_DATA:
        raise
    except Exception as error:
        kind = type(error).__name__
        stopped = kind == "InterruptException" or str(error) == "Query interrupted"  # so DuckDB tells of a signal
    if stopped:
        raise KeyboardInterrupt
    raise CoterieError(what, kind, hint)


@contextmanager
def opened(
    release: Any, claims: Claims, dialect: Mapping[str, Any] | None, memory: int | None = None
) -> Iterator[tuple[Any, dict[str, str]]]:
    """A relation that holds the columns of a release that claims are about, and what they are called there.

    Of the keys, every difference must be kept; of the others, missing values of any sort are the same.
    """
    with _opened(release, _Wanted(claims.columns, claims.keys, claims.released), dialect, memory) as found:
        yield found


@contextmanager
def opened_apart(
    release: Any, claims: Claims, dialect: Mapping[str, Any] | None, memory: int | None = None
) -> Iterator[tuple[Any, dict[str, str]]]:
    """The same of columns apart from classes: dates and times are such, and missing values of any sort are the same."""
    wanted = _Wanted(claims.apart, moments=True)
    with _opened(release, wanted, dialect, memory) as found:
        yield found


@dataclass(frozen=True)
class _Wanted:
    """The columns that are read; those that make classes; all that a file may hold; whether moments matter."""

    columns: tuple[str, ...]
    keys: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    moments: bool = False


@contextmanager
def _opened(
    release: Any, wanted: _Wanted, dialect: Mapping[str, Any] | None, memory: int | None
) -> Iterator[tuple[Any, dict[str, str]]]:
    columns = wanted.columns
    with private_folder() as private:
        path = _file(release)
        if path is not None and _suffix(path) in delimited.SUFFIXES:
            file = delimited.File.find(path, columns, dialect, Path(private))
            position = positions(file.names, columns)
            check_released(file.names, wanted.released)
            literally = quietly(lambda: _plain_path(file.path, private), f"'{path.name}' cannot be read.", "rename it.")
            connection = _connect(private, literally, memory)
            fill: Callable[[], None] = lambda: file.fill(connection, literally, HELD, position)  # noqa: E731
        else:
            if dialect is not None:
                raise CoterieError("Only CSV files have a dialect.", "'dialect' for another release", "leave it out.")
            connection = _connect(private, None, memory)
            fill = lambda: _pour(connection, release if path is None else path, wanted)  # noqa: E731
        try:
            quietly(fill, *_complaint(release, path))
            yield connection.table(HELD), {c: f"c{j}" for j, c in enumerate(columns)}
        finally:
            connection.close()


@contextmanager
def opened_files(
    places: Sequence[str], columns: Sequence[str], name: str, memory: int, empty: bool = False, moments: bool = False
) -> Iterator[tuple[Any, dict[str, str]]]:
    """The same of some Parquet files of a release, for a task that has one core; without records if only types count.

    `name` is what an error calls the release; `moments` says that dates and times are to be such.
    """
    with private_connection(memory) as connection:

        def fill() -> None:
            names, schema, batches = arrow.of_parquet(places, columns)
            some = () if empty else batches
            pour(connection, HELD, arrow.reader(schema, some, positions(names, columns), moments))

        quietly(fill, cannot_be_read(name, "parquet"))
        yield connection.table(HELD), {c: f"c{j}" for j, c in enumerate(columns)}


@contextmanager
def private_connection(memory: int) -> Iterator[Any]:
    """A DuckDB that can open nothing, for a task that has one core."""
    with private_folder() as private:
        connection = _connect(private, None, memory, threads=1)
        try:
            yield connection
        finally:
            connection.close()


_PREFIX = "coterie-check-"
_FRESH = 60.0  # seconds in which a folder may not be locked yet


@contextmanager
def private_folder() -> Iterator[str]:
    """A folder that nobody else may look into; what runs that were killed have left is removed first."""
    failed = None
    try:
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}????????"):
            if _is_left(left):
                shutil.rmtree(left, ignore_errors=True)
        folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
    except OSError as error:
        failed = os.strerror(error.errno) if error.errno else type(error).__name__
    if failed is not None:
        raise CoterieError("There must be a place for temporary files.", failed, "TMPDIR names one.")
    with folder as private:
        handle = _lock(Path(private))
        try:
            yield private
        finally:
            _unlock(Path(private), handle)


def _is_left(folder: Path) -> bool:
    """Whether a folder is ours, not new, and held by nobody."""
    try:
        found = folder.lstat()
    except OSError:  # its owner has just removed it
        return False
    if not stat.S_ISDIR(found.st_mode) or time.time() - found.st_mtime < _FRESH:
        return False
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():  # on Windows, the folder above is a user's own
        return False
    handle = _lock(folder)
    _unlock(folder, handle)
    return handle is not None


def _lock(folder: Path) -> int | None:
    """A handle that holds a folder; None where another does."""
    try:
        import fcntl
    except ImportError:  # Windows: a file beside it, which the system removes when a run ends, even if it is killed
        try:
            return os.open(_beside(folder), os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0), 0o600)
        except OSError:
            return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _unlock(folder: Path, handle: int | None) -> None:
    if handle is not None:
        os.close(handle)
        _beside(folder).unlink(missing_ok=True)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _complaint(release: Any, path: Path | None) -> tuple[str, str | None]:
    if path is None:
        return (
            f"A table of type {type(release).__module__.split('.')[0]}.{type(release).__name__} cannot be read.",
            None,
        )
    if _suffix(path) in delimited.SUFFIXES:
        hint = (
            "has every row as many fields as the first; are quotes closed and line ends alike; is the encoding right?"
        )
        return f"'{path.name}' cannot be read without doubt.", hint
    return cannot_be_read(path.name, "parquet" if path.is_dir() else path.suffix[1:]), None


def cannot_be_read(name: str, form: str) -> str:
    """What is said of a file that is damaged, or no such file."""
    return f"'{name}' cannot be read as {form}."


def _suffix(path: Path) -> str:
    """What a name says of the form of a file; a folder holds Parquet files, whatever it is called."""
    return PARQUET[0] if path.is_dir() else path.suffix.lower()


def _in_parquet(path: Path) -> list[Path]:
    return parquet_files(path) if path.is_dir() else [path]


def _file(release: Any) -> Path | None:
    """The path of a release that is a file, or a folder of Parquet files; None if it is a table."""
    if not isinstance(release, (str, os.PathLike)):
        return None
    path = Path(os.path.abspath(os.fspath(release)))
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
    except ValueError:  # a NUL in the name
        reason = "no name of a file"
    else:
        reason = ""
    if reason:
        raise CoterieError(f"'{path.name}' cannot be read.", reason)
    if stat.S_ISDIR(mode):
        quietly(lambda: parquet_files(path), f"'{path.name}' cannot be read.")  # before any work is begun
        return path
    if stat.S_ISLNK(mode):
        raise CoterieError(
            "The release must be a file of its own.", f"'{path.name}', a link", "name what it points to."
        )
    if not stat.S_ISREG(mode):
        raise CoterieError("The release must be a regular file.", f"'{path.name}', a pipe, a device or a socket")
    if path.suffix.lower() not in SUFFIXES:
        raise CoterieError(f"Files must end in {', '.join(SUFFIXES)}.", f"'{path.name}'")
    return path


def parquet_files(folder: Path) -> list[Path]:
    """The files of a folder that holds Parquet files of one release and nothing else, in the order of their names."""
    what = "A folder must hold Parquet files of one release, and nothing else."
    hint = "name the data file or the folder of data in it."
    found = sorted(folder.iterdir(), key=lambda path: path.name)
    odd = [path for path in found if path.suffix != ".parquet" or not stat.S_ISREG(path.lstat().st_mode)]
    if odd or not found:
        got = f"'{folder.name}', a folder with {f'{len(odd):,} other entries' if odd else 'no files'}"
        raise CoterieError(what, got.replace(" 1 other entries", " 1 other entry"), hint)
    return found


def _plain_path(path: Path, private: str) -> str:
    """A path that DuckDB takes literally: it reads *, ? and [ as patterns, and may come to more.

    A link of a plain name leads to files with such names. (An escaped pattern could match another file.)
    """
    if _is_plain(str(path)):
        return str(path)
    link = Path(private) / f"release{path.suffix.lower()}"
    if not _is_plain(str(link)):
        raise CoterieError("Neither the file nor the folder for temporary files has a plain name.", f"'{path.name}'")
    _link(path, link)
    return str(link)


def _link(path: Path, link: Path) -> None:
    """Lead to a file by another name. Windows lets few people make symbolic links."""
    for make in (link.symlink_to, link.hardlink_to):
        try:
            return make(path)
        except OSError:
            continue
    hint = "rename it: letters, digits, dots, blanks and - _ , ( ) + = @ are fine."
    raise CoterieError("The file needs a plain name on this system.", f"'{path.name}'", hint)


def _is_plain(path: str, windows: bool = os.name == "nt") -> bool:
    signs = path.replace("\\", "/").replace("~", "_") if windows else path  # RUNNER~1: the short form of a long name
    return all(sign.isalnum() or sign in "/._- ,()+=@:" for sign in signs) and "://" not in path


def _connect(private: str, path: str | None = None, memory: int | None = None, threads: int | None = None) -> Any:
    """A DuckDB of our own that can open nothing but `path`."""
    import duckdb

    from .literals import literal

    connection = duckdb.connect(
        ":memory:",
        config={
            "temp_directory": private,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "python_enable_replacements": "false",
            "default_collation": "",
        },
    )
    if memory is not None:
        connection.execute(f"SET memory_limit = '{memory >> 20}MiB'")
    if threads is not None:
        connection.execute(f"SET threads = {threads}")
    if path is not None:
        connection.execute(f"SET allowed_paths = [{literal(path)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET enable_progress_bar = false")  # it would be printed among what we print
    connection.execute("SET lock_configuration = true")
    return connection


def positions(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Where the columns stand. Names of the release are not told: without a header they'd be values."""
    lacking = [c for c in columns if c not in names]
    if lacking:
        what = "Every column that is claimed must be in the release."
        raise CoterieError(what, f"no {listed(lacking)} among {len(names)} columns")
    twice = [c for c in columns if list(names).count(c) > 1]
    if twice:
        raise CoterieError("Column names must be unique.", f"{listed(twice)} more than once")
    return [list(names).index(c) for c in columns]


def check_released(names: Sequence[str], released: Sequence[str]) -> None:
    """Refuse a file with other columns than those that are to be released: one that should be dropped, say."""
    if not released or sorted(names) == sorted(released):
        return
    lacking = [c for c in released if c not in names]
    more = len(names) - len(released) + len(lacking)
    parts = [f"no {listed(lacking)}"] if lacking else []
    parts += [f"{more:,} more"] if more else []
    raise PromiseError("The release must hold the columns that are to be released, and no others.", ", ".join(parts))


def _pour(connection: Any, release: Any, wanted: _Wanted) -> None:
    """Fill the table from Arrow batches."""
    names, schema, batches = _batches(release, wanted)
    position = positions(names, wanted.columns)
    if isinstance(release, Path) and wanted.released:
        check_released(_all_names(release), wanted.released)
    pour(connection, HELD, arrow.reader(schema, batches, position, wanted.moments))


def pour(connection: Any, table: str, batches: Any, more: bool = False) -> None:
    """Make a table of Arrow batches, or put them into one that is there."""
    connection.register("stream", batches)
    connection.execute(f"{f'INSERT INTO {table}' if more else f'CREATE TABLE {table} AS'} SELECT * FROM stream")
    connection.unregister("stream")


def _all_names(path: Path) -> list[str]:
    suffix = _suffix(path)
    if suffix in PARQUET:
        return list(arrow.schema_of_parquet(_in_parquet(path)[0]).names)
    return arrow.of_feather(path)[0] if suffix in FEATHER else arrow.names_of_statistics(path, STATISTICS[suffix])


def _batches(release: Any, wanted: _Wanted) -> tuple[list[str], Any, Iterable[Any]]:
    """Column names, Arrow schema and batches of a file or a table."""
    if not isinstance(release, Path):
        return arrow.of_table(release, wanted.columns, wanted.keys)
    suffix = _suffix(release)
    if suffix in PARQUET:
        return arrow.of_parquet(_in_parquet(release), wanted.columns)
    if suffix in FEATHER:
        return arrow.of_feather(release)
    return arrow.of_statistics(release, STATISTICS[suffix], wanted.columns, wanted.keys, wanted.moments)
