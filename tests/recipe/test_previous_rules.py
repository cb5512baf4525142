"""[previous] in a recipe: where earlier releases are, and what can't stand beside them."""

from __future__ import annotations

import pytest

import coterie as ct

COLUMNS = {
    "id": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "ill": {"role": "confidential", "kind": "nominal"},
}
FIRST = {"bundle": "first", "input": "first.csv"}


def recipe(previous, **more):
    return ct.Recipe(columns={**COLUMNS, **more.pop("columns", {})}, k=3, previous=previous, **more)


def stable(**more):
    return recipe({"releases": [FIRST], "groups": "stable", **more.pop("previous", {})}, **more)


GUARDED = {"ill": {"role": "confidential", "kind": "nominal", "l": 2}}
CLOSE = {"ill": {"role": "confidential", "kind": "nominal", "t": 0.3}}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: recipe({}), "previous.releases: This must be given"),
        (lambda: recipe("stable"), r"options. Got: 'stable'. Hint: .*\[previous\] groups = \"stable\", rel"),
        (lambda: recipe({"releases": []}), "a list of earlier releases"),
        (lambda: recipe({"releases": FIRST}), "a list of earlier releases"),
        (lambda: recipe({"releases": [{"bundle": "first"}]}), "each entry has a bundle and an input"),
        (lambda: recipe({"releases": [{**FIRST, "by": "id"}]}), "and nothing else"),
        (lambda: recipe({"releases": [{"bundle": "", "input": "a"}]}), "are paths"),
        (lambda: recipe({"releases": [FIRST, FIRST]}), "is given twice"),
        (lambda: recipe({"releases": [FIRST], "by": "ID"}), "previous.by: .*'ID', which it does not"),
        (lambda: recipe({"releases": [FIRST], "by": []}), "name of a column, or a list"),
        (lambda: recipe({"releases": [FIRST], "by": "id", "rows": True}), "previous.rows: .*Got: both"),
        (lambda: recipe({"releases": [FIRST], "rows": 1}), "true or false"),
        (lambda: recipe({"releases": [FIRST], "groups": "stabel"}), 'did you mean "stable"'),
        (lambda: recipe({"releases": [FIRST], "small": "suppress"}), "previous.small: .*only to stable groups"),
        (lambda: recipe({"releases": [FIRST], "small": "merge"}), '"refuse" or "suppress"'),
        (lambda: recipe({"releases": [FIRST], "k": 3}), "not a recipe option"),
        (lambda: stable(strata=["town"]), r"Got: \[strata\]"),
        (lambda: stable(missing="own-value"), "own-value"),
        (lambda: stable(unit="id"), r"Got: \[unit\]"),
        (lambda: stable(method={"name": "mdav", "blocks": 10}), "Got: blocks"),
        (lambda: stable(method={"name": "mdav", "bound": "fast"}), "Got: bound"),
        (lambda: stable(scenarios={"a": {"quasi": ["age", "town"], "k": 3}}), "Got: scenarios"),
        (lambda: stable(columns=GUARDED, guard="k-first"), 'Got: rule = "k-first"'),
        (lambda: stable(guard={"regroup": True}), "Got: regroup"),
        (lambda: stable(columns=GUARDED), "split = false"),
        (lambda: stable(columns=CLOSE, guard={"split": False}, previous={"small": "suppress"}), "Got: t and small"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(ct.RecipeError, match=words):
        make()


def test_what_may_stand_there():
    assert recipe({"releases": [FIRST]}).previous.groups == "free"
    assert recipe({"releases": [FIRST], "by": "id"}).previous.by == ("id",)
    assert recipe(None).previous is None
    assert stable(unit="none").previous.small == "refuse"
    assert stable(columns=GUARDED, guard={"split": False}).guard.split is False


def test_there_and_back():
    made = recipe({"releases": [FIRST, {"bundle": "b", "input": "c"}], "by": ["id", "town"], "groups": "stable"})
    assert ct.Recipe.loads(made.dumps()) == made
    assert ct.Recipe(**made.as_dict()) == made


def test_paths_are_seen_from_the_recipe(tmp_path):
    made = recipe({"releases": [FIRST, {"bundle": str(tmp_path / "x"), "input": "../y.csv"}]})
    (tmp_path / "in").mkdir()
    made.save(tmp_path / "in" / "recipe.toml")
    assert ct.Recipe.load(tmp_path / "in" / "recipe.toml").previous.releases == (
        {"bundle": str(tmp_path / "in" / "first"), "input": str(tmp_path / "in" / "first.csv")},
        {"bundle": str(tmp_path / "x"), "input": str(tmp_path / "y.csv")},
    )
    assert ct.Recipe.loads(made.dumps()).previous.releases[0] == FIRST  # a text is nowhere


@pytest.mark.parametrize("text", ["previous = 3", "[previous]\nreleases = 3", "[previous]\nreleases = [3]"])
def test_a_file_that_says_something_else_there_is_refused_in_words(tmp_path, text):
    path = tmp_path / "recipe.toml"
    whole = ct.Recipe(columns=COLUMNS, k=3).dumps()
    path.write_text(f"{text}\n{whole}" if "[" not in text else f"{whole}\n{text}\n")
    with pytest.raises(ct.RecipeError, match="previous"):
        ct.Recipe.load(path)
