"""verify: the promise is checked on what was written, and a release that breaks it by a hair is rejected."""

from __future__ import annotations

import csv as python_csv
import doctest
import io
import json
import math
import os
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import date
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from coterie import CoterieError
from coterie.verification import Check, Claims, Guard, Scenario, Verdict, check, sql, verify
from coterie.verification import reading as sources

MARKER = "xq7-secret-4711"


def written(tmp_path, text, name="release.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def csv_of(rows, header="a,b", end="\n"):
    return header + end + "".join(",".join(row) + end for row in rows)


GOOD = [("1.5", "x")] * 3 + [("2.5", "y")] * 4


# Releases that are broken by a hair


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


# The twin: counted by hand, from the texts


def classes_of(rows, key):
    classes = defaultdict(list)
    for row in rows:
        classes[tuple(row[j] for j in key)].append(row)
    return list(classes.values())


def twin_entropy(values):
    present = Counter(v for v in values if v is not None)
    total = sum(present.values())
    return math.exp(-sum(n / total * math.log(n / total) for n in present.values())) if total else 0.0


def twin_t(values, whole, ordered):
    """Li, Li and Venkatasubramanian (2007), word by word."""
    every = list(dict.fromkeys(whole))
    p, q = ([Fraction(list(v).count(x), len(v)) for x in every] for v in (values, whole))
    if not ordered:
        return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    every = sorted(set(whole))
    if len(every) == 1:
        return Fraction(0)
    total = Fraction(0)
    for i in range(len(every)):
        total += abs(
            sum(Fraction(values.count(x), len(values)) - Fraction(whole.count(x), len(whole)) for x in every[: i + 1])
        )
    return total / (len(every) - 1)


CELLS = st.sampled_from([None, "", "0", "0.0", "-0", "1", "1.0", "a", "A", "a ", 'q"q', "x,y", "l\nl", "ä"])


def as_csv(rows, names):
    """By hand: nothing where there is nothing, quotes wherever there could be doubt."""

    def cell(value):
        plain = value is not None and value and not set(value) & set('",\n')
        return "" if value is None else value if plain else '"' + value.replace('"', '""') + '"'

    return "\n".join([",".join(names), *(",".join(map(cell, row)) for row in rows)]) + "\n"


@settings(max_examples=25)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=30), st.integers(2, 4))
def test_k_by_counting_texts(tmp_path_factory, rows, k):
    path = written(tmp_path_factory.mktemp("k"), as_csv(rows, "abc"))
    found = verify(path, scenarios={"one": (["a"], k), "two": (["c", "a"], k)}).checks
    for one, key in zip(found, [(0,), (2, 0)], strict=True):
        sizes = [len(c) for c in classes_of(rows, key)]
        assert (one.found, one.classes) == (min(sizes), len(sizes))
        assert one.sizes == dict(sorted(Counter(s for s in sizes if s < k).items()))
        assert one.offending_classes == sum(s < k for s in sizes)
        assert one.offending_records == sum(s for s in sizes if s < k)
        assert one.ok == (min(sizes) >= k)


RECORDS = st.lists(
    st.tuples(st.sampled_from("uvw"), st.one_of(st.none(), st.sampled_from("pq")), st.integers(-3, 6)),
    min_size=1,
    max_size=40,
)


CONNECTION = duckdb.connect(config={"threads": 1})


def by_what(verdict):
    return {c.what: c for c in verdict.checks}


