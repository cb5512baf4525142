"""coterie difference, as a user meets it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import coterie as ct
from command_files import lines

COLUMNS = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "size": {"role": "quasi", "kind": "integer"},
}


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    """Two waves of a panel, released."""
    folder = tmp_path_factory.mktemp("waves")
    rng = np.random.default_rng(3)
    people = [(f"p{i}", int(rng.integers(20, 80)), int(rng.integers(150, 200))) for i in range(40)]
    for name, older in (("one", 0), ("two", 1)):
        rows = [f"{person},{age + older},{size + older * (i % 3)}" for i, (person, age, size) in enumerate(people)]
        (folder / f"{name}.csv").write_text(lines("name,age,size", rows))
        ct.protect(folder / f"{name}.csv", {"columns": COLUMNS, "k": 3, "seed": 1}).save(folder / name)
    return folder


def words(waves, *args):
    two = [waves / "two", waves / "two.csv", "--before", waves / "one", waves / "one.csv"]
    return [*two, *args]


def test_below_k(run, waves):
    before = sorted(path for path in waves.rglob("*"))
    code, out, err = run("difference", *words(waves, "--by", "name", "--json"))
    assert code == 3
    facts = json.loads(out)
    assert facts["ok"] is False
    assert re.search(rf"below k +{facts['below_k']} persons", err)
    assert sorted(path for path in waves.rglob("*")) == before  # nothing is written
    assert run("difference", *words(waves, "--quiet")) == (3, "", "")


def test_nothing_lost(run, waves):
    code, _, err = run("difference", waves / "one", waves / "one.csv", "--before", waves / "one", waves / "one.csv")
    assert code == 0
    assert "k = 3 is met" in err


def test_two_earlier_releases(run, waves):
    code, out, _ = run("difference", *words(waves, "--before", waves / "one", waves / "one.csv", "--json"))
    assert code == 3
    assert [one["name"] for one in json.loads(out)["releases"]] == ["two", "one", "one"]


def test_what_is_refused(run, waves):
    cases = {
        "1 releases and 0 inputs": [waves / "two", waves / "two.csv", "--before", waves / "one"],
        "1 releases and 2 inputs": words(waves, waves / "two.csv"),
        "not the file that": [waves / "two", waves / "one.csv", "--before", waves / "one", waves / "one.csv"],
        "without 'person'": words(waves, "--by", "person"),
        "an empty name": words(waves, "--by", ""),
        "Got: both": words(waves, "--by", "name", "--rows"),
        "which is not one": ["--before", waves / "one", waves / "one.csv", waves / "two", waves / "two.csv"],
    }
    for said, args in cases.items():
        code, out, err = run("difference", *args)
        assert (code, out) == (2, ""), said
        assert said in err
