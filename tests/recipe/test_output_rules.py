"""New names, record numbers and pseudonyms in a recipe: what has no effect or no sense is refused."""

from __future__ import annotations

import pytest

from coterie.recipe import Recipe, RecipeError

KEY = "0123456789abcdef" * 2


def recipe(columns=None, **more):
    own = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "integer"},
        "job": {"role": "confidential", "kind": "nominal"},
    }
    for name, rule in (columns or {}).items():
        own[name] = {**own.get(name, {"role": "other"}), **rule}
    return Recipe(k=3, columns=own, **more)


def test_a_recipe_says_it_again_as_it_was_written():
    how = recipe(
        {"age": {"rename": "years"}, "id": {"rename": "who"}},
        output={"number": "record"},
        unit={"column": "id", "release": "pseudonym", "key": KEY},
    )
    assert Recipe.loads(how.dumps()) == how
    assert how.released == {"id": "who", "age": "years", "job": "job"}
    assert how.pseudonym == "id"


def test_without_them_a_recipe_is_as_it_was():
    how = recipe()
    assert "output" not in how.as_dict()
    assert how.released == {"age": "age", "job": "job"}
    assert how.pseudonym is None


def test_names_may_be_exchanged_and_those_of_dropped_columns_taken():
    how = recipe({"age": {"rename": "job"}, "job": {"rename": "age"}}, output={"number": "id"})
    assert how.released == {"age": "job", "job": "age"}


@pytest.mark.parametrize(
    ("columns", "more", "said"),
    [
        ({"age": {"rename": ""}}, {}, "columns.age.rename: This must be a text"),
        ({"age": {"rename": 5}}, {}, "columns.age.rename: This must be a text"),
        ({"age": {"rename": " "}}, {}, "columns.age.rename: A name must not be blank"),
        ({"age": {"rename": "x "}}, {}, "columns.age.rename: A name must not be blank"),
        ({"age": {"rename": "x\ny"}}, {}, "columns.age.rename: A name must consist of visible"),
        ({"age": {"rename": "x\0"}}, {}, "columns.age.rename: A name must consist of visible"),
        ({"age": {"rename": "x\u202ey"}}, {}, "columns.age.rename: A name must consist of visible"),
        ({"age": {"rename": "\ue000number"}}, {}, "columns.age.rename: A name must consist of visible"),
        ({"age": {"rename": "x" * 1001}}, {}, "columns.age.rename: A name must have at most"),
        ({"age": {"rename": "age"}}, {}, "columns.age.rename: The new name must differ"),
        ({"age": {"rename": "job"}}, {}, "columns.age.rename: Every column of the release must have a name"),
        ({"age": {"rename": "x"}, "job": {"rename": "x"}}, {}, "columns.job.rename: Every column of the release"),
        ({"id": {"rename": "x"}}, {}, "columns.id.rename: An identifier is dropped"),
        ({}, {"output": {"number": "job"}}, "output.number: Every column of the release"),
        ({"age": {"rename": "n"}}, {"output": {"number": "n"}}, "columns.age.rename: Every column of the release"),
        ({}, {"output": {"number": ""}}, "output.number: This must be a text"),
        ({}, {"output": {"number": " n"}}, "output.number: A name must not be blank"),
        ({}, {"output": {"numbers": "n"}}, "output.numbers: This is not a recipe option"),
        ({}, {"output": "record"}, "output: This must be a section"),
        ({}, {"output": {"number": "n"}, "shuffle": False}, "output.number: Record numbers need shuffled rows"),
        ({}, {"unit": {"column": "id", "release": "hash"}}, "unit.release: This must be"),
        ({}, {"unit": {"column": "none", "release": "pseudonym"}}, "unit.release: A pseudonym replaces the identifier"),
        (
            {"p": {}},
            {"unit": {"column": "p", "release": "pseudonym"}},
            "unit.release: A pseudonym replaces an identifier",
        ),
        ({}, {"unit": {"column": "job", "release": "pseudonym"}}, "unit.release: A pseudonym replaces an identifier"),
        ({}, {"unit": {"column": "id", "key": KEY}}, "unit.key: A key is used only for pseudonyms"),
        ({}, {"unit": {"column": "id", "release": "pseudonym", "key": "x7secret"}}, "unit.key: This must be 32"),
        ({}, {"unit": {"column": "id", "release": "pseudonym", "key": 7}}, "unit.key: This must be 32"),
    ],
)
def test_what_has_no_sense_is_refused(columns, more, said):
    with pytest.raises(RecipeError) as caught:
        recipe(columns, **more)
    assert said in str(caught.value)
    assert "x7secret" not in str(caught.value)
