"""verify: the promise is checked on what was written, and a release that breaks it by a hair is rejected."""

from __future__ import annotations

import struct
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from coterie import CoterieError
from coterie.verification import verify
from verified_files import written


def csv_of(rows, header="a,b", end="\n"):
    return header + end + "".join(",".join(row) + end for row in rows)


GOOD = [("1.5", "x")] * 3 + [("2.5", "y")] * 4


@pytest.mark.parametrize(
    "row",
    [
        *[("1.6", "x"), ("", "x"), ("1.5", "y"), ("1.50", "x"), ("1.5 ", "x"), (" 1.5", "x"), ("1.5", "X")],
        *[("01.5", "x"), ("1.5", '""'), ("1,5", "x"), ("1.5e0", "x"), ("+1.5", "x"), ("1.5", "x\u200b")],
        *[("1.5", "\u0445"), ("1.5", "x\x00")],
    ],
)
def test_one_record_that_differs(tmp_path, row):
    assert verify(written(tmp_path, csv_of(GOOD)), ["a", "b"], 3)
    row = tuple(f'"{cell}"' if "," in cell else cell for cell in row)
    verdict = verify(written(tmp_path, csv_of([row, *GOOD[1:]])), ["a", "b"], 3)
    assert not verdict
    (found,) = verdict.checks
    assert (found.found, found.offending_classes, found.offending_records) == (1, 2, 3)
    assert found.sizes == {1: 1, 2: 1}


def test_a_class_of_k_minus_one(tmp_path):
    verdict = verify(written(tmp_path, csv_of(GOOD)), ["a", "b"], 4)
    (found,) = verdict.checks
    assert not verdict.ok
    assert not found.ok
    assert (found.wanted, found.found, found.classes, found.offending_classes, found.offending_records) == (
        4,
        3,
        2,
        1,
        3,
    )
    assert (
        found.sentence
        == "1 of 2 classes by 2 quasi-identifiers has fewer than 4 records: 1 with 3 records. 3 records are in them."
    )


def test_empty_and_nothing_are_different_in_a_csv_file(tmp_path):
    assert verify(written(tmp_path, csv_of([("1", "")] * 4)), ["a", "b"], 4)
    verdict = verify(written(tmp_path, csv_of([("1", "")] * 2 + [("1", '""')] * 2)), ["a", "b"], 3)
    assert verdict.checks[0].sizes == {2: 2}


def floats(*values):
    return pa.array(np.array(values))


def bits(number):
    return struct.unpack("d", struct.pack("Q", number))[0]


@pytest.mark.parametrize(
    "column",
    [
        floats(1.0, 1.0, np.nextafter(1.0, 2.0)),
        floats(0.0, 0.0, -0.0),
        floats(np.nan, np.nan, 0.0),
        floats(np.nan, np.nan, bits(0x7FF8000000000001)),
        floats(np.nan, np.nan, bits(0xFFF8000000000000)),
        pa.array([float("nan"), float("nan"), None], from_pandas=False),
        pa.array([1, 1, None]),
        pa.array([np.float32(0.1), np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))], pa.float32()),
        pa.array([np.float16(0.0), np.float16(0.0), np.float16(-0.0)], pa.float16()),
        pa.array(["a", "a", "A"]),
        pa.array(["a", "a", ""]),
        pa.array([None, None, ""]),
        pa.array(["é", "é", "e\u0301"]),
        pa.array(["a", "a", "a\x00"]),
        pa.array([b"a", b"a", b"a\x00"]),
        pa.array(["a", "a", "b"]).dictionary_encode(),
        pa.array([2**63, 2**63, 2**63 + 1], pa.uint64()),
        pa.array([2**53, 2**53, 2**53 + 1]),
        pa.array([0, 0, 1], pa.timestamp("ns")),
        pa.array([0, 0, 1], pa.timestamp("ns", "UTC")),
        pa.array([0, 0, 1], pa.time64("ns")),
        pa.array([0, 0, 1], pa.duration("ns")),
        pa.array([date(2020, 1, 1), date(2020, 1, 1), date(2020, 1, 2)]),
        pa.array([Decimal("1.0"), Decimal("1.0"), Decimal("1.1")]),
        pa.array([10**70, 10**70, 10**70 + 1], pa.decimal256(76, 0)),
        pa.array([True, True, None]),
        pa.array([None, None, 0.0], pa.float64()),
        pa.array(["a", "a", "b"], pa.string_view()),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("way", ["table", "parquet", "feather"])
def test_values_that_only_look_equal(tmp_path, column, way):
    """Each column holds two equal values and one that is next to them."""
    table = pa.table({"a": column})
    if way == "parquet":
        if column.type in (pa.duration("ns"), pa.string_view()):
            table = table.cast(pa.schema({"a": pa.int64() if pa.types.is_duration(column.type) else pa.string()}))
        release = tmp_path / "r.parquet"
        parquet.write_table(table, release)
    elif way == "feather":
        release = tmp_path / "r.feather"
        feather.write_feather(table, release) if column.type != pa.string_view() else ipc(table, release)
    else:
        release = table
    assert verify(release, ["a"], 2).checks[0].sizes == {1: 1}
    same = pa.concat_tables([table.slice(0, 1)] * 3)
    assert verify(same, ["a"], 3)


