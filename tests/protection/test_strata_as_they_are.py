"""Columns of strata are released as they are: numbers and dates as they were written, on both engines."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coterie as ct
from coterie.tables.columns import Column
from coterie.tables.spellings import Spellings

ENGINES = ["memory", "duckdb"]


def recipe(kind, small="refuse", **rule):
    columns = {
        "s": {"role": "quasi", "kind": kind, **rule},
        "a": {"role": "quasi", "kind": "integer"},
        "b": "other",
    }
    return {"k": 3, "seed": 1, "columns": columns, "strata": {"within": ["s"], "small": small}}


def released(tmp_path, values, rules, engine, suffix=".csv"):
    """The column of strata as it was released, with the number of each record."""
    n = len(values)
    table = pa.table({"s": values, "a": np.arange(n) * 7 % 13, "b": np.arange(n)})
    path = tmp_path / f"in{suffix}"
    if suffix == ".csv":
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="none"))
    else:
        pa.parquet.write_table(table, path)
    out = tmp_path / f"out-{engine}"
    ct.protect(path, rules, engine=engine).save(out)
    assert ct.verify(out).ok
    assert ct.replay(out, path).same
    if suffix == ".parquet":
        data = pa.parquet.read_table(out / "data.parquet")
    else:
        types = pa.csv.ConvertOptions(column_types={"s": pa.string()}, strings_can_be_null=True)
        data = pa.csv.read_csv(out / "data.csv", convert_options=types)
    order = np.argsort(data.column("b").to_numpy())
    return data.column("s").combine_chunks().take(pa.array(order))


TEXTS = {
    "numeric": ["007", "1.50", "+3", "1e3", "-0", ".5", "12.", "0.10000000000000000001"],
    "integer": ["007", "+3", "-0", "12"],
    "datetime": ["5.1.2024", "17.03.2024", "1.12.1999"],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("small", ["refuse", "merge", "suppress"])
def test_texts_stay(tmp_path, engine, kind, small):
    values = TEXTS[kind] * 6
    rule = {"format": "%d.%m.%Y"} if kind == "datetime" else {}
    assert released(tmp_path, values, recipe(kind, small, **rule), engine).to_pylist() == values


@pytest.mark.parametrize("engine", ENGINES)
def test_two_texts_of_one_number_become_the_more_frequent(tmp_path, engine):
    """Each alone has fewer than k records: whoever knows the text would find them among fewer."""
    values = ["7", "007", "07", "007", "+7", "1.5", "1.50", "1.5", "1.50", "9", "9", "9"]
    got = released(tmp_path, values, recipe("numeric"), engine).to_pylist()
    assert got == ["007"] * 5 + ["1.5"] * 4 + ["9"] * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_decimals_round_no_stratum_but_merged_ones(tmp_path, engine):
    values = ["1.26"] * 4 + ["1.31"] * 4 + ["8.07", "8.02"] + ["9.99"] * 4
    got = released(tmp_path, values, recipe("numeric", "merge", decimals=1), engine).to_pylist()
    assert got[:8] == values[:8]
    joined = Counter(got[8:])
    assert min(joined.values()) >= 3
    assert set(joined) <= {"9.99", "9.3", "9.4"}  # two of 8 and some of 9.99, or those alone


@pytest.mark.parametrize("engine", ENGINES)
def test_merged_strata_get_a_value_by_kind(tmp_path, engine):
    got = released(tmp_path, ["02"] * 4 + ["08"] * 2 + ["09"] * 2, recipe("integer", "merge"), engine).to_pylist()
    assert got[:4] == ["02"] * 4
    assert len(set(got[4:])) == 1
    assert got[4] in ("8", "9", "08", "09")


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_strata(tmp_path, engine):
    values = ["007", None, "7.0"] * 4
    rules = {**recipe("numeric"), "missing": "own-value", "file": {"missing": [""]}}
    got = released(tmp_path, values, rules, engine).to_pylist()
    assert got == ["007", None, "007"] * 4


DIGITS = {
    "decimal": pa.array([Decimal("12345678901234567.890"), Decimal("12345678901234567.891"), Decimal("7.100")] * 4),
    "ns": pa.array([1_700_000_000_123_456_789, 1_700_000_000_123_456_790, 5] * 4, pa.int64()).view(pa.timestamp("ns")),
    "us": pa.array([253_402_300_799_999_999, 1, 2] * 4, pa.int64()).view(pa.timestamp("us")),
    "date32": pa.array([19_000, 1, 2] * 4, pa.int32()).view(pa.date32()),
    "float": pa.array([0.1, 1e-320, 2.0] * 4),
    "float32": pa.array([0.1, 1e-40, 2.0] * 4, pa.float32()),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", DIGITS)
def test_digits_that_a_float_does_not_have_stay(tmp_path, engine, name):
    """Where two values are one number, one of them is released for both."""
    values = DIGITS[name]
    kind = "numeric" if name in ("decimal", "float", "float32") else "datetime"
    got = released(tmp_path, values, recipe(kind), engine, ".parquet")
    assert got.type == values.type
    plain = (
        [values, got]
        if kind == "numeric"
        else [a.cast(pa.int64()) if a.type != pa.date32() else a.view(pa.int32()) for a in (values, got)]
    )
    before, after = (array.to_pylist() for array in plain)
    assert set(after) <= set(before)
    assert [x for x in after if x not in before[:2]] == [x for x in before if x not in before[:2]]
    if name not in ("decimal", "ns"):
        assert after == before


def test_spellings_do_not_depend_on_the_pieces():
    texts = ["7", "007", "07", "007", "7", "8", "+8", None]
    numbers = np.array([7, 7, 7, 7, 7, 8, 8, np.nan])
    whole, split, other = Spellings(), Spellings(), Spellings()
    whole.add(Column("s", "numeric", numbers), pa.array(texts))
    for part in (slice(0, 3), slice(3, 5)):
        split.add(Column("s", "numeric", numbers[part]), pa.array(texts[part]))
    other.add(Column("s", "numeric", numbers[5:]), pa.array(texts[5:]))
    split.merge(other)
    for one in (whole, split):
        spelling = one.spelling()
        assert spelling.numbers.tolist() == [7, 8]
        assert spelling.written.to_pylist() == ["007", "+8"]  # as often as others, and the first of them
        put = spelling.put(np.array([8, 9, np.nan, 7]), pa.array(["8", "9", None, "7"]))
        assert put.to_pylist() == ["+8", "9", None, "007"]
    assert Spellings().spelling() is None
