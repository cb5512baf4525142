"""Terminals that lack signs, and shells of other systems."""

from __future__ import annotations

import io
import sys

import pytest

import coterie.errors
from conftest import ROOT
from coterie import cli


@pytest.mark.parametrize(("encoding", "arrow"), [("cp1252", "->"), ("ascii", "->"), ("utf-8", "→")])
def test_a_release_on_a_terminal_that_lacks_signs(encoding, arrow, tmp_path, monkeypatch):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    source = ROOT / "examples" / "companies.csv"
    roles = ["--drop", "company", "--quasi", "surface,employees", "--confidential", "turnover,net_profit"]
    monkeypatch.setattr(sys, "argv", ["coterie", "protect", str(source), *roles, "-k", "3", "-o", str(tmp_path / "r")])
    with pytest.raises(SystemExit) as done:
        cli.main()
    err.flush()
    text = err.buffer.getvalue().decode(encoding)
    assert not done.value.code, text
    assert arrow in text
    assert (tmp_path / "r" / "report.html").is_file()


def test_signs_with_no_plain_form():
    error = UnicodeEncodeError("cp1252", "a→≤日b", 1, 4, "none")
    assert cli._plainly(error) == ("-><=?", 4)


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (r"C:\data\companies.csv", r"-o C:\data\companies.csv"),
        (r"C:\my data\companies.csv", r'-o "C:\my data\companies.csv"'),
        ("it's", '-o "it\'s"'),
        ("a;b", '-o "a;b"'),
        ("", '-o ""'),
    ],
)
def test_paths_are_quoted_for_the_shells_of_windows(value, typed, monkeypatch):
    monkeypatch.setattr(coterie.errors, "_ON_WINDOWS", True)
    assert coterie.errors.in_shell("-o", value) == typed