def ipc(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    "values",
    [
        *([1, 1, 1.0], [1, 1, True], [1, 1, "1"], [None, None, float("nan")], ["a", "a", None]),
        *(["a", "a", float("nan")], ["a", None, float("nan")], [pd.NA, pd.NA, None]),
        [Decimal("1.0"), Decimal("1.0"), Decimal("1.00")],
    ],
)
def test_objects_in_pandas(values):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    assert not verify(frame, ["a"], 2)
    assert verify(frame.iloc[[0, 0, 0]], ["a"], 3)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_all_sorts(make):
    table = make({"age": [30.5, 30.5, 41.0, 41.0], "sex": ["f", "f", "m", "m"], "Sex": ["f", "f", "m", "x"]})
    assert verify(table, ["age", "sex"], 2)
    assert not verify(table, ["age", "sex", "Sex"], 2)
    assert verify(table, ["age"], 2).records == 4


def test_categories_and_nullable_types():
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["u", "u", "v", "v"]),
            "i": pd.array([1, 1, None, None], "Int64"),
            "s": ["a", "a", "b", "b"],
        }
    )
    assert verify(frame, ["c", "i", "s"], 2)
    assert not verify(frame.assign(i=pd.array([1, 1, None, 0], "Int64")), ["c", "i", "s"], 2)
    assert verify(pl.DataFrame({"c": pl.Series(["u", "u"], dtype=pl.Categorical)}), ["c"], 2)


def test_spss_and_stata(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"x": [1.0, 1.0, np.nan, np.nan], "s": ["a", "a", "b", "b"], "c": [1.0, 2.0, 3.0, 4.0]})
    for name, write in {
        "r.sav": pyreadstat.write_sav,
        "r.dta": pyreadstat.write_dta,
        "r.xpt": pyreadstat.write_xport,
    }.items():
        write(frame, tmp_path / name)
        assert verify(tmp_path / name, ["x", "s"], 2, confidential={"c": {"kind": "numeric", "l": 2}}), name
        write(frame.assign(x=[1.0, 1.0, np.nan, 7.0]), tmp_path / name)
        assert not verify(tmp_path / name, ["x", "s"], 2)
    other = pd.DataFrame({"x": [1.0, 1.0, "a", "b"]})  # missing for different reasons, as anyone can see in Stata
    pyreadstat.write_dta(other, tmp_path / "m.dta", missing_user_values={"x": ["a", "b"]})
    assert verify(tmp_path / "m.dta", ["x"], 2).checks[0].sizes == {1: 2}
    with pytest.raises(CoterieError, match="no 'nope' among 1 columns"):
        verify(tmp_path / "m.dta", ["nope"], 2)


def test_codes_that_a_file_declares_as_missing(tmp_path):
    """Anyone can tell them apart, so they part classes; but as confidential values they are no answers."""
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"x": [1.0, 1.0, 98.0, 99.0], "c": [3.0, 98.0, 4.0, 99.0], "s": ["a", "?", "b", "a"]})
    declared = {"x": [98, 99], "c": [{"lo": 98, "hi": 99}], "s": ["?"]}
    pyreadstat.write_sav(frame, tmp_path / "r.sav", missing_ranges=declared)
    letters = frame.astype({"x": object, "c": object}).replace({98.0: "a", 99.0: "b"})
    pyreadstat.write_dta(letters, tmp_path / "r.dta", missing_user_values={"x": ["a", "b"], "c": ["a", "b"]})
    for name in ("r.sav", "r.dta"):
        assert verify(tmp_path / name, ["x"], 2).checks[0].sizes == {1: 2}
        kinds = {"numeric": {}, "integer": {}, "ordinal": {"order": ["3", "4"]}, "nominal": {}}
        for kind, more in kinds.items():
            guard = {"c": {"kind": kind, "l": 2, **more}}
            _, least, constant = verify(tmp_path / name, ["x"], 2, confidential=guard).checks
            assert (least.found, constant.offending_classes) == (0, 3), (name, kind)
        with pytest.raises(CoterieError, match="2 missing in 'c'"):
            verify(tmp_path / name, ["x"], 2, confidential={"c": {"kind": "numeric", "t": 0.5}})
    _, constant = verify(tmp_path / "r.sav", ["x"], 2, confidential={"s": {"kind": "nominal"}}).checks
    assert constant.offending_classes == 3


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_reasons_for_missing_are_no_values_of_a_confidential_column(tmp_path, suffix):
    pyreadstat = pytest.importorskip("pyreadstat")
    path, q = tmp_path / f"r{suffix}", ["u"] * 3 + ["v"] * 3
    if suffix == ".sav":
        frame = pd.DataFrame({"q": q, "c": [1.0, 8.0, 9.0, 1.0, 2.0, 8.0]})
        pyreadstat.write_sav(frame, path, missing_ranges={"c": [8.0, 9.0]})
    else:
        frame = pd.DataFrame({"q": q, "c": [1.0, "a", "b", 1.0, 2.0, "a"]})
        pyreadstat.write_dta(frame, path, missing_user_values={"c": ["a", "b"]})
    for kind in ("numeric", "integer", "nominal"):
        verdict = verify(path, ["q"], 3, confidential={"c": {"kind": kind, "l": 2}})
        found = {check.what: check for check in verdict.checks}
        assert found["distinct l-diversity"].found == 1
        assert found["constant confidential values"].offending_classes == 1
    near = verify(path, ["q"], 3, confidential={"c": {"kind": "nominal", "t": 0.5}})
    assert next(check for check in near.checks if check.what == "t-closeness").found == pytest.approx(1 / 6)
