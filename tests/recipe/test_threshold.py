"""A threshold instead of k: the least k that keeps it, by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

import coterie as ct
from coterie.constraints import least_k

QUASI = {"role": "quasi", "kind": "integer"}
COLUMNS = {"age": QUASI, "size": QUASI}
TABLE = pa.table({"age": list(range(60)), "size": [i * 7 % 60 for i in range(60)]})


@pytest.mark.parametrize(
    ("risk", "k"),
    # 1/11 = 0.0909... is above 0.09, and 1/12 is not; 1/3 is above 0.33 and above 0.3333, below 0.34
    [
        (0.5, 2),
        (0.34, 3),
        (0.3333, 4),
        (0.33, 4),
        (0.2, 5),
        (0.1, 10),
        (0.0909, 12),
        (0.091, 11),
        (0.09, 12),
        (0.05, 20),
        (0.07, 15),
        (0.01, 100),
        (0.001, 1000),
        (1e-09, 10**9),
    ],
)
def test_k_is_the_least_that_keeps_it(risk, k):
    assert least_k(risk) == k
    written = Fraction(repr(risk))
    assert Fraction(1, k) <= written < Fraction(1, k - 1)


def test_every_decimal_of_three_digits():
    for thousandths in range(2, 501):
        k = least_k(thousandths / 1000)
        assert 1000 <= k * thousandths < 1000 + thousandths  # 1/k <= t/1000 < 1/(k - 1)


def test_the_recipe_keeps_what_was_written():
    text = "[promise]\nrisk = 0.09\n[columns.age]\nrole = 'quasi'\nkind = 'integer'\n"
    recipe = ct.Recipe.loads(text)
    assert recipe.k == 12
    assert recipe.as_dict()["promise"] == {"risk": 0.09}
    assert "k" not in recipe.as_dict()
    again = ct.Recipe.loads(recipe.with_seed(7).dumps())
    assert (again.k, again.promise.risk, again.seed) == (12, 0.09, 7)
    assert ct.Recipe(promise=0.09, columns=COLUMNS).k == 12  # the only option, alone


def test_scenarios_may_have_one_each():
    how = {"promise": {"risk": 0.5}, "columns": COLUMNS}
    scenarios = {"a": {"quasi": ["age"], "risk": 0.09}, "b": {"quasi": ["size"], "k": 3}}
    recipe = ct.Recipe(**how, scenarios=scenarios)
    assert [rule.k for rule in recipe.scenarios.values()] == [12, 3]
    assert recipe.as_dict()["scenarios"] == {"a": scenarios["a"], "b": scenarios["b"]}
    assert ct.Recipe(**how, scenarios=recipe.scenarios).scenarios == recipe.scenarios
    assert ct.Recipe.loads(recipe.dumps()).scenarios == recipe.scenarios
    release = ct.protect(TABLE, recipe)
    assert [(g.name, g.k, min(g.sizes)) for g in release.facts.groupings] == [("a", 12, 12), ("b", 3, 3)]
    assert release.facts.settings.risks == {"a": 0.09}
    assert "threshold (a)" in str(release)


@pytest.mark.parametrize("risk", [0, -0.1, 0.51, 1, float("nan"), float("inf"), "0.1", True, [0.1]])
def test_what_is_no_risk_is_refused(risk):
    with pytest.raises(ct.RecipeError, match=r"promise\.risk: This must be a number above 0 and at most 0\.5"):
        ct.Recipe(promise={"risk": risk}, columns=COLUMNS)
    scenario = {"a": {"quasi": ["age", "size"], "risk": risk}}
    with pytest.raises(ct.RecipeError, match=r"scenarios\.a\.risk: This must be a number above 0 and at most 0\.5"):
        ct.Recipe(k=2, scenarios=scenario, columns=COLUMNS)


def test_both_and_neither_are_refused():
    with pytest.raises(ct.RecipeError, match=r"promise\.risk: Give either k or a risk"):
        ct.Recipe(k=12, promise={"risk": 0.09}, columns=COLUMNS)
    with pytest.raises(ct.RecipeError, match=r"promise\.k: Give either k or a risk, .* Got: both") as error:
        ct.Recipe(promise={"risk": 0.09, "k": 12}, columns=COLUMNS)
    assert len(error.value.mistakes) == 1
    with pytest.raises(ct.RecipeError, match=r"k: This must be given"):
        ct.Recipe(columns=COLUMNS)
    with pytest.raises(ct.RecipeError, match=r"promise\.risk: This must be given"):
        ct.Recipe(promise={}, columns=COLUMNS)
    for rule, words in (({}, r"scenarios\.a\.k: This must be given"), ({"k": 9, "risk": 0.3}, r"scenarios\.a\.risk")):
        with pytest.raises(ct.RecipeError, match=words):
            ct.Recipe(k=2, columns=COLUMNS, scenarios={"a": {"quasi": ["age", "size"], **rule}})


def test_it_is_kept_and_told(tmp_path):
    release = ct.protect(TABLE, {"promise": {"risk": 0.09}, "seed": 1, "columns": COLUMNS})
    after = release.measures.risk.scenarios[0].after
    assert after.smallest >= 12
    assert after.largest_risk <= 0.09
    assert "0.09  (largest re-identification risk requested; k = 12 is the smallest that achieves it)" in str(release)
    release.save(tmp_path / "bundle")
    for name in ("report.html", "internal.html"):
        page = (tmp_path / "bundle" / name).read_text(encoding="utf-8")
        assert "had to be at most 0.09: k = 12 is the smallest that achieves it" in page
    assert ct.verify(tmp_path / "bundle").ok


def test_on_the_command_line(tmp_path, run):
    path = tmp_path / "in.csv"
    path.write_text("age,size\n" + "".join(f"{20 + i},{i * 7 % 60}\n" for i in range(60)))
    kinds = ("--kind", "age=integer", "--kind", "size=integer", "--quasi", "age,size")
    code, _, told = run("protect", path, "--dry-run", "--risk", "0.09", *kinds)
    assert code == 0, told
    assert "k = 12 is met" in told
    for more, words in (
        (("--risk", "0.09", "-k", "3"), "Give either -k or --risk"),
        (("--risk", "0.6"), "above 0 and at most 0.5"),
        (("--risk", "0"), "above 0 and at most 0.5"),
        (("--risk", "little"), "--risk"),
        ((), "or at least -k and --quasi"),
    ):
        code, _, told = run("protect", path, "-o", tmp_path / "out", *more, *kinds)
        assert code == 2, told
        assert words in told
        assert not (tmp_path / "out").exists()
