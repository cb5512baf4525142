"""CSV files that are packed: .csv.gz, and .zip with one file in it. They are unpacked as they are read, never to disk.

What unpacks to far more than a table of records can is refused: a small file can hold gigabytes of one letter.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from ..errors import CoterieError

TEXTS = (".csv", ".tsv", ".tab", ".txt")
PACKED = (".gz", ".zip")
_RATIO = 200  # of a table of records, packed bytes become at most some dozens of times as many
_SMALL = 64 << 20  # bytes that do no harm, whatever they were packed to
_BLOCK = 1 << 20


def is_packed(path: Path) -> bool:
    """Whether a file's name says that it is packed."""
    return path.suffix.lower() in PACKED


def inner_suffix(path: Path) -> str:
    """How the name of the file ends that is packed: of a zip file, that of the one file in it."""
    name = path.stem if path.suffix.lower() == ".gz" else _member(path).filename
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in TEXTS:
        what = f"A compressed file must contain a text file, ending in {', '.join(TEXTS)}."
        hint = "name it like data.csv.gz." if path.suffix.lower() == ".gz" else "unpack it first."
        raise CoterieError(what, f"another one in '{path.name}'", hint)
    return suffix


def _member(path: Path) -> zipfile.ZipInfo:
    """The one file in a zip file."""
    infos: list[zipfile.ZipInfo] | None
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [i for i in archive.infolist() if not i.is_dir() and not i.filename.startswith("__MACOSX/")]
    except (zipfile.BadZipFile, OSError, ValueError):
        infos = None
    if infos is None:
        raise CoterieError(f"'{path.name}' cannot be read as a zip file.", None, "is it damaged?")
    if len(infos) != 1:
        hint = "unpack it and give one of its files."
        raise CoterieError("A zip file must contain exactly one file.", f"{len(infos)} in '{path.name}'", hint)
    if infos[0].flag_bits & 1:
        raise CoterieError("A zip file must be readable without a password.", f"'{path.name}'", "unpack it first.")
    return infos[0]


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """A file, open to be read as it would be unpacked."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path, "rb") as file:
            yield io.BufferedReader(_Bounded(file, path), _BLOCK)  # type: ignore[arg-type]
    elif path.suffix.lower() == ".zip":
        member = _member(path)
        with zipfile.ZipFile(path) as archive, archive.open(member) as inner:
            yield io.BufferedReader(_Bounded(inner, path), _BLOCK)
    else:
        with open(path, "rb") as file:
            yield file


class _Bounded(io.RawIOBase):
    """What is unpacked, up to what a table of records can come to."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__()
        self._file, self._name, self._read = file, path.name, 0
        self._most = max(_SMALL, _RATIO * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._file.read(len(view))
        self._read += len(data)
        if self._read > self._most:
            what = f"A compressed file must not unpack to more than {_RATIO} times its size."
            raise CoterieError(what, f"'{self._name}', which does", "if you trust it, unpack it first.")
        view[: len(data)] = data
        return len(data)


def unpacked_size(path: Path, most: int) -> int:
    """How many bytes there are once a file is unpacked; counting ends beyond `most`."""
    size = 0
    with unpacked(path) as file:
        while size <= most:
            piece = file.read(_BLOCK)
            if not piece:
                break
            size += len(piece)
    return size
