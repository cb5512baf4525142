"""Options that prepare columns: what is refused before a record is read, and what columns become."""

from __future__ import annotations

import datetime

import pytest

from coterie.recipe import Recipe
from coterie.recipe.preparing_rules import as_prepared
from coterie.recipe.recipe import RecipeError

QUASI = {"role": "quasi", "kind": "integer"}


def recipe(column, **more):
    return Recipe(**{"k": 3, "columns": {"q": QUASI, "x": column, **more.pop("columns", {})}, **more})


def mistakes(column, **more):
    with pytest.raises(RecipeError) as error:
        recipe(column, **more)
    return {mistake.path[-1]: mistake.what for mistake in error.value.mistakes}


NUMBER = {"role": "other", "kind": "integer"}
REAL = {"role": "other", "kind": "numeric"}
DATE = {"role": "other", "kind": "datetime"}
WORD = {"role": "other", "kind": "nominal"}
SECRET = {"role": "confidential", "kind": "numeric"}
ORDER = {"role": "quasi", "kind": "ordinal", "order": ["low", "high"]}


@pytest.mark.parametrize(
    ("column", "key", "words"),
    [
        ({"role": "identifier", "top": 3}, "top", "is dropped"),
        ({"role": "other", "top": 3}, "kind", "needs a kind"),
        ({**NUMBER, "top": "much"}, "top", "a number, or a date"),
        ({**NUMBER, "top": True}, "top", "a number, or a date"),
        ({**NUMBER, "top": float("nan")}, "top", "a number, or a date"),
        ({**NUMBER, "top": 10**400}, "top", "a number, or a date"),
        ({**NUMBER, "bands": [0, 10**400]}, "bands", "a list of increasing numbers"),
        ({**NUMBER, "round": 10**400}, "round", "above 0"),
        ({**NUMBER, "top": "2020-01-01"}, "top", "must be a number"),
        ({**NUMBER, "top": 1.5}, "top", "whole number"),
        ({**NUMBER, "top": 3, "bottom": 3}, "top", "above bottom"),
        ({**NUMBER, "precision": "month"}, "precision", "is for columns of dates"),
        ({**NUMBER, "recode": {"1": "2"}}, "recode", "is for nominal and ordinal"),
        ({**NUMBER, "round": 0}, "round", "above 0"),
        ({**NUMBER, "round": 1}, "round", "multiples of 1 already"),
        ({**REAL, "round": 1e-310}, "round", "above 0"),
        ({**REAL, "width": 1e-16}, "width", "above 0"),
        ({**NUMBER, "round": 2.5}, "round", "whole number"),
        ({**NUMBER, "round": 10, "top": 95}, "top", "a multiple of"),
        ({**NUMBER, "round": 10, "bands": [0, 10]}, "round", "rounded or put into bands"),
        ({**NUMBER, "bands": [0, 10], "width": 5}, "width", "edges of bands or their width"),
        ({**NUMBER, "bands": [0]}, "bands", "a list of increasing numbers"),
        ({**NUMBER, "bands": [0, 5, 5]}, "bands", "a list of increasing numbers"),
        ({**NUMBER, "bands": [5, 0]}, "bands", "a list of increasing numbers"),
        ({**NUMBER, "bands": "0-17"}, "bands", "a list of increasing numbers"),
        ({**NUMBER, "bands": [0, 2.5]}, "bands", "whole number"),
        ({**NUMBER, "bands": [0, 10], "top": 30}, "top", "open-ended"),
        ({**NUMBER, "bands": [0, 10], "bottom": 10}, "bottom", "in the first band"),
        ({**NUMBER, "bands": [0, 10], "bands_as": "middle"}, "top", "for a middle"),
        ({**NUMBER, "bands": [0, 10], "bands_as": "middle", "top": 10}, "top", "for a middle"),
        ({**NUMBER, "bands": [0, 10], "bands_as": "text"}, "bands_as", '"label" or "middle"'),
        ({**NUMBER, "bands_as": "label", "top": 3}, "bands_as", "bands_as needs"),
        ({**NUMBER, "bands": [0, 10], "bands_as": "middle", "top": 20, "top_label": "x"}, "top_label", "no labels"),
        ({**NUMBER, "bands": [0, 10], "top_label": "0-9"}, "top_label", "Labels must be distinct"),
        ({**NUMBER, "width": 5, "top_label": "x"}, "top_label", "needs its bound"),
        ({**NUMBER, "width": 1, "bottom": 0, "top": 9999}, "width", "at most 4,096 bands"),
        ({**NUMBER, "width": 100, "bottom": 0, "top": 50}, "width", "at least two bands"),
        ({**NUMBER, "top_label": "90+"}, "top_label", "needs its bound"),
        ({**REAL, "top": 9, "top_label": "5"}, "top_label", "not look like a number"),
        ({**REAL, "bottom": 9, "bottom_label": " 1,000 "}, "bottom_label", "not look like a number"),
        ({**QUASI, "top": 90, "top_label": "90+"}, "top_label", "has no mean"),
        ({**SECRET, "top": 9, "top_label": "9+", "t": 0.2}, "top_label", "text has no order"),
        ({**SECRET, "width": 9, "t": 0.2}, "width", "follow from the recipe alone"),
        ({**SECRET, "top": 9, "noise": 0.5}, "noise", "undo what preparing did"),
        ({**QUASI, "kind": "numeric", "bands": [0, 9], "decimals": 2}, "decimals", "becomes text"),
        ({**QUASI, "kind": "numeric", "top": 95, "decimals": -1}, "top", "a multiple of"),
        ({**DATE, "top": 2020}, "top", "must be a date"),
        ({**DATE, "top": "31.12.2020"}, "top", "a date such as"),
        ({**DATE, "top": "2020-12-31T00:00:00+01:00"}, "top", "a date such as"),
        ({**DATE, "top": "2020-01-01", "bottom": "2020-01-01"}, "top", "after bottom"),
        ({**DATE, "bottom": "2020-01-02", "precision": "month"}, "bottom", "the first day of a month"),
        ({**DATE, "precision": "decade"}, "precision", '"year"'),
        ({**DATE, "precision": "week", "format": "%m/%Y"}, "precision", "able to write the beginning of a week"),
        ({**DATE, "precision": "day", "format": "%d.%m.%Y"}, "precision", "coarser than what the format"),
        ({**DATE, "precision": "month", "format": "%Y"}, "precision", "coarser than what the format"),
        ({**DATE, "top_label": "late", "top": "2020-01-01"}, "top_label", "is for numeric"),
        ({**WORD, "others": "other"}, "others", "neither|recode or rare"),
        ({**WORD, "rare": 20}, "rare", "rare needs others"),
        ({**WORD, "rare": 1, "others": "o"}, "rare", "at least 2"),
        ({**WORD, "recode": {"a": "a"}}, "recode", "must change something"),
        ({**WORD, "recode": {}}, "recode", "a table of old and new names"),
        ({**WORD, "recode": {"a": 1}}, "recode", "a table of old and new names"),
        ({**WORD, "recode": ["a"]}, "recode", "a table of old and new names"),
        ({**WORD, "top": 3}, "top", "is for numeric and integer columns and columns of dates"),
        ({"role": "other", "kind": "boolean", "rare": 3, "others": "x"}, "rare", "is for nominal"),
        ({**ORDER, "role": "other", "recode": {"a": "low"}}, "kind", "an order has no effect"),
        ({**ORDER, "recode": {"mid": "middle"}}, "order", "must contain the ones that others become"),
        ({**ORDER, "recode": {"low": "high"}}, "order", "must not contain recoded ones"),
        ({**ORDER, "rare": 5, "others": "rest"}, "order", "must contain the ones that others become"),
    ],
)
def test_what_has_no_effect_or_contradicts_is_refused(column, key, words):
    import re

    found = mistakes(column)
    assert key in found
    assert re.search(words, found[key])