@settings(max_examples=30)
@given(RECORDS, st.booleans(), st.integers(2, 4), st.floats(1.01, 4), st.floats(0, 0.99), st.booleans(), st.booleans())
def test_l_and_t_by_loops(rows, ordered, least, entropy, t, gaps, wide):
    values = [None if gaps and v == 0 else v for *_, v in rows]
    keys = [row[:2] for row in rows]
    if ordered and gaps and None in values:
        values = [v or 0 for v in values]
    table = pa.table({"v": [r[0] for r in keys], "size": [r[1] for r in keys], "w": pa.array(values, pa.int64())})
    guard = Guard("w", "numeric" if ordered else "nominal", l=least, entropy=entropy, t=t)
    relation = CONNECTION.from_arrow(table)
    with pytest.MonkeyPatch.context() as patch:
        if wide:
            patch.setattr(sql, "whole_type", lambda *_: "HUGEINT")
        found = by_what(check(relation, Claims((Scenario("all", ("v",), 2),), ("size",), (guard,))))
    classes = classes_of([(*key, v) for key, v in zip(keys, values, strict=True)], (0, 1))
    held = [[row[2] for row in c] for c in classes]
    distinct = [len({v for v in h if v is not None}) for h in held]
    told = found["distinct l-diversity"]
    assert (told.found, told.classes) == (min(distinct), len(held))
    assert told.offending_classes == sum(d < least for d in distinct)
    assert told.offending_records == sum(len(h) for h, d in zip(held, distinct, strict=True) if d < least)
    even = [twin_entropy(h) for h in held]
    assert found["entropy l-diversity"].found == pytest.approx(min(even), rel=1e-12)
    assert found["entropy l-diversity"].offending_classes == sum(e < entropy * (1 - 1e-12) for e in even)
    far = [twin_t(h, values, ordered) for h in held]
    assert found["t-closeness"].found == pytest.approx(float(max(far)), abs=1e-14)
    assert found["t-closeness"].offending_classes == sum(f > t + 1e-12 for f in map(float, far))
    constant = found["constant confidential values"]
    assert constant.found == sum(d <= 1 for d in distinct)
    assert constant.offending_records == sum(len(h) for h, d in zip(held, distinct, strict=True) if d <= 1)
    assert constant.ok


def test_the_example_of_the_paper():
    """Li, Li and Venkatasubramanian (2007), section 5: salaries 3k to 11k in three classes; 0.375 and 0.167."""
    salaries = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    table = pa.table({"class": [1, 1, 1, 2, 2, 2, 3, 3, 3], "salary": salaries})
    guard = {"kind": "numeric", "t": 0.37}
    assert twin_t([3, 4, 5], salaries, True) == Fraction(3, 8)
    assert twin_t([6, 8, 11], salaries, True) == Fraction(1, 6)
    told = by_what(verify(table, ["class"], 3, confidential={"salary": guard}))["t-closeness"]
    assert (told.found, told.offending_classes) == (0.375, 1)
    assert verify(table, ["class"], 3, confidential={"salary": guard | {"t": 0.375}})


def test_entropy_of_equal_shares_counts_them():
    table = pa.table({"a": [1] * 9, "c": list("uvwuvwuvw")})
    assert verify(table, ["a"], 9, confidential={"c": {"kind": "nominal", "entropy": 3, "l": 3}})
    assert not verify(table, ["a"], 9, confidential={"c": {"kind": "nominal", "entropy": 3.0001}})
    assert not verify(table, ["a"], 9, confidential={"c": {"kind": "nominal", "l": 4}})


# What a confidential value is


