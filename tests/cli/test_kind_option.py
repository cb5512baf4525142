"""--kind: what the shortcut asks, and how it is answered."""

import json

import pytest

import coterie as ct
from command_files import lines


@pytest.fixture
def panel(tmp_path):
    rows = [f"{i % 5},{i % 3},{20 + i * 7 % 50},{i // 2},{['low', 'mid', 'high'][i % 3]}" for i in range(120)]
    path = tmp_path / "in.csv"
    path.write_text(lines("a,b,age,nr,level", rows))
    return path


SHORT = ["--quasi", "a,age", "--confidential", "b", "--drop", "nr", "--keep", "level", "--unit", "none"]
SHORT += ["-k", 3, "--seed", 1]


def test_the_shortcut_stops_and_names_the_option_for_every_column_at_once(run, panel, tmp_path):
    code, out, err = run("protect", panel, *SHORT, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert "2 mistakes in the columns" in err
    for name in "ab":
        assert f"columns.{name}: You must decide its kind: few different whole numbers" in err
        assert f"--kind {name}=KIND" in err
    assert "age" not in err
    assert not (tmp_path / "out").exists()


def test_what_was_said_is_done(run, panel, tmp_path):
    kinds = ["--kind", "a=ordinal", "--kind", "b=nominal"]
    code, _, err = run("protect", panel, *SHORT, *kinds, "-o", tmp_path / "out")
    assert code == 0, err
    assert "a ordinal, b nominal, age integer (--kind COLUMN=KIND says otherwise)" in err
    recipe = ct.Recipe.load(tmp_path / "out" / "recipe.toml")
    assert recipe.columns["a"].order == ("0", "1", "2", "3", "4")
    assert run("assess", panel, "--quasi", "a,age", "--kind", "a=integer")[0] == 0
    assert run("assess", panel, "--quasi", "a,age")[0] == 2
    args = ["compare", panel, "--quasi", "a,age", "--k", 3, "--methods", "mdav", "--json", "--quiet"]
    assert run(*args)[0] == 2
    code, out, _ = run(*args, "--kind", "a=nominal")
    assert (code, len(json.loads(out))) == (0, 1)
    code, out, _ = run("recipe", panel, "--kind", "a=nominal")
    assert code == 0
    assert '[columns.a]\nrole = "quasi"\nkind = "nominal"' in out


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["a"], "--kind must be COLUMN=KIND"),
        (["=nominal"], "--kind must be COLUMN=KIND"),
        (["a="], "--kind must be COLUMN=KIND"),
        (["a=nominal", "a=integer"], "'a' twice in --kind"),
        (["a=code"], "--kind must be one of numeric, integer"),
        (["aa=nominal"], "did you mean 'a'"),
        (["nr=nominal"], "Only quasi-identifiers and confidential columns have a kind"),
        (["level=nominal"], "Only quasi-identifiers and confidential columns have a kind"),
    ],
)
def test_what_makes_no_sense_is_refused(run, panel, kinds, words):
    said = [word for kind in kinds for word in ("--kind", kind)]
    code, out, err = run("protect", panel, *SHORT, *said, "--dry-run")
    assert (code, out) == (2, "")
    assert words in err


def test_the_order_of_texts_needs_a_recipe_and_a_recipe_takes_no_kind(run, panel, tmp_path):
    code, _, err = run("assess", panel, "--quasi", "level", "--kind", "level=ordinal")
    assert code == 2
    assert "only a recipe can say the order" in err
    path = tmp_path / "r.toml"
    path.write_text("k = 3")
    code, _, err = run("assess", panel, "--recipe", path, "--kind", "a=nominal")
    assert code == 2
    assert "--recipe cannot be combined with --kind" in err


def test_the_same_in_python(panel):
    with pytest.raises(ct.CoterieError, match="'kind' says it"):
        ct.assess(panel, quasi=["a", "age"])
    assert ct.assess(panel, quasi=["a", "age"], kind={"a": "nominal"}).records == 120
    with pytest.raises(ct.CoterieError, match="'kind' says it"):
        ct.compare(panel, [3], ["mdav"], quasi=["a", "age"])
    assert ct.compare(panel, [3], ["mdav"], quasi=["a", "age"], kind={"a": "nominal"}).candidates
    with pytest.raises(ct.CoterieError, match="must map columns to kinds"):
        ct.assess(panel, quasi=["a", "age"], kind="nominal")


def test_a_persons_number_is_not_averaged_unasked(run, panel):
    code, _, err = run("assess", panel, "--quasi", "nr,age")
    assert code == 2
    assert "columns.nr" in err
    assert "number for persons or things" in err
