"""What can be said on the command line without a recipe: the same options everywhere, and the recipe that they make."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
import tomllib

import numpy as np
import pytest
import typer
from jsonschema import Draft202012Validator

import coterie as ct
from conftest import ROOT
from coterie import cli
from coterie.cli import flags
from coterie.errors import CoterieError
from coterie.release.drafting import Choices, source_and_recipe

ROLES = ["--quasi", "age,income", "--confidential", "illness", "--drop", "name", "--keep", "note,weight"]
EVERYWHERE = {"--recipe", "--quasi", "--confidential", "--drop", "--keep", "--kind", "--read", "--memory", "--engine"}
EVERYWHERE |= {"--json"}
GROUPING = {"--strata", "--missing", "--weights", "--seed"}


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(5)
    rows = [
        f"p{i},{rng.integers(20, 80)},{'' if i % 9 == 0 else round(rng.normal(30, 9), 2)},{'mf'[i % 2]},"
        f"{['flu', 'gout', 'cold'][rng.integers(3)]},n{i},{1 + i % 3}"
        for i in range(60)
    ]
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(["name,age,income,sex,illness,note,weight", *rows]) + "\n")
    return path


def options_of(command):
    parameters = typer.main.get_command(cli.app).commands[command].params
    return {option for parameter in parameters for option in parameter.opts if option.startswith("--")}


def test_the_same_options_where_they_have_an_effect():
    assert EVERYWHERE | GROUPING | {"--formulas", "--method"} <= options_of("protect")
    assert options_of("compare") >= EVERYWHERE | GROUPING
    assert not options_of("compare") & {"--formulas", "--method"}  # nothing is written; there are several methods
    assert options_of("assess") >= EVERYWHERE
    assert not options_of("assess") & ((GROUPING - {"--weights"}) | {"--formulas"})  # nothing is grouped
    assert options_of("assess") >= {"--weights", "--population-fraction", "--population-size"}
    assert {"--kind", "--read", "--memory"} <= options_of("recipe")


def test_a_bundle_from_flags_alone(run, patients, tmp_path):
    sections = ["--strata", "sex:merge", "--missing", "own-value:merge", "--weights", "weight", "--formulas", "keep"]
    args = [patients, *ROLES, *sections, "-k", 3, "--method", "mdav", "--seed", 7]
    code, _, err = run("protect", *args, "-o", tmp_path / "out")
    assert code == 0, err
    with open(tmp_path / "out" / "recipe.toml", "rb") as file:
        written = tomllib.load(file)
    assert written["strata"] == {"within": ["sex"], "small": "merge"}
    assert written["missing"] == {"policy": "own-value", "small": "merge"}
    assert written["weights"] == {"column": "weight"}
    assert written["file"] == {"formulas": "keep"}
    assert written["columns"]["sex"] == {"role": "quasi", "kind": "nominal"}  # no list needs to name it again
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("protect", *args, "-o", tmp_path / "parts", "--engine", "duckdb")[0] == 0
    rows = [sorted((tmp_path / name / "data.csv").read_text().splitlines()) for name in ("out", "parts")]
    assert rows[0] == rows[1]


def test_each_section_has_an_effect_on_compare(run, patients):
    def losses(*more):
        code, out, err = run("compare", patients, *ROLES, "--k", 4, "--methods", "mdav", "--json", "--quiet", *more)
        assert code == 0, err
        return [one["loss_percent"] for one in json.loads(out)]

    plain = losses("--missing", "group")
    assert losses("--missing", "own-value:suppress") != plain
    assert losses("--missing", "group", "--strata", "sex") != plain
    assert losses("--missing", "group", "--weights", "weight") != plain
    assert losses("--missing", "group", "--engine", "duckdb") == pytest.approx(plain)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--missing", "own-value:"], "POLICY or POLICY:SMALL"),
        (["--missing", "ignore"], 'must be "refuse", "own-value" or "group"'),
        (["--missing", "group:merge"], 'policy = "group"'),
        (["--strata", "sex:merge,age"], "'sex:merge'|columns.sex:merge"),
        (["--strata", ":merge"], "--strata must be a comma-separated list of names"),
        (["--strata", "note"], 'role "other"'),
        (["--weights", "age"], "kept or dropped"),
        (["--weights", "wait"], "did you mean 'weight'"),
        (["--formulas", "run"], 'must be "refuse", "neutralize" or "keep"'),
        (["--engine", "sparc"], "one of memory, duckdb, spark"),
        (["--memory", "much"], "a number and a unit"),
        (["--read", "encoding"], "NAME=VALUE"),
        (["--recipe", "r.toml"], "--recipe cannot be combined with -k, --quasi"),
    ],
)
def test_wrong_options(run, patients, tmp_path, args, words):
    code, out, err = run("protect", patients, *ROLES[:-1], "note,weight,sex", "-k", 3, *args, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert re.search(words, err), err
    assert not (tmp_path / "out").exists()


def test_names_with_colons_and_commas():
    assert flags.choices(strata='"a,b",c:merge').strata == {"within": ["a,b", "c"], "small": "merge"}
    assert flags.choices(strata="a:b,c").strata == {"within": ["a:b", "c"]}
    assert flags.choices(strata='"a:merge"').strata == {"within": ["a:merge"]}
    assert flags.choices(missing="group").missing == {"policy": "group"}
    said = flags.choices(columns={"quasi": ["a, b", "c"], "drop": None}, method="mdav")
    assert (said.given, said.quasi) == (["quasi", "method"], ["a", "b", "c"])


def test_a_list_may_be_given_in_pieces(run, patients):
    whole = run("assess", patients, "--quasi", "age,income", "--json")
    assert run("assess", patients, "--quasi", "age", "--quasi", "income", "--json") == whole
    assert "'age' twice in --quasi" in run("assess", patients, "--quasi", "age", "--quasi", "age")[2]


def test_columns_that_nobody_named_are_kept_by_those_who_look(run, patients):
    assert run("assess", patients, "--quasi", "age")[0] == 0
    code, _, err = run("assess", patients, "--quasi", "age", "--drop", "nam")
    assert (code, "did you mean 'name'" in err) == (2, True)
    code, _, err = run("compare", patients, "--quasi", "age", "--keep", "note", "--recipe", "r.toml")
    assert (code, "--recipe cannot be combined with --quasi, --keep" in err) == (2, True)


def test_the_library_makes_the_same_of_its_own_words(patients):
    said = {"quasi": ["age", "income"], "confidential": ["illness"], "drop": ["name"], "keep": ["note"]}
    with pytest.raises(CoterieError, match="'recipe' cannot be combined with 'quasi', 'keep'"):
        ct.assess(patients, {"k": 2, "columns": {}}, quasi=["age"], keep=["note"])
    with pytest.raises(CoterieError, match=r"Give 'recipe', or at least 'quasi'\. Got: no 'quasi'"):
        ct.compare(patients, [3], ["mdav"])
    with pytest.raises(CoterieError, match="'quasi' must be a list of column names"):
        ct.assess(patients, quasi="age")
    found = ct.compare(patients, [3], ["mdav"], **said, missing="group", strata=["sex"], weights="weight")
    _, recipe = source_and_recipe(
        patients, None, Choices(**said, missing="group", strata=["sex"], weights="weight"), looking=True
    )
    again = ct.compare(patients, [3], ["mdav"], recipe=recipe)
    assert found.candidates[0].loss_percent == again.candidates[0].loss_percent
    assert repr(found) == str(found)
    assert "best for k = 3" in repr(found)
    assert recipe.columns["sex"].role == "quasi"
    assert recipe.columns["weight"].role == "other"
    assessed = ct.assess(patients, **said)
    assert assessed.records == 60
    assert repr(assessed).startswith("records         60\nscenario")


def test_a_dry_run_part_by_part_has_no_verdict(run, patients, tmp_path):
    args = [*ROLES, "--strata", "sex", "--missing", "group", "-k", 3, "--dry-run"]
    code, out, err = run("protect", patients, *args, "--engine", "duckdb", "--json", "--seed", 1)
    assert code == 0, err
    assert "not made  (It runs on the written file, and nothing was written)" in err
    facts = json.loads(out)
    assert (facts["verdict"], facts["engine"], facts["output"]["records"]) == (None, "duckdb", 60)
    assert [path.name for path in tmp_path.iterdir()] == ["patients.csv"]
    whole = json.loads(run("protect", patients, *args, "--json", "--seed", 1)[1])
    assert whole["verdict"]["ok"] is True
    assert facts["measures"]["loss"]["loss_percent"] == pytest.approx(whole["measures"]["loss"]["loss_percent"])


def test_json_is_as_the_schemas_say(run, patients, tmp_path):
    def valid(name, shown):
        Draft202012Validator(json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text())).validate(shown)

    args = [*ROLES, "--strata", "sex", "--missing", "group"]
    for engine in ("memory", "duckdb"):
        more = ["--engine", engine, "--json"]
        told = json.loads(run("protect", patients, *args, "-k", 3, *more, "-o", tmp_path / engine)[1])
        valid("protect", told)
        valid("public", {"version": told["version"], **told["public"]})
        valid("verdict", json.loads(run("verify", tmp_path / engine, "--json")[1]))
        valid("assessment", json.loads(run("assess", patients, *ROLES, *more)[1]))
        candidates = json.loads(run("compare", patients, *args, "--k", "3,50", "--methods", "mdav", *more)[1])
        assert [one["not_possible"] is None for one in candidates] == [True, False]
        for one in candidates:
            valid("candidate", one)


def test_the_page_of_compare_is_private(run, patients, tmp_path):
    page = tmp_path / "map.html"
    page.write_text("old")
    page.chmod(0o644)
    args = ["compare", patients, "--quasi", "age", "--k", 3, "--methods", "mdav", "-o", page]
    assert "exists already" in run(*args)[2]
    code, _, err = run(*args, "--force")
    assert (code, "internal, it shows risk" in err) == (0, True)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    page.unlink()
    assert run(*args)[0] == 0
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_force_needs_something_to_replace(run, patients):
    for args in (["recipe", patients], ["compare", patients, "--quasi", "age", "--k", "3", "--methods", "mdav"]):
        code, _, err = run(*args, "--force")
        assert (code, "--force has no effect without -o" in err) == (2, True)
    code, _, err = run("protect", patients, *ROLES[:-1], "note,weight,sex", "-k", 3, "--dry-run", "--force")
    assert (code, "--force has no effect with --dry-run" in err) == (2, True)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("compare", "--quasi", "age", "--k", "3,90", "--methods", "mdav"), ("on the frontier", "not possible:")),
        (("assess", "--quasi", "age"), ("re-identifications",)),
    ],
)
def test_a_terminal_sees_words_and_no_code(patients, args, words):
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "coterie", args[0], str(patients), *args[1:]]
    env = {**os.environ, "TERM": "dumb", "COLUMNS": "150"}
    shown = b""
    with subprocess.Popen(command, stderr=follower, stdout=subprocess.DEVNULL, env=env) as process:
        os.close(follower)
        try:
            while part := os.read(leader, 4096):
                shown += part
        except OSError:  # the end of a terminal is an error on Linux
            pass
    os.close(leader)
    assert process.returncode == 0
    text = shown.decode()
    assert all(word in text for word in words), text
    assert "Candidate(" not in text
    assert "Assessment(" not in text