@pytest.mark.parametrize(
    ("cells", "guard", "distinct"),
    [
        (["1.0", "1.00", "+1", "10e-1"], {"kind": "numeric"}, 1),
        (["1,0", "1", "1,5"], {"kind": "numeric", "decimal": ","}, 2),
        (["1", "01", "1.0", "-1"], {"kind": "integer"}, 2),
        (["9007199254740993", "9007199254740992"], {"kind": "integer"}, 2),
        (["100000", "1e+05", "1E5", "1.5e1", "15"], {"kind": "integer"}, 2),
        (["flu", "flu ", "\u00a0flu", ""], {"kind": "nominal"}, 1),
        (["flu", "NA", "ulcer"], {"kind": "nominal", "missing": ["NA"]}, 2),
        (["true", "1", "TRUE", "t"], {"kind": "boolean"}, 1),
        (["ja", "Ja", "nein"], {"kind": "boolean"}, 2),
        (["low", "high", " low"], {"kind": "ordinal", "order": ["low", "mid", "high"]}, 2),
        (["2020-01-01", "2020-01-01 00:00", "2020-01-01T00:00:00Z", "2020-1-2"], {"kind": "datetime"}, 2),
        (["10:30", "10:30:00", "9:30"], {"kind": "datetime"}, 2),
        (["31.12.2020", "01.01.2021"], {"kind": "datetime", "format": "%d.%m.%Y"}, 2),
        (["20200101 23Z", "20200102 00+0100", "20200101 23+0000"], {"kind": "datetime", "format": "%Y%m%d %H%z"}, 1),
    ],
)
def test_texts_stand_for_values(tmp_path, cells, guard, distinct):
    path = written(tmp_path, as_csv([("k", cell) for cell in cells], "ac"))
    told = verify(path, ["a"], 2, confidential={"c": guard | {"l": 2}}).checks[1]
    assert told.found == distinct


@pytest.mark.parametrize(
    ("cells", "guard"),
    [
        (["1", MARKER], {"kind": "numeric"}),
        (["1", "1_000"], {"kind": "numeric"}),
        (["1", "nan"], {"kind": "numeric"}),
        (["1", "0x10"], {"kind": "integer"}),
        (["1", "1.5"], {"kind": "integer"}),
        (["1.5", "1,5"], {"kind": "numeric"}),
        (["low", MARKER], {"kind": "ordinal", "order": ["low", "high"]}),
        (["2020-01-01 10:00+2"], {"kind": "datetime"}),
        (["31.12.2020"], {"kind": "datetime"}),
        (["a", "b"], {"kind": "ordinal"}),
        (["1", ""], {"kind": "numeric", "t": 0.5}),
        (["low", ""], {"kind": "ordinal", "order": ["low", "high"], "t": 0.5}),
    ],
)
def test_values_that_cannot_be_read_are_refused(tmp_path, cells, guard):
    path = written(tmp_path, as_csv([("k", cell) for cell in cells], "ac"))
    with pytest.raises(CoterieError) as told:
        verify(path, ["a"], 2, confidential={"c": guard})
    assert_silent(told.value)


def test_missing_is_a_category_of_its_own_without_an_order():
    table = pa.table({"a": [1, 1, 2, 2], "c": ["u", None, "u", "u"]})
    told = by_what(verify(table, ["a"], 2, confidential={"c": {"kind": "nominal", "t": 0.2}}))["t-closeness"]
    assert (told.found, told.offending_classes) == (0.25, 2)


def test_typed_confidential_columns():
    nan = float("nan")
    table = pa.table(
        {
            "a": [1, 1, 1],
            "f": pa.array([0.0, -0.0, nan], from_pandas=False),
            "d": pa.array([1, 2, 2], pa.timestamp("ns")),
            "b": [True, False, None],
            "o": [1, 2, 3],
            "n": [Decimal("1.10"), Decimal("1.20"), None],
        }
    )
    claims = {
        "f": {"kind": "numeric"},
        "d": {"kind": "datetime", "t": 0.5},
        "b": {"kind": "boolean"},
        "o": {"kind": "ordinal", "order": [1, 2, 3], "t": 0.1},
        "n": {"kind": "numeric"},
    }
    verdict = verify(table, ["a"], 2, confidential={c: g | {"l": 2} for c, g in claims.items()})
    distinct = {c.columns[0]: c.found for c in verdict.checks if c.what == "distinct l-diversity"}
    assert distinct == {"f": 1, "d": 2, "b": 2, "o": 3, "n": 2}
    for column, guard in {
        "o": {"kind": "ordinal", "order": ["low", "high"]},
        "f": {"kind": "numeric", "decimal": ","},
        "b": {"kind": "nominal", "missing": ["NA"]},
    }.items():
        with pytest.raises(CoterieError):
            verify(table, ["a"], 2, confidential={column: guard})