@pytest.mark.parametrize("text", ["NA", " na ", "\u200b", " "])
def test_new_values_must_not_mean_missing(text):
    file = {"missing": ["", "NA"]}
    for column, key in (
        ({**WORD, "recode": {"a": text}}, "recode"),
        ({**WORD, "rare": 3, "others": text}, "others"),
        ({**NUMBER, "top": 3, "top_label": text}, "top_label"),
        ({**NUMBER, "bands": [0, 3], "bottom_label": text}, "bottom_label"),
    ):
        assert "a missing value" in mistakes(column, file=file)[key]


def test_all_mistakes_are_told_at_once():
    found = mistakes({**NUMBER, "bands": [0, 10], "top": 30, "bottom": 10, "bands_as": "label"})
    assert {"top", "bottom"} <= set(found)


def test_units_and_weights_are_not_prepared():
    person = {"role": "other", "kind": "nominal", "rare": 3, "others": "x"}
    assert "as they are" in mistakes(person, unit="x")["rare"]
    assert "as they are" in mistakes({**REAL, "top": 5}, weights="x")["top"]


def test_what_columns_become():
    asked = recipe(
        {**SECRET, "kind": "integer", "bands": [0, 18, 65], "t": 0.3},
        columns={
            "kept": {**DATE, "format": "%d.%m.%Y", "precision": "year"},
            "label": {**SECRET, "top": 5, "top_label": "5+", "l": 2},
            "wide": {**QUASI, "width": 10},
            "code": {"role": "quasi", "kind": "nominal", "recode": {"a": "b"}},
        },
    )
    become = as_prepared(asked, {"wide": (10, 20, 30)})
    assert become.as_dict()["columns"] == {
        "q": QUASI,
        "x": {"role": "confidential", "kind": "ordinal", "order": ["0-17", "18-64", "65+"], "t": 0.3},
        "kept": {"role": "other"},
        "label": {"role": "confidential", "kind": "nominal", "l": 2},
        "wide": {"role": "quasi", "kind": "ordinal", "order": ["10-19", "20-29", "30-39"]},
        "code": {"role": "quasi", "kind": "nominal"},
    }
    plain = recipe(NUMBER["role"])
    assert as_prepared(plain) is plain


