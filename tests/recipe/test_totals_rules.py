"""Where totals cannot be kept by rounding, or are kept anyway, the option is refused."""

from __future__ import annotations

import pytest

import coterie as ct

INTEGER = {"role": "quasi", "kind": "integer"}


def recipe(column, **more):
    columns = {"x": column, "town": {"role": "quasi", "kind": "nominal"}, "z": {"role": "other"}}
    return {"k": 3, "columns": columns, **more}


@pytest.mark.parametrize(
    ("column", "more", "said"),
    [
        ({"role": "quasi", "kind": "nominal"}, {}, "needs rounded means"),
        ({"role": "quasi", "kind": "datetime"}, {}, "needs rounded means"),
        ({"role": "confidential", "kind": "integer"}, {}, "needs rounded means"),
        ({"role": "other"}, {}, "needs rounded means"),
        ({"role": "identifier"}, {}, "needs rounded means"),
        ({"role": "quasi", "kind": "numeric"}, {}, "keep the total anyway"),
        (INTEGER, {"strata": ["x"]}, "released unchanged"),
        (INTEGER, {"centre": "medoid"}, "no total is kept"),
        (INTEGER, {"missing": "group"}, "add to the total"),
    ],
)
def test_refused(column, more, said):
    with pytest.raises(ct.RecipeError, match=said) as caught:
        ct.Recipe(**recipe({**column, "totals": True}, **more))
    assert [mistake.path for mistake in caught.value.mistakes] == [("columns", "x", "totals")]
    ct.Recipe(**recipe({**column, "totals": False}, **more))


@pytest.mark.parametrize("value", ["yes", 1, None, ["x"]])
def test_true_or_false(value):
    with pytest.raises(ct.RecipeError, match="true or false"):
        ct.Recipe(**recipe({**INTEGER, "totals": value}))


def test_written_and_read_again():
    how = ct.Recipe(**recipe({"role": "quasi", "kind": "numeric", "decimals": -2, "totals": True}))
    assert ct.Recipe.loads(how.dumps()) == how
    assert "totals = true" in how.dumps()
    assert "totals" not in ct.Recipe(**recipe({**INTEGER, "totals": False})).dumps()
