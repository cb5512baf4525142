"""Suggestions as data: the document that the draft's text holds, and rules for roles that a person says later."""

import dataclasses
import pickle
import tomllib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from conftest import ROOT
from coterie.recipe import Recipe, RecipeError
from coterie.recipe.draft import draft_of, look
from coterie.recipe.suggested import suggested
from coterie.release.drafting import draft_recipe, suggestions
from coterie.release.source import open_source
from judged_drafts import stand_in, stand_ins

N = 200
CYCLE = np.arange(N)


def codes(*values):
    return pa.array([values[i] for i in np.random.default_rng(1).integers(len(values), size=N)])


def table():
    return pa.table(
        {
            "nr": CYCLE // 4 + 1000,
            "rate": codes(4, 5, 6),
            "weight": codes(*range(60, 90)),
            "grade": codes("low", "mid", "high").dictionary_encode().cast(pa.dictionary(pa.int32(), pa.string(), True)),
            "when": codes("01.02.2020", "03.04.2021", "31.12.2022"),
            "seen": codes("01/02/2020", "03/04/2021"),
            "diagnosis": codes("a", "b", "c"),
            "v": CYCLE / 7,
        }
    )


def document_of(text):
    document = tomllib.loads(text)
    assert document.pop("draft") is True
    return document


def column(found, name):
    return next(one for one in found.columns if one.name == name)


@pytest.mark.parametrize("file", stand_ins(), ids=lambda file: f"{file[0]}-{file[1].rsplit('/', 1)[-1]}")
def test_the_document_is_what_the_text_holds(file):
    columns = {name: stand_in(profile) for name, profile in stand_ins()[file].items()}
    found = suggested({name: look(array, ".", about) for name, (array, about) in columns.items()})
    assert found.document(7) == document_of(draft_of(found, 7))
    assert list(found.document(7)["columns"]) == list(columns)
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("name", ["companies.csv", "patients.csv"])
def test_the_document_of_a_file(name):
    source = open_source(ROOT / "examples" / name)
    assert suggestions(source).document(5) == document_of(draft_recipe(source))


