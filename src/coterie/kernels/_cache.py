"""Compiled kernels on disk: found in every folder that can be trusted, written where that is allowed, made once.

Numba's own cache wants to write to a folder before it reads from it: what was compiled into an image would be
compiled again where the image is read-only. And it lets two processes compile the same kernel at once.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import config
from numba.core import caching

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel at once
    fcntl = None  # type: ignore[assignment]

_LONGEST = 300.0  # seconds to wait for another process that compiles a kernel: it may hang
_LOOK = 0.02  # seconds between two looks


def _stamp() -> str:
    """What all kernel files hold: a kernel has compiled in what it calls from others.

    Numba looks only at the file of the function itself: after an update, it would run old code. Not the dates of the
    files, which an image may round.
    """
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


_STAMP = _stamp()


def _trusted(folder: str) -> bool:
    """Whether nobody else can put code there: what is found in a cache is run."""
    try:
        found = os.stat(folder)
    except OSError:
        return False
    if os.name == "nt":  # a user's folders are the user's own there
        return True
    owners = (0, os.geteuid())
    others = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != os.getegid())
    return found.st_uid in owners and not others


def _writable(folder: str) -> bool:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _folders(function: Any) -> list[str]:
    """The folder of NUMBA_CACHE_DIR, that beside the kernels, and one of the user."""
    here = os.path.dirname(os.path.abspath(function.__code__.co_filename))
    name = f"kernels_{hashlib.sha256(here.encode()).hexdigest()[:40]}"
    user = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    folders = [os.path.join(here, "__pycache__"), os.path.join(user, "coterie", name)]
    return [os.path.join(config.CACHE_DIR, name), *folders] if config.CACHE_DIR else folders


_chosen: list[tuple[list[str], str | None]] = []  # all kernels are in one folder: its folders are looked at once


def _places(function: Any) -> tuple[list[str], str | None]:
    """The folders to read from, and that to write to, if any."""
    if not _chosen:
        folders = _folders(function)
        beside = os.path.join(os.path.dirname(os.path.abspath(function.__code__.co_filename)), "__pycache__")
        own = next((f for f in folders if _writable(f) and (f == beside or _trusted(f))), None)
        others = [f for f in folders if f != own and os.path.isdir(f) and (f == beside or _trusted(f))]
        _chosen.append(([own, *others] if own else others, own))
    return _chosen[0]


def _index(file: Any) -> dict[Any, Any]:
    """What a file knows of compiled versions; nothing, if it is broken."""
    try:
        known: dict[Any, Any] = file._load_index()
    except Exception:  # half a file, or one of another version
        return {}
    return known


class _Cache:
    """The compiled versions of one kernel: what a dispatcher of Numba asks of its cache."""

    def __init__(self, function: Any, prefix: str) -> None:
        self._impl = caching.CompileResultCacheImpl.__new__(caching.CompileResultCacheImpl)
        self._function = function
        read, write = _places(function)
        module = Path(function.__code__.co_filename).stem
        base = f"{prefix}{module}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        base += f".{sys.implementation.cache_tag}"
        files = {f: caching.IndexDataCacheFile(cache_path=f, filename_base=base, source_stamp=_STAMP) for f in read}
        self._files = list(files.values())
        self._own = files[write] if write else None
        self._name, self.cache_path = base, write

    def _key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), hashlib.sha256(self._function.__code__.co_code).hexdigest()

    def holds(self, sig: Any, context: Any) -> bool:
        """Whether there is a compiled version. Asked without Numba's lock, so the context must stay as it is."""
        key = self._key(sig, context.codegen())
        return any(key in _index(file) for file in self._files)

    def holds_any(self) -> bool:
        """Whether there is a compiled version for some arguments."""
        return any(_index(file) for file in self._files)

    def load_overload(self, sig: Any, context: Any) -> Any:
        """Give what was compiled, or None; then nobody else compiles this kernel until `done` is called."""
        context.refresh()
        found = self._load(sig, context)
        if found is None and self._own is not None and _locks.take(str(self.cache_path), self._name):
            found = self._load(sig, context)  # somebody has compiled it meanwhile
        return found

    def _load(self, sig: Any, context: Any) -> Any:
        key = self._key(sig, context.codegen())
        for file in self._files:
            try:
                data = file.load(key)
            except Exception:  # half a file, or one of another version: compiled anew
                continue
            if data is not None:
                return self._impl.rebuild(context, data)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is a place for it."""
        if self._own is None or not self._impl.check_cachable(data):
            return
        try:
            self._own.save(self._key(sig, data.codegen), self._impl.reduce(data))
        except Exception:  # no room, no longer writable, or half a file: it is compiled again by the next process
            self._own = None

    def done(self) -> None:
        """Let others compile this kernel."""
        if self._own is not None:
            _locks.give_back(str(self.cache_path), self._name)

    def enable(self) -> None:
        """Numba's caches can be switched off; this one is always on."""

    disable = flush = enable


class _Locks:
    """One file with a lock for each kernel: whoever comes second waits, and finds it compiled."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._held: set[str] = set()

    def take(self, folder: str, name: str) -> bool:
        """Take a lock; give whether somebody else had it."""
        waited, until = False, time.monotonic() + _LONGEST
        while fcntl is not None and name not in self._held and time.monotonic() < until:
            try:
                fcntl.lockf(self._file(folder), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._place(name))
                self._held.add(name)
            except (BlockingIOError, PermissionError):
                waited = True
                time.sleep(_LOOK)
            except OSError:  # a file system without locks
                break
        return waited

    def give_back(self, folder: str, name: str) -> None:
        """Let others have it."""
        if name in self._held:
            self._held.discard(name)
            fcntl.lockf(self._file(folder), fcntl.LOCK_UN, 1, self._place(name))

    def _file(self, folder: str) -> int:
        if folder not in self._files:  # open as long as the process runs: closing it would give all locks back
            self._files[folder] = os.open(os.path.join(folder, "coterie-kernels.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        return self._files[folder]

    def _place(self, name: str) -> int:
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") // 2


_locks = _Locks()


@contextmanager
def _done_after(cache: _Cache) -> Iterator[None]:
    try:
        yield
    finally:
        cache.done()


def cached(compiled: Any, prefix: str) -> None:
    """Keep the versions of a compiled function on disk."""
    cache = _Cache(compiled.py_func, prefix)
    compiled._cache = cache
    compile_ = compiled.compile

    def compile(sig: Any) -> Any:
        with _done_after(cache):
            return compile_(sig)

    compiled.compile = compile
