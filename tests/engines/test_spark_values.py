"""What Spark releases is what one machine releases: for every type, every layout of files, every setting of Spark."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import coterie as ct
from coterie.errors import CoterieError
from coterie.release import cluster_source
from spark_releases import laid, people, recipe, released, told
from spark_sessions import spark  # noqa: F401

ENGINES = ("memory", "duckdb", "spark")


@pytest.fixture(autouse=True)
def _session(spark):  # noqa: F811
    """Every test has a session, with the settings that it had before."""
    names = ("spark.sql.adaptive.enabled", "spark.sql.session.timeZone", "spark.sql.shuffle.partitions")
    before = {name: spark.conf.get(name) for name in names}
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


def same(table, how, rows=50):
    """The released records, which must be the same on every engine, or what is refused, in the same words."""
    expected, *others = [told(lambda e=e: released(table, how, e, None if e == "memory" else rows)) for e in ENGINES]
    if not isinstance(expected[0], pa.Table):
        assert [expected] * 2 == others
        return expected
    data, whole = expected
    for found, release in others:
        assert found.schema.remove_metadata() == data.schema.remove_metadata()
        assert bits(found) == bits(data)
        assert facts(release) == facts(whole)
    return data


def bits(data):
    """All values, with their bits: -0.0 is not 0.0 here, and nothing is unlike itself."""
    return {name: [repr(value) for value in column] for name, column in data.to_pydict().items()}


def facts(release):
    return [(one.groups, one.sizes, one.constant_records) for one in release.facts.groupings]


@pytest.mark.parametrize(("files", "row_group"), [(1, 1000), (3, 40), (16, 7)])
def test_files_and_row_groups(tmp_path, files, row_group):
    data = same(laid(tmp_path / "in", people(), files, row_group), recipe())
    assert data.equals(released(people(), recipe(), "memory")[0])


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_adaptive_execution(tmp_path, spark, adaptive):  # noqa: F811
    folder = laid(tmp_path / "in", people(), 5)
    expected = released(folder, recipe(), "memory")[0]
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    assert released(folder, recipe(), "spark", 40)[0].equals(expected)


def test_paths_decide_the_order_and_not_who_came_first(tmp_path):
    """Some of the files are empty, the first and the last among them."""
    folder = laid(tmp_path / "in", people(), 6, order=[4, 1, 8, 5, 0, 3, 2, 7, 6], empty=True)
    assert same(folder, recipe()).equals(released(people(), recipe(), "memory")[0])


def test_files_without_records_alone(tmp_path):
    folder = laid(tmp_path / "in", people(), 1)
    parquet.write_table(people()[:0], folder / "part-000.parquet")
    assert same(folder, recipe())[0] is CoterieError


def test_a_column_of_equal_values(tmp_path):
    table = people().set_column(0, "age", pa.array([7] * 240))
    folder = laid(tmp_path / "in", table)
    assert set(same(folder, recipe())["age"].to_pylist()) == {7}


def test_a_block_of_equal_records_is_cut_by_their_order(tmp_path):
    """No value tells them apart: who belongs to which piece follows from who came before, in other tasks, too."""
    table = people()
    for at, value in enumerate((40, 1000.0, "south")):
        own = table[at].to_pylist()
        table = table.set_column(
            at, table.column_names[at], pa.array([value if i % 8 else x for i, x in enumerate(own)])
        )
    folder = laid(tmp_path / "in", table, 4, 9)
    how = recipe({"illness": {"role": "confidential", "kind": "nominal", "l": 2}}, blocks=12)
    assert same(folder, how, 20).num_rows == 240
    release = released(folder, how, "spark", 20)[1]
    assert any((np.diff(first) > 3).any() for d in release._tally.plan.divisions for first in d.first)


@pytest.mark.parametrize("small", ["refuse", "merge", "suppress"])
def test_a_stratum_below_k(tmp_path, small):
    table = people()
    regions = ["far" if i in (3, 200) else region for i, region in enumerate(table["region"].to_pylist())]
    folder = laid(tmp_path / "in", table.set_column(2, "region", pa.array(regions)))
    found = same(folder, recipe(strata={"within": ["region"], "small": small}))
    if small == "refuse":
        assert found[0] is ct.PromiseError
    else:
        assert found.num_rows == (240 if small == "merge" else 238)


def some(values, n=240, seed=1):
    return [values[j] for j in np.random.default_rng(seed).integers(0, len(values), n)]


NEW_YORK = [dt.datetime(2021, 11, 7, h, m) for h in (0, 1, 2) for m in (0, 30)]  # an hour of that day is there twice
DAYS = [dt.date(1969, 12, 31), dt.date(1582, 10, 4), dt.date(2024, 2, 29), dt.date(2200, 1, 1)]
TYPES = {
    "nan": ("numeric", pa.array(some([float("nan"), -0.0, 0.0, 1.5, None]), pa.float64())),
    "zeros": ("numeric", pa.array(some([-0.0, 0.0]), pa.float64())),
    "float32": ("numeric", pa.array(some([0.1, -0.0, 3.4e38, None]), pa.float32())),
    "decimal": ("numeric", pa.array(some([Decimal("1.50"), Decimal("-0.01"), Decimal("99.99")]), pa.decimal128(12, 2))),
    "wide decimal": ("numeric", pa.array(some([Decimal(10) ** 36, Decimal(-1)]), pa.decimal128(38, 0))),
    "uint64": ("integer", pa.array(some([2**53 - 1, 1, 0, None]), pa.uint64())),
    "day": ("datetime", pa.array(some(DAYS), pa.date32())),
    "local": ("datetime", pa.array(some(NEW_YORK), pa.timestamp("us"))),
    "nanoseconds": ("datetime", pa.array(some([1, 999, 10**18 + 1]), pa.int64()).cast(pa.timestamp("ns"))),
    "zoned": ("datetime", pa.array(some(NEW_YORK), pa.timestamp("us", "America/New_York"))),
    "utc": ("datetime", pa.array(some(NEW_YORK), pa.timestamp("ms", "UTC"))),
    "words": ("nominal", pa.array(some(["u", "v", "w", None])).dictionary_encode()),
    "flag": ("boolean", pa.array(some([True, False, None]))),
}
KEPT = {
    "time": pa.array(some([dt.time(0), dt.time(23, 59, 59, 999999), None]), pa.time64("us")),
    "bytes": pa.array(some([b"\0", b"", b"\xff\0", None]), pa.binary()),
    "fixed": pa.array(some([b"abcd", b"\0\0\0\0"]), pa.binary(4)),
    "nothing": pa.nulls(240),
    "list": pa.array(some([[1, 2], [], None]), pa.list_(pa.int64())),
    "struct": pa.array(some([{"a": 1, "b": "x"}, None]), pa.struct([("a", pa.int8()), ("b", pa.string())])),
    "kept nan": pa.array(some([float("nan"), -0.0, 0.0, None]), pa.float64(), from_pandas=False),
    "kept zone": pa.array(some(NEW_YORK), pa.timestamp("ns", "America/New_York")),
    "kept words": pa.array(some(["x", None, "ä"])).dictionary_encode(),
    "kept decimal": pa.array(some([Decimal("1.50")]), pa.decimal256(50, 2)),
    "kept unsigned": pa.array(some([2**64 - 1]), pa.uint64()),
    "a.b": pa.array(some([1, 2]), pa.int8()),
    "`": pa.array(some(["quoted", "\U0001f600"]), pa.large_string()),
}


@pytest.mark.parametrize("kinds", [("numeric", "integer"), ("datetime",), ("nominal", "boolean")])
def test_types_of_columns_that_are_masked(tmp_path, spark, kinds):  # noqa: F811
    """Records travel in the types of the files, whatever the session makes of days and hours."""
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    table, columns = people(), {}
    for name, (kind, values) in TYPES.items():
        if kind in kinds:
            table, columns[name] = table.append_column(name, values), {"role": "quasi", "kind": kind}
    found = same(laid(tmp_path / "in", table), recipe(columns, missing={"policy": "own-value", "small": "merge"}))
    assert isinstance(found, pa.Table)


def test_types_of_columns_that_are_kept(tmp_path, spark):  # noqa: F811
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    table = people()
    for name, values in KEPT.items():
        table = table.append_column(name, values)
    found = same(laid(tmp_path / "in", table), recipe(dict.fromkeys(KEPT, "other")))
    assert isinstance(found, pa.Table)
    assert bits(found.select(list(KEPT))) == bits(table.sort_by("note").select(list(KEPT)))


def test_partitioned_folders(tmp_path):
    table = people()
    for j, region in enumerate(["north", "south", "a b", None]):
        for year in (2023, 2024):
            name = "__HIVE_DEFAULT_PARTITION__" if region is None else region.replace(" ", "%20")
            place = tmp_path / "in" / f"region={name}" / f"year={year}"
            place.mkdir(parents=True)
            parquet.write_table(table.drop_columns(["region"])[j * 60 + (year - 2023) * 30 :][:30], place / "0.parquet")
    year = {"year": {"role": "quasi", "kind": "integer"}}
    found = same(tmp_path / "in", recipe(year, missing={"policy": "own-value", "small": "merge"}))
    assert found.num_rows == 240
    only = dict.fromkeys(("age", "income", "illness"), "other")
    assert same(tmp_path / "in", recipe({**year, **only}, missing="group")).num_rows == 240


def test_verdicts_are_the_same(tmp_path):
    folder = laid(tmp_path / "in", people(), 5)
    how = recipe({"illness": {"role": "confidential", "kind": "nominal", "l": 2, "t": 0.6}})
    for engine in ("duckdb", "spark"):
        ct.protect(folder, how, engine=engine).save(tmp_path / engine)
    made = tmp_path / "spark"
    verdicts = [ct.verify(made), ct.verify(made, engine="spark")]
    assert all(verdict.ok for verdict in verdicts)
    assert verdicts[0].facts() == verdicts[1].facts()
    one, other = (
        parquet.read_table(tmp_path / e / d).sort_by("note") for e, d in (("duckdb", "data.parquet"), ("spark", "data"))
    )
    assert one.equals(other)


MIXES = {
    "plain": {},
    "strata and weights": {"strata": {"within": ["region"], "small": "merge"}, "weights": "weight"},
    "guards and units": {"unit": "person", "columns": {"illness": {"role": "confidential", "kind": "nominal", "l": 2}}},
    "all": {
        "unit": "person",
        "weights": "weight",
        "strata": {"within": ["region"], "small": "merge"},
        "columns": {"illness": {"role": "confidential", "kind": "nominal", "l": 2, "t": 0.7}},
    },
}


@pytest.mark.parametrize("mix", MIXES)
def test_dataframes(spark, mix):  # noqa: F811
    """Rows have no order: that of the key decides."""
    more = dict(MIXES[mix])
    how = recipe(more.pop("columns", {}), **more)
    frame = spark.createDataFrame(people().to_pandas()).repartition(5)
    expected = told(lambda: released(people().sort_by("note"), how, "memory"))
    found = told(lambda: released(frame, how, "spark", 50, key="note"))
    if isinstance(expected[0], pa.Table):
        assert bits(found[0]) == bits(expected[0])
        assert facts(found[1]) == facts(expected[1])
    else:
        assert found == expected


def test_moments_in_dataframes(tmp_path, spark):  # noqa: F811
    table = people().append_column("zoned", TYPES["zoned"][1]).append_column("local", TYPES["local"][1])
    table = table.append_column("day", pa.array(some([DAYS[0], DAYS[2]]), pa.date32()))
    how = recipe({name: {"role": "quasi", "kind": "datetime"} for name in ("zoned", "local", "day")})
    utc = table.set_column(table.column_names.index("zoned"), "zoned", table["zoned"].cast(pa.timestamp("us", "UTC")))
    expected = bits(released(utc.sort_by("note"), how, "memory")[0])
    for zone in ("UTC", "America/New_York"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        parquet.write_table(table, tmp_path / "in.parquet")  # which says that a moment has no zone
        frame = spark.read.parquet(str(tmp_path / "in.parquet")).repartition(3)
        assert bits(released(frame, how, "spark", 50, key="note")[0]) == expected


def with_key(values):
    table = people(60).drop_columns(["note"]).append_column("note", pa.array([f"n{i:02d}" for i in range(60)]))
    return table.append_column("key", values)


REFUSED = {
    "repeats": pa.array([*range(59), 3]),
    "is missing": pa.array([*range(59), None]),
    "repeats what is no number": pa.array([*map(float, range(58)), float("nan"), float("nan")], from_pandas=False),
    "has two zeros": pa.array([*map(float, range(1, 59)), 0.0, -0.0]),
    "is a list": pa.array([[i] for i in range(60)]),
}


@pytest.mark.parametrize("why", REFUSED)
def test_keys_that_are_none(tmp_path, spark, why):  # noqa: F811
    frame = spark.createDataFrame(with_key(REFUSED[why])).repartition(3)
    with pytest.raises(CoterieError) as caught:
        ct.protect(frame, recipe({"key": "identifier"}), key="key").save(tmp_path / "out")
    assert type(caught.value) is CoterieError
    assert "key" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_files_that_a_store_refuses_when_they_are_closed(tmp_path, monkeypatch):
    """Nobody is told the name of such a file."""
    pyspark = pytest.importorskip("pyspark")

    class Stream(io.BytesIO):
        def close(self):
            super().close()
            raise OSError("the store is full")

    class Store:
        def open_output_stream(self, path):
            assert path.endswith(".parquet")
            return Stream()

    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: SimpleNamespace(partitionId=lambda: 3))
    monkeypatch.setattr(cluster_source, "file_system", lambda place: (Store(), place))
    with pytest.raises(OSError, match="full"):
        list(cluster_source.written(str(tmp_path), "note", people(60).sort_by("note").to_batches()))


def test_a_key_is_asked_for(spark):  # noqa: F811
    frame = spark.createDataFrame(people(60).to_pandas())
    with pytest.raises(CoterieError, match="needs a key"):
        ct.protect(frame, recipe())
    with pytest.raises(CoterieError, match="must be a column"):
        ct.protect(frame, recipe(), key="lacking")


@pytest.mark.parametrize("kind", ["text", "number", "bytes"])
def test_keys_of_any_type(spark, kind):  # noqa: F811
    """Texts in the order of their bytes, as pyarrow has them; numbers as numbers."""
    n = 60
    keys = {
        "text": pa.array([chr(0x41 + i) if i < 40 else chr(0x1F600 - i) for i in range(n)][::-1]),
        "number": pa.array([(-1) ** i * i * 0.5 for i in range(n)]),
        "bytes": pa.array([bytes([255 - i, i]) for i in range(n)]),
    }[kind]
    table = with_key(keys)
    frame = spark.createDataFrame(table).repartition(4)
    expected = released(table.sort_by("key"), recipe({"key": "identifier"}), "memory")[0]
    assert bits(released(frame, recipe({"key": "identifier"}), "spark", 20, key="key")[0]) == bits(expected)


@pytest.mark.parametrize("name", ["a blank, ümläut, 50%20off", "a[b]c {x,y} *?"])
def test_places_with_odd_names(tmp_path, name):
    """Spark takes some signs of a path for more than they are."""
    folder = laid(tmp_path / name, people(60), 2)
    release = ct.protect(folder, recipe(), engine="spark")
    release.save(tmp_path / f"{name} out")
    assert release.data.count() == 60
    assert ct.verify(tmp_path / f"{name} out", engine="spark").ok


def test_jobs_do_not_grow_with_columns(tmp_path, monkeypatch, spark):  # noqa: F811
    """A job takes its time, however little there is to do."""
    collect, jobs = type(spark.range(1)).collect, []
    monkeypatch.setattr(type(spark.range(1)), "collect", lambda frame: jobs.append(1) or collect(frame))
    counts = []
    for columns in (5, 60):
        rng = np.random.default_rng(0)
        table = pa.table({f"x{i}": rng.normal(size=120) for i in range(columns)})
        folder = laid(tmp_path / f"in {columns}", table, 2)
        roles = [{"role": "quasi", "kind": "numeric"}, {"role": "confidential", "kind": "numeric", "t": 0.9}]
        how = ct.Recipe(
            k=3, seed=1, unit="none", columns={name: roles[i % 3 == 0] for i, name in enumerate(table.column_names)}
        )
        jobs.clear()
        ct.protect(folder, how, engine="spark").save(tmp_path / f"out {columns}")
        counts.append(len(jobs))
    assert counts[0] == counts[1]
    assert 0 < counts[0] < 20
