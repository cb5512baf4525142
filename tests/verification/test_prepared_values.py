"""Prepared columns, checked on what was written: every sort of broken value is found, in every format."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from coterie.errors import CoterieError
from coterie.recipe import ColumnRule
from coterie.tables.bands import edges_between, names_of
from coterie.verification import Claims, Prepared, Scenario, check, verify_claims
from coterie.verification.band_names import band_called
from coterie.verification.cluster import verify_claims_on_spark
from spark_sessions import spark  # noqa: F401
from verified_files import MARKER, assert_silent, written

NUMBER = Prepared("x", "number", least=15, most=90)


def claims(*prepared):
    return Claims((Scenario("all", ("q",), 2),), prepared=prepared)


def found(release, *prepared, dialect=None):
    """How many values of each column fail."""
    verdict = verify_claims(release, claims(*prepared), dialect)
    assert verdict.ok == all(c.found == 0 for c in verdict.checks[1:])
    assert all(c.what == "prepared values" and c.ok == (c.found == 0) for c in verdict.checks[1:])
    return [c.found for c in verdict.checks[1:]]


def column(values, kind=None):
    return pa.table({"q": [1] * len(values), "x": pa.array(values, kind)})


@pytest.mark.parametrize(
    ("claim", "values", "kind", "bad"),
    [
        (NUMBER, [15, 90, None, 14, 91], None, 2),
        (NUMBER, [15.0, 90.0, float("nan"), 14.999, 90.001], None, 2),
        (NUMBER, [float("inf"), float("-inf"), 20.0], None, 2),
        (NUMBER, ["15", " 90 ", "", "90.5", "abc", "9e1", "1e2"], None, 3),
        (NUMBER, [Decimal("90.00"), Decimal("90.01")], pa.decimal128(8, 2), 1),
        # beyond a bound, or off a base, by less than a float can tell
        (NUMBER, [Decimal("90"), Decimal("90.00000000000000000001")], pa.decimal128(38, 20), 1),
        (NUMBER, [Decimal("15"), Decimal("14.99999999999999999999")], pa.decimal128(38, 20), 1),
        (Prepared("x", "number", most=10**14), [Decimal("1"), Decimal("0.5")], pa.decimal128(38, 36), 0),
        (Prepared("x", "number", most=0.125), [Decimal("0.12"), Decimal("0.13")], pa.decimal128(5, 2), 1),
        (
            Prepared("x", "number", base=5),
            [Decimal("10"), Decimal("10.00000000000000000001")],
            pa.decimal128(38, 20),
            1,
        ),
        (Prepared("x", "number", most=2**24), [2.0**24, 2.0**24 + 2], pa.float32(), 1),
        (Prepared("x", "number", base=1e-15), [1e299, 0.1, 1.0], None, 0),  # no float there is off the base
        (NUMBER, [dt.date(2020, 1, 1), None], None, 1),  # no number at all
        (Prepared("x", "number", most=1), [True, False], None, 0),
        (Prepared("x", "number", most=0.1), [0.1, (0.1 + 0.1 + 0.1) / 3, 0.1001], None, 1),
        (Prepared("x", "number", most=0.1), [0.1, 0.1001], pa.float32(), 1),
        (Prepared("x", "number", base=5), [-5, 0, 10, 11, None], None, 1),
        (Prepared("x", "number", base=5), [-5.0, 0.0, 10.0, 10.5], None, 1),
        (Prepared("x", "number", base=100), [2**62 // 100 * 100, 2**62 // 100 * 100 + 1], pa.int64(), 1),
        (Prepared("x", "number", base=100), ["12345678901234567800", "12345678901234567801"], None, 1),
        (Prepared("x", "number", base=0.1), [0.1, 0.2, 0.1 + 0.2, 3 * 0.1, 1e6 + 0.1, 0.35, 0.1001], None, 2),
        (Prepared("x", "number", base=0.1), [0.1, 0.7, 0.75], pa.float32(), 1),
        (Prepared("x", "number", base=2.5), [5, 10, 7], None, 1),
        (Prepared("x", "number", most=90, values=("90+",)), ["30", "90+", "95", "85+"], None, 2),
        (Prepared("x", "text", values=("a", "b", "it's")), ["a", " b", "it's", "c", None, ""], None, 1),
        (Prepared("x", "text", values=("1", "2")), [1, 2, 3, None], None, 1),
        (Prepared("x", "text", fewest=2), ["a", "a ", "b", None, ""], None, 1),
        (Prepared("x", "text", fewest=3, spared=("o",)), ["a", "a", "a", "o", "b", "b"], None, 2),
        (Prepared("x", "text", fewest=2, spared=("9",)), [1, 1, 9, 2, None], None, 1),
        (Prepared("x", "text", fewest=2, spared=("9",)), [1.0, 1.0, 9.0, 2.0, float("nan")], None, 1),
        (Prepared("x", "text", fewest=2, gone=("a",)), ["a", "b", "b"], None, 2),
        (Prepared("x", "text", values=("1", "2")), [1.0, 2.0, 2.5], None, 1),
        (Prepared("x", "text", values=()), ["a", None], None, 1),
        (Prepared("x", "text", width=5, whole=True), ["5-9", "from -5 to -1", None, "7", "7-11", "5-10", "x"], None, 4),
        (Prepared("x", "text", width=5, whole=True, values=("90+",)), ["90+", "85-89", "80+", "5 to <10"], None, 2),
        (Prepared("x", "text", width=5, whole=True, most=90), ["85-89", "90-94", "95-99"], None, 2),
        (Prepared("x", "text", width=5, whole=True, least=12), ["15-19", "10-14", "5-9"], None, 2),
        (Prepared("x", "text", width=1, whole=True), ["7", "from -7 to -7", "7-8", "-7", "7.0"], None, 3),
        (Prepared("x", "text", width=0.5), ["0.5 to <1", "from -0.5 to <0", "0.5-1", "0.6 to <1.1", "0.7"], None, 3),
        (Prepared("x", "number", among=(8, 21.5)), [8, 21.5, None, 9], None, 1),
        (Prepared("x", "number", among=(8, 21.5)), ["8", "21.5", "", "17", "old"], None, 2),
        (Prepared("x", "number", among=(0.1,)), [0.1, 0.2], pa.float32(), 1),
        (Prepared("x", "number", base=5, offset=2), [2, 7, -3, None, 5, 8], None, 2),
        (Prepared("x", "number", base=0.5, offset=0.25, among=(0.4,)), [0.25, -0.25, 0.4, 0.5], None, 1),
        (Prepared("x", "text", gone=("nurse",)), ["health", "nurse", None], None, 1),
        (Prepared("x", "date", precision="month"), [dt.date(2020, 5, 1), dt.date(2020, 5, 2)], None, 1),
        (Prepared("x", "date", precision="year"), [dt.date(1950, 1, 1), dt.date(1950, 5, 1)], pa.date64(), 1),
        (Prepared("x", "date", precision="second"), [0, 10**9, 1], pa.timestamp("ns"), 1),
        (Prepared("x", "date", most="2020-01-01"), [dt.date(2020, 1, 1), dt.date(2020, 1, 2)], None, 1),
        (Prepared("x", "date", least="1900-01-01"), [dt.date(1900, 1, 1), dt.date(1899, 12, 31)], None, 1),
        (Prepared("x", "date", precision="month"), ["2020-05-01", "2020-05-02", "May 2020"], None, 2),
        (Prepared("x", "date", precision="month", format="%m/%Y"), ["05/2020", "2020"], None, 1),
        (Prepared("x", "date", precision="month"), [1.0, None], None, 1),
    ],
)
def test_every_broken_value_is_counted(claim, values, kind, bad):
    assert found(column(values, kind), claim) == [bad]


@given(
    width=st.sampled_from([1, 5, 7, 100, 0.1, 0.5, 2.5, 1e-6]),
    start=st.integers(-60, 60),
    kind=st.sampled_from(["integer", "numeric"]),
)
def test_names_of_bands_are_known_to_the_verifier(width, start, kind):
    """By code that shares nothing: what `names_of` calls bands of a width, and no number among them."""
    assume(kind == "numeric" or width == int(width))
    rule = ColumnRule(role="other", kind=kind, width=width)
    edges = edges_between(start * width, (start + 9) * width, width)
    assert all(band_called(name, width, kind == "integer") for name in names_of(rule, edges))
    assert not any(band_called(name, 3 * width, kind == "integer") for name in names_of(rule, edges))
    assert width == 1 or not any(band_called(repr(edge), width, kind == "integer") for edge in edges)


def test_a_month_begins_by_the_clock_of_its_zone():
    """Midnight of 1 May in Vienna is 22:00 of 30 April in universal time."""
    zone = pa.timestamp("us", "Europe/Vienna")
    moments = pa.array([dt.datetime(2020, 4, 30, 22), dt.datetime(2020, 5, 1)], pa.timestamp("us")).cast(zone)
    assert found(pa.table({"q": [1, 1], "x": moments}), Prepared("x", "date", precision="month")) == [1]


def test_a_csv_file_is_read_as_it_is_written(tmp_path):
    rows = ["q;x;d;j", "1;1.015,5 €;01.05.2020;a", "1;k.A.;02.05.2020;b", "1;2.000;01.06.2020;'a"]
    path = written(tmp_path, "\n".join(rows) + "\n")
    money = {"decimal": ",", "thousands": ".", "suffix": ("€",), "missing": ("k.A.",)}
    prepared = (
        Prepared("x", "number", most=1015.5, **money),
        Prepared("d", "date", precision="month", format="%d.%m.%Y"),
        Prepared("j", "text", values=("a", "'a")),
    )
    assert found(path, *prepared, dialect={"delimiter": ";"}) == [1, 1, 1]
    assert found(path, Prepared("x", "number", base=0.5, **money), dialect={"delimiter": ";"}) == [0]
    assert found(path, Prepared("x", "number", base=0.5), dialect={"delimiter": ";"}) == [2]  # 2.000 is 2


@pytest.mark.parametrize("form", ["parquet", "feather", "pandas", "objects", "polars", "folder"])
def test_files_and_tables_of_all_sorts(tmp_path, form):
    days = pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2), None, dt.date(2021, 1, 1)])
    table = pa.table({"q": [1, 1, 2, 2], "x": [10, 15, 21, None], "d": days, "j": ["a", None, "z", "b"]})
    release = tmp_path / f"data.{form}"
    if form == "parquet":
        parquet.write_table(table, release)
    elif form == "feather":
        feather.write_feather(table, release)
    elif form == "folder":
        release.mkdir()
        for j in (0, 2):
            parquet.write_table(table.slice(j, 2), release / f"{j}.parquet")
    elif form == "polars":
        release = pl.from_arrow(table)
    else:
        release = table.to_pandas()
        release["j"] = release["j"].astype(object)
        if form == "objects":
            release.loc[1, "j"] = float("nan")  # two sorts of missing in one column
            release["d"] = pd.to_datetime(release["d"])
        else:
            release["d"] = pd.to_datetime(release["d"]).astype("datetime64[s]")
    prepared = (
        Prepared("x", "number", least=10, most=20, base=5),
        Prepared("d", "date", precision="year"),
        Prepared("j", "text", values=("a", "b")),
    )
    assert found(release, *prepared) == [1, 1, 1]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labelled_codes_and_dates_of_statistical_files(tmp_path, ending):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame(
        {
            "q": [1.0] * 4,
            "job": [1.0, 2.0, 3.0, 9.0],
            "x": [0.1, 0.3, 0.35, None],
            "d": [dt.date(2020, 5, 1), dt.date(2020, 5, 2), None, dt.date(2021, 1, 1)],
        }
    )
    labels = {"job": {1: "health", 2: "other", 3: "nurse", 9: "refused"}}
    path = tmp_path / f"data{ending}"
    if ending == ".sav":
        refused = {"job": [{"lo": 9, "hi": 9}]}
        pyreadstat.write_sav(frame, path, variable_value_labels=labels, missing_ranges=refused)
    else:
        pyreadstat.write_dta(frame, path, variable_value_labels=labels)
    prepared = (
        Prepared("job", "text", values=("1", "2") if ending == ".sav" else ("1", "2", "9")),
        Prepared("x", "number", base=0.1),
        Prepared("d", "date", precision="month", most="2020-12-31"),
    )
    assert found(path, *prepared) == [1, 1, 2]


def test_a_column_that_makes_classes_or_is_guarded_is_checked_too():
    table = pa.table({"q": [1, 1, 3, 3]})
    assert found(table, Prepared("q", "number", most=2)) == [2]


def test_a_relation_of_duckdb_is_checked_the_same():
    import duckdb

    relation = duckdb.sql("SELECT 1 AS q, unnest([DATE '2020-01-01', DATE '2020-01-02', NULL]) AS x")
    verdict = check(relation, claims(Prepared("x", "date", precision="year")))
    assert [c.found for c in verdict.checks] == [3, 1]


def test_a_stream_that_can_be_read_once_is_refused():
    table = column([1, 2])
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    with pytest.raises(CoterieError):
        found(stream, NUMBER)


def test_sentences_tell_counts_and_no_value():
    verdict = verify_claims(column(["20", MARKER, "95", None]), claims(NUMBER))
    assert verdict.checks[1].sentence == (
        "2 of 3 values of 'x' are not at least 15 and at most 90: 1 cannot be read, 1 above the most."
    )
    assert MARKER not in str(verdict)
    assert MARKER not in str(verdict.facts())
    verdict = verify_claims(column([20.5, 30]), claims(Prepared("x", "number", most=1234567.5)))
    assert "at most 1,234,567.5 (2 values" in verdict.checks[1].sentence
    verdict = verify_claims(column([20, 30]), claims(NUMBER))
    assert verdict.checks[1].sentence.startswith("Every value of 'x' is at least 15 and at most 90 (2 values")


def test_a_lacking_column_and_texts_about_typed_columns_are_refused():
    with pytest.raises(CoterieError, match="must be in the release") as caught:
        found(pa.table({"q": [1, 1]}), NUMBER)
    assert_silent(caught.value)
    with pytest.raises(CoterieError, match="are about texts"):
        found(column([1, 2]), Prepared("x", "number", most=3, decimal=","))


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("number", {}),
        ("number", {"most": "90"}),
        ("number", {"most": float("nan")}),
        ("number", {"most": True}),
        ("number", {"least": 2, "most": 1}),
        ("number", {"base": 0}),
        ("number", {"base": -1}),
        ("number", {"precision": "month", "most": 1}),
        ("number", {"values": ("90+",)}),  # says nothing of the numbers
        ("number", {"most": 1, "decimal": ";"}),
        ("number", {"most": 1, "format": "%Y"}),
        ("date", {"most": 5}),
        ("date", {"most": "yesterday"}),
        ("date", {"most": "2020-01-01T00:00:00+02:00"}),
        ("date", {"precision": "fortnight"}),
        ("date", {"precision": "month", "decimal": ","}),
        ("text", {}),
        ("text", {"values": "abc"}),
        ("text", {"values": (1, 2)}),
        ("text", {"values": ("a",), "base": 5}),
        ("text", {"width": 0}),
        ("text", {"values": ("a",), "most": 5}),
        ("text", {"width": 5, "most": "5"}),
        ("text", {"width": 2.5, "whole": True}),
        ("text", {"values": ("a",), "whole": True}),
        ("text", {"values": ("a",), "among": (1,)}),
        ("number", {"most": 1, "width": 5}),
        ("number", {"most": 1, "offset": 5}),
        ("number", {"among": ("1",)}),
        ("category", {"values": ("a",)}),
    ],
)
def test_claims_without_sense_are_refused(kind, more):
    with pytest.raises(CoterieError) as caught:
        Prepared("x", kind, **more)
    assert_silent(caught.value)


def test_a_column_is_prepared_once():
    with pytest.raises(CoterieError, match="said once"):
        claims(NUMBER, NUMBER)


def test_spark_counts_the_same(tmp_path, spark):  # noqa: F811
    days = pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2), None, dt.date(2021, 1, 1)])
    table = pa.table({"q": [1, 1, 2, 2], "x": [10, 15, 21, None], "d": days, "j": ["a", None, "z", "b"]})
    table = table.append_column("t", pa.array(["a", "a", "b", "o"]))  # one record in each file
    for j in range(4):
        parquet.write_table(table.slice(j, 1), tmp_path / f"{j}.parquet")
    prepared = (
        Prepared("x", "number", least=10, most=20, base=5),
        Prepared("d", "date", precision="year"),
        Prepared("j", "text", values=("a", "b")),
        Prepared("t", "text", fewest=2, spared=("o",)),
    )
    verdict = verify_claims_on_spark(spark, sorted(map(str, tmp_path.iterdir())), claims(*prepared))
    assert verdict == verify_claims(tmp_path, claims(*prepared))
    assert [c.found for c in verdict.checks[1:]] == [1, 1, 1, 1]
