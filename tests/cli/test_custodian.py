"""The custodian's commands, as a user meets them: what they write, say and refuse."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie as ct
from command_files import QUASI, lines, save_recipe


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        f"p{i},{rng.integers(20, 80)},{rng.normal(30, 9):.2f},{['flu', 'gout', 'cold'][rng.integers(3)]},n{i}"
        for i in range(40)
    ]
    path = tmp_path / "patients.csv"
    path.write_text(lines("name,age,income,illness,note", rows))
    return path


SIMPLE = ["--quasi", "age,income", "--confidential", "illness", "--drop", "name", "--keep", "note", "-k", "4"]


def test_without_a_recipe(run, patients, tmp_path):
    code, out, err = run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--seed", 3)
    assert (code, out) == (0, "")
    assert "kinds             age integer, income numeric, illness nominal" in err
    assert "hand out data.csv" in err
    with_recipe = run("protect", patients, "--recipe", tmp_path / "out" / "recipe.toml", "-o", tmp_path / "again")
    assert with_recipe[0] == 0
    for name in ("data.csv", "recipe.toml", "verify.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--quasi", "age,income", "-k", "4"], "one of --quasi, .* --keep. Got: 'name', 'illness', 'note' in none"),
        (["--quasi", "age,incom", "-k", "4", "--keep", "name,illness,note,income"], "did you mean 'income'"),
        (["--quasi", "age,age", "-k", "4"], "'age' twice in --quasi"),
        (["--quasi", "age", "--drop", "age", "-k", "4"], "'age' in two lists: --quasi and --drop"),
        (["--quasi", "", "-k", "4"], "empty name"),
        (["-k", "4"], "Got: no --quasi. Hint: coterie recipe"),
        (["--quasi", "age"], "Got: no -k. Hint: coterie recipe"),
        ([*SIMPLE[:-1], "1"], "at least 2"),
        ([*SIMPLE, "--method", "mdaw"], "mdav"),
        (
            [*SIMPLE, "--recipe", "r.toml"],
            "--recipe cannot be combined with -k, --quasi, --confidential, --drop, --keep",
        ),
        ([*SIMPLE, "--seed", "-1"], "seed"),
    ],
)
def test_usage(run, patients, tmp_path, args, words):
    import re

    code, out, err = run("protect", patients, *args, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert re.search(words, err)
    assert not (tmp_path / "out").exists()


def test_what_is_said_is_said_of_the_written_file(run, patients, tmp_path):
    assert "In the written file, every record" in run("protect", patients, *SIMPLE, "-o", tmp_path / "out")[2]
    assert "In the release, every record" in run("protect", patients, *SIMPLE, "--dry-run")[2]


def test_dry_runs_write_nothing(run, patients, tmp_path):
    code, out, err = run("protect", patients, *SIMPLE, "--dry-run", "--json")
    assert code == 0
    assert "nothing was written" in err
    facts = json.loads(out)
    assert facts["verdict"]["ok"] is True
    assert facts["output"]["records"] == 40
    assert [p.name for p in tmp_path.iterdir()] == ["patients.csv"]
    assert run("protect", patients, *SIMPLE)[0] == 2
    assert run("protect", patients, *SIMPLE, "--dry-run", "-o", tmp_path / "out")[0] == 2


def test_quiet_and_json(run, patients, tmp_path):
    code, out, err = run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--quiet")
    assert (code, out, err.count("\n")) == (0, "", 1)
    assert err.startswith("coterie: warning: Nearly all values of 'note' differ")  # what weakens the promise is told
    code, out, err = run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--quiet", "--json", "--force")
    assert (code, err.count("\n")) == (0, 1)
    assert json.loads(out)["recipe"]["k"] == 4
    assert json.loads(out)["output"]["name"] == "data.csv"
    code, out, err = run("verify", tmp_path / "out", "--json", "--quiet")
    assert (code, err) == (0, "")
    assert json.loads(out)["ok"] is True
    assert run("protect", patients, *SIMPLE, "-o", tmp_path / "out")[0] == 2
    assert run("replay", tmp_path / "out", "--input", patients, "--quiet") == (0, "", "")


def test_verify_files(run, patients, tmp_path):
    code, _, err = run("verify", patients, "--quasi", "age,income", "-k", 2)
    assert code == 3
    assert "40" in err
    assert run("verify", patients, "--quasi", "age")[0] == 2
    assert run("verify", patients)[0] == 2
    assert run("verify", tmp_path)[0] == 2
    assert run("verify", tmp_path / "nothing")[0] == 2
    run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--quiet")
    assert run("verify", tmp_path / "out", "-k", 2, "--quasi", "age")[0] == 2
    data = tmp_path / "out" / "data.csv"
    assert run("verify", data, "--quasi", "age,income", "--confidential", "illness", "-k", 4)[0] == 0
    data.write_text(data.read_text().replace("n7\n", "n7x\n"))
    code, out, err = run("verify", tmp_path / "out", "--json")
    assert (code, out) == (3, "")
    assert "'data.csv', which was changed" in err
    code, out, _ = run("replay", tmp_path / "out", "--input", patients, "--json")
    assert code == 1
    assert json.loads(out) == {"same": False, "differs": ["the data file was changed since it was written"]}


PROMISES = {
    "columns": {
        "name": "identifier",
        "x": QUASI,
        "y": QUASI,
        "ill": {"role": "confidential", "kind": "nominal", "l": 2},
        "pay": {"role": "confidential", "kind": "numeric", "t": 0.6},
    },
    "scenarios": {"one": {"quasi": ["x"], "k": 3}, "two": {"quasi": ["y"], "k": 5}},
}


def test_verify_a_file_by_a_recipe(run, tmp_path):
    """All that it promises, though there is no bundle any more."""
    rng, source = np.random.default_rng(4), tmp_path / "in.csv"
    rows = [f"P{i};{a};{b};{'uvw'[c]};{p},5" for i, (a, b, c, p) in enumerate(rng.integers(0, [99, 99, 3, 9], (60, 4)))]
    source.write_text(lines("name;x;y;ill;pay", rows))
    rules = save_recipe(tmp_path / "r.toml", k=3, seed=1, **PROMISES)
    assert run("protect", source, "--recipe", rules, "-o", tmp_path / "out")[0] == 0
    data = (tmp_path / "out" / "data.csv").rename(tmp_path / "data.csv")
    code, out, _ = run("verify", data, "--recipe", rules, "--json")
    assert code == 0
    checks = [(c["what"], c["scenario"]) for c in json.loads(out)["checks"]]
    assert {("k-anonymity", "one"), ("k-anonymity", "two"), ("distinct l-diversity", "two")} < set(checks)
    assert "t-closeness" in {what for what, _ in checks}
    head, *body = data.read_text().splitlines()
    same = [";".join([*row.split(";")[:2], "u", row.split(";")[3]]) for row in body]
    for broken in (
        [head, *same],  # one diagnosis
        [head, "1000" + body[0][body[0].index(";") :], *body[1:]],  # alone in scenario one
        [f"{head};name", *(f"{row};P{i}" for i, row in enumerate(body))],  # an identifier
    ):
        data.write_text("\n".join(broken) + "\n")
        code, _, err = run("verify", data, "--recipe", rules)
        assert code == 3, err
    for more in (("-k", 3), ("--quasi", "x"), ("--read", "delimiter=;")):
        assert "A recipe already states all" in run("verify", data, "--recipe", rules, *more)[2]
    assert run("verify", tmp_path / "out", "--recipe", rules)[0] == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_verify_by_a_recipe_that_says_how_a_file_is_read(tmp_path, suffix):
    source, how = tmp_path / f"in{suffix}", {"k": 3, "seed": 1, **PROMISES}
    rng = np.random.default_rng(4)
    rows = [(f"P{i}", *map(int, row)) for i, row in enumerate(rng.integers(0, [99, 99, 3, 9], (60, 4)))]
    if suffix == ".csv":
        source.write_text("".join(f"{n};{a};{b};{'äöü'[c] if p else 'NA'};{p}\n" for n, a, b, c, p in rows), "cp1252")
        how["file"] = {
            "encoding": "cp1252",
            "names": ["name", "x", "y", "ill", "pay"],
            "delimiter": ";",
            "missing": ["NA"],
        }
    else:
        table = pa.table(dict(zip(("name", "x", "y", "ill", "pay"), zip(*rows, strict=True), strict=True)))
        pq.write_table(table, source)
    saved = ct.protect(source, how).save(tmp_path / "out")
    found = ct.verify(saved / f"data{suffix}", recipe=saved / "recipe.toml")
    assert found.facts() == ct.verify(saved).facts()
    assert found.ok


def test_verify_files_that_need_words(run, tmp_path):
    """What protect writes in its own dialect can be checked without the bundle, too."""
    source = tmp_path / "in.csv"
    source.write_bytes(lines("alter;größe", [f"{20 + i};{i % 3}" for i in range(12)]).encode("cp1252"))
    simple = ["--quasi", "alter", "--keep", "größe", "-k", "3"]
    assert run("protect", source, "--read", "encoding=cp1252", *simple, "-o", tmp_path / "a")[0] == 0
    data = tmp_path / "a" / "data.csv"
    assert run("verify", data, "-k", 3, "--quasi", "alter")[0] == 2
    assert run("verify", data, "-k", 3, "--quasi", "alter", "--read", "encoding=cp1252")[0] == 0
    assert run("verify", data, "-k", 7, "--quasi", "alter", "--read", "encoding=cp1252")[0] == 3
    source.write_text(lines("7;1", [f"{i};{i % 3}" for i in range(11)]))
    named = ["--read", "names=x,y", "--read", "delimiter=;"]
    assert run("protect", source, *named, "--quasi", "x", "--keep", "y", "-k", "3", "-o", tmp_path / "b")[0] == 0
    code, _, err = run("verify", tmp_path / "b" / "data.csv", "-k", 3, "--quasi", "x", *named)
    assert (code, "12 records read back" in err) == (0, True)
    assert run("verify", data, "-k", 3, "--quasi", "alter", "--read", "decimal=,")[0] == 2
    assert "further claims" in run("verify", tmp_path / "b", *named)[2]
    assert "does not exist" in run("verify", tmp_path / "c")[2]
    assert "-k and --quasi" in run("verify", data, "-k", 3)[2]


def test_recipe(run, patients, tmp_path):
    code, draft, _ = run("recipe", patients)
    assert code == 0
    recipe = ct.Recipe.loads(draft.replace("draft = true", ""))
    assert recipe.columns["name"].role == "identifier"
    target = tmp_path / "draft.toml"
    code, out, err = run("recipe", patients, "-o", target)
    assert (code, out) == (0, "")
    assert "check every line" in err
    assert target.read_text().rstrip() == draft.rstrip()
    assert run("recipe", patients, "-o", target)[0] == 2
    assert run("recipe", patients, "-o", target, "--force")[0] == 0
    assert run("recipe", patients, "-o", tmp_path / "no" / "draft.toml")[0] == 2


def test_a_draft_of_a_file_that_needs_words(run, tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes(lines("größe;wert", [f"{i},5;{'k.A.' if i == 3 else i % 4}" for i in range(9)]).encode("cp1252"))
    code, _, err = run("recipe", source)
    assert code == 2
    assert "encoding" in err
    read = ["--read", "encoding=cp1252", "--read", "missing=k.A."]
    code, draft, err = run("recipe", source, "-k", 3, *read, "--kind", "wert=integer")
    assert code == 0, err
    recipe = ct.Recipe.loads(draft.replace("draft = true", ""))
    assert recipe.file.options == {"encoding": "cp1252", "missing": ["", "k.A."]}
    assert {n: r.kind for n, r in recipe.columns.items()} == {"größe": "numeric", "wert": "integer"}
    (tmp_path / "r.toml").write_text(
        draft.replace("draft = true", "").replace('"refuse" ', '"group" '), encoding="utf-8"
    )
    code, _, err = run("protect", source, "--recipe", tmp_path / "r.toml", "-o", tmp_path / "out")
    assert code == 0, err


def test_assess_and_compare(run, patients, tmp_path):
    code, out, err = run("assess", patients, "--quasi", "age,income", "--confidential", "illness", "-k", 3)
    assert (code, out) == (0, "")
    assert "40 records (100.0 %)" in err
    code, out, _ = run("assess", patients, "--quasi", "age", "--json")
    assert code == 0
    assert json.loads(out)["records"] == 40
    assert run("assess", patients)[0] == 2
    page = tmp_path / "map.html"
    args = ["compare", patients, "--quasi", "age,income", "--k", "2,5", "--methods", "mdav,v-mdav"]
    code, out, err = run(*args, "--json", "-o", page)
    assert code == 0
    assert [(c["k"], c["method"]) for c in json.loads(out)] == [(2, "mdav"), (2, "v-mdav"), (5, "mdav"), (5, "v-mdav")]
    assert err.count("mdav") >= 4
    for c in (found := json.loads(out)):
        better = [d for d in found if d["loss"] <= c["loss"] and d["risk"] <= c["risk"]]
        assert c["on_frontier"] == all((d["loss"], d["risk"]) == (c["loss"], c["risk"]) for d in better)
    text = page.read_text()
    assert text.lower().startswith("<!doctype html>")
    assert "<svg" in text
    assert "http:" not in text.replace("http://www.w3.org", "")
    assert "https:" not in text
    assert run(*args, "-o", page)[0] == 2
    assert run(*args, "-o", tmp_path / "map.txt")[0] == 2
    assert run(*args[:4], "--k", "two")[0] == 2
    assert run(*args[:4], "--k", "99")[0] == 3
    assert run(*args[:4], "--methods", "mdaw")[0] == 2


def test_compare_tells_the_loss_of_what_is_released(run, tmp_path):
    """As protect does: of modes and rounded means, not of the groups alone."""
    rng = np.random.default_rng(0)
    source, rules = tmp_path / "in.csv", tmp_path / "r.toml"
    source.write_text(lines("a,b", [f"{rng.integers(0, 9)},{'xyz'[rng.integers(0, 3)]}" for _ in range(40)]))
    columns = {"a": {"role": "quasi", "kind": "integer"}, "b": {"role": "quasi", "kind": "nominal"}}
    save_recipe(rules, k=4, method="mdav", seed=0, columns=columns)
    facts = json.loads(run("protect", source, "--recipe", rules, "--dry-run", "--json")[1])
    (one,) = json.loads(run("compare", source, "--recipe", rules, "--k", "4", "--methods", "mdav", "--json")[1])
    assert one["loss"] == facts["measures"]["loss"]["loss"] != facts["groupings"][0]["loss"]


def test_compare_goes_on_where_a_candidate_is_not_possible(run, tmp_path):
    source, page = tmp_path / "in.csv", tmp_path / "map.html"
    source.write_text(lines("a,s", [f"{i * i},{'u' if i < 6 else 'v'}" for i in range(18)]))
    columns = {"a": QUASI, "s": {"role": "quasi", "kind": "nominal"}}
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=columns, strata={"within": ["s"]})
    args = ["compare", source, "--recipe", rules, "--methods", "mdav,mdav"]
    code, out, err = run(*args, "--k", "3,8,3", "--json", "-o", page)
    assert code == 0
    one, other = json.loads(out)  # each once
    assert (one["k"], one["on_frontier"], one["not_possible"]) == (3, True, None)
    assert (other["k"], other["on_frontier"], other["loss"]) == (8, False, None)
    assert "1 of 2 with fewer than k = 8, 6 records" in other["not_possible"]
    assert f"not possible: {other['not_possible']}" in err
    assert "1 not possible" in page.read_text()
    assert "fewer than k = 8" in page.read_text()
    code, _, err = run(*args, "--k", "8,9")
    assert (code, "fewer than k = 8" in err) == (3, True)


def test_assess_names_roles_once_and_scenarios(run, patients):
    for command in ("assess", "compare"):
        code, _, err = run(command, patients, "--quasi", "age,income", "--confidential", "age")
        assert (code, "'age' in two lists" in err) == (2, True)
    table = {"a": [1, 2, 3], "b": [1, 1, 1], "c": [4, 5, 6]}
    columns = {"a": QUASI, "b": QUASI, "c": {"role": "confidential", "kind": "integer"}}
    scenarios = {"one": {"quasi": ["a"], "k": 2}, "two": {"quasi": ["b"], "k": 2}}
    found = ct.assess(pa.table(table), {"k": 2, "columns": columns, "scenarios": scenarios})
    assert "c (scenario one): constant in 3 of 3 equivalence classes" in str(found)
    assert "c (scenario two): constant in 0 of 1 equivalence classes" in str(found)


def test_compare_where_nothing_is_a_number(run, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text(lines("a,b", [f"{'xyz'[i % 3]},{'uv'[i % 2]}" for i in range(24)]))
    code, out, err = run("compare", source, "--quasi", "a,b", "--k", "3", "--methods", "mdav", "--json")
    assert code == 0, err
    json.loads(out)
    assert run("assess", source, "--quasi", "a,b", "--json")[0] == 0
