"""assess with drivers, from Python and from the command line."""

from __future__ import annotations

import csv
import json
import stat

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import coterie as ct
from coterie.cli import app
from coterie.errors import CoterieError
from coterie.facts import as_json

# the example of the SDC Practice Guide: SUDA scores 0 0 6 0 12 0 6 10 0 0
GUIDE = """residence,gender,education,labour,note
urban,female,secondary incomplete,employed,a
urban,female,secondary incomplete,employed,b
urban,female,primary incomplete,non-LF,c
urban,male,secondary complete,employed,d
rural,female,secondary complete,unemployed,e
urban,male,secondary complete,employed,f
urban,female,primary complete,non-LF,g
urban,male,post-secondary,unemployed,h
urban,female,secondary incomplete,non-LF,i
urban,female,secondary incomplete,non-LF,j
"""
QUASI = ["residence", "gender", "education", "labour"]
SCORES = [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


@pytest.fixture
def guide(tmp_path):
    path = tmp_path / "guide.csv"
    path.write_text(GUIDE, encoding="utf-8")
    return path


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_facts_and_scores(guide, engine):
    found = ct.assess(guide, quasi=QUASI, k=3, drivers=True, engine=engine)
    (drivers,) = found.drivers
    assert found.scores["all"].score.tolist() == SCORES
    assert found.scores["all"].minimal_uniques.tolist() == [0, 0, 1, 0, 4, 0, 1, 3, 0, 0]
    assert found.scores["all"].smallest.tolist() == [0, 0, 1, 0, 1, 0, 1, 1, 0, 0]
    assert (drivers.records, drivers.minimal_uniques, drivers.most_columns, drivers.complete) == (4, 9, 4, True)
    assert drivers.minimal_uniques_by_size == {"1": 4, "2": 5, "3": 0, "4": 0}
    assert drivers.records_by_smallest == {"1": 4, "2": 0, "3": 0, "4": 0}
    assert (drivers.largest_score, drivers.mean_score) == (12, 3.4)
    assert (drivers.unique, drivers.expected_reidentifications) == (4, 7)
    by_name = {column.name: column for column in drivers.columns}
    assert set(by_name) == set(QUASI)
    education = by_name["education"]
    assert (education.values, education.unique_alone, education.minimal_uniques) == (5, 3, 5)
    # of 34: {primary incomplete}, {primary complete}, {post-secondary} 6 each, two pairs of record 5 2 each: 22
    assert education.score_percent == pytest.approx(100 * 22 / 34)
    # left out: urban female employed 2, urban female non-LF 4, urban male employed 2, and records 5 and 8: 5 classes
    assert (education.left_out.unique, education.left_out.expected_reidentifications) == (2, 5)
    assert education.left_out.fall_percent == pytest.approx(100 * 2 / 7)
    falls = [(c.halved.fall_percent, c.left_out.fall_percent, c.score_percent) for c in drivers.columns]
    assert falls == sorted(falls, reverse=True)


def test_no_json_or_text_shows_a_record(guide):
    found = ct.assess(guide, quasi=QUASI, drivers=True)
    shown = json.loads(as_json(found))
    assert shown == found.as_dict()
    assert set(shown) == {"version", "records", "scenarios", "confidential", "drivers", "notes"}
    assert "score" not in shown["drivers"][0]
    assert not set(SCORES) <= {x for x in str(shown).split() if x.isdecimal()}
    for value in ("rural", "post-secondary", "unemployed"):
        assert value not in str(found) + str(shown)


def test_text(guide):
    text = str(ct.assess(guide, quasi=QUASI, drivers=True))
    assert "9 minimal sample uniques, in 4 records (of any size)" in text
    assert "1 value: 4 records" in text
    assert "education alone: 3 records, by a value that no other has" in text
    assert "as it is         7.0 expected re-identifications, 4 unique records" in text
    shallow = str(ct.assess(guide, quasi=QUASI, drivers=True, most_columns=1))
    assert "4 minimal sample uniques, in 4 records (of up to 1 of 4 columns; larger ones not searched)" in shallow


def test_without_drivers_there_are_none(guide):
    found = ct.assess(guide, quasi=QUASI)
    assert found.drivers is None
    assert found.scores is None
    with pytest.raises(CoterieError, match="drivers=True"):
        found.save_scores(guide.with_name("scores.csv"))


@pytest.mark.parametrize("path", [5, None, b"scores.csv"])
def test_scores_go_to_a_path(guide, path):
    with pytest.raises(CoterieError, match=r"must be a path\. Got: an object of type"):
        ct.assess(guide, quasi=QUASI, drivers=True).save_scores(path)


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "3"])
def test_bad_depth(guide, most):
    with pytest.raises(CoterieError, match="whole number of at least 1"):
        ct.assess(guide, quasi=QUASI, drivers=True, most_columns=most)


