"""What Spark's tasks count of a release in many files is what DuckDB counts of the same files."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from coterie.errors import CoterieError, PromiseError
from coterie.verification import Claims, Guard, Scenario, Unit, cluster_tasks, verify_claims
from coterie.verification.cluster import uniqueness_on_spark, verify_claims_on_spark
from coterie.verification.uniqueness import uniqueness
from spark_sessions import spark  # noqa: F401
from verified_files import MARKER, assert_silent

NANS = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
SPELLINGS = [
    "a",
    "A",
    " a",
    "ä",
    "A\u0308",
    "ß",
    "SS",
    "1",
    "1.0",
    "01,0",
    "ﬁ",
    "fi",
    "x\u200b",
    "X",
    "na",
    "",
    None,
    "İ",
]
BOTH = ("key", "exact")


def table(n=240, seed=0):
    """Columns of every type, few values each, in which much is nearly the same."""
    rng = np.random.default_rng(seed)
    some = lambda values: [values[j] for j in rng.integers(0, len(values), n)]  # noqa: E731
    zone = pa.timestamp("ns", "Europe/Vienna")
    return pa.table(
        {
            "key": pa.array(some(["p", "P", "", None, "q\0", "é"])),
            "exact": pa.array(np.array(some([0.0, -0.0, 1.5, *NANS])), from_pandas=False),
            "narrow": pa.array(some([0.0, -0.0, None]), pa.float32()),
            "bytes": pa.array(some([b"\0", b"", b"\0\0", None])),
            "unsigned": pa.array(some([2**64 - 1, 2**63, None]), pa.uint64()),
            "price": pa.array(some([Decimal("1.50"), Decimal("-0.01"), None]), pa.decimal128(38, 2)),
            "moment": pa.array(some([0, 1, None]), pa.int64()).cast(zone),
            "words": pa.array(some(["u", "v", None])).dictionary_encode(),
            "flag": pa.array(some([True, False, None])),
            "spelt": pa.array(some(SPELLINGS)),
            "yes": pa.array(some(["ja", "nein", "ja", None])),
            "grade": pa.array(some(["low", "mid", "high"])),
            "score": pa.array(some([1, 2, 5, 9, 10]), pa.int16()),
            "income": pa.array(rng.normal(size=n).round(2)),
            "digits": pa.array(some(["1", "1.0", "+2", "1e1", "-3.5"])),
            "whole": pa.array(some(["1", "10", "1e+01", "-7", "NA"])),
            "day": pa.array(some([dt.date(2020, 1, 1), dt.date(2021, 5, 6), dt.date(1950, 2, 3)])),
            "stamp": pa.array(some(["2020-01-01T10:00:00+02:00", "2020-01-01 08:00", "1999-12-31"])),
            "who": pa.array([f"id {j // 2}" if j % 7 else "N/A" for j in range(n)]),
        }
    )


KEYS = (*BOTH, "narrow", "bytes", "unsigned", "price", "moment", "words", "flag")
GUARDS = (
    Guard("spelt", "nominal", l=2, entropy=1.5, t=0.4, missing=("na",)),
    Guard("yes", "boolean", l=2, t=0.2, true=("ja",), false=("nein",)),
    Guard("grade", "ordinal", l=2, entropy=2.0, t=0.1, order=("low", "mid", "high")),
    Guard("score", "integer", l=3, t=0.15),
    Guard("income", "numeric", entropy=4.0, t=0.1),
    Guard("digits", "numeric", l=3, t=0.2),
    Guard("whole", "integer", l=2, missing=("NA",)),
    Guard("day", "datetime", l=2, t=0.3),
    Guard("stamp", "datetime", t=0.1),
)
SCENARIOS = (Scenario("near", BOTH, 3), Scenario("flags", ("flag", "narrow"), 30))


def written(path, data, files):
    """So many files, of uneven length; of several, one is empty."""
    path.mkdir()
    inner = np.random.default_rng(files).integers(0, len(data) + 1, max(0, files - 2)).tolist()
    cuts = [0, *sorted(inner), *[len(data)] * min(2, files)]
    for j, (first, last) in enumerate(pairwise(cuts)):
        parquet.write_table(data.slice(first, last - first), path / f"part-{j:05}.parquet", row_group_size=50)
    assert len(list(path.iterdir())) == files
    return path


def paths(folder):
    return [str(path) for path in sorted(folder.iterdir())]


def same(spark, folder, claims):  # noqa: F811
    """The verdict, which must be the same, or the error."""
    told = []
    for check in (lambda: verify_claims(folder, claims), lambda: verify_claims_on_spark(spark, paths(folder), claims)):
        try:
            told.append(check())
        except CoterieError as error:
            told.append(error)
    one, other = told
    if isinstance(one, CoterieError):
        assert (type(one), str(one)) == (type(other), str(other))
        assert other.__context__ is None
    else:
        assert other.facts() == one.facts()
    return one


@pytest.mark.parametrize("files", [1, 3, 7])
def test_every_claim(spark, tmp_path, files):  # noqa: F811
    folder = written(tmp_path / "data", table(seed=files), files)
    verdict = same(spark, folder, Claims(SCENARIOS, ("words",), GUARDS, unit=Unit("who")))
    assert not verdict.ok
    assert {check.what for check in verdict.checks if not check.ok} >= {
        "k-anonymity",
        "k-anonymity of units",
        "distinct l-diversity",
        "entropy l-diversity",
        "t-closeness",
    }


def test_classes_of_every_type(spark, tmp_path):  # noqa: F811
    folder = written(tmp_path / "data", table(500), 3)
    single = tuple(Scenario(key, (key,), 2) for key in KEYS)
    assert len(same(spark, folder, Claims((*single, Scenario("all", KEYS, 2)))).checks) == len(KEYS) + 1


def test_a_release_that_keeps_all(spark, tmp_path):  # noqa: F811
    data = table(40)
    data = pa.concat_tables([data] * 3).sort_by([("score", "ascending")])
    guards = (Guard("grade", "ordinal", l=2, t=0.9, order=("low", "mid", "high")),)
    assert same(spark, written(tmp_path / "data", data, 7), Claims((Scenario("all", ("flag",), 3),), guards=guards)).ok


def test_releases_that_are_refused(spark, tmp_path):  # noqa: F811
    folder = written(tmp_path / "data", table(), 3)
    scenarios = (Scenario("all", ("flag",), 2),)
    for claims in (
        Claims((Scenario("all", ("none",), 2),)),
        Claims(scenarios, released=("flag", "grade")),
        Claims(scenarios, guards=(Guard("income", "boolean", true=("1",), false=("0",)),)),
        Claims(scenarios, guards=(Guard("spelt", "numeric", l=2),)),
        Claims(scenarios, guards=(Guard("narrow", "numeric", t=0.5),)),
        Claims(scenarios, guards=(Guard("grade", "ordinal", l=2),)),
        Claims(scenarios, unit=Unit("score", ("NA",))),
    ):
        assert isinstance(same(spark, folder, claims), CoterieError)
    assert isinstance(same(spark, folder, Claims(scenarios, released=("flag",))), PromiseError)


def test_files_that_are_refused(spark, tmp_path):  # noqa: F811
    claims = Claims((Scenario("all", ("flag",), 2),))
    folder = written(tmp_path / "none", table().slice(0, 0), 3)
    assert "must hold records" in str(same(spark, folder, claims))
    parquet.write_table(table().drop_columns(["flag"]), folder / "part-00001.parquet")
    assert "same columns" in str(same(spark, folder, claims))
    (folder / "part-00001.parquet").write_bytes(MARKER.encode())
    assert "'none' cannot be read as parquet" in str(same(spark, folder, claims))
    twice = pa.Table.from_arrays([pa.array([1, 1]), pa.array([1, 1])], ["flag", "flag"])
    assert "unique" in str(same(spark, written(tmp_path / "twice", twice, 1), claims))
    with pytest.raises(CoterieError, match="must have files"):
        verify_claims_on_spark(spark, [], claims)


def test_unique_values_and_records(spark, tmp_path):  # noqa: F811
    data = table(60)
    names = data.column_names
    folder = written(tmp_path / "data of 7%20", data, 7)
    sets = {"two": ["spelt", "exact"], "all": names}
    wanted = uniqueness(folder, names, sets, missing=("na",))
    assert uniqueness_on_spark(spark, paths(folder), names, sets, missing=("na",)) == wanted
    uris = [path.as_uri() for path in sorted(folder.iterdir())]
    uris[0] = uris[0].replace("file:///", "file:/")  # as Hadoop writes it
    assert uniqueness_on_spark(spark, uris, ["spelt"], {"all": names}).unique["all"] == wanted.unique["all"]


def test_the_number_of_jobs_is_bounded(spark, tmp_path):  # noqa: F811
    folder = written(tmp_path / "data", table(100), 3)
    tracker = spark.sparkContext.statusTracker()
    jobs = []
    for number in (1, 3):
        spark.sparkContext.setJobGroup(f"claims {number}", "")
        scenarios = tuple(Scenario(key, (key,), 2) for key in KEYS[:number])
        verify_claims_on_spark(spark, paths(folder), Claims(scenarios, guards=GUARDS[:number]))
        jobs.append(len(tracker.getJobIdsForGroup(f"claims {number}")))
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert jobs[0] == jobs[1] <= 12


class Failing(cluster_tasks.Task):
    def run(self, rows):
        yield from ()
        raise KeyError(MARKER, list(rows))


def test_a_task_that_fails_says_nothing_of_the_data():
    with pytest.raises(RuntimeError, match="KeyError") as error:
        list(Failing()(iter(())))
    assert_silent(error.value)


def test_a_worker_that_fails_says_nothing_of_the_data(spark, tmp_path, capfd):  # noqa: F811
    """DuckDB quotes what it cannot cast, and Spark writes the errors of workers into its log."""
    (path,) = paths(written(tmp_path / "data", table(), 1))
    grouping = cluster_tasks.Grouping((f"'{MARKER}'::INTEGER",))
    task = cluster_tasks.Tally(cluster_tasks.Files((path,), 1, "data"), ("flag",), (grouping,), (0,))
    with pytest.raises(Exception, match="ConversionException") as error:
        spark.range(0, 1, 1, 1).mapInArrow(task, cluster_tasks.SCHEMA).collect()
    assert MARKER not in str(error.value)
    claims = Claims((Scenario("all", ("flag",), 2),))
    with pytest.raises(CoterieError, match="cannot be read as parquet") as error:
        verify_claims_on_spark(spark, [f"{tmp_path}/data/{MARKER}.parquet"], claims)
    assert_silent(error.value)
    with pytest.raises(CoterieError, match="cannot be checked") as error:
        verify_claims_on_spark(None, ["part.parquet"], claims)
    assert_silent(error.value)
    assert MARKER not in "".join(capfd.readouterr())
