"""Prepared columns against a literal twin that takes one value at a time, and shares nothing with the package."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import CoterieError
from coterie.recipe import ColumnRule
from coterie.tables.bands import edges_between, known_edges, middles_of, names_of
from coterie.tables.preparing import Preparing, coarse, to_base
from coterie.tables.records import Reading, Records

MONTHS = {"month": 1, "quarter": 3, "year": 12}


def prepared(values, rule, type_=None, decimal=".", missing=(), rare=(), edges=None):
    """A column as the flow prepares it: the array, and how many values changed."""
    array = values if isinstance(values, pa.Array) else pa.array(values, type_)
    step = Preparing(rule, edges if edges is not None else known_edges(rule) or (), frozenset(rare))
    original = ColumnRule("other", rule.kind, format=rule.format)
    reading = Reading({}, decimal, missing, missing_texts=missing, preparing={"x": step}, original={"x": original})
    records = Records(np.arange(len(array)), lambda _: array, reading)
    return records.arrow("x"), records.changed("x")[:2]


def rule(kind="numeric", **options):
    return ColumnRule("other", kind, **options)


def twin_number(x, bottom, top, edges):
    """A number, or a label, as the documentation says it."""
    if x is None:
        return None
    if bottom is not None and x < bottom:
        x = bottom
    if top is not None and x > top:
        x = top
    if not edges:
        return x
    low = max(edge for edge in edges if edge <= x)
    above = [edge for edge in edges if edge > x]
    if not above:
        return f"{low}+"
    if bottom is not None and low <= bottom:
        return f"<{above[0]}"
    return str(low) if above[0] - low == 1 else f"{low}-{above[0] - 1}"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.none() | st.integers(-50, 150), min_size=1, max_size=30),
    st.none() | st.integers(-20, 40),
    st.none() | st.integers(41, 120),
)
def test_bounds_are_those_of_the_twin(values, bottom, top):
    if bottom is None and top is None:
        return
    expected = [twin_number(x, bottom, top, ()) for x in values]
    for kind, type_ in (("integer", pa.int16()), ("numeric", pa.int64()), ("numeric", pa.float64())):
        array, (changed, there) = prepared(values, rule(kind, top=top, bottom=bottom), type_)
        assert array.type == type_
        assert array.to_pylist() == expected
        assert changed == sum(a != b for a, b in zip(values, expected, strict=True))
        assert there == sum(x is not None for x in values)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.none() | st.integers(0, 150), min_size=1, max_size=30),
    st.lists(st.integers(1, 120), min_size=1, max_size=6, unique=True),
    st.booleans(),
)
def test_bands_are_those_of_the_twin(values, edges, has_bottom):
    edges = [0, *sorted(edges)]
    bottom = 0 if has_bottom else None
    array, _ = prepared(values, rule("integer", bands=tuple(edges), bottom=bottom), pa.int32())
    assert array.to_pylist() == [twin_number(x, bottom, None, edges) for x in values]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.sampled_from([0.1, 0.25, 0.05, 1, 2.5, 3, 10, 500, 0.001]),
)
def test_rounded_numbers_are_the_nearest_multiples(values, base):
    exact = Fraction(Decimal(repr(base)))
    for x, y in zip(values, to_base(np.array(values), base).tolist(), strict=True):
        count = round(Fraction(y) / exact)
        assert float(count * exact) == y  # the float next to a multiple
        assert abs(Fraction(y) - Fraction(x)) <= exact / 2 * (1 + Fraction(1, 10**9))


def test_ties_go_to_even_multiples():
    assert to_base(np.array([50.0, 150.0, 250.0, -50.0, 149.999]), 100).tolist() == [0.0, 200.0, 200.0, 0.0, 100.0]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20),
    st.sampled_from([0.1, 0.25, 5, 10, 2.5, 0.3]),
)
def test_bands_of_equal_width_hold_their_numbers(values, width):
    edges = edges_between(min(values), max(values), width)
    if edges is None:
        assert (max(values) - min(values)) / width > 4000
        return
    array, _ = prepared(values, rule("numeric", width=width, bands_as="middle"), pa.float64(), edges=edges)
    for x, middle in zip(values, array.to_pylist(), strict=True):
        low = math.floor(Decimal(repr(x)) / Decimal(repr(width))) * Decimal(repr(width))
        assert middle == (float(low) + float(low + Decimal(repr(width)))) / 2


def test_names_of_bands():
    assert names_of(rule("integer", bands=(0, 18, 30, 45, 65)), (0, 18, 30, 45, 65)) == (
        "0-17", "18-29", "30-44", "45-64", "65+",
    )  # fmt: skip
    named = rule("integer", bands=(18, 30), bottom_label="under 18", top_label="30 and over")
    assert names_of(named, (18, 30)) == ("under 18", "18-29", "30 and over")
    assert names_of(rule("numeric", bands=(0, 0.5, 2)), (0, 0.5, 2)) == ("0 to <0.5", "0.5 to <2", "2+")
    assert names_of(rule("integer", bands=(-10, -5, 0, 1)), (-10, -5, 0, 1)) == (
        "from -10 to -6", "from -5 to -1", "0", "1+",
    )  # fmt: skip
    both = rule("integer", width=10, bottom=15, top=90)
    assert names_of(both, known_edges(both))[:2] == ("<20", "20-29")
    assert names_of(both, known_edges(both))[-2:] == ("80-89", "90+")


def test_middles_are_within_the_bounds():
    # 0..17: (0 + 17) / 2 = 8.5, down to 8; 18..29: 23; 30..90: 60
    whole = rule("integer", bands=(0, 18, 30), top=90, bands_as="middle")
    assert middles_of(whole, (0, 18, 30)) == [8, 23, 60]
    # [0, 18): 9; [18, 30): 24; [30, 90]: 60
    assert middles_of(rule("numeric", bands=(0, 18, 30), top=90, bands_as="middle"), (0, 18, 30)) == [9, 24, 60]
    # bands at multiples of 10; the last is cut at top: [90, 92] has 91
    bounded = rule("numeric", width=10, bottom=75, top=92, bands_as="middle")
    assert middles_of(bounded, known_edges(bounded)) == [77.5, 85, 91]


def test_a_number_below_all_bands_is_refused_with_its_place():
    with pytest.raises(CoterieError, match=r"below the first edge.*2 that are, in records 2 and 4") as error:
        prepared([20, 3, None, 4], rule("integer", bands=(18, 30)))
    assert "bottom_label" in str(error.value)
    array, _ = prepared([20, 3], rule("integer", bands=(18, 30), bottom_label="<18"))
    assert array.to_pylist() == ["18-29", "<18"]
    assert prepared([20, 3], rule("integer", bands=(18, 30), bottom=18))[0].to_pylist() == ["<30", "<30"]


def test_labels_stand_for_values_at_and_beyond_a_bound():
    both = rule("integer", top=90, top_label="90+", bottom=15, bottom_label="15 or less")
    assert prepared([91, 90, 89, 15, 14, None], both)[0].to_pylist() == [
        "90+", "90+", "89", "15 or less", "15 or less", None,
    ]  # fmt: skip
    floats = rule("numeric", top=2, top_label="much")
    assert prepared([1.5, 1.0, 3.0], floats)[0].to_pylist() == ["1.5", "1", "much"]


def test_no_spelling_tells_which_values_were_there_before():
    """Seen: an original 1200.00 stood among values that were rounded to 1200."""
    assert prepared(["1200.00", "1234.50"], rule("numeric", round=100))[0].to_pylist() == ["1200", "1200"]

    assert prepared(["020", "007", "021"], rule("integer", bottom=20))[0].to_pylist() == ["20", "20", "021"]
    middle = rule("numeric", bands=(0, 10, 20), top=20, bands_as="middle")
    assert len(set(prepared(["5.0", "3"], middle)[0].to_pylist())) == 1
    labels = rule("numeric", bottom=0, top=9, top_label="9+")
    assert prepared(["0.00", "-3", "9.00"], labels)[0].to_pylist() == ["0", "0", "9+"]
    rounded = rule("numeric", round=10, top=90, top_label="90+")
    assert prepared(["20.0", "18"], rounded)[0].to_pylist() == ["20", "20"]
    dates = rule("datetime", precision="month", format="%d.%m.%Y")
    assert prepared(["1.5.2020", "17.05.2020"], dates)[0].to_pylist() == ["01.05.2020", "01.05.2020"]


def test_single_precision_has_its_own_digits_beside_a_label():
    values = pa.array([1.53, 10.0], pa.float32())
    assert prepared(values, rule("numeric", top=9, top_label="9+"), pa.float32())[0].to_pylist() == ["1.53", "9+"]


def test_texts_within_the_bounds_keep_their_spelling():
    texts = ["007", "+90", " 91", "1e2", "89,50", "", "NA"]
    array, (changed, there) = prepared(texts, rule("numeric", top=90), decimal=",", missing=("", "NA"))
    assert array.to_pylist() == ["007", "90", "90", "90", "89,50", "", "NA"]
    assert (changed, there) == (2, 5)
    assert prepared(["0,26", "00,25"], rule("numeric", round=0.25), decimal=",")[0].to_pylist() == ["0,25", "0,25"]


@pytest.mark.parametrize(
    ("options", "type_", "expected"),
    [
        ({"top": 90}, pa.uint8(), pa.uint8()),
        ({"top": 300}, pa.uint8(), pa.int64()),
        ({"top": 0.5}, pa.int32(), pa.float64()),
        ({"round": 0.1}, pa.float32(), pa.float64()),
        ({"round": 0.5}, pa.float32(), pa.float32()),
        ({"round": 0.5}, pa.decimal128(9, 2), pa.decimal128(9, 2)),
        ({"round": 0.125}, pa.decimal128(9, 2), pa.float64()),
        ({"bands": (0, 1, 2), "top": 3, "bands_as": "middle"}, pa.int8(), pa.float64()),
    ],
)
def test_types_depend_on_the_rule_alone(options, type_, expected):
    for values in ([0, 1, 100], [None, None], []):
        numbers = [None if v is None else Decimal(v) for v in values] if pa.types.is_decimal(type_) else values
        assert prepared(numbers, rule("numeric", **options), type_)[0].type == expected


def test_decimals_are_bounded_and_rounded_to_their_last_digit():
    """Floats cannot tell these from the bound, or from a multiple; what is released must not have the digits."""
    fine = ["90.00000000000000000001", "90", "89.99999999999999999999", "89", None]
    numbers = [None if text is None else Decimal(text) for text in fine]
    array, _ = prepared(numbers, rule(top=90), pa.decimal128(38, 20))
    assert array.to_pylist() == [90, 90, 90, 89, None]
    array, _ = prepared([Decimal("12345678901234567890.05")], rule(round=0.1), pa.decimal128(38, 2))
    assert array.to_pylist()[0] % Decimal("0.1") == 0
    array, _ = prepared(
        [Decimal("7.00000000000000000001")], rule(bands=(0, 7, 8), top=9, bands_as="middle"), pa.decimal128(38, 20)
    )
    assert array.to_pylist() == [Decimal("7.5")]


@pytest.mark.parametrize("options", [{"round": 5}, {"top": 0}, {"bottom": 0}])
def test_a_zero_with_a_sign_does_not_tell_that_it_was_there(options):
    array, _ = prepared([-0.0, 0.0], rule(**options))
    assert [math.copysign(1, value) for value in array.to_pylist()] == [1, 1]


@pytest.mark.parametrize(
    ("type_", "value", "base"), [(pa.uint8(), 255, 100), (pa.int8(), -127, 50), (pa.decimal128(5, 2), 999, 500)]
)
def test_a_number_that_is_rounded_beyond_its_type_is_refused_with_its_place(type_, value, base):
    with pytest.raises(CoterieError, match="record 2") as error:
        prepared([Decimal(1), Decimal(value)] if pa.types.is_decimal(type_) else [1, value], rule(round=base), type_)
    assert "top" in str(error.value)
    assert str(value) not in str(error.value)


def test_numbers_far_above_a_base_stay():
    """Beyond 2^53 bases, each float is as near to a multiple as floats are."""
    array, (changed, _) = prepared([1e299, -1e299, 1e-15], rule(round=1e-15))
    assert array.to_pylist() == [1e299, -1e299, 1e-15]
    assert changed == 0


def test_half_floats_become_doubles_where_they_hold_no_multiples():
    array, _ = prepared(np.array([30000.0, 1.5], np.float16).tolist(), rule(round=7), pa.float16())
    assert array.type == pa.float64()
    assert array.to_pylist() == [30002.0, 0.0]


def twin_date(moment, precision):
    if precision == "hour":
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if precision == "week":
        return day - timedelta(days=day.weekday())
    if precision in MONTHS:
        every = MONTHS[precision]
        return day.replace(day=1, month=(day.month - 1) // every * every + 1)
    return day


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=10),
    st.sampled_from(["year", "quarter", "month", "week", "day", "hour"]),
)
def test_dates_are_those_of_the_twin(moments, precision):
    start = datetime(1970, 1, 1, tzinfo=UTC)
    ticks = np.array([(m.replace(tzinfo=UTC) - start) / timedelta(microseconds=1) for m in moments])
    expected = [twin_date(m, precision) for m in moments]
    found = [start.replace(tzinfo=None) + timedelta(microseconds=t) for t in coarse(ticks, precision).tolist()]
    assert found == expected
    array, _ = prepared(moments, rule("datetime", precision=precision), pa.timestamp("us"))
    assert array.to_pylist() == expected


def test_dates_in_text_keep_their_format():
    german = rule("datetime", precision="month", format="%d.%m.%Y", top="2020-06-30")
    array, (changed, _) = prepared(["17.05.2020", "01.02.2019", "24.12.2021", None], german)
    assert array.to_pylist() == ["01.05.2020", "01.02.2019", "01.06.2020", None]
    assert changed == 2
    days = rule("datetime", bottom="1950-01-01")
    assert prepared([date(1949, 5, 5), date(1951, 1, 1)], days, pa.date32())[0].to_pylist() == [
        date(1950, 1, 1), date(1951, 1, 1),
    ]  # fmt: skip


def test_moments_with_a_zone_go_by_its_clock():
    """23:30 of the last day of June in Berlin is July nowhere; in universal time, half past nine in the evening."""
    moments = [datetime(2020, 6, 30, 21, 30, tzinfo=UTC), datetime(2020, 6, 30, 22, 30, tzinfo=UTC), None]
    array, _ = prepared(moments, rule("datetime", precision="month"), pa.timestamp("us", "Europe/Berlin"))
    assert [None if m is None else m.replace(tzinfo=None) for m in array.to_pylist()] == [
        datetime(2020, 6, 1), datetime(2020, 7, 1), None,
    ]  # fmt: skip
    texts = ["2020-06-30T23:30:00+02:00"]
    assert prepared(texts, rule("datetime", precision="day"))[0].to_pylist() == ["2020-06-30T00:00:00+00:00"]


def test_an_hour_that_comes_twice_is_written_once():
    """When clocks go back, 2:00 comes twice: kept as it was, the second would tell that it is an original."""
    moments = [datetime(2020, 10, 25, 1, 0, tzinfo=UTC), datetime(2020, 10, 25, 1, 20, tzinfo=UTC)]
    array, _ = prepared(moments, rule("datetime", precision="hour"), pa.timestamp("s", "Europe/Berlin"))
    assert len(set(array.cast(pa.int64()).to_pylist())) == 1


@pytest.mark.parametrize(
    ("zone", "moment", "options"),
    [
        ("America/Sao_Paulo", datetime(2018, 11, 4, 5, tzinfo=UTC), {"precision": "day"}),
        ("Asia/Beirut", datetime(2018, 3, 26, 5, tzinfo=UTC), {"top": "2018-03-25T00:30:00"}),
    ],
)
def test_a_moment_that_the_clock_of_a_zone_skips_is_refused_with_its_place(zone, moment, options):
    """Clocks go forward at midnight in some countries: that day has no first moment."""
    moments = [datetime(2017, 7, 1, tzinfo=UTC), moment]
    with pytest.raises(CoterieError, match=r"skips.*record 2"):
        prepared(moments, rule("datetime", **options), pa.timestamp("s", zone))


@pytest.mark.parametrize(
    ("values", "type_"), [([date(2020, 5, 3)], pa.date32()), ([date(2020, 5, 3)], pa.date64()), (["2020-05-03"], None)]
)
@pytest.mark.parametrize("precision", ["day", "hour"])
def test_a_precision_that_dates_have_already_is_refused(values, type_, precision):
    with pytest.raises(CoterieError, match="holds days"):
        prepared(values, rule("datetime", precision=precision), type_)


def test_a_bound_that_the_column_cannot_hold_is_refused():
    for values, type_, options in (
        ([date(2020, 1, 1)], pa.date32(), {"top": "2020-05-05T12:00:00"}),
        (["05/2020"], pa.string(), {"top": "2020-05-20", "format": "%m/%Y"}),
    ):
        with pytest.raises(CoterieError, match="must be able to hold its top"):
            prepared(values, rule("datetime", **options), type_)


def test_times_of_the_day_have_no_date():
    assert prepared(["12:34", "09:00"], rule("datetime", precision="hour"))[0].to_pylist() == ["12:00", "09:00"]
    for options in ({"precision": "month"}, {"top": "2020-01-01"}, {"precision": "hour", "top": "2020-01-01"}):
        with pytest.raises(CoterieError, match="have no date"):
            prepared(["12:34"], rule("datetime", **options))
    with pytest.raises(CoterieError, match="only if they are text"):
        prepared([3600], rule("datetime", precision="hour"), pa.time32("s"))


def twin_category(text, recode, others, rare):
    if text is None:
        return None
    if recode:
        text = recode.get(text, text if others is None else others)
    return others if text in rare else text


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.none() | st.sampled_from("abcde"), min_size=1, max_size=20),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from(["a", "b", "x"]), max_size=3),
    st.none() | st.sampled_from(["other", "a"]),
    st.sets(st.sampled_from("abx"), max_size=2),
)
def test_categories_are_those_of_the_twin(values, recode, others, rare):
    rare = rare if others is not None else set()
    some = rule("nominal", recode=recode or None, others=others, rare=2 if rare else None)
    expected = [twin_category(text, recode, others, rare) for text in values]
    for array in (pa.array(values, pa.string()), pa.array(values, pa.string()).dictionary_encode()):
        made, (changed, _) = prepared(array, some, rare=rare)
        assert made.type == array.type
        assert made.to_pylist() == expected
        assert changed == sum(a != b for a, b in zip(values, expected, strict=True))
        if pa.types.is_dictionary(made.type):  # no level of a category that went away
            assert set(made.dictionary.to_pylist()) == {text for text in expected if text is not None}


def test_codes_stay_numbers_if_the_new_names_are():
    codes = [1.0, 2.0, 3.0, None]
    assert prepared(codes, rule("nominal", recode={"3": "2"}))[0].to_pylist() == [1.0, 2.0, 2.0, None]
    texts = prepared(codes, rule("nominal", recode={"3": "two"}))[0]
    assert texts.to_pylist() == ["1", "2", "two", None]
    assert prepared([1, 2], rule("nominal", recode={"2": "1.5"}), pa.int32())[0].type == pa.string()


def test_no_error_holds_a_value():
    with pytest.raises(CoterieError) as error:
        prepared(["12", "secret-7"], rule("integer", top=90))
    assert "secret" not in str(error.value)
