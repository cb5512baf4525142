"""Checks on systems that have no fcntl, let few people make links, and write paths with drives."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

import coterie as ct
from coterie.engines import duckdb as engine
from coterie.verification import reading


@pytest.mark.parametrize("is_plain", [engine._is_plain, reading._is_plain])
def test_paths_that_duckdb_takes_literally(is_plain):
    assert is_plain(r"C:\Users\RUNNER~1\AppData\Local\Temp\data.csv", windows=True)
    assert is_plain(r"\\server\share\my data.csv", windows=True)
    for odd in (r"C:\data\a[1].csv", r"C:\data\*.csv", r"C:\data\a?.csv"):
        assert not is_plain(odd, windows=True)
    assert not is_plain("/data/a~b.csv", windows=False)
    assert not is_plain("s3://bucket/data.csv", windows=True)


@pytest.fixture
def no_symlinks(monkeypatch):
    def refuse(*_, **__):
        raise OSError(22, "A required privilege is not held by the client")

    monkeypatch.setattr(os, "symlink", refuse)


@pytest.mark.usefixtures("no_symlinks")
@pytest.mark.parametrize("link", [engine._link, reading._link])
def test_without_symbolic_links_hard_ones_do(link, tmp_path, monkeypatch):
    source = tmp_path / "odd [1].csv"
    source.write_text("a\n1\n", encoding="utf-8")
    link(source, tmp_path / "plain.csv")
    assert (tmp_path / "plain.csv").read_text(encoding="utf-8") == "a\n1\n"
    monkeypatch.setattr(os, "link", os.symlink)  # another drive: none of both
    with pytest.raises(ct.CoterieError, match=r"plain name.*rename it"):
        link(source, tmp_path / "other.csv")


def test_a_private_folder_without_fcntl(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(reading.tempfile, "tempdir", str(tmp_path))
    left, held = tmp_path / "coterie-check-abcdefgh", tmp_path / "coterie-check-ijklmnop"
    for folder in (left, held):
        folder.mkdir()
        os.utime(folder, (time.time() - 3600,) * 2)
    Path(f"{held}.lock").touch()
    with reading.private_folder() as private:
        assert Path(f"{private}.lock").exists()
        assert not left.exists()
        assert held.exists()
    assert sorted(os.listdir(tmp_path)) == [held.name, f"{held.name}.lock"]
