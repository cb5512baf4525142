"""What Windows lacks or does otherwise, simulated: no fcntl, open files that hinder a rename, other line ends."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import coterie as ct
from bundles import RECIPE
from coterie.release import memory_limit, place

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are read from /proc")


@pytest.fixture
def no_fcntl(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # importing it fails


@pytest.mark.usefixtures("no_fcntl")
def test_a_stage_is_held_by_a_file_beside_it(tmp_path):
    folder = tmp_path / "release"
    with place.staging(folder) as stage:
        assert place._held(stage)
        place.clear_remains(folder)
        assert stage.is_dir()
        place.into_place(stage, folder, force=False, public=set())
    assert os.listdir(tmp_path) == ["release"]


@pytest.mark.usefixtures("no_fcntl")
def test_what_a_killed_run_has_left_is_cleared(tmp_path):
    """Its lock is gone: Windows removes it with the process."""
    left = tmp_path / ".release.abcdefgh.part"
    left.mkdir()
    (left / "data.csv").write_text("x\n", encoding="utf-8")
    held = tmp_path / ".release.ijklmnop.part"
    held.mkdir()
    (tmp_path / ".release.ijklmnop.part.lock").touch()
    place.clear_remains(tmp_path / "release")
    assert sorted(os.listdir(tmp_path)) == [held.name, f"{held.name}.lock"]


def open_below(folder):
    """Files below a folder that this process has open or mapped."""
    handles = {os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()}
    maps = {line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()}
    return {one for one in handles | maps if one.startswith(f"{folder}/")}


@needs_proc
@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_file_is_open_when_a_bundle_moves_into_its_place(kind, memory, tmp_path, monkeypatch):
    """Windows renames no folder in which one is; nor may the check's private folder be removed around one."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    table = pa.table({"a": list(range(40)), "b": [i % 7 for i in range(40)]})
    path = tmp_path / f"input.{kind}"
    (csv.write_csv if kind == "csv" else parquet.write_table)(table, path)
    moved = []
    rename, remove = os.rename, place.shutil.rmtree

    def watched_rename(start, end, **rest):
        moved.append(open_below(start))
        return rename(start, end, **rest)

    def watched_remove(folder, *args, **rest):
        moved.append(open_below(folder))
        return remove(folder, *args, **rest)

    monkeypatch.setattr(place.os, "rename", watched_rename)
    monkeypatch.setattr(place.shutil, "rmtree", watched_remove)
    recipe = ct.Recipe(k=4, seed=1, columns={"a": {"role": "quasi", "kind": "numeric"}, "b": {"role": "other"}})
    for _ in range(2):  # the second time, one is replaced
        ct.protect(path, recipe, memory=memory).save(tmp_path / "release", force=True)
    assert len(moved) >= 2
    assert moved == [set()] * len(moved)


def test_recipes_with_either_line_end_say_the_same_and_are_written_alike(tmp_path):
    text = ct.Recipe(**RECIPE).dumps()
    (tmp_path / "crlf.toml").write_bytes(text.replace("\n", "\r\n").encode())
    recipe = ct.Recipe.load(tmp_path / "crlf.toml")
    recipe.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == text.encode()


def test_the_memory_of_a_windows_machine(monkeypatch):
    def tell(state):
        assert state[0] == 64  # the length that Windows wants to be told
        state[1] = 16 << 30
        return 1

    monkeypatch.delattr(os, "sysconf", raising=False)
    system = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=tell))
    monkeypatch.setattr(ctypes, "windll", system, raising=False)
    assert memory_limit.default_limit() == int(0.6 * (16 << 30))
    system.kernel32.GlobalMemoryStatusEx = lambda _: 0
    assert memory_limit.default_limit() == 4 << 30