@pytest.mark.parametrize("drivers", ["no", 1, None, ["age"]])
def test_drivers_are_wanted_or_not(guide, drivers):
    with pytest.raises(CoterieError, match="True or False"):
        ct.assess(guide, quasi=QUASI, drivers=drivers)


def test_spark_is_refused_before_any_work(tmp_path):
    with pytest.raises(CoterieError, match="all records in memory"):
        ct.assess(tmp_path / "not there", quasi=QUASI, drivers=True, engine="spark")


def test_depth_without_drivers(guide):
    with pytest.raises(CoterieError, match="no effect without drivers"):
        ct.assess(guide, quasi=QUASI, most_columns=2)


def test_with_a_sampling_fraction(guide, tmp_path):
    """U = 4, P = 6, f = 0.01: DIS = 0.04 / 5.98, U / DIS - U = 594; q = 1 + (8 - 4) / 20 = 1.2, A = sum of score^-1.2.

    Scores 6, 12, 6, 10: 6^1.2 = 8.5858, 12^1.2 = 19.7249, 10^1.2 = 15.8489; A = 2 / 8.5858 + 1 / 19.7249 + 1 / 15.8489
    = 0.34674. Record 5: 1 / (1 + 594 / (19.7249 * 0.34674)) = 0.011383.
    """
    found = ct.assess(guide, quasi=QUASI, drivers=True, population={"fraction": 0.01})
    assert found.drivers[0].dis == pytest.approx(0.04 / 5.98)
    assert found.scores["all"].dis_score[4] == pytest.approx(0.011383, abs=1e-6)
    assert (found.scores["all"].dis_score > 0).tolist() == [score > 0 for score in SCORES]
    assert "DIS              0.7 % of matches with a unique record are right, by estimate" in str(found)
    by_size = ct.assess(guide, quasi=QUASI, drivers=True, population={"size": 1000})
    assert by_size.drivers[0].dis == found.drivers[0].dis
    found.save_scores(tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()[0].endswith(",dis_score")
    assert ct.assess(guide, quasi=QUASI, drivers=True).drivers[0].dis is None


def test_scenarios_each_have_theirs(guide):
    recipe = {
        "k": 3,
        "columns": {name: {"role": "quasi", "kind": "nominal"} for name in QUASI} | {"note": {"role": "other"}},
        "scenarios": {"near": {"quasi": ["residence", "gender"], "k": 3}, "far": {"quasi": QUASI[2:], "k": 3}},
    }
    found = ct.assess(guide, recipe, drivers=True)
    assert [one.scenario for one in found.drivers] == ["near", "far"]
    assert found.scores["near"].smallest.tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert "drivers (scenario far)" in str(found)


def test_units_are_unique_not_records():
    """Ann has both records of her values: as records they are not unique, as hers they are."""
    table = pa.table(
        {"who": ["ann", "ann", "bob", "cy", None], "age": [30, 30, 40, 40, 50], "sex": ["f", "f", "m", "m", "m"]}
    )
    records = ct.assess(table, quasi=["age", "sex"], keep=["who"], drivers=True)
    assert records.scores["all"].score.tolist() == [0, 0, 0, 0, 1]
    units = ct.assess(table, quasi=["age", "sex"], unit="who", drivers=True)
    np.testing.assert_array_equal(units.scores["all"].score, [2, 2, 0, 0, np.nan])  # {age} and {sex}: 1! each
    assert units.drivers[0].records == 2
    assert units.drivers[0].unique == 1
    assert "1 unique units" in str(units)


def test_missing_values_are_a_value():
    table = pa.table({"a": [None, None, 1, 1], "b": [None, 2, 2, 2]})
    found = ct.assess(table, quasi=["a", "b"], kind={"a": "integer", "b": "integer"}, drivers=True)
    # record 1: {b} missing; record 2: {a missing, b = 2}; the others are alike
    assert found.scores["all"].score.tolist() == [1, 1, 0, 0]
    assert found.scores["all"].smallest.tolist() == [1, 2, 0, 0]


def test_one_column_and_no_uniques():
    one = ct.assess(pa.table({"a": [1, 2, 2]}), quasi=["a"], kind={"a": "integer"}, drivers=True)
    assert one.scores["all"].score.tolist() == [1, 0, 0]
    assert one.drivers[0].columns[0].left_out.unique == 0
    alike = ct.assess(pa.table({"a": [1, 1, 1]}), quasi=["a"], kind={"a": "integer"}, drivers=True)
    assert (alike.drivers[0].records, alike.drivers[0].mean_score) == (0, 0)
    assert alike.drivers[0].columns[0].score_percent is None
    assert "0 minimal sample uniques" in str(alike)


def test_the_input_is_never_replaced(guide):
    found = ct.assess(guide, quasi=QUASI, drivers=True)
    with pytest.raises(CoterieError, match="must not be the input file"):
        found.save_scores(guide, force=True)
    ran = run(guide, "--quasi", ",".join(QUASI), "--drivers", "--scores", guide, "--force")
    assert "must not be the input file" in str(ran.exception)
    assert guide.read_text(encoding="utf-8") == GUIDE


def run(*args):
    return CliRunner().invoke(app, ["assess", *map(str, args)])


def test_command_line(guide, tmp_path):
    scores = tmp_path / "scores.csv"
    ran = run(guide, "--quasi", ",".join(QUASI), "--drivers", "--depth", 3, "--scores", scores, "--json")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["drivers"][0]["most_columns"] == 3
    assert stat.S_IMODE(scores.stat().st_mode) == 0o600
    with scores.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["score"]) for line in lines] == SCORES
    assert [line["record"] for line in lines] == [str(i) for i in range(1, 11)]
    assert lines[4] == {"scenario": "all", "record": "5", "score": "12", "minimal_uniques": "4", "smallest": "1"}
    again = run(guide, "--quasi", ",".join(QUASI), "--drivers", "--scores", scores)
    assert again.exit_code != 0
    assert "--force replaces it" in str(again.exception)
    forced = run(guide, "--quasi", ",".join(QUASI), "--drivers", "--scores", scores, "--force")
    assert forced.exit_code == 0
    assert "internal" in forced.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--drivers", "--engine", "spark"], "all records in memory"),
        (["--depth", 2], "--depth has no effect without --drivers"),
        (["--scores", "s.csv"], "--scores has no effect without --drivers"),
        (["--drivers", "--force"], "--force has no effect without --scores"),
        (["--drivers", "--depth", 0], "--depth must be a whole number of at least 1"),
        (["--drivers", "--scores", "s.txt"], "must end in .csv"),
        (["--drivers", "--scores", "nowhere/s.csv"], "must exist"),
    ],
)
def test_mistakes(guide, monkeypatch, args, said):
    monkeypatch.chdir(guide.parent)
    ran = run(guide, "--quasi", ",".join(QUASI), *args)
    assert ran.exit_code != 0
    assert said in str(ran.exception)
    assert [path.name for path in guide.parent.iterdir()] == ["guide.csv"]


def test_more_sets_than_can_be_searched():
    table = pa.table({f"c{j}": [j, 1, 2] for j in range(20)})
    quasi = table.column_names
    kind = dict.fromkeys(quasi, "integer")
    with pytest.raises(CoterieError, match="At most 65,536 sets"):
        ct.assess(table, quasi=quasi, kind=kind, drivers=True, most_columns=12)
    found = ct.assess(table, quasi=quasi, kind=kind, drivers=True)
    assert (found.drivers[0].most_columns, found.drivers[0].complete) == (3, False)