def test_what_columns_become_must_be_right_as_well():
    """A rule that needs an order has none once a label stands among numbers: told with the recipe, not later."""
    found = mistakes({**SECRET, "top": 5, "top_label": "5+", "t": 0.2}, guard={"rule": "t-first"})
    assert "top_label" in found


def test_recipes_keep_what_was_said():
    text = """
k = 3
columns.q = { role = "quasi", kind = "integer" }
columns.born = { role = "other", kind = "datetime", top = 2020-12-31, precision = "month" }
columns.job = { role = "other", kind = "nominal", recode = { nurse = "health", "a.b" = "c" }, others = "o", rare = 20 }
"""
    read = Recipe.loads(text)
    assert read.columns["born"].top == "2020-12-31"
    assert read.columns["job"].recode == {"nurse": "health", "a.b": "c"}
    assert hash(read.columns["job"]) == hash(Recipe(**read.as_dict()).columns["job"])
    again = Recipe.loads(read.dumps())
    assert again == read
    given = recipe({**DATE, "top": datetime.date(2020, 1, 1)})
    assert given.columns["x"].top == "2020-01-01"


@pytest.mark.parametrize(
    ("format", "precision"),
    [
        ("%d.%m.%Y", "week"),
        ("%d/%m/%y", "year"),
        ("%Y%m%d", "quarter"),
        ("%m/%Y", "quarter"),
        ("%Y-W%W-%w", "month"),
        ("%d.%m.%Y %H:%M", "hour"),
        ("%Y-%m-%d %I %p", "day"),
        ("%Y-%m-%dT%H:%M%z", "hour"),
    ],
)
def test_formats_that_can_write_what_a_precision_leaves(format, precision):
    recipe({**DATE, "format": format, "precision": precision})