# Files that could be read in two ways


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,\n1,2\n",
        "a,b\n1,2,\n1,2,\n",
        "a,b\n1,2\n1,2,3\n",
        "a,b\n1,2\n1\n",
        "a,b\n1,2\n\n1,2\n",
        "a,b\n1,2\n1,2\n\n",
        'a,b\n1,2\n "1",2\n',
        'a,b\n1,2\n"1" ,2\n',
        'a,b\n1,2\n"1"x,2\n',
        'a,b\n1,2\n"1,2\n',
        "a,b\n1,2\r\n1,2\n",
        "a,b\n1,2\r1,2\n",
        b"a,b\n1,2\n\xff,2\n",
        "a,b\n",
        "a,b",
        "",
        "\n1,2\n",
    ],
)
def test_a_csv_file_in_doubt_is_refused(tmp_path, text):
    with pytest.raises(CoterieError):
        verify(written(tmp_path, text), ["a", "b"], 2)


def test_blank_lines_are_records_of_a_single_column(tmp_path):
    assert not verify(written(tmp_path, "a\n1\n1\n\n"), ["a"], 2)
    assert verify(written(tmp_path, "a\n1\n1\n\n\n"), ["a"], 2)


@pytest.mark.parametrize(
    ("text", "name", "encoding", "dialect"),
    [
        ("a;b\n1,5;ü\n1,5;ü\n", "r.csv", "utf-8", None),
        ("a\tb\n1,5\tü\n1,5\tü\n", "r.tsv", "utf-8", None),
        ("a|b\n1,5|ü\n1,5|ü\n", "r.txt", "utf-8", None),
        ("\ufeffa,b\n1,ü\n1,ü\n", "r.csv", "utf-8", None),
        ("a,b\n1,ü\n1,ü\n", "r.csv", "utf-16", None),
        ("a,b\r\n1,ü\r\n1,ü\r\n", "r.csv", "cp1252", {"encoding": "cp1252"}),
        ("a,b\n1,€\n1,€\n", "r.csv", "cp1252", {"encoding": "windows-1252", "delimiter": ","}),
        ("a,b\n'1,2',ü\n'1,2',ü\n", "r.csv", "utf-8", {"quote": "'"}),
        ('a;b\n"1;ü\n"1;ü\n', "r.csv", "utf-8", {"quote": None, "delimiter": ";"}),
        ("1,ü\n1,ü\n", "r.csv", "utf-8", {"header": False, "names": ["a", "b"], "delimiter": ","}),
        ('"a","b"\n"1","ü"\n1,ü\n', "r.CSV", "utf-8", None),
    ],
)
def test_dialects(tmp_path, text, name, encoding, dialect):
    verdict = verify(written(tmp_path, text, name, encoding), ["b", "a"], 2, dialect=dialect)
    assert verdict.ok
    assert verdict.records == 2


@pytest.mark.parametrize(
    "dialect",
    [
        {"delimiter": ",,"},
        {"delimiter": '"'},
        {"quote": "ab"},
        {"encoding": "no-such"},
        {"encoding": "ascii7"},
        {"header": False},
        {"names": ["a"]},
        {"skip": 1},
        {"encoding": "utf-16"},
        {"encoding": "cp1252", "delimiter": ";"},
    ],
)
def test_dialects_that_are_wrong(tmp_path, dialect):
    with pytest.raises(CoterieError):
        verify(written(tmp_path, "a,b\n1,2\n1,2\n"), ["a"], 2, dialect=dialect)
    with pytest.raises(CoterieError):
        verify(pa.table({"a": [1, 1]}), ["a"], 2, dialect={"delimiter": ","})


# Names


