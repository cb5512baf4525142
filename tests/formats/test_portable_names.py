"""Names of outputs that Windows takes for devices or changes, tried on any system."""

from __future__ import annotations

import os
import subprocess

import pytest

import coterie as ct
from conftest import ROOT
from coterie.formats import atomic
from coterie.release.place import check_place
from coterie.ui.locations import Locations

BAD = [
    "CON", "nul", "aux.csv", "Prn.tar.gz", "com1", "LPT9.csv", "COM¹.csv", "nul .csv", "conout$", "data.", "data.csv ",
    "11:30.csv", "a?b.csv", "data.csv:stream", 'a"b', "a|b", "tab\there",
]  # fmt: skip
GOOD = [
    "data.csv",
    "console.csv",
    "auxiliary",
    "com10.csv",
    "null",
    ".hidden",
    "a b.csv",
    "été.csv",
    "com.csv",
    "x.con",
]


@pytest.mark.parametrize("name", BAD)
def test_names_that_windows_cannot_hold_are_refused_there_before_any_work(name, tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_ON_WINDOWS", True)
    for refused in (
        lambda: check_place(tmp_path / name, force=False),
        lambda: atomic.check_writable(tmp_path / name, tmp_path / "input.csv", force=False),
        lambda: atomic.atomically(tmp_path / name, lambda _: None),
        lambda: Locations(tmp_path).new(name),
    ):
        with pytest.raises(ct.CoterieError, match=r"needs another name|path must consist of names"):
            refused()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", GOOD)
def test_other_names_are_taken_everywhere(name, tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_ON_WINDOWS", True)
    check_place(tmp_path / name, force=False)
    atomic.check_writable(tmp_path / name, tmp_path / "input.csv", force=False)
    assert Locations(tmp_path).new(name) == tmp_path / name


def test_elsewhere_such_names_are_ordinary(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_ON_WINDOWS", False)
    check_place(tmp_path / "aux", force=False)


def test_a_file_that_another_program_holds_open(tmp_path, monkeypatch):
    """As Windows answers when a spreadsheet is open in Excel: it stays, and so does nothing else."""
    place = tmp_path / "out.csv"
    place.write_text("old", encoding="utf-8")

    def refuse(*_):
        raise PermissionError(13, "sharing violation")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(ct.CoterieError, match="open in another program"):
        atomic.atomically(place, lambda _: None)
    assert place.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_every_file_of_the_project_can_be_checked_out_anywhere():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if listed.returncode:
        pytest.skip("not a clone")
    names = [name for name in listed.stdout.split("\0") if name]
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        assert all(atomic.trouble_on_windows(part) is None for part in name.split("/")), name
        assert len(name) < 150, name
