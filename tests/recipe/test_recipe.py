"""Recipes: all mistakes at once, with line and hint; TOML there and back; nothing without an effect."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import CoterieError
from coterie.recipe import ColumnRule, Recipe, RecipeError
from coterie.recipe.draft import Looking, draft, look, rules_for
from coterie.recipe.lines import line_of
from coterie.recipe.sections import ScenarioRule

AGE = {"role": "quasi", "kind": "integer"}
SMALL = {"k": 5, "columns": {"age": AGE, "name": "identifier", "pay": {"role": "confidential", "kind": "numeric"}}}


def mistakes(**changes):
    with pytest.raises(RecipeError) as caught:
        Recipe(**{**SMALL, **changes})
    return [(".".join(m.path), m.what) for m in caught.value.mistakes]


def columns(**more):
    return {**SMALL["columns"], **more}


def test_a_small_recipe():
    recipe = Recipe(**SMALL)
    assert recipe.quasi == ("age",)
    assert recipe.of_role("identifier") == ("name",)
    assert recipe.promises["all"].k == 5
    assert Recipe.loads(recipe.dumps()) == recipe


FULL = """\
k = 3
centre = "mean"
shuffle = false
seed = 7

[method]
name = "v-mdav"
gamma = [0.0, 0.5]
refine = "quick"
bound = "fast"

[strata]
within = ["region"]
small = "merge"

[missing]
policy = "own-value"
small = "suppress"

[weights]
column = "w"

[guard]
split = false

[file]
delimiter = ";"
decimal = ","
formulas = "neutralize"

[columns.region]
role = "quasi"
kind = "nominal"

[columns."born on"]
role = "quasi"
kind = "datetime"
format = "%d.%m.%Y"

[columns.grade]
role = "quasi"
kind = "ordinal"
order = ["low", "mid", "high"]

[columns.size]
role = "quasi"
kind = "numeric"
decimals = 1

[columns.w]
role = "other"

[columns.illness]
role = "confidential"
kind = "nominal"
l = 2
t = 0.4

[scenarios.neighbour]
quasi = ["born on", "grade"]
k = 4

