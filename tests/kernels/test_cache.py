"""The cache of compiled kernels: who may write, who waits for whom, and when a process compiles ahead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from coterie import progress, warm_up
from coterie.kernels import _ahead, _cache, _jit, exact_sum

HOLDER = """
import sys
from coterie.kernels import _cache
_cache._locks.take(sys.argv[1], "a kernel")
print("taken", flush=True)
sys.stdin.readline()
_cache._locks.give_back(sys.argv[1], "a kernel")
print("given back", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(_cache.fcntl is None, reason="no such locks on Windows")
def test_one_process_compiles_a_kernel_and_the_other_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(_cache, "_LONGEST", 0.1)
    locks, folder = _cache._Locks(), str(tmp_path)
    command = [sys.executable, "-c", HOLDER, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "taken\n"
        assert locks.take(folder, "a kernel")  # it has waited
        assert not locks._held  # and goes on without the lock: the other may hang
        assert not locks.take(folder, "another kernel")
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline() == "given back\n"
        assert not locks.take(folder, "a kernel")
        assert not locks.take(folder, "a kernel")  # its own
        assert locks._held == {"a kernel", "another kernel"}
        other.stdin.close()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such permissions")
@pytest.mark.parametrize(("mode", "trusted"), [(0o700, True), (0o755, True), (0o777, False), (0o757, False)])
def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path, mode, trusted):
    tmp_path.chmod(mode)
    assert _cache._trusted(str(tmp_path)) is trusted
    assert not _cache._trusted(str(tmp_path / "missing"))


def test_folders_in_order(tmp_path, monkeypatch):
    """The first that can be written to; what stands in others is read, unless they cannot be trusted."""
    own, image, open_to_all = (tmp_path / name for name in ("own", "image", "open"))
    for folder in (own, image, open_to_all):
        folder.mkdir()
    open_to_all.chmod(0o777)
    folders = [str(open_to_all), str(image), str(own)]
    monkeypatch.setattr(_cache, "_folders", lambda _: folders)
    monkeypatch.setattr(_cache, "_chosen", [])
    monkeypatch.setattr(_cache, "_writable", lambda folder: folder != str(image))
    assert _cache._places(exact_sum.add.py_func) == ([str(own), str(image)], str(own))
    monkeypatch.setattr(_cache, "_chosen", [])
    monkeypatch.setattr(_cache, "_writable", lambda _: False)
    assert _cache._places(exact_sum.add.py_func) == ([str(image), str(own)], None)


def twice(x: float) -> float:
    return 2.0 * x


def cached(tmp_path, monkeypatch):
    """A kernel of its own whose cache is here."""
    monkeypatch.setattr(_cache, "_places", lambda _: ([str(tmp_path)], str(tmp_path)))
    return _jit.kernel(twice)


class Busy:
    """A context that another thread is just refreshing, under Numba's lock."""

    def __init__(self, context):
        self._context = context

    def refresh(self):
        raise ValueError("generator already executing")

    def codegen(self):
        return self._context.codegen()


def test_looking_for_a_compiled_kernel_needs_no_lock(tmp_path, monkeypatch):
    """Two candidates at a time, nothing compiled yet: one looks while the other compiles."""
    own = cached(tmp_path, monkeypatch)
    assert not own._cache.holds(("some", "types"), Busy(own.targetctx))


def test_a_broken_cache_is_none(tmp_path, monkeypatch):
    own = cached(tmp_path, monkeypatch)
    for name in (f"{own._cache._name}.nbi", f"inner-{own._cache._name}.nbi"):
        (tmp_path / name).write_bytes(b"half a file")
    assert not own._cache.holds(("some", "types"), own.targetctx)
    assert not own._cache.holds_any()
    assert own(1.5) == 3.0  # compiled, and not kept


def kernel(holds, signatures=()):
    cache = SimpleNamespace(cache_path="somewhere", holds_any=lambda: holds)
    return SimpleNamespace(signatures=list(signatures), _cache=cache)


@pytest.mark.parametrize(
    ("needed", "switch", "cores", "started"),
    [
        (kernel(False), "1", 2, True),
        (kernel(True), "1", 2, False),
        (kernel(False, ["compiled"]), "1", 2, False),
        (kernel(False), "0", 2, False),
        (kernel(False), "1", 1, False),
    ],
)
def test_a_process_compiles_ahead_where_that_helps(monkeypatch, needed, switch, cores, started):
    commands = []
    monkeypatch.setattr(_ahead, "_begun", set())
    monkeypatch.setattr(_ahead, "_cores", lambda: cores)
    monkeypatch.setattr(_ahead.subprocess, "Popen", lambda command, **_: commands.append(command) or SimpleNamespace())
    monkeypatch.setenv(_ahead.SWITCH, switch)
    for _ in range(2):  # once
        _ahead.compile_ahead("search", needs=needed)
    assert [c[-1:] for c in commands] == ([["search"]] if started else [])


def test_the_process_that_compiles_ahead_finds_this_package(tmp_path):
    """Wherever it is started; a rehearsal that there is not is an error, so the names are known."""
    paths = json.dumps([os.path.abspath(p) for p in sys.path])
    command = [sys.executable, "-c", _ahead._CODE, paths, "no such rehearsal"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "KeyError: 'no such rehearsal'" in ran.stderr
    assert {"search", "guards", "mdav, few", "mdav*, few"} <= set(warm_up.REHEARSALS)


def test_compiling_is_said_to_whoever_listens():
    told = []
    listener = SimpleNamespace(compiling=told.append)
    with progress.listening(listener):
        progress.compiling(True)
        progress.compiling(False)
    with progress.listening(SimpleNamespace()):  # one that only counts
        progress.compiling(True)
    progress.compiling(True)
    assert told == [True, False]
