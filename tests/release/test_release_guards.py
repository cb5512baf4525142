"""Confidential columns in a release: l and t, and what is done about constant ones."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from coterie.errors import CoterieError, PromiseError
from coterie.release.flow import protect
from release_tables import numbers, recipe, sixty_people


@pytest.fixture(scope="module")
def people():
    return sixty_people()


@pytest.mark.parametrize("rule", ["merge", "k-first"])
def test_guards(people, rule):
    guarded = {"illness": {"role": "confidential", "kind": "nominal", "l": 3, "t": 0.5}}
    document = recipe(columns=guarded, guard={"rule": rule})
    if rule != "merge":
        document.pop("method")
    release = protect(people, document)
    groups = {}
    for row in release.data.to_pylist():
        groups.setdefault((row["age"], row["town"], row["income"]), []).append(row["illness"])
    whole = Counter(people.column("illness").to_pylist())
    for values in groups.values():
        assert len(values) >= 4
        assert len(set(values)) >= 3
        far = sum(abs(values.count(v) / len(values) - whole[v] / 60) for v in whole) / 2
        assert far <= 0.5


def test_t_first(people):
    columns = {"income": {"role": "confidential", "kind": "numeric", "t": 0.2}}
    document = recipe(columns=columns, guard={"rule": "t-first"})
    document.pop("method")
    release = protect(people, document)
    assert [c.ok for c in release.facts.verdict.checks if c.what == "t-closeness"] == [True]


def test_a_promise_that_no_groups_keep():
    table = numbers(a=[1.0, 2.0, 3.0, 4.0], c=["x", "x", "x", "x"])
    columns = {"a": {"role": "quasi", "kind": "numeric"}, "c": {"role": "confidential", "kind": "nominal", "l": 2}}
    with pytest.raises(CoterieError):
        protect(table, {"k": 2, "columns": columns})


def constant_group(kind="integer"):
    a = [0.0] * 3 + [10.0] * 3
    return pa.table({"a": a, "c": pa.array([7, 7, 7, 1, 2, 3] if kind == "integer" else ["x"] * 3 + ["y", "x", "z"])})


def guarded_constant(**more):
    rule = {"role": "confidential", "kind": "integer", **more}
    return {"k": 3, "seed": 1, "method": "mdav", "columns": {"a": {"role": "quasi", "kind": "numeric"}, "c": rule}}


def test_a_sentence_ends_once():
    told = str(PromiseError("It must hold.", "It does not.", "change it."))
    assert told == "It must hold. Got: It does not. Hint: change it."
    assert str(CoterieError("It must hold.", "nothing")) == "It must hold. Got: nothing."


def test_constant_confidential_values_are_reported():
    release = protect(constant_group(), guarded_constant())
    assert release.facts.groupings[0].constant_records == 3
    assert any("3 records are in groups" in note for note in release.facts.notes)


def test_noise_in_constant_groups_only():
    release = protect(constant_group(), {**guarded_constant(noise=0.5), "shuffle": False})
    noisy = release.data.column("c").to_pylist()
    assert noisy[3:] == [1, 2, 3]
    assert len(set(noisy[:3])) > 1
    assert release.data.schema.field("c").type == pa.int64()


@pytest.mark.parametrize(
    ("values", "kind", "places"),
    [
        ([1.25, 3.5, 2.0, 7.75], pa.float64(), 2),
        ([1.1, 3.3, 2.2, 7.7], pa.float32(), 1),
        ([100, 2300, 700, 900], pa.int64(), -2),
        (["1,25", "3,50", "2", "7,75"], pa.string(), 2),
    ],
)
def test_noise_is_as_round_as_the_column(tmp_path, values, kind, places):
    a, c = [0.0] * 3 + [10.0] * 3, pa.array([values[0]] * 3 + values[1:], kind)
    rule, table = {"role": "confidential", "kind": "numeric", "noise": 0.5}, pa.table({"a": a, "c": c})
    how = {**guarded_constant(), "shuffle": False}
    how["columns"] = {**how["columns"], "c": rule}
    if kind == pa.string():
        (tmp_path / "in.csv").write_text(
            "a;c\n" + "".join(f"{x:.0f};{y}\n" for x, y in zip(a, c.to_pylist(), strict=True))
        )
    released = protect(table if kind != pa.string() else tmp_path / "in.csv", how).data.column("c").to_pylist()
    found = [float(str(v).replace(",", ".")) for v in released]
    was = [float(str(v).replace(",", ".")) for v in c.to_pylist()]
    assert found[3:] == was[3:]
    assert len(set(found[:3])) > 1
    one = 1e-6 if kind == pa.float32() else 1e-9
    assert found == pytest.approx(np.round(found, places), abs=one)


def test_noise_that_is_too_weak_is_told():
    hundreds = pa.table({"a": [0.0] * 3 + [10.0] * 3, "c": [700, 700, 700, 100, 200, 300]})
    release = protect(hundreds, {**guarded_constant(noise=0.01), "shuffle": False})
    assert release.data.column("c").to_pylist() == hundreds.column("c").to_pylist()
    notes = release.facts.notes
    assert (
        "Noise changed no value of 'c' in 1 constant group: it is too small for the precision of the column." in notes
    )
    assert any("3 records are in groups" in note for note in notes)
    assert not any("Noise" in note for note in protect(hundreds, guarded_constant(noise=2.0)).facts.notes)


def test_gaps_do_not_hide_a_constant_group():
    table = pa.table(
        {"a": [0.0] * 3 + [10.0] * 6 + [20.0] * 3, "c": [7, 7, None, 1, 2, 3, 1, None, 2, None, None, None]}
    )
    release = protect(table, guarded_constant())
    assert release.facts.groupings[0].constant_records == 6
    assert release.facts.notes[0].startswith(
        "Attribute disclosure: 6 records are in groups in which a confidential column has at most one value"
    )


def test_constant_groups_are_counted_as_they_are_released():
    noisy = protect(constant_group(), guarded_constant(noise=0.5))
    assert noisy.facts.groupings[0].constant_records == 0
    assert not any("one value at most" in note for note in noisy.facts.notes)


def test_a_record_in_two_constant_groups_counts_once():
    table = numbers(a=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], b=[6.0, 1.0, 5.0, 2.0, 4.0, 3.0], c=[7.0] * 6)
    scenarios = {"one": {"quasi": ["a"], "k": 3}, "two": {"quasi": ["b"], "k": 3}}
    columns = {name: {"role": "quasi", "kind": "numeric"} for name in "ab"}
    columns["c"] = {"role": "confidential", "kind": "numeric"}
    release = protect(table, {"k": 3, "seed": 1, "columns": columns, "scenarios": scenarios})
    assert release.facts.notes[0].startswith("Attribute disclosure: 6 records are in groups")


@pytest.mark.parametrize("kind", [pa.uint8(), pa.decimal128(3, 1)])
def test_noise_that_the_type_has_no_room_for(kind):
    values = [Decimal(v) if pa.types.is_decimal(kind) else v for v in (0, 0, 0, 90, 90, 90)]
    table = pa.table({"a": [1.0, 1.0, 1.0, 9.0, 9.0, 9.0], "c": pa.array(values, kind)})
    with pytest.raises(CoterieError, match="'c' must fit the type"):
        protect(table, guarded_constant(noise=5.0))


def test_other_groups_where_one_is_constant():
    plain = protect(constant_group(), guarded_constant())
    other = protect(constant_group(), {**guarded_constant(), "guard": {"regroup": True}})
    assert other.facts.groupings[0].constant_records == 0
    assert other.loss > plain.loss


def test_other_groups_as_far_as_blocks_have_room():
    recipe = {**guarded_constant(), "guard": {"regroup": True}}
    k = recipe["k"]
    release = protect(constant_group(), {**recipe, "method": {"name": "mdav", "blocks": 2 * k}})
    assert release.verdict.ok
