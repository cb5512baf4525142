"""Glances: the literal counts, the same in memory and part by part, for columns of every kind."""

import csv
import math
import pickle
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.engines import duckdb as duckdb_engine
from coterie.recipe.draft import look
from coterie.release import number_texts
from coterie.release import source as sources
from coterie.release.drafting import draft_recipe, suggestions
from coterie.release.glance import BINS, MOST_FREQUENT, Glance, glances, unfit_counts
from coterie.release.looks import looks, samples
from coterie.release.source import open_source
from coterie.tables.sample import MOST, Sample

GB = 1 << 30


# What is to be counted, word by word


def sampled_slowly(values):
    """The values whose multiples of the golden ratio have the smallest fractions, one in 2, 4, 8, ..."""
    values = [v for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
    parts = [i * 0x9E3779B97F4A7C15 % 2**64 for i in range(len(values))]
    limit = 2**64
    while sum(part < limit for part in parts) > MOST:
        limit //= 2
    return [v for v, part in zip(values, parts, strict=True) if part < limit], len(values)


def bins_slowly(numbers):
    ranked = sorted(n for n in numbers if math.isfinite(n))
    if not ranked:
        return ()
    last = len(ranked) - 1
    low, high = ranked[math.floor(0.01 * last)], ranked[math.ceil(0.99 * last)]
    if low == high:
        low, high = ranked[0], ranked[-1]
    if low == high:
        return (len(ranked),)
    counts = [0] * BINS
    for number in ranked:
        share = (Fraction(number) - Fraction(low)) / (Fraction(high) - Fraction(low))
        counts[min(max(math.floor(share * BINS), 0), BINS - 1)] += 1
    return tuple(counts)


def frequent_slowly(values):
    counts = sorted(Counter(values).values(), reverse=True)
    rest = sum(counts[MOST_FREQUENT:])
    return (*counts[:MOST_FREQUENT], *([rest] if rest else []))


def slowly(name, values, number=None):
    """The glance of values; `number` makes one of each."""
    some, there = sampled_slowly(values)
    counts = frequent_slowly(some) if number is None else bins_slowly([number(v) for v in some])
    return Glance(name, counts, number is not None, len(some) if len(some) < there else None)


def seconds(moment):
    return datetime(moment.year, moment.month, moment.day, tzinfo=UTC).timestamp()


def of_text(form="%Y-%m-%d"):
    return lambda text: seconds(datetime.strptime(text.strip(), form))


def table(n):
    """Columns of all kinds, and how their values become numbers."""
    rng = np.random.default_rng(3)
    days = [date(1990, 1, 1) + timedelta(int(i)) for i in rng.integers(0, 9000, n)]
    eighths = rng.integers(-4000, 4000, n) / 8
    columns = {
        "eighth": (eighths.tolist(), float),
        "wave": ([i % 4 + 1 for i in range(n)], float),
        "income": ([None if i % 3 == 0 else int(v) for i, v in enumerate(rng.integers(0, 2**20, n))], float),
        "day": (days, seconds),
        "german": ([f"{d:%d.%m.%Y}" for d in days], of_text("%d.%m.%Y")),
        "iso": ([d.isoformat() for d in days], of_text()),
        "town": ([f"town {int(i)}" for i in np.minimum(rng.geometric(0.1, n), 40)], None),
        "sex": ([["m", "f"][i % 2] for i in range(n)], None),
        "key": ([f"k{i}" for i in range(n)], None),
        "gone": ([None] * n, None),
        "code": ([f"{int(i):05d}" for i in rng.integers(0, 300, n)], None),
    }
    kinds = {"income": pa.int64(), "gone": pa.string()}
    arrays = {name: pa.array(values, kinds.get(name)) for name, (values, _) in columns.items()}
    return pa.table(arrays), {name: number for name, (_, number) in columns.items()}


def expected(what, numbers):
    return {name: slowly(name, what.column(name).to_pylist(), numbers[name]) for name in what.column_names}


@pytest.fixture
def large(monkeypatch):
    """Files come part by part, and each part is small."""

    def apply():
        monkeypatch.setattr(sources, "needed", lambda _: 1 << 60)
        monkeypatch.setattr(duckdb_engine, "_BATCH", 2048)

    return apply


@pytest.mark.parametrize("n", [50, 1000, MOST, MOST + 1, 50_000])
def test_a_table_in_memory(n):
    what, numbers = table(n)
    found = glances(open_source(what))
    assert found == expected(what, numbers)
    assert list(found) == what.column_names
    assert all(
        (one.sampled is None) == (n <= MOST or name in ("gone",)) or name == "income" for name, one in found.items()
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_same_part_by_part_in_one_scan(tmp_path, large, kind, monkeypatch):
    what, _ = table(50_000)
    path = tmp_path / f"t.{kind}"
    pa.csv.write_csv(what, path) if kind == "csv" else pa.parquet.write_table(what, path)
    at_once = open_source(path)
    assert at_once.fits
    want, unfit, text = glances(at_once), unfit_counts(at_once), draft_recipe(at_once)
    large()
    source = open_source(path, memory=GB)
    assert not source.fits
    scans, scan = [], duckdb_engine.DuckDBEngine.scan

    def counted(self, columns):
        scans.append(list(columns))
        return scan(self, columns)

    monkeypatch.setattr(duckdb_engine.DuckDBEngine, "scan", counted)
    looks(source)
    assert glances(source) == want
    assert scans == [what.column_names]
    assert draft_recipe(source) == text
    assert (suggestions(source), unfit_counts(source)) == (suggestions(at_once), unfit)
    assert len(scans) == (2 if kind == "csv" else 1)  # texts that may be numbers are counted once, of some columns


def test_a_file_of_texts_gives_what_its_types_would(tmp_path):
    what, numbers = table(3000)
    path = tmp_path / "t.csv"
    pa.csv.write_csv(what, path)
    assert glances(open_source(path)) == expected(what, numbers)


def test_numbers_in_a_dress_and_with_another_mark(tmp_path):
    cents = np.random.default_rng(0).integers(0, 10**9, 500)
    path = tmp_path / "t.csv"
    written = [f"{c // 100:,}".replace(",", ".") + f",{c % 100:02d} €" for c in cents]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([["x", "y"], *([text, "a"] for text in written)])
    source = open_source(path, {"delimiter": ";", "decimal": ",", "thousands": ".", "suffix": "€"})
    assert glances(source)["x"] == slowly("x", [float(c) / 100 for c in cents], float)


def test_whoever_comes_in_turn_is_seen():
    """As in a file that has two or four records for each person, where every second record is of one sort."""
    what, _ = table(200_000)
    found = glances(open_source(what.select(["wave", "sex"])))
    for counts in (found["sex"].counts, [count for count in found["wave"].counts if count]):
        assert max(counts) - min(counts) <= 0.01 * sum(counts)
    assert MOST / 2 < found["sex"].sampled <= MOST


def test_parts_of_any_size_give_one_sample():
    values = pa.array([None if i % 7 == 0 else i for i in range(70_000)])
    whole = Sample()
    whole.add(values)
    draw = np.random.default_rng(0)
    for _ in range(5):
        ends = [0, *np.sort(draw.integers(0, len(values), 9)).tolist(), len(values)]
        parts = Sample()
        for start, end in pairwise(ends):
            parts.add(values.slice(start, end - start))
        assert parts.there == whole.there == 60_000
        assert parts.values.equals(whole.values)
    assert whole.values.to_pylist() == sampled_slowly(values.to_pylist())[0]


def one(array):
    found = glances(open_source(pa.table({"x": array})))
    assert pickle.loads(pickle.dumps(found)) == found
    return found["x"]


nan, inf = math.nan, math.inf


@pytest.mark.parametrize(
    ("array", "counts", "numeric"),
    [
        (pa.nulls(3), (), False),
        (pa.nulls(3, pa.string()), (), False),
        (pa.nulls(3, pa.float64()), (), True),
        (pa.nulls(3, pa.date32()), (), True),
        (pa.array([nan, nan]), (), True),
        (pa.array([inf, -inf]), (), True),
        (pa.array([inf, 2.0, 2.0, nan, None]), (2,), True),
        (pa.array([7]), (1,), True),
        (pa.array([7, 7, 7]), (3,), True),
        (pa.array(["a"]), (1,), False),
        (pa.array([1, 2]), (1, *[0] * 14, 1), True),
        (pa.array([-1.7e308, 1.7e308]), (1, *[0] * 14, 1), True),
        (pa.array([5e-324, 5e-324]), (2,), True),
        (pa.array([0, 2**64 - 1], pa.uint64()), (1, *[0] * 14, 1), True),
        (pa.array([1, 2]).cast(pa.decimal128(25, 2)), (1, *[0] * 14, 1), True),
        (pa.array([1, 2], pa.float32()).cast(pa.float16()), (1, *[0] * 14, 1), True),
        (pa.array([True, False, True, None]), (2, 1), False),
        (pa.array([b"a", b"b", b"b"]), (2, 1), False),
        (pa.array([b"a", b"b", b"b"], pa.binary(1)), (2, 1), False),
        (pa.array([1, 1, 2], pa.duration("s")), (2, 1), False),
        (pa.array([1, 1, 3], pa.time32("s")), (2, *[0] * 14, 1), True),
        (pa.array([1, 1, 3], pa.time64("ns")), (2, *[0] * 14, 1), True),
        (pa.array([1, 1, 3], pa.timestamp("ms", "UTC")), (2, *[0] * 14, 1), True),
        (pa.array([1, 1, 86_400_001], pa.date64()), (2, *[0] * 14, 1), True),
        (pa.array([(1, 2, 3), (1, 2, 3), (2, 2, 3)], pa.month_day_nano_interval()), (2, 1), False),
        (pa.array([[1], [2]]), (), False),
        (pa.array([{"a": 1}, None]), (), False),
        (pa.array(["b", "a", None, "b"]).dictionary_encode(), (2, 1), False),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", None])), (1,), False),
        (pa.array(["1e400", "2", "1"]), (1, *[0] * 14, 1), True),
        (pa.array(["+1", " 2 "]), (1, *[0] * 14, 1), True),
        (pa.array(["2020-01-01", "2020-01-02T10:00", "2020-01-03T00:00+02:00"]), None, True),
        (pa.array(["2020-W01", "0001-01-01", "9999-12-31T23:59:59-12:00"]), None, True),
        (pa.array(["01/02/2020", "02/03/2020"]), (1, 1), False),  # the day or the month first?
    ],
    ids=lambda what: str(what.type) if isinstance(what, pa.Array) else None,
)
def test_odd_columns(array, counts, numeric):
    found = one(array)
    assert found.numeric == numeric
    assert found.sampled is None
    assert found.counts == counts if counts is not None else sum(found.counts) == len(array)


def test_views_and_runs():
    for kind in ("string_view", "binary_view"):
        if hasattr(pa, kind):
            assert one(pa.array([b"a", b"b", b"b", None]).cast(getattr(pa, kind)())).counts == (2, 1)
    assert one(pa.RunEndEncodedArray.from_arrays([3, 5, 6], pa.array([1.5, None, 2.5]))).counts == (3, *[0] * 14, 1)


def test_most_values_are_the_same():
    assert one(pa.array([0] * 999 + [1600])).counts == (999, *[0] * 14, 1)
    assert one(pa.array([*range(1600), 10**9])).counts[-1] in range(99, 120)  # far out, and in the last bin


ODD = st.one_of(
    st.lists(st.one_of(st.none(), st.floats()), max_size=60).map(lambda v: pa.array(v, pa.float64())),
    st.lists(st.one_of(st.none(), st.floats(width=32)), max_size=60).map(lambda v: pa.array(v, pa.float32())),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=60).map(
        lambda v: pa.array(v, pa.int64())
    ),
    st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=60).map(lambda v: pa.array(v, pa.string())),
    st.lists(st.one_of(st.none(), st.text("0123456789.,-+e ", max_size=6)), max_size=30).map(
        lambda v: pa.array(v, pa.large_string())
    ),
    st.lists(st.one_of(st.none(), st.dates().map(str), st.datetimes().map(str)), max_size=30).map(
        lambda v: pa.array(v, pa.string())
    ),
    st.lists(st.one_of(st.none(), st.datetimes()), max_size=30).map(lambda v: pa.array(v, pa.timestamp("us"))),
    st.lists(st.one_of(st.none(), st.booleans()), max_size=30).map(lambda v: pa.array(v, pa.bool_())),
    st.lists(st.one_of(st.none(), st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9),
             max_value=10**9)), max_size=30).map(lambda v: pa.array(v, pa.decimal128(30, 3))),
    st.lists(st.one_of(st.none(), st.lists(st.integers(0, 3))), max_size=9).map(
        lambda v: pa.array(v, pa.list_(pa.int64()))
    ),
)  # fmt: skip