ODD = [
    'say "hi"',
    "two words",
    "select",
    "new\nline",
    "größe",
    "",
    "c0",
    "k0",
    "size",
    "v",
    "a.b",
    "it's",
    "[red]",
    "x; DROP",
]


@pytest.mark.parametrize("way", ["csv", "parquet", "feather", "pandas", "polars"])
def test_odd_column_names(tmp_path, way):
    names = [*(n for n in ODD if n or way != "polars"), "Größe", "SELECT"]  # polars names an empty one itself
    table = pa.table({name: [1, 1, 2, 2] for name in names})
    broken = table.set_column(len(names) - 1, "SELECT", pa.array([1, 1, 2, 3]))
    for given_, holds in ((table, True), (broken, False)):
        if way == "csv":
            text = io.StringIO()
            python_csv.writer(text, lineterminator="\n").writerows(
                [names, *zip(*given_.to_pydict().values(), strict=True)]
            )
            release = written(tmp_path, text.getvalue())
        elif way == "parquet":
            release = tmp_path / "r.parquet"
            parquet.write_table(given_, release)
        elif way == "feather":
            release = tmp_path / "r.arrow"
            feather.write_feather(given_, release)
        else:
            release = given_.to_pandas() if way == "pandas" else pl.from_arrow(given_)
        assert verify(release, names[:-1], 2, within=["SELECT"]).ok is holds
        assert verify(release, ["select"], 2, confidential={"SELECT": {"kind": "integer", "t": 0.9}}).records == 4


@pytest.mark.parametrize(
    "name",
    [
        *[
            "r*.csv",
            "r?.csv",
            "[r].csv",
            "[[]r].csv",
            "{r,s}.csv",
            "it's.csv",
            'q"q.csv',
            "r\\*.csv",
            "a b.csv",
        ],
        *["~.csv", "n\nl.csv"],
    ],
)
def test_odd_file_names_are_read_literally(tmp_path, name):
    for other in ("rr.csv", "r.csv", "s.csv", "[r].csv", "r*.csv"):
        if other != name:
            written(tmp_path, "a\n1\n2\n3\n", other)
    path = written(tmp_path, "a\n5\n5\n", name)
    assert verify(path, ["a"], 2).records == 2
    parquet.write_table(pa.table({"a": [5, 5]}), tmp_path / f"{name}.parquet")
    assert verify(str(tmp_path / f"{name}.parquet"), ["a"], 2).records == 2


def test_folders_in_the_path_add_nothing(tmp_path):
    folder = tmp_path / "a=1" / "b=[2]"
    folder.mkdir(parents=True)
    assert verify(written(folder, "a,b\n3,3\n3,3\n"), ["a", "b"], 2).records == 2