[scenarios.firm]
quasi = ["size"]
k = 3
"""


def test_everything_survives_the_way_through_toml():
    recipe = Recipe.loads(FULL)
    again = Recipe.loads(recipe.dumps())
    assert again == recipe
    assert recipe.method.params == {"gamma": [0.0, 0.5]}
    assert recipe.file.options == {"delimiter": ";", "decimal": ","}
    assert recipe.scenarios["neighbour"].quasi == ("born on", "grade")
    assert recipe.within == ("region",)


def test_all_mistakes_at_once_with_their_lines():
    text = FULL.replace("gamma = [0.0, 0.5]", "gama = 1").replace('kind = "datetime"', 'kind = "dates"')
    text = text.replace("k = 4", "k = 1").replace("l = 2", "l = 2\nnoise = 0.1").replace('column = "w"', 'column = "v"')
    with pytest.raises(RecipeError) as caught:
        Recipe.loads(text, "'r.toml'")
    message = str(caught.value)
    assert "6 mistakes in 'r.toml'" in message
    lines = text.splitlines()
    for key, value in {
        "method.gama": "gama = 1",
        "columns.born on.kind": 'kind = "dates"',
        "weights.column": 'column = "v"',
        "columns.illness.noise": "noise = 0.1",
        "scenarios.neighbour.k": "k = 1",
    }.items():
        assert f"line {lines.index(value) + 1}, {key}" in message
    assert pickle.loads(pickle.dumps(caught.value)).what == caught.value.what


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"k": 1}, "k"),
        ({"k": "5"}, "k"),
        ({"k": True}, "k"),
        ({"sed": 1}, "sed"),
        ({"seed": -1}, "seed"),
        ({"shuffle": "no"}, "shuffle"),
        ({"centre": "mode"}, "centre"),
        ({"method": "mdaw"}, "method.name"),
        ({"method": "individual-ranking"}, "method.name"),
        ({"method": "2-mu-approx"}, "method.name"),
        ({"method": {"name": "mdav", "gamma": 1}}, "method.gamma"),
        ({"method": "univariate", "columns": columns(x=AGE)}, "method.name"),
        ({"method": "univariate", "columns": {"x": {"role": "quasi", "kind": "nominal"}}}, "method.name"),
        ({"missing": "drop"}, "missing.policy"),
        ({"missing": {"policy": "group", "small": "merge"}}, "missing.small"),
        ({"missing": "group", "centre": "medoid"}, "centre"),
        ({"strata": "age"}, "strata.within"),
        ({"strata": ["age"]}, "strata.within"),
        ({"strata": ["name"]}, "strata.within"),
        ({"weights": "pay"}, "weights.column"),
        ({"weights": "nothing"}, "weights.column"),
        ({"guard": {"rule": "k-first"}}, "guard.rule"),
        ({"guard": 3}, "guard.rule"),
        ({"scenarios": {"a": {"quasi": ["pay"], "k": 5}}}, "scenarios.a.quasi"),
        ({"scenarios": {"a": {"quasi": ["age"], "k": 4}}}, "scenarios.a.k"),
        ({"scenarios": {"a": {"quasi": ["age"]}}}, "scenarios.a.k"),
        ({"columns": {}}, "columns"),
        ({"columns": {"age": "other"}}, "columns"),
        ({"columns": columns(x={"role": "quasi"})}, "columns.x.kind"),
        ({"columns": columns(x={"kind": "numeric"})}, "columns.x.role"),
        ({"columns": columns(x={"role": "quasi", "kind": "ordinal"})}, "columns.x.order"),
        ({"columns": columns(x={"role": "quasi", "kind": "nominal", "order": ["a"]})}, "columns.x.order"),
        ({"columns": columns(x={"role": "quasi", "kind": "ordinal", "order": ["a", "a"]})}, "columns.x.order"),
        ({"columns": columns(x={"role": "identifier", "kind": "nominal"})}, "columns.x.kind"),
        ({"columns": columns(x={"role": "quasi", "kind": "integer", "decimals": 1})}, "columns.x.decimals"),
        ({"columns": columns(x={"role": "quasi", "kind": "integer", "format": "%d"})}, "columns.x.format"),
        ({"columns": columns(x={"role": "other", "t": 0.1})}, "columns.x.t"),
        ({"columns": columns(x={"role": "confidential", "kind": "nominal", "t": 1.5})}, "columns.x.t"),
        ({"columns": columns(x={"role": "confidential", "kind": "nominal", "entropy": 10**400})}, "columns.x.entropy"),
        ({"columns": columns(x={"role": "confidential", "kind": "nominal", "l": 1})}, "columns.x.l"),
        ({"columns": columns(x={"role": "confidential", "kind": "nominal", "noise": 0.1})}, "columns.x.noise"),
        ({"columns": columns(x={"role": "confidential", "kind": "nominal", "knid": 1})}, "columns.x.knid"),
    ],
)
def test_a_mistake_is_found_where_it_is(changes, path):
    assert path in [where for where, _ in mistakes(**changes)]


def test_rules_made_in_python_are_checked_too():
    rules = {"age": ColumnRule("quasi", "integer"), "name": ColumnRule("Identifier"), "pay": ColumnRule("other", l=1)}
    found = mistakes(columns=rules, scenarios={"a": ScenarioRule(("age",), "5")})
    assert [where for where, _ in found] == ["columns.name.role", "columns.pay.l", "scenarios.a.k"]
    good = {**rules, "name": ColumnRule("identifier"), "pay": ColumnRule("confidential", "ordinal", ("low", "high"))}
    assert Recipe(k=5, columns=good).columns == good


def test_a_column_in_no_scenario():
    two = {"age": AGE, "size": AGE}
    found = mistakes(columns=two, scenarios={"a": {"quasi": ["age"], "k": 5}})
    assert found == [("columns.size", "Every quasi-identifier must be in a scenario.")]


def test_every_scenario_has_what_the_method_needs():
    job = {"role": "quasi", "kind": "nominal"}
    apart = {"a": {"quasi": ["age"], "k": 5}, "b": {"quasi": ["job"], "k": 5}}
    method = {"name": "mdav", "blocks": 20}
    Recipe(**{**SMALL, "columns": columns(job=job), "scenarios": apart, "method": method})  # cut at categories
    found = mistakes(columns=columns(job=job), scenarios=apart, method="univariate")
    assert [where for where, _ in found] == ["method.name"]
    Recipe(**{**SMALL, "columns": columns(job=job), "method": method})
    together = {**apart, "b": {"quasi": ["job", "age"], "k": 5}}
    Recipe(**{**SMALL, "columns": columns(job=job), "scenarios": together, "method": method})
    one_each = {"a": {"quasi": ["age"], "k": 5}, "b": {"quasi": ["size"], "k": 6}}
    Recipe(**{**SMALL, "columns": columns(size=AGE), "scenarios": one_each, "method": "univariate"})


def test_numbers_of_numpy_are_numbers(tmp_path):
    pay = {"role": "confidential", "kind": "numeric", "l": np.int64(2), "t": np.float32(0.5)}
    method = {"name": "v-mdav", "gamma": np.float32(0.25), "blocks": np.int32(40)}
    document = {"k": np.int64(5), "seed": np.uint8(7), "method": method, "columns": columns(pay=pay)}
    recipe = Recipe(**document)
    assert type(recipe.k) is type(recipe.columns["pay"].l) is type(recipe.method.blocks) is int
    recipe.save(tmp_path / "r.toml")
    assert Recipe.load(tmp_path / "r.toml") == recipe
    for wrong in (True, np.True_, np.float64(5.0), np.array([5])):
        assert mistakes(k=wrong) == [("k", "This must be a whole number of at least 2.")]


def test_names_of_the_table():
    recipe = Recipe(**SMALL)
    recipe.check_columns(["pay", "age", "name"])
    with pytest.raises(RecipeError) as caught:
        recipe.check_columns(["age", "nam", "pay", "town"])
    assert [m.path[-1] for m in caught.value.mistakes] == ["nam", "town", "name"]
    assert "did you mean 'nam'" in str(caught.value)
    with pytest.raises(RecipeError) as caught:
        Recipe.loads(recipe.dumps(), "'r.toml'").check_columns(["age", "pay"])
    line = recipe.dumps().splitlines().index("[columns.name]") + 1
    assert f"in 'r.toml':\n  line {line}, columns.name: The table must have" in str(caught.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(CoterieError, match="cannot be read"):
        Recipe.load(tmp_path / "no.toml")
    (tmp_path / "bad.toml").write_bytes(b"k = \xff")
    with pytest.raises(CoterieError, match="UTF-8"):
        Recipe.load(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text("k = = 3")
    with pytest.raises(CoterieError, match=r"TOML.*line 1"):
        Recipe.load(tmp_path / "bad.toml")
    Recipe(**SMALL).save(tmp_path / "good.toml")
    assert Recipe.load(tmp_path / "good.toml") == Recipe(**SMALL)


def test_lines():
    text = '# c\n[columns.a]\nrole = "quasi"\n[columns]\n"b c" = {role = "other", kind = 3}\nd.role = 1\n'
    assert line_of(text, ("columns", "a", "role")) == 3
    assert line_of(text, ("columns", "a", "kind")) == 2
    assert line_of(text, ("columns", "b c", "kind")) == 5
    assert line_of(text, ("columns", "d", "role")) == 6
    assert line_of(text, ("nowhere",)) is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", None], "integer"),
        (["00123", "00456"], "nominal"),
        (["1.5", "2", "-3e2"], "numeric"),
        (["1,5", "2"], "nominal"),
        (["2024-01-02", "1999-12-31"], "datetime"),
        (["2024-01-02 10:00", "1999-12-31 11:30"], "datetime"),
        (["yes", "no", "no"], "boolean"),
        (["0", "1"], "integer"),
        (["a", "b", "c"], "nominal"),
        ([1.5, float("nan")], "numeric"),
        ([True, None], "boolean"),
        ([None, None], "nominal"),
    ],
)
def test_what_a_column_looks_like(values, kind):
    assert look(pa.array(values, pa.string() if values == [None, None] else None)).kind == kind


TEXTS = st.sampled_from(["1", "-20", "007", "1.5", ".5", "3e4", "2024-01-02", "yes", "no", "NA", " ", "Reus", None])


@given(st.lists(st.lists(TEXTS, max_size=6), max_size=5), st.integers(0, 12))
def test_a_look_part_by_part_is_a_look_at_all(parts, most):
    """However few different values are kept: only their number may be said less exactly."""
    whole = look(pa.array([text for part in parts for text in part], pa.string()))
    looking = Looking(most=most)
    for part in [[], *parts]:
        looking.add(pa.array(part, pa.string()))
    seen = looking.seen()
    assert (seen.records, seen.missing) == (whole.records, whole.missing)
    assert seen.more == (whole.different > most)
    assert most < seen.different <= whole.different if seen.more else seen.different == whole.different
    if whole.kind != "boolean":  # two values, of which one may not be kept
        assert (seen.kind, seen.but_for) == (whole.kind, whole.but_for)
    if not seen.more:
        assert seen == whole


def test_a_draft_is_a_recipe_that_names_every_column_and_quotes_no_value():
    table = {
        "name": pa.array(["Ann Xylo", "Bob Yttr", "Cid Zorg"]),
        "age": pa.array([31, 42, 42]),
        "odd \"name\" = 'x'": pa.array(["secretvalue", "b", "b"]),
        "diagnosis": pa.array(["flu", "flu", None]),
        "level": pa.DictionaryArray.from_arrays([0, 1, 1], pa.array(["low", "high"]), ordered=True),
    }
    text = draft({name: look(array) for name, array in table.items()}, 3)
    with pytest.raises(RecipeError, match="a person must decide"):
        Recipe.loads(text)
    text = text.replace("draft = true", "")
    assert "secretvalue" not in text
    assert "Xylo" not in text
    recipe = Recipe.loads(text)
    assert set(recipe.columns) == set(table)
    assert recipe.columns["name"].role == "identifier"
    assert recipe.columns["diagnosis"].role == "confidential"
    assert recipe.columns["level"].order == ("low", "high")
    assert "1 missing" in text


@pytest.mark.parametrize(
    ("texts", "kind", "formats"),
    [
        (["31.12.1980", "1.2.1990"], "datetime", ("%d.%m.%Y",)),
        (["12/31/1980", "01/02/1990"], "datetime", ("%m/%d/%Y",)),
        (["31/12/1980", " 01/02/1990"], "datetime", ("%d/%m/%Y",)),
        (["1980/12/31", "1990/01/02"], "datetime", ("%Y/%m/%d",)),
        (["11/12/1980", "01/02/1990"], None, ("%d/%m/%Y", "%m/%d/%Y")),  # which one only a person knows
        (["1980-12-31", "1990-01-02"], "datetime", ()),
        (["31.12.80", "01.02.90"], "nominal", ()),
        (["32.12.1980", "01.02.1990"], "nominal", ()),
        (["31.12.1980", "later"], "nominal", ()),
        ([None, None], "nominal", ()),
    ],
)
def test_dates_as_they_are_written(texts, kind, formats):
    seen = look(pa.array(texts, pa.string()))
    assert (seen.kind, seen.formats) == (kind or "nominal", formats)
    text = draft({"seen": seen, "age": look(pa.array([31, 42, 42]))}, 2).replace("draft = true", "")
    assert ("the day or the month first?" in text) == (kind is None)
    if kind is None:
        with pytest.raises(RecipeError, match=r"columns\.seen\.kind"):
            Recipe.loads(text)
        return
    rule = Recipe.loads(text).columns["seen"]
    assert rule.format == (formats[0] if len(formats) == 1 else None)
    assert rules_for({"seen": "quasi"}, {"seen": seen})["seen"].format == rule.format


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.sampled_from(["identifier", "other"]), min_size=1, max_size=4)
)
def test_any_names_survive(names):
    recipe = Recipe(k=2, columns={**names, "q": AGE})
    assert Recipe.loads(recipe.dumps()) == recipe