@given(ODD, st.sampled_from([None, "dictionary", "slice"]))
@settings(max_examples=300, deadline=None)
def test_odd_columns_of_any_kind(array, how):
    array = pa.concat_arrays([array, pa.nulls(1, array.type)])
    if how == "dictionary" and not pa.types.is_nested(array.type):
        array = array.dictionary_encode()
    if how == "slice" and len(array) > 1:
        array = array.slice(1)
    found, seen = one(array), look(array)
    assert found.sampled is None
    assert len(found.counts) <= (BINS if found.numeric else MOST_FREQUENT + 1)
    assert all(isinstance(count, int) and count >= 0 for count in found.counts)
    plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    if seen.nested:
        assert found.counts == ()
    elif not found.numeric:
        assert found == slowly("x", plain.to_pylist())
    else:
        there = [v for v in plain.to_pylist() if v is not None]
        number = seen.contents.number or seen.kind != "datetime"
        assert sum(found.counts) == sum(not number or math.isfinite(float(v)) for v in there)  # 1e999 is not


@given(st.lists(st.integers(-(2**20), 2**20).map(lambda v: v / 64), min_size=1, max_size=400))
@settings(max_examples=200, deadline=None)
def test_bins_are_the_literal_ones(values):
    """Of numbers whose places among the bins floats can tell exactly, or nearly so."""
    found, want = one(pa.array(values)).counts, bins_slowly(values)
    assert len(found) == len(want)
    assert sum(found) == len(values)
    assert np.abs(np.cumsum(found) - np.cumsum(want)).max() <= _on_edges(values)