def test_what_is_no_release(tmp_path):
    path = written(tmp_path, "a\n1\n1\n")
    (tmp_path / "link.csv").symlink_to(path)
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "r.xlsx").write_bytes(b"")
    (tmp_path / "r.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "r.feather").write_bytes(b"ARROW1 and no more")
    (tmp_path / "r.sav").write_bytes(b"no such thing")
    told = {
        "link.csv": "a link",
        "dangling.csv": "a link",
        "pipe.csv": "a pipe",
        "r.xlsx": "must end in",
        "none.csv": "No such file",
        "a\0b.csv": "no name of a file",
        "": "a folder",
        "r.parquet": "cannot be read as parquet",
        "r.feather": "cannot be read as feather",
        "r.sav": "cannot be read as sav",
    }
    for name, words in told.items():
        with pytest.raises(CoterieError, match=words) as error:
            verify(f"{tmp_path}/{name}", ["a"], 2)
        assert error.value.__context__ is None
    for thing in (None, 5, [1, 2], np.zeros((2, 2)), {"a": [1]}, b"r.csv", pl.DataFrame({"a": [1, 1]}).lazy()):
        with pytest.raises(CoterieError):
            verify(thing, ["a"], 2)
    with pytest.raises(CoterieError, match="parts"):
        verify(pa.table({"a": [[1], [1]]}), ["a"], 2)
    with pytest.raises(CoterieError, match="must hold records"):
        verify(pa.table({"a": pa.array([], pa.int64())}), ["a"], 2)


# Nothing of the data gets out


def assert_silent(error):
    while error is not None:
        assert MARKER not in str(error)
        assert MARKER not in repr(error)
        assert error.__cause__ is None
        assert error.__context__ is None
        error = error.__context__


@pytest.mark.parametrize(
    "text",
    [
        f"a,b\n{MARKER},2\n1\n",
        f"a,b\n{MARKER},2,3\n1,2\n",
        f'a,b\n"{MARKER},2\n',
        f'a,b\n"{MARKER}"x,2\n',
        f'a,b\n "{MARKER}",2\n',
        f"a,b\n{MARKER},2\r\n1,2\n",
        f"a,b\n{MARKER},2\n".encode() + b"\xff" + MARKER.encode() + b",2\n",
        f"{MARKER},{MARKER}b\n1,2\n",
        f"a,b\n{MARKER}" + "x" * 3_000_000 + ",1\n",
    ],
)
def test_errors_are_silent_about_values(tmp_path, text):
    with pytest.raises(CoterieError) as told:
        verify(written(tmp_path, text), ["a", "b"], 2)
    assert_silent(told.value)


def test_errors_about_tables_and_encodings_are_silent(tmp_path):
    frames = [
        (pd.DataFrame({"a": pd.Series([MARKER, [MARKER]], dtype=object), "c": [MARKER, MARKER]}), {"kind": "numeric"}),
        (pl.DataFrame({"a": [MARKER, MARKER], "c": [MARKER, "1"]}), {"kind": "integer"}),
        (pa.table({"a": [MARKER], "c": pa.array([MARKER]).dictionary_encode()}), {"kind": "datetime"}),
        (pa.table({"a": [MARKER], "c": pa.array([MARKER]).dictionary_encode()}), {"kind": "ordinal", "order": ["x"]}),
    ]
    for frame, guard in frames:
        with pytest.raises(CoterieError) as told:
            verify(frame, ["a"], 2, confidential={"c": guard})
        assert_silent(told.value)
    path = written(tmp_path, f"a\n{MARKER}".encode() + b"\x81\n")
    with pytest.raises(CoterieError) as told:
        verify(path, ["a"], 2, dialect={"encoding": "cp1252"})
    assert_silent(told.value)
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(struct.pack("2i", 0, 2)), pa.py_buffer(b"\xff\xfe")]
    )
    with pytest.raises(CoterieError):
        verify(pa.table({"a": bad}), ["a"], 2)


def test_verdicts_are_silent_about_values():
    table = pa.table({"a": [MARKER, MARKER, "x" + MARKER], "c": [MARKER, "y" + MARKER, MARKER]})
    verdict = verify(table, ["a"], 2, confidential={"c": {"kind": "nominal", "l": 3, "entropy": 2.5, "t": 0.1}})
    assert not verdict
    shown = [str(verdict), repr(verdict), verdict._repr_html_(), json.dumps(verdict.facts()), str(verdict.__rich__())]
    for text in shown:
        assert MARKER not in text
        assert "constant" in text or "alone" in text


