"""Folders that are there as a whole or not at all: made in private beside their place, and renamed into it."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import CoterieError
from ..formats.atomic import check_name
from .manifest import is_bundle


def check_place(folder: Path, force: bool) -> None:
    """Refuse, before any work is done, a place where the bundle cannot or should not go."""
    folder = folder.absolute()
    check_name(folder)
    if not folder.parent.is_dir():
        raise CoterieError(
            "The parent folder of the bundle must exist.", f"'{folder.parent}'", "create that folder first."
        )
    effective = os.access in os.supports_effective_ids
    if not os.access(folder.parent, os.W_OK | os.X_OK, effective_ids=effective):
        raise CoterieError("The parent folder of the bundle must be writable.", f"'{folder.parent}'")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CoterieError("The bundle must be a folder.", f"'{folder}', which is not a folder")
    if folder.exists() and not force:
        raise CoterieError("The folder of the bundle exists already.", f"'{folder}'", "--force replaces it.")
    if folder.exists() and any(folder.iterdir()) and not is_bundle(folder):
        raise CoterieError(
            "Only a folder that holds nothing but a bundle can be replaced.", f"'{folder}', which holds other files"
        )


_stages: set[Path] = set()  # of this process


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A private folder beside the place; what fails leaves nothing, and what was killed is cleared by the next run."""
    failure = None
    stage = None
    try:
        clear_remains(folder)
        stage = _new(folder, "part")
        _stages.add(stage)
        with _locked(stage):
            yield stage
    except OSError as error:
        failure = os.strerror(error.errno) if error.errno else type(error).__name__
    finally:
        if stage is not None and stage.exists():
            shutil.rmtree(stage, ignore_errors=True)
        if stage is not None:
            _stages.discard(stage)
    if failure is not None:
        raise CoterieError(f"The bundle '{folder}' cannot be written.", failure)


def abandon() -> None:
    """Remove what this process has begun to write, from another thread, before it ends at once."""
    for stage in list(_stages):
        shutil.rmtree(stage, ignore_errors=True)


def _new(folder: Path, suffix: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=f".{suffix}", dir=folder.parent))


def clear_remains(folder: Path) -> None:
    """Remove what runs that were killed have left: folders for the same place that nobody holds any more."""
    name = re.compile(rf"\.{re.escape(folder.name)}\.[a-z0-9_]{{8}}\.(part|old)")  # as tempfile makes them
    for left in list(folder.parent.iterdir()):
        if not name.fullmatch(left.name) or left.is_symlink() or not left.is_dir() or _held(left):
            continue
        if left.name.endswith(".old") and (left / "bundle").is_dir() and not folder.exists():
            os.rename(left / "bundle", folder)  # killed between two renames: what was there comes back
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(stage: Path) -> Iterator[None]:
    """Hold a lock on a folder, so that another run doesn't take it for a remain."""
    try:
        import fcntl
    except ImportError:  # Windows
        with _lock_beside(stage):
            yield
        return
    handle = os.open(stage, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


@contextmanager
def _lock_beside(stage: Path) -> Iterator[None]:
    """The lock on Windows: a file that the system removes when the run ends, even if it is killed.

    It lies beside the folder, since a folder in which a file is open cannot be renamed there.
    """
    lock = _beside(stage)
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0), 0o600)
    try:
        yield
    finally:
        os.close(handle)
        lock.unlink(missing_ok=True)


def _beside(stage: Path) -> Path:
    return stage.with_name(f"{stage.name}.lock")


def _held(folder: Path) -> bool:
    """Whether a run is at it, or it is somebody else's, which comes to the same."""
    try:
        import fcntl
    except ImportError:  # Windows
        return _beside(folder).exists()
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def into_place(stage: Path, folder: Path, force: bool, public: set[str]) -> None:
    """Make the public files readable as any new file, bring all to the disk, and rename the folder."""
    umask = os.umask(0)
    os.umask(umask)
    for path in stage.iterdir():
        for inside in path.iterdir() if path.is_dir() else ():
            os.chmod(inside, 0o666 & ~umask)
            _sync(inside)
        readable = 0o777 if path.is_dir() else 0o666
        os.chmod(path, (readable if path.name in public else 0o600) & ~umask)
        _sync(path)
    os.chmod(stage, 0o777 & ~umask)
    _sync(stage)
    if not folder.exists():
        os.rename(stage, folder)
    else:
        check_place(folder, force)
        if not _exchanged(stage, folder):
            _replace(stage, folder)
    with suppress(OSError):  # it is there, whole and checked; only a loss of power could still undo it
        _sync(folder.parent)


def _exchanged(stage: Path, folder: Path) -> bool:
    """Whether the system could exchange two folders in one step; then `stage` is the old one."""
    import ctypes

    ends = os.fsencode(stage), os.fsencode(folder)
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "linux":
            return bool(library.renameat2(-100, ends[0], -100, ends[1], ctypes.c_uint(2)) == 0)  # RENAME_EXCHANGE
        return bool(sys.platform == "darwin" and library.renamex_np(*ends, ctypes.c_uint(2)) == 0)  # RENAME_SWAP
    except (AttributeError, OSError, TypeError):  # a system or a file system without
        return False


def _replace(stage: Path, folder: Path) -> None:
    """Put the old folder aside, the new one in its place; whatever fails in between brings the old one back."""
    old = _new(folder, "old")
    try:
        os.rename(folder, old / "bundle")
        os.rename(stage, folder)
    except BaseException:
        if not folder.exists():
            os.rename(old / "bundle", folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner may read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