def _on_edges(values):
    """How many values lie so close to an edge that rounding decides."""
    ranked = sorted(values)
    last = len(ranked) - 1
    low, high = ranked[math.floor(0.01 * last)], ranked[math.ceil(0.99 * last)]
    if low == high:
        low, high = ranked[0], ranked[-1]
    if low == high:
        return 0
    places = [(v - low) / (high - low) * BINS for v in values]
    return sum(abs(place - round(place)) < 1e-9 for place in places)


def test_many_different_texts_stay_cheap():
    source = open_source(pa.table({"x": pa.array([f"text {i}" for i in range(300_000)])}))
    found = glances(source)["x"]
    assert found.counts == (*[1] * 12, found.sampled - 12)
    assert len(samples(source)["x"].values) <= MOST


def test_how_many_values_are_no_numbers(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    odd = {0: "n/a", 1: "12 345,5"}
    rows = [[i, i * 1.25 + 0.5, odd.get(i % 50, i), "ab"[i % 2]] for i in range(200)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "v", "w", "sex"], *rows])
    source = open_source(path)
    asked = next(column for column in suggestions(source).columns if column.name == "w").question
    monkeypatch.setattr(number_texts, "_fits", None)  # nothing is counted again
    assert unfit_counts(source) == {"w": 8}
    assert re.search(r"\((\d+) that are not plain numbers", asked).group(1) == "8"
    assert unfit_counts(open_source(pa.table({"w": ["1", "2", "x"]}))) == {}


def test_a_glance_is_small_and_holds_no_value():
    what, _ = table(50_000)
    found = glances(open_source(what))
    assert len(pickle.dumps(found)) < 3000
    for glance in found.values():
        assert set(vars(glance)) == {"name", "counts", "numeric", "sampled"}
        assert all(type(count) is int for count in glance.counts)
