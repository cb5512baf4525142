"""A real cluster: the values of one machine, and what is left where a worker, an executor or a driver is killed."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import suppress

import pyarrow as pa
import pytest
from pyarrow import parquet

import coterie as ct
from coterie.errors import CoterieError
from spark_clusters import START as PLAIN
from spark_clusters import Driver, at_work, check_spark, cluster, executors, python_workers, session, until
from spark_releases import laid, people, recipe, released
from spark_sessions import spark  # noqa: F401

pytestmark = pytest.mark.campaign

MANY = 60_000  # records whose groups take some seconds to find
SLOW = "recipe(blocks=60_000)"
_TRIES = 5  # to come in time with a kill


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A table that takes its time, in several files."""
    check_spark()
    return laid(tmp_path_factory.mktemp("slow") / "in", people(MANY), 4, 10_000)


def protecting(table, out, how="recipe()"):
    return f"ct.protect({str(table)!r}, {how}, engine='spark').save({str(out)!r})"


def solving(out):
    """Wait until records are being solved: the folder for what workers write is there, and still empty."""
    data = until(lambda: list(out.parent.glob(f".{out.name}.*.part/data")), "solving")[0]
    return lambda: data.exists() and not any(data.iterdir())


def hashes(bundle):
    """What is released, byte by byte."""
    return {path.name: path.read_bytes() for path in sorted((bundle / "data").iterdir())}


def remains(folder):
    return [path for path in folder.iterdir() if path.name.endswith((".part", ".old"))]


def struck(driver, roots, found, out, table):
    """Protect, and kill processes in the middle of solving; what the driver says then.

    A worker that waits for a task is replaced, and nobody would notice. Where all was over too soon, another try
    strikes earlier.
    """
    for attempt in range(_TRIES):
        driver.tell(protecting(table, out, SLOW))
        still, before = solving(out), at_work(roots)
        until(lambda still=still, after=before + 0.7 / 2**attempt: not still() or at_work(roots) > after, "work")
        for pid in found(roots):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        in_time = still()
        said = driver.answer()
        if in_time:
            return said
        shutil.rmtree(out, ignore_errors=True)
    raise AssertionError("all was over too soon")


def test_a_cluster_and_what_is_killed_there(tmp_path, slow):
    """Spark tries again what a worker or an executor has left undone: the same bytes, or nothing."""
    small = laid(tmp_path / "small", people(), 4)
    with cluster(tmp_path) as own, Driver(session(own.url), tmp_path, "driver") as driver:
        driver.tell(protecting(small, tmp_path / "small-out"))
        assert driver.answer() == ["done"]
        data = parquet.read_table(tmp_path / "small-out" / "data").sort_by("note")
        assert data.equals(released(small, recipe(), "memory")[0])
        driver.tell(protecting(slow, tmp_path / "whole", SLOW))
        assert driver.answer() == ["done"]
        expected = hashes(tmp_path / "whole")
        roots = [process.pid for process in own.processes]
        for name, found in {"worker": python_workers, "executor": executors}.items():
            out = tmp_path / name
            said = struck(driver, roots, found, out, slow)
            if said == ["done"]:
                assert hashes(out) == expected
            else:
                assert said[2], said
                assert not out.exists()
            assert remains(tmp_path) == []
        driver.tell(f"assert ct.verify({str(tmp_path / 'whole')!r}, engine='spark').ok")
        assert driver.answer() == ["done"]


def test_on_one_machine_a_killed_worker_is_an_error(tmp_path, slow):
    """There, nothing is tried again; and what a killed driver leaves is no bundle."""
    out = tmp_path / "out"
    with Driver(session("local[2]"), tmp_path, "driver") as driver:
        kind, words, ours = struck(driver, [driver.process.pid], python_workers, out, slow)
        assert ours, (kind, words)
        assert "n0" not in words
        assert not out.exists()
        assert remains(tmp_path) == []
        driver.tell(protecting(slow, out, SLOW))
        solving(out)
        os.kill(driver.process.pid, signal.SIGKILL)
    check_remains(out)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("moment", ["reading", "checking"])
def test_a_killed_driver_leaves_no_bundle(tmp_path, slow, moment):
    out = tmp_path / "out"
    with Driver(session("local[2]"), tmp_path, "driver") as driver:
        driver.tell(protecting(slow, out, SLOW if moment == "reading" else "recipe()"))
        until(lambda: remains(tmp_path), "a private folder")
        if moment == "checking":
            until(lambda: list(tmp_path.glob(".out.*.part/data/*")), "a file")
        os.kill(driver.process.pid, signal.SIGKILL)
    check_remains(out)
    small = laid(tmp_path / "small", people(60), 2)
    ct.protect(small, recipe(), engine="spark").save(out)
    assert ct.verify(out, engine="spark").ok
    assert remains(tmp_path) == []


def check_remains(out):
    """What is left is nobody's bundle."""
    assert not out.exists()
    (left,) = remains(out.parent)
    assert not (left / "manifest.json").exists()
    for engine in (None, "spark"):
        with pytest.raises(CoterieError):
            ct.verify(left, engine=engine)


def test_spark_connect(tmp_path):
    """Files and DataFrames, with a session that is a client of Spark."""
    check_spark()
    for name in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        pytest.importorskip(
            name, reason="Spark Connect needs grpcio, grpcio-status, googleapis-common-protos, zstandard"
        )
    folder = laid(tmp_path / "in", people(), 4)
    start = f"{PLAIN}\nspark = SparkSession.builder.remote('local[2]').getOrCreate()\n"
    with Driver(start, tmp_path, "driver") as driver:
        driver.tell(protecting(folder, tmp_path / "files"))
        assert driver.answer() == ["done"]
        frame = f"spark.read.parquet({str(folder)!r}).repartition(3)"
        driver.tell(f"ct.protect({frame}, recipe(), key='note').save({str(tmp_path / 'frame')!r})")
        assert driver.answer() == ["done"]
        driver.tell(f"assert ct.verify({str(tmp_path / 'frame')!r}, engine='spark').ok")
        assert driver.answer() == ["done"]
    for name, table in {"files": folder, "frame": people().sort_by("note")}.items():
        found = parquet.read_table(tmp_path / name / "data").sort_by("note")
        expected = released(table, recipe(), "memory")[0]
        assert pa.table(found.to_pydict()).equals(pa.table(expected.to_pydict()))
