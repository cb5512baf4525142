"""Releases made on Spark: the bundle and all that is said of it, assess, verify, replay, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie as ct
from coterie.cli import cluster_session
from coterie.engines import spark_session
from coterie.errors import CoterieError, PromiseError
from coterie.release import cluster_bundle, cluster_source
from spark_sessions import spark  # noqa: F401

pytestmark = pytest.mark.usefixtures("spark")

COLUMNS = {
    "id": "identifier",
    "person": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "pay": {"role": "confidential", "kind": "numeric"},
    "ill": {"role": "confidential", "kind": "nominal"},
    "note": "other",
}


def people(n=240, seed=2):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"i{i:04d}" for i in range(n)],
            "person": [None if i % 40 == 7 else f"p{i}" for i in rng.integers(0, n // 3, n).tolist()],
            "age": rng.integers(20, 32, n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n).tolist(),
            "pay": pa.array([None if i % 50 == 3 else float(i % 9) for i in range(n)]),
            "ill": rng.choice(["flu", "gout"], n).tolist(),
            "note": [f"n{i:04d}" for i in range(n)],
        }
    )


def recipe(**more):
    base = {"k": 3, "seed": 8, "unit": "none", "method": {"name": "mdav", "blocks": 40}, "columns": COLUMNS}
    return ct.Recipe(**{**base, **more})


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    for i in range(4):
        pq.write_table(people().slice(i * 60, 60), place / f"part-{i}.parquet", row_group_size=25)
    return place


def rows(folder):
    return pq.read_table(folder / "data").sort_by("note")


def test_a_bundle_in_many_files(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.engines.spark._CHUNK", 80)
    release = ct.protect(folder, recipe(), engine="spark")
    assert release.data is None
    out = release.save(tmp_path / "out")
    parts = sorted(path.name for path in (out / "data").iterdir())
    assert len(parts) > 1
    assert parts == [f"part-{i:05d}.parquet" for i in range(len(parts))]
    assert sorted(path.name for path in out.iterdir()) == [
        "data", "internal.html", "manifest.json", "recipe.toml", "report.html", "verify.json",
    ]  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["engine"] == "spark"
    assert {f"data/{name}" for name in parts} <= set(manifest["files"])
    assert all(manifest["files"][f"data/{name}"]["audience"] == "public" for name in parts)
    assert stat.S_IMODE((out / "data" / parts[0]).stat().st_mode) == 0o666 & ~_umask()
    assert stat.S_IMODE((out / "recipe.toml").stat().st_mode) == 0o600
    assert release.data.count() == 240
    memory = ct.protect(folder, recipe())
    assert rows(out).equals(memory.data.sort_by("note"))
    assert release.facts.output.records == 240
    assert release.verdict.facts() == memory.verdict.facts()
    for engine in (None, "duckdb", "spark"):
        assert ct.verify(out, engine=engine).facts() == memory.verdict.facts()
    assert ct.replay(out, folder).same
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    ct.protect(folder, recipe(k=4), engine="spark").save(out, force=True)
    assert json.loads((out / "verify.json").read_text())["checks"][0]["wanted"] == 4


def _umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


def test_a_bundle_that_was_tampered_with(folder, tmp_path):
    out = ct.protect(folder, recipe(), engine="spark").save(tmp_path / "out")
    (file,) = (out / "data").iterdir()
    whole = file.read_bytes()
    for engine in (None, "spark"):
        file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        with pytest.raises(CoterieError):
            ct.verify(out, engine=engine)
        file.write_bytes(whole)
        shutil.copy(file, out / "data" / "part-9.parquet")
        with pytest.raises(PromiseError, match="no others"):
            ct.verify(out, engine=engine)
        (out / "data" / "part-9.parquet").unlink()
        (out / "manifest.json").rename(tmp_path / "manifest.json")
        with pytest.raises(CoterieError, match="must have a manifest"):
            ct.verify(out, engine=engine)
        (tmp_path / "manifest.json").rename(out / "manifest.json")
    file.unlink()
    with pytest.raises(CoterieError):
        ct.verify(out)
    pq.write_table(people().slice(0, 100), folder / "part-2.parquet")
    assert "a different file" in str(ct.replay(out, folder))


def test_units_that_are_dropped_are_counted_again(folder, tmp_path):
    out = ct.protect(folder, recipe(unit="person"), engine="spark").save(tmp_path / "out")
    assert [check.what for check in ct.verify(out, input=str(folder)).checks][-1] == "k-anonymity of units"
    assert ct.verify(out, input=folder, engine="spark").ok


@pytest.mark.parametrize(("unit", "drawn"), [("none", {"population": {"fraction": 0.05}}), ("person", {})])
def test_assess_is_the_same(folder, unit, drawn, monkeypatch):
    monkeypatch.setattr("coterie.release.cluster_assess._PART", 50)
    monkeypatch.setattr("coterie.engines.spark._CHUNK", 60)
    scenarios = {"a": {"quasi": ["age"], "k": 3}, "b": {"quasi": ["age", "town"], "k": 5}}
    how = recipe(unit=unit, scenarios=scenarios, **drawn)
    here, there = (ct.assess(folder, how, engine=engine).as_dict() for engine in ("memory", "spark"))
    for scenario in there["scenarios"]:  # nobody counts it on a cluster, and the documentation says so
        assert scenario["classes"].pop("largest_unit_share") is None
    shares = [scenario["classes"].pop("largest_unit_share") for scenario in here["scenarios"]]
    assert [share is None for share in shares] == [unit == "none"] * 2
    assert rounded(there) == rounded(here)
    assert (here["scenarios"][0]["population"] is None) == (not drawn)


def test_assess_with_weights_is_the_same(folder, monkeypatch):
    monkeypatch.setattr("coterie.release.cluster_assess._PART", 50)
    for i, path in enumerate(sorted(folder.iterdir())):
        table = pq.read_table(path)
        weights = np.random.default_rng(i).lognormal(2, 1, len(table))
        pq.write_table(table.append_column("w", pa.array(weights)), path)
    how = recipe(columns={**COLUMNS, "w": "other"}, weights="w")
    here, there = (ct.assess(folder, how, engine=engine).as_dict() for engine in ("memory", "spark"))
    assert here["scenarios"][0]["population"]["known_by"] == "weights"
    assert rounded(there) == rounded(here)
    few = recipe(columns={**COLUMNS, "w": "other"}, population={"size": 200})
    with pytest.raises(CoterieError, match="larger than the table"):
        ct.assess(folder, few, engine="spark")


def rounded(facts):
    return json.loads(json.dumps(facts), parse_float=lambda text: round(float(text), 9))


def test_dataframes(spark, folder, tmp_path):  # noqa: F811
    frame = spark.read.parquet(str(folder)).repartition(5)
    release = ct.protect(frame, recipe(), key="note")
    assert release.engine == "spark"
    out = release.save(tmp_path / "out")
    expected = ct.protect(people(), recipe()).data.sort_by("note")
    assert rows(out).to_pydict() == expected.to_pydict()
    assert ct.Recipe.load(out / "recipe.toml").file.key == "note"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert ct.replay(out, frame.repartition(2)).same
    assert ct.protect(frame, recipe(file={"key": "note"})).engine == "spark"


def test_dataframes_that_are_refused(spark, folder, tmp_path):  # noqa: F811
    frame = spark.read.parquet(str(folder))
    with pytest.raises(CoterieError, match="needs a key"):
        ct.protect(frame, recipe())
    with pytest.raises(CoterieError, match="must be a column"):
        ct.protect(frame, recipe(), key="nothing")
    with pytest.raises(CoterieError, match="whose values repeat"):
        ct.protect(frame, recipe(), key="town").save(tmp_path / "out")
    with pytest.raises(CoterieError, match="missing ones"):
        ct.protect(frame, recipe(), key="person").save(tmp_path / "out")
    with pytest.raises(CoterieError, match="engine spark"):
        ct.protect(frame, recipe(), key="note", engine="memory")
    with pytest.raises(CoterieError, match="dry run"):
        ct.protect(frame, recipe(), key="note").rehearse()
    with pytest.raises(CoterieError, match="Parquet files can be assessed"):
        ct.assess(frame, recipe())
    with pytest.raises(CoterieError, match="A key is only for Spark"):
        ct.protect(people(), recipe(), key="note")
    with pytest.raises(CoterieError, match="A key is only for Spark"):
        ct.protect(folder, recipe(), key="note", engine="spark")
    with pytest.raises(CoterieError, match="must be the one in the recipe"):
        ct.protect(frame, recipe(file={"key": "id"}), key="note")
    with pytest.raises(CoterieError, match="must contain records"):
        ct.protect(frame.limit(0), recipe(), key="note").save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_what_spark_is_not_for(folder, tmp_path):
    with pytest.raises(CoterieError, match="on Parquet files and Spark DataFrames"):
        ct.protect(people(), recipe(), engine="spark")
    (tmp_path / "a.csv").write_text("age\n1\n")
    with pytest.raises(CoterieError, match="cannot be read as Parquet"):
        ct.protect(tmp_path / "a.csv", recipe(), engine="spark")
    with pytest.raises(CoterieError, match="written as Parquet"):
        ct.protect(folder, recipe(), engine="spark").save(tmp_path / "out", format="csv")
    with pytest.raises(CoterieError, match="Only Spark can write"):
        ct.protect(people(), recipe()).save("file:///tmp/nowhere")
    with pytest.raises(CoterieError, match="recipe' is needed"):
        ct.assess(folder, quasi=["age"], engine="spark")
    with pytest.raises(CoterieError, match="one of duckdb, spark"):
        ct.verify(folder, ["age"], 3, engine="memory")


def test_a_block_that_no_worker_can_hold(folder, tmp_path):
    with pytest.raises(CoterieError, match="A block must fit into a worker"):
        ct.protect(folder, recipe(), engine="spark", memory=10_000).save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_dry_run_writes_nothing(folder, tmp_path):
    release = ct.protect(folder, recipe(), engine="spark")
    release.rehearse()
    assert release.facts.output.records == 240
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_bundle_at_a_uri(folder, tmp_path, monkeypatch):
    place = (tmp_path / "there").as_uri()
    ct.protect(folder.as_uri(), recipe()).save(place)
    expected = ct.protect(folder, recipe()).data.sort_by("note")
    assert rows(tmp_path / "there").equals(expected)
    assert ct.verify(place, engine="spark").ok
    with pytest.raises(CoterieError, match="exists already"):
        ct.protect(folder.as_uri(), recipe()).save(place)
    with pytest.raises(CoterieError, match="cannot be replaced"):
        ct.protect(folder.as_uri(), recipe()).save(place, force=True)
    monkeypatch.setattr(cluster_bundle, "_RENAMED", ())  # as in an object store
    other = (tmp_path / "store").as_uri()
    ct.protect(folder.as_uri(), recipe()).save(other)
    assert rows(tmp_path / "store").equals(expected)
    assert ct.verify(other, engine="spark").ok
    monkeypatch.setattr(cluster_bundle, "_upload", _broken)
    with pytest.raises(RuntimeError):
        cluster_bundle.write_on_cluster(ct.protect(folder.as_uri(), recipe()), place + "2", False, None, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "store", "there"]


def _broken(*_):
    raise RuntimeError


def test_claims_on_files(folder, tmp_path):
    out = ct.protect(folder, recipe(), engine="spark").save(tmp_path / "out")
    assert ct.verify(out / "data", ["age", "town"], 3, engine="spark").ok
    assert not ct.verify(out / "data", ["age", "town"], 60, engine="spark").ok
    assert ct.verify(out / "data", recipe=recipe(), engine="spark").ok


def test_sessions(monkeypatch):
    with pytest.raises(CoterieError, match="keeps its master"):
        spark_session.start("local[1]")
    assert cluster_session.settings(["spark.a=b=c"]) == {"spark.a": "b=c"}
    for wrong in (["a=b"], ["spark.a"], ["spark.a=1", "spark.a=2"]):
        with pytest.raises(CoterieError):
            cluster_session.settings(wrong)
    with pytest.raises(CoterieError, match="is for --engine spark"), cluster_session.spark(False, "local", None):
        pass
    monkeypatch.setattr("importlib.metadata.version", lambda _: "3.5.1")
    with pytest.raises(CoterieError, match=r"4\.0 or newer"):
        spark_session.check_pyspark()


def test_without_java(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CoterieError, match="needs Java 17"):
        spark_session._check_java()
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(CoterieError, match="version 11"):
        spark_session._check_java()


def test_partitions_of_a_frame_in_order_of_the_key():
    batch = pa.record_batch({"k": [1, 2, 3]})
    last = cluster_source._check_key(batch.column(0), "k", None)
    with pytest.raises(CoterieError, match="repeat"):
        cluster_source._check_key(batch.column(0).slice(2), "k", last)