def test_duckdb_is_shut_in(tmp_path):
    path = written(tmp_path, "a\n1\n")
    other = written(tmp_path, "a\n1\n", "other.csv")
    private = tmp_path / "private"
    private.mkdir()
    connection = sources._connect(str(private), str(path))
    held = {"a": pa.table({"x": [1]})}
    assert connection.execute(f"FROM read_csv('{path}')").fetchall() == [(1,)]
    for attempt in (
        f"FROM read_csv('{other}')",
        f"FROM '{tmp_path}/*.csv'",
        f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
        f"ATTACH '{tmp_path}/new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM read_csv('https://example.org/a.csv')",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/']",
        "SET temp_directory = '/tmp'",
        "FROM held",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(attempt)
    assert held
    names = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM duckdb_settings() WHERE value = ?", [str(private)]
        ).fetchall()
    ]
    assert names == ["temp_directory"]


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    home = tmp_path / "tmp"
    home.mkdir()
    seen = []
    monkeypatch.setattr("tempfile.tempdir", str(home))
    connect = sources._connect

    def spied(private, *more):
        seen.append((os.stat(private).st_mode & 0o777, sorted(os.listdir(private))))
        return connect(private, *more)

    monkeypatch.setattr(sources, "_connect", spied)
    assert verify(written(tmp_path, "a\nü\nü\n", encoding="latin-1"), ["a"], 2, dialect={"encoding": "latin-1"})
    with pytest.raises(CoterieError):
        verify(written(tmp_path, "a,b\n1,2\n1\n", "[b].csv"), ["a"], 2)
    assert seen == [(0o700, ["utf8.csv"]), (0o700, ["release.csv"])]
    assert os.listdir(home) == []
    assert (tmp_path / "[b].csv").exists()


def test_no_code_of_the_partitioner_is_loaded(tmp_path):
    parquet.write_table(pa.table({"a": [1, 1]}), tmp_path / "r.parquet")
    path = written(tmp_path, "a\n1\n1\n")
    code = f"import sys; from coterie.verification import verify; verify({str(path)!r}, ['a'], 2); "
    code += f"verify({str(tmp_path / 'r.parquet')!r}, ['a'], 2); "
    code += "print(*(m for m in sys.modules if m.split('.')[0] in ('coterie', 'numba', 'pandas', 'polars', 'rich')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    inside = {"", "_version", "errors", "verification"}
    assert {m.removeprefix("coterie").split(".")[1] if "." in m else "" for m in ran.stdout.split()} <= inside
    assert all(m.startswith("coterie") for m in ran.stdout.split())


def test_the_package_verifies_too():
    import coterie.verification

    failures, tried = doctest.testmod(coterie.verification)
    assert (failures, tried) == (0, 3)


# Relations that others made


def test_check_compares_bytes_whatever_the_collation():
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'NOCASE'")
    relation = connection.sql("SELECT unnest(['a', 'a', 'A']) AS a, unnest(['x', 'X', 'x']) AS c")
    verdict = check(relation, Claims([Scenario("s", ["a"], 2)], guards=[Guard("c", "nominal", l=2)]))
    assert verdict.checks[0].sizes == {1: 1}
    assert verdict.checks[1].classes == 2


def test_check_refuses_what_duckdb_compares_loosely():
    claims = Claims((Scenario("s", ("a",), 2),))
    for value in ("INTERVAL 30 DAY", "[1]", "{'x': 1}", "'10:00:00+01'::TIMETZ"):
        with pytest.raises(CoterieError, match="plain"):
            check(duckdb.connect().sql(f"SELECT {value} AS a"), claims)
    assert check(duckdb.connect().sql("SELECT 'u'::ENUM('u', 'v') AS a FROM range(2)"), claims)
    assert not check(duckdb.connect().sql("SELECT unnest(['0.0', '-0.0'])::FLOAT AS a"), claims)
    with pytest.raises(CoterieError, match="no 'a'"):
        check(duckdb.connect().sql("SELECT 1 AS A"), claims)


def test_errors_of_a_relation_are_silent():
    relation = duckdb.connect().sql(f"SELECT CAST(x AS INTEGER) AS a FROM (VALUES ('1'), ('{MARKER}')) AS t(x)")
    with pytest.raises(CoterieError) as told:
        check(relation, Claims((Scenario("s", ("a",), 2),)))
    assert_silent(told.value)


# Claims


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
                ({"t": -0.1}, "at least 0"),
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
    sentence = "Every record shares its 3 quasi-identifiers with at least 4 others: the smallest of 2 classes has 5."
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
