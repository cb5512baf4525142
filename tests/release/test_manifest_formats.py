"""Formats that a manifest gets wrong, and recipes that are nested too deeply: refused in words, never a crash."""

from __future__ import annotations

import json
import os
import shutil

import pytest

import coterie as ct
from bundles import RECIPE, coterie, forged, written_people
from coterie.errors import CoterieError, UnexpectedError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    source = written_people(folder)
    ct.protect(source, RECIPE).save(folder / "out")
    return source, folder / "out"


WRONG = {
    "encoding": ["nosuch", "rot13", "hex", None, 5, ""],
    "delimiter": [None, "xx", 5],
    "quote": [5, None, ["x"]],
    "header": ["x", None],
    "missing": [5, None, [1], "x"],
    "kind": [None, "nosuch", "spss", "parquet", 5, ["csv"]],
    "bom": ["x"],
    "newline": [7, "x"],
    "kept": [5],
    "quoted": ["z"],
    "final_newline": [3],
    "decimal": ["..", 1],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_format_that_cannot_be(made, tmp_path, name, value):
    source, folder = made[0], shutil.copytree(made[1], tmp_path / "out")
    told = json.loads((folder / "manifest.json").read_text())["format"]
    forged(folder, format={**told, name: value})
    refused(folder, source)


@pytest.mark.parametrize("name", ["kind", "encoding", "delimiter", "header", "quote", "all"])
def test_an_incomplete_format(made, tmp_path, name):
    source, folder = made[0], shutil.copytree(made[1], tmp_path / "out")
    told = json.loads((folder / "manifest.json").read_text())["format"]
    forged(folder, format={n: v for n, v in told.items() if n != name} if name != "all" else {"kind": "csv"})
    refused(folder, source)


@pytest.mark.parametrize(
    "changes", [{"streamed": "x"}, {"streamed": -1}, {"streamed": True}, {"streamed": 2.5}, {"memory": "x"}]
)
def test_other_things_that_cannot_be(made, tmp_path, changes):
    source, folder = made[0], shutil.copytree(made[1], tmp_path / "out")
    forged(folder, **changes)
    refused(folder, source)


def refused(folder, source):
    for use in (lambda: ct.verify(folder), lambda: ct.replay(folder, source)):
        with pytest.raises(CoterieError) as told:
            use()
        assert not isinstance(told.value, UnexpectedError), told.value


DEEP = {
    "lists": "k = 3\n[columns]\na = " + "[" * 9000 + "]" * 9000,
    "tables": "k = 3\n[columns]\na = " + "{a=" * 3000 + "1" + "}" * 3000,
    "keys": "k = 3\n[columns." + "a." * 3000 + "b]\nrole = 'quasi'\n",
    "order": "k = 3\n[columns.a]\nrole = 'quasi'\norder = " + "[" * 300 + "]" * 300,
}


@pytest.mark.parametrize("name", DEEP)
def test_recipes_that_are_nested_deeply(tmp_path, name):
    path = tmp_path / "r.toml"
    path.write_text(DEEP[name])
    with pytest.raises(CoterieError) as told:
        ct.Recipe.load(path)
    assert not isinstance(told.value, UnexpectedError)
    if name == "lists":
        ran = coterie("protect", written_people(tmp_path), "--recipe", path, "-o", os.fspath(tmp_path / "out"))
        assert ran.returncode == 2
        assert "must be TOML" in ran.stderr
