"""What may be claimed of a release, and how the verdict on it shows itself."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from coterie import CoterieError
from coterie.verification import Check, Verdict, sql, verify

TABLE = pa.table({"a": [1, 1, 2, 2], "b": [1, 1, 1, 1], "c": [1, 2, 1, 2]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Both"),
        ({"quasi": ["a"]}, "Both"),
        ({"quasi": [], "k": 2}, "at least one"),
        ({"quasi": "a", "k": 2}, "list of column names"),
        ({"quasi": ["a", "a"], "k": 2}, "once"),
        ({"quasi": ["z"], "k": 2}, "no 'z' among 3 columns"),
        ({"quasi": ["A"], "k": 2}, "no 'A'"),
        ({"quasi": ["a"], "k": 1}, "at least 2"),
        ({"quasi": ["a"], "k": 2.0}, "integer"),
        ({"quasi": ["a"], "k": True}, "integer"),
        ({"quasi": ["a"], "k": 2, "within": ["a"]}, "add"),
        ({"quasi": ["a"], "k": 2, "within": "b"}, "list"),
        ({"quasi": ["a"], "k": 2, "scenarios": {"s": (["a"], 2)}}, "own"),
        ({"scenarios": {}}, "something to check"),
        ({"scenarios": {"s": ["a"]}}, r"\(quasi, k\)"),
        ({"scenarios": [("a", 2)]}, "map"),
        ({"quasi": ["a"], "k": 2, "confidential": ["c"]}, "map"),
        ({"quasi": ["a"], "k": 2, "confidential": {"c": "numeric"}}, "dictionaries"),
        ({"quasi": ["a"], "k": 2, "confidential": {"c": {}}}, "kind"),
        ({"quasi": ["a"], "k": 2, "confidential": {"a": {"kind": "numeric"}}}, "either"),
        ({"quasi": ["a"], "k": 2, "confidential": {"z": {"kind": "numeric"}}}, "no 'z'"),
        *(
            ({"quasi": ["a"], "k": 2, "confidential": {"c": {"kind": "numeric"} | more}}, words)
            for more, words in [
                ({"kind": "number"}, "kind"),
                ({"l": 1}, "at least 2"),
                ({"l": 2.5}, "integer"),
                ({"entropy": 1}, "above 1"),
                ({"entropy": float("nan")}, "above 1"),
                ({"t": 1}, "below 1"),
                ({"t": -0.1}, "above 0 and below 1"),
                ({"t": "0.1"}, "number"),
                ({"order": ["1", "2"]}, "ordinal"),
                ({"decimal": ";"}, "decimal"),
                ({"kind": "nominal", "decimal": ","}, "decimal"),
                ({"kind": "ordinal", "order": ["1", "1"]}, "once"),
                ({"kind": "ordinal", "order": "12"}, "list"),
                ({"format": "%d"}, "format"),
                ({"el": 2}, "el"),
            ]
        ),
    ],
)
def test_claims_that_make_no_sense(options, words):
    with pytest.raises(CoterieError, match=words):
        verify(TABLE, **options)


def test_scenarios_and_strata():
    found = verify(TABLE, scenarios={"near": (["a"], 2), "far": (["b"], 4)}, within=[]).checks
    assert [c.ok for c in found] == [True, True]
    assert found[1].sentence.startswith("Scenario 'far': Every record")
    found = verify(TABLE, scenarios={"near": (["a"], 2), "far": (["b"], 4)}, within=["a"]).checks
    assert [(c.columns, c.ok) for c in found] == [(("a",), True), (("b", "a"), False)]
    assert not verify(TABLE, ["a"], 2, within=["c"])


def test_constant_classes_are_told_and_no_failure():
    verdict = verify(TABLE, ["a"], 2, confidential={"b": {"kind": "integer"}})
    assert verdict.ok
    told = verdict.checks[1]
    assert (told.what, told.wanted, told.found, told.offending_records, told.ok) == (
        "constant confidential values",
        None,
        2,
        4,
        True,
    )
    assert "2 of 2 classes have one value of 'b' alone" in told.sentence


def test_what_was_not_claimed_has_a_mark_of_its_own():
    table = pa.table({"a": [1, 1, 2, 2], "c": ["u", "u", "v", "w"]})
    verdict = verify(table, ["a"], 2, confidential={"c": {"kind": "nominal"}})
    assert verdict.ok
    assert "  ! 1 of 2 classes has one value of 'c' alone" in str(verdict)
    assert str(verdict.__rich__()) == str(verdict)
    assert "<li>! 1 of 2" in verdict._repr_html_()


def test_how_a_verdict_shows_itself():
    table = pa.table({"[red]<b>": [1] * 5 + [2] * 6, "y": [1] * 11, "z": [3] * 11})
    verdict = verify(table, ["[red]<b>", "y", "z"], 5)
    found = "the smallest of 2 equivalence classes has 5."
    sentence = f"Every record shares its 3 quasi-identifiers with at least 4 others: {found}"
    assert verdict.checks[0].sentence == sentence
    assert str(verdict) == f"The release keeps all that was claimed (11 records read back).\n  ✓ {sentence}"
    assert str(verdict.__rich__()) == str(verdict)
    assert bool(verdict) is verdict.ok is True
    bad = verify(table, ["[red]<b>"], 9, confidential={"y": {"kind": "nominal", "l": 2}})
    assert "Don't hand it out" in str(bad)
    assert "2 of 2 classes by 1 quasi-identifier have fewer than 9 records: 1 with 5 records, 1 with 6" in str(bad)
    assert "<b>" not in verify(table, ["y"], 5, confidential={"[red]<b>": {"kind": "nominal"}})._repr_html_()
    facts = bad.facts()
    assert json.loads(json.dumps(facts)) == facts
    assert set(facts["checks"][0]) == set(Check.__dataclass_fields__)
    assert facts["checks"][0]["sizes"] == {"5": 1, "6": 1}
    assert not facts["ok"]
    assert isinstance(bad, Verdict)
    with pytest.raises(AttributeError):
        bad.records = 5


def test_whole_numbers_that_need_more_room():
    assert sql.whole_type(10**6, 10) == "BIGINT"
    assert sql.whole_type(10**8, 10**8) == "HUGEINT"


def test_offsets_count():
    """The same moment in two zones is one value."""
    same = ["2020-01-01 10:00+02", "2020-01-01T08:00:00Z", "2020-01-01T03:00:00.000-05:00", "2020-01-01 08:00"]
    table = pa.table({"a": [1] * 4, "c": same})
    assert not verify(table, ["a"], 2, confidential={"c": {"kind": "datetime", "l": 2}}).ok
    other = pa.table({"a": [1] * 4, "c": [*same[:3], "2020-01-01 10:00+01"]})
    assert verify(other, ["a"], 2, confidential={"c": {"kind": "datetime", "l": 2}}).ok
