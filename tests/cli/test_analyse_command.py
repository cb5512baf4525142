"""coterie analyse, as a user meets it."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from command_files import lines
from conftest import ROOT

RECIPE = """
k = 4
seed = 1
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
kind = "integer"
[columns.town]
role = "quasi"
kind = "nominal"
[columns."net income"]
role = "confidential"
kind = "numeric"
[columns.job]
role = "confidential"
kind = "boolean"
"""


@pytest.fixture
def made(run, tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        f"Zz{i},{rng.integers(20, 80)},{['Reus', 'Salou'][rng.integers(2)]},{rng.normal(30, 9):.1f},"
        f"{['yes', 'no'][rng.integers(2)]}"
        for i in range(60)
    ]
    (tmp_path / "people.csv").write_text(lines("name,age,town,net income,job", rows))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    code, _, err = run(
        "protect", tmp_path / "people.csv", "--recipe", tmp_path / "recipe.toml", "-o", tmp_path / "out", "--quiet"
    )
    assert code == 0, err
    return tmp_path


def test_options_ask_for_analyses(run, made):
    code, out, err = run(
        "analyse", made / "out", "--input", made / "people.csv", "--model", 'Q("net income") ~ age + C(town)',
        "--table", "town,job", "--table", "town", "--mean", "net income", "--total", "age", "--quantiles", "age",
        "--at", "0.1,0.9", "--by", "town", "--by", "job", "--json",
    )  # fmt: skip
    assert code == 0
    facts = json.loads(out)
    jsonschema.validate(facts, json.loads((ROOT / "docs" / "schemas" / "analyses.json").read_text()))
    kinds = [(one["kind"], one["asked"]) for one in facts["analyses"]]
    assert kinds == [
        ("linear", 'Q("net income") ~ age + C(town)'),
        ("table", "town x job"),
        ("table", "town"),
        ("mean", "net income by town, job"),
        ("total", "age by town, job"),
        ("quantiles", "0.1, 0.9 quantiles of age by town, job"),
    ]
    assert "linear model" in err
    assert "C(town)[T.Salou]" in err
    assert "Zz" not in err + out
    quiet = run("analyse", made / "out", "--input", made / "people.csv", "--mean", "net income", "--quiet")
    assert quiet == (0, "", "")


def test_a_logistic_model_of_a_file_by_a_recipe(run, made):
    given = ["--input", made / "people.csv", "--recipe", made / "recipe.toml"]
    code, _, err = run("analyse", made / "out" / "data.csv", *given, "--model", "job ~ age", "--family", "logistic")
    assert code == 0
    assert "logistic model: job ~ age" in err
    (made / "more.toml").write_text(f'{RECIPE}\n[analysis.mine]\nmean = "net income"\n')
    code, _, err = run("analyse", made / "out", "--input", made / "people.csv", "--recipe", made / "more.toml")
    assert code == 0
    assert "mine: mean: net income" in err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "There must be at least one analysis"),
        (["--mean", "name"], "This column is not released"),
        (["--mean", "town"], "numeric column"),
        (["--mean", "nothing"], "must name columns of the table"),
        (["--mean", "age", "--mean", "age"], "twice"),
        (["--model", "age ~ eval(town)"], "formula"),
        (["--model", "job ~ age", "--family", "probit"], "linear"),
        (["--family", "linear", "--mean", "age"], "--family has no effect here. Hint: use it with --model."),
        (["--at", "0.5", "--mean", "age"], "--at has no effect here. Hint: use it with --quantiles."),
        (["--at", "half", "--quantiles", "age"], "--at must be a comma-separated list of numbers"),
        (["--at", "2", "--quantiles", "age"], "above 0 and below 1"),
        (["--by", "town", "--table", "town"], "Hint: use it with --mean, --total or --quantiles."),
        (["--by", "age", "--mean", "age"], "cannot also define the groups"),
        (["--unweighted"], "--unweighted has no effect"),
        (["--unweighted", "--mean", "age"], "needs sampling weights"),
        (["--table", ""], "empty name"),
        (["--mean", "age", "--memory", "1 KB"], "the limit is"),
    ],
)
def test_wrong_options(run, made, args, words):
    code, out, err = run("analyse", made / "out", "--input", made / "people.csv", *args)
    assert (code, out) == (2, "")
    assert words in err
    assert "Zz" not in err
    assert "Reus" not in err
