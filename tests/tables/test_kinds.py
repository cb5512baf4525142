"""Columns read by their kind and written back: what was not masked comes back as it was."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import CoterieError
from coterie.recipe import ColumnRule
from coterie.tables import kinds

NAN = float("nan")


def read(array, kind, decimal=".", **more):
    array = array if isinstance(array, (pa.Array, pa.ChunkedArray)) else pa.array(array)
    return kinds.read("x", array, ColumnRule("quasi", kind, **more), decimal)


def same(array, kind, decimal=".", **more):
    array = array if isinstance(array, (pa.Array, pa.ChunkedArray)) else pa.array(array)
    typed = read(array, kind, decimal, **more)
    back = typed.write(typed.column.numbers)
    assert back.type == array.type
    assert back.to_pylist() == array.to_pylist()
    return typed.column


@pytest.mark.parametrize(
    ("array", "kind", "more"),
    [
        (pa.array([1.5, None, -2.0]), "numeric", {}),
        (pa.array([1.5, None], pa.float32()), "numeric", {}),
        (pa.array([Decimal("1.50"), None, Decimal("-2.25")]), "numeric", {}),
        (pa.array([1, None, -3], pa.int16()), "integer", {}),
        (pa.array([1, 2, 255], pa.uint8()), "integer", {}),
        (pa.array([2**52, 0], pa.uint64()), "integer", {}),
        (pa.array(["1", None, "-20"]), "integer", {}),
        (pa.array(["1.5", None, "-20"]), "numeric", {}),
        (pa.array(["a", None, "b", "a"]), "nominal", {}),
        (pa.array(["a", None, "b"], pa.large_string()), "nominal", {}),
        (pa.array([3, 1, None, 3]), "nominal", {}),
        (pa.array([True, None, False]), "boolean", {}),
        (pa.array(["Yes", "No", None]), "boolean", {}),
        (pa.array([1, 0, 1], pa.int8()), "boolean", {}),
        (pa.array(["hi", "lo", None]), "ordinal", {"order": ("lo", "mid", "hi")}),
        (pa.array([3, 1, 2]), "ordinal", {"order": ("1", "2", "3")}),
        (pa.array([1.0, 2.0, None]), "ordinal", {"order": ("1", "2")}),
        (pa.array([dt.date(2024, 2, 29), None, dt.date(1969, 1, 1)]), "datetime", {}),
        (pa.array([dt.datetime(2024, 2, 29, 13, 5, 7, 1), None]), "datetime", {}),
        (pa.array([dt.datetime(2024, 2, 29)], pa.timestamp("s", "Europe/Madrid")), "datetime", {}),
        (pa.array([dt.time(13, 5, 7), None]), "datetime", {}),
        (pa.array(["2024-02-29", None, "1969-01-01"]), "datetime", {}),
        (pa.array(["2024-02-29 13:05:07", None]), "datetime", {}),
        (pa.array(["2024-02-29T13:05"]), "datetime", {}),
        (pa.array(["2024-02-29T13:05:07.125"]), "datetime", {}),
        (pa.array(["13:05", "00:00"]), "datetime", {}),
        (pa.array(["29.02.2024", None]), "datetime", {"format": "%d.%m.%Y"}),
    ],
)
def test_there_and_back(array, kind, more):
    same(array, kind, **more)


def test_a_categorical_comes_back_without_the_levels_that_are_gone():
    array = pa.DictionaryArray.from_arrays([0, 2, None, 1], ["a", "b", "rare"], ordered=True)
    typed = read(array, "nominal")
    back = typed.write(np.array([0.0, 0.0, NAN, 1.0]))
    assert back.to_pylist() == ["a", "a", None, "b"]
    assert back.dictionary.to_pylist() == ["a", "b"]
    assert back.type.ordered


def test_levels_that_no_record_has_are_no_categories():
    array = pa.DictionaryArray.from_arrays([0, 0], ["a", "b"])
    assert read(array, "nominal").column.categories == ("a",)


def test_chunks_with_dictionaries_of_their_own():
    chunks = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", None]).dictionary_encode()])
    assert read(chunks, "nominal").column.categories == ("a", "b", "c")
    same(chunks, "nominal")


def test_decimal_commas():
    typed = read(["1,5", "-2", None], "numeric", ",")
    assert typed.column.numbers[:2].tolist() == [1.5, -2.0]
    assert typed.write(np.array([1.25, 3.0, NAN])).to_pylist() == ["1,25", "3", None]
    with pytest.raises(CoterieError, match="1 that are none"):
        read(["1,5", "2.5"], "numeric", ",")


def test_rounded_texts_have_their_decimals():
    typed = read(["1.5", "2"], "numeric", decimals=2)
    assert typed.step == 0.01
    assert typed.write(np.array([1.0, 2.25])).to_pylist() == ["1.00", "2.25"]


@pytest.mark.parametrize(
    ("values", "kind", "more"),
    [
        (["1", "x-secret"], "numeric", {}),
        (["1", "1e999"], "numeric", {}),
        (["nan", "1"], "numeric", {}),
        (["1", "1_000"], "integer", {}),
        (["1", "2.5"], "integer", {}),
        ([2**53 + 1, 2], "integer", {}),
        ([1.0, float("inf")], "numeric", {}),
        (["x-secret", "b", "c"], "boolean", {}),
        (["yes", "true"], "boolean", {}),
        (["lo", "x-secret"], "ordinal", {"order": ("lo", "hi")}),
        (["2024-13-01", "x-secret"], "datetime", {}),
        (["2024-01-01", "2024-01-01 10:00"], "datetime", {}),
        ([1, 2], "datetime", {}),
        ([True, False], "numeric", {}),
        ([[1], [2]], "numeric", {}),
        ([dt.date(2024, 1, 1)], "datetime", {"format": "%d"}),
    ],
)
def test_what_a_kind_does_not_take(values, kind, more):
    with pytest.raises(CoterieError) as caught:
        read(values, kind, **more)
    assert "x-secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or "x-secret" not in str(caught.value.__context__)


def test_too_many_categories():
    with pytest.raises(CoterieError, match="at most 4,096"):
        read([f"c{i}" for i in range(5000)], "nominal")


def test_confidential_categories_that_differ_in_blanks_are_one():
    """Those that verify would take for one."""
    texts = pa.array(["flu", " flu", "flu\u00a0", " ", None, "none", "\u200bnone"])
    column = kinds.read("x", texts, ColumnRule("confidential", "nominal")).column
    assert column.categories == ("flu", "none")
    assert np.array_equal(column.numbers, [0, 0, 0, NAN, NAN, 1, 1], equal_nan=True)
    assert len(read(texts, "nominal").column.categories) == 6  # of a quasi-identifier, anyone can tell them apart


def test_dates_are_rounded_to_what_they_resolve():
    day = 86_400e6
    assert read(["2024-02-29"], "datetime").step == day
    assert read(pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("ns")), "datetime").step == day
    assert read(["2024-02-29 13:05:07"], "datetime").step == 1e6
    assert read(pa.array([dt.datetime(2024, 1, 1, 1, 1, 1, 5)]), "datetime").step == 1.0


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1))
def test_any_texts_are_categories(texts):
    same(pa.array(texts, pa.string()), "nominal")


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.floats(-1e200, 1e200)), min_size=1))
def test_any_numbers_in_text(numbers):
    texts = [None if x is None else repr(x) for x in numbers]
    typed = read(pa.array(texts, pa.string()), "numeric")
    again = read(typed.write(typed.column.numbers), "numeric")
    np.testing.assert_array_equal(typed.column.numbers, again.column.numbers)


@pytest.mark.parametrize(
    ("texts", "how", "share", "wanted"),
    [
        (["1980", "1981"], "%Y", 0.4, "1980"),
        (["1980", "1981"], "%Y", 0.6, "1981"),
        (["12/1980", "01/1981"], "%m/%Y", 0.6, "01/1981"),
        (["09", "10"], "%H", 0.6, "10"),
        (["01.02.2020", "03.02.2020"], "%d.%m.%Y", 0.5, "02.02.2020"),
        (["01.12.9998", "31.12.9999"], "%d.%m.%Y", 1.0, "31.12.9999"),
    ],
)
def test_means_are_rounded_to_what_a_format_says(texts, how, share, wanted):
    typed = read(texts, "datetime", format=how)
    low, high = typed.column.numbers
    assert typed.write(np.array([low + share * (high - low)])).to_pylist() == [wanted]


def test_weeks_without_their_day_are_refused():
    with pytest.raises(CoterieError, match="must hold dates or times"):
        read(["2020-17", "2020-18"], "datetime", format="%Y-%W")
    same(["2020-17-1", "2020-18-3"], "datetime", format="%Y-%W-%w")