def test_the_document_holds_how_the_file_is_read_and_questions_about_stray_texts(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{i % 7};{i * 37}{',5' if i % 3 else ''};{'n/a' if i == 9 else i * 11}" for i in range(60)]
    path.write_text("a;b;c\n" + "\n".join(lines) + "\n", encoding="utf-8")
    source = open_source(path, {"decimal": ",", "delimiter": ";", "missing": ("", "NA")})
    found = suggestions(source)
    assert found.document(5) == document_of(draft_recipe(source))
    assert found.document(5)["file"] == {"decimal": ",", "delimiter": ";", "missing": ["", "NA"]}
    assert column(found, "c").rule == {"role": "quasi", "kind": "?"}
    assert column(found, "c").question.startswith("most values are numbers, or nearly so (1 that are not plain numbers")


@given(
    st.dictionaries(
        st.text(max_size=6),
        st.lists(st.one_of(st.none(), st.text("ab1.-/ \u200b\n\"'\\", max_size=6)), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.integers(2, 9),
)
@settings(max_examples=60, deadline=None)
def test_the_document_with_odd_names_and_texts(columns, k):
    names = [name for name in columns if not any(0xD800 <= ord(sign) < 0xE000 for sign in name)]
    source = open_source(pa.table({name: pa.array(columns[name], pa.string()) for name in names} | {"x": [1, 2, 3]}))
    assert suggestions(source).document(k) == document_of(draft_recipe(source, k))


def test_kinds_that_were_said():
    source = open_source(table())
    for kinds in ({"rate": "ordinal"}, {"nr": "nominal", "diagnosis": "nominal"}, {"when": "datetime", "v": "ordinal"}):
        found = suggestions(source, kinds)
        assert found.document(3) == document_of(draft_recipe(source, 3, kind=kinds))
    assert column(found, "v").rule == {"role": "quasi", "kind": "ordinal"}
    assert "only a recipe can say the order" in column(found, "v").question
    with pytest.raises(RecipeError, match="did you mean 'rate'"):
        suggestions(source, {"rat": "integer"})


def test_rules_for_roles_that_a_person_says():
    found = suggestions(open_source(table()))
    nr, rate, weight = (column(found, name) for name in ("nr", "rate", "weight"))
    assert nr.rule == {"role": "identifier"}
    rule, question = nr.rule_for("quasi")
    assert rule == {"role": "quasi", "kind": "?"}
    assert "a count (integer) or a code (nominal)" in question
    assert nr.rule_for("quasi", "integer") == ({"role": "quasi", "kind": "integer"}, None)
    assert nr.rule_for("identifier") == ({"role": "identifier"}, None)
    assert rate.rule_for("confidential", "ordinal") == (
        {"role": "confidential", "kind": "ordinal", "order": ["4", "5", "6"]},
        None,
    )
    assert rate.rule_for("other", "ordinal") == ({"role": "other"}, None)
    assert rate.rule_for("quasi") == rate.rule_for("quasi", "?") == (rate.rule, rate.question)
    assert weight.rule == {"role": "?"}
    assert weight.rule_for("?") == ({"role": "?"}, weight.why)
    assert weight.rule_for("quasi") == ({"role": "quasi", "kind": "integer"}, None)


def test_formats_and_orders_come_along():
    found = suggestions(open_source(table()))
    when, seen, grade = (column(found, name) for name in ("when", "seen", "grade"))
    assert when.rule == {"role": "quasi", "kind": "datetime", "format": "%d.%m.%Y"}
    assert when.rule_for("confidential").rule == {"role": "confidential", "kind": "datetime", "format": "%d.%m.%Y"}
    assert seen.rule_for("quasi").rule["kind"] == "?"
    assert seen.rule_for("quasi", "datetime").question == "only a recipe can say its format, %d/%m/%Y or %m/%d/%Y"
    assert grade.rule["order"] == list(grade.look.order)
    assert grade.rule_for("quasi", "nominal").rule == {"role": "quasi", "kind": "nominal"}


def test_units_are_asked_about_by_the_roles_that_a_person_says():
    found = suggestions(open_source(table()))
    assert found.unit.columns == ("nr",)
    assert found.unit.question.startswith("1 identifier repeats.")
    assert found.document(3)["unit"] == {"column": "?"}
    assert found.unit_for({}) == found.unit
    assert found.unit_for({"nr": "quasi"}) is None
    assert found.unit_for({"rate": "identifier", "v": "identifier"}).columns == ("nr", "rate")
    single = suggestions(open_source(pa.table({"nr": CYCLE, "v": CYCLE / 7})))
    assert single.unit is None
    assert "unit" not in single.document(3)


def test_a_decided_document_is_a_recipe():
    found = suggestions(open_source(table()))
    document = found.document(3)
    with pytest.raises(RecipeError, match="leaves this decision to you"):
        Recipe.loads(draft_of(found, 3).replace("draft = true", ""))
    answers = {"rate": ("quasi", "integer"), "weight": ("other", None), "seen": ("other", None)}
    for name, answer in answers.items():
        document["columns"][name] = column(found, name).rule_for(*answer).rule
    document["unit"] = {"column": "none"}
    assert ct.protect(table(), Recipe(**document)).verdict.ok


def test_suggestions_are_frozen_small_and_hold_no_number_of_a_record():
    values = pa.array(np.random.default_rng(0).integers(739_000, 739_900, 5000) * 7 + 0.5)
    found = suggestions(open_source(pa.table({"v": values, "t": values.cast(pa.string()), "w": values})))
    assert len(pickle.dumps(found)) < 4000
    assert column(found, "v").look.contents.low == 0
    seen = str(found)
    assert not any(str(value) in seen for value in values.to_pylist())
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.columns[0].name = "x"


def test_what_is_done_with_a_document_changes_no_suggestion():
    found = suggestions(open_source(table()))
    found.document(3)["columns"]["grade"]["order"].clear()
    found.document(3)["columns"]["rate"]["kind"] = "integer"
    column(found, "rate").rule_for("quasi").rule["kind"] = "integer"
    assert found == suggestions(open_source(table()))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], [1], [2, 3], None]),
        pa.array([{"a": 1}, {"a": 1}, {"a": None}, None]),
        pa.array([[("a", 1)], [("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    ],
    ids=lambda array: str(array.type),
)
def test_values_of_several_parts_are_asked_about(array):
    found = suggestions(open_source(pa.table({"x": array, "v": [1.5, 2.5, 3.5, 4.5]})))
    nested = column(found, "x")
    assert nested.rule == {"role": "?"}
    assert nested.look[:4] == ("nominal", 4, 2, 1)
    assert nested.rule_for("other") == ({"role": "other"}, None)
    assert nested.rule_for("quasi").rule == {"role": "quasi", "kind": "?"}
    assert found.document(2) == document_of(draft_of(found, 2))


def test_odd_types_have_suggestions():
    many = ["b", "c", "b", None] * 10
    for kind in ("string_view", "binary_view"):
        if hasattr(pa, kind):
            view = pa.array([None if v is None else v.encode() for v in many], pa.binary()).cast(getattr(pa, kind)())
            assert look(view)[:4] == ("nominal", 40, 2, 10)
    runs = pa.RunEndEncodedArray.from_arrays([3, 5], pa.array([1.5, None]))
    assert look(runs)[1:4] == (5, 1, 2)
    assert look(pa.nulls(3))[:4] == ("nominal", 3, 0, 3)
