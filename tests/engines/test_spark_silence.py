"""What Spark writes into logs holds no value of a record and no seed; and bundles in object stores."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import fs, parquet

from spark_clusters import Driver, check_spark, cluster, free_port, session, stopped, until
from spark_releases import laid, people, recipe, released

pytestmark = pytest.mark.campaign

SEED = 918273645546372819
NUMBER = 7131719.25
WORDS = ["QuasiCanary", "ConfidentialCanary", "IdentifierCanary", "KeptCanary", "BrokenCanary", "KeyCanary"]
CANARIES = [*WORDS, "7131719", "4.25e99", str(SEED), f"{SEED:x}"]
SECRET = f"recipe(seed={SEED})"

# Shows every value of a column in an error: what a library does
FAILING = """
class Collector:
    found = None
    def add(self, records):
        raise ValueError(repr(records.arrow("region").to_pylist()))
from coterie.release.source import rules_of
release = ct.protect({place!r}, {how}, engine="spark")
release._source.engine("spark", rules_of(release.recipe)).gather(["region"], Collector())
"""


def planted():
    """A table with a value in every column that cannot be anywhere by chance."""
    table = people(120)
    for name, value in {"income": NUMBER, "weight": 4.25e99}.items():
        own = table[name].to_pylist()
        table = table.set_column(table.column_names.index(name), name, pa.array([*own[:-1], value]))
    for name, word in zip(("region", "illness", "person", "note"), WORDS, strict=False):
        own = table[name].to_pylist()
        own = [f"{word}{i % 4 if name in ('region', 'illness') else i}" for i, _ in enumerate(own)]
        table = table.set_column(table.column_names.index(name), name, pa.array(own))
    return table


def tables(folder):
    """The table as it is, with a text among numbers, with pages that are none, and with a key that repeats."""
    table = planted()
    good = laid(folder / "good", table, 3)
    texts = pa.array([*map(str, table["income"].to_pylist()[1:]), "BrokenCanary"])
    text = laid(folder / "text", table.set_column(1, "income", texts), 3)
    torn = laid(folder / "torn", table, 1)
    path = torn / "part-000.parquet"
    parquet.write_table(table, path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    at = data.index(b"QuasiCanary")
    data[at - 40 : at + 4] = b"\xff" * 44
    path.write_bytes(data)
    twice = table.append_column("key", pa.array([f"KeyCanary{i // 2}" for i in range(120)]))
    return good, text, torn, laid(folder / "twice", twice, 2)


def runs(good, text, torn, twice, out):
    """What a driver is told, and whether Coterie refuses it."""
    save = "ct.protect({0!r}, {1}, engine='spark').save({2!r})".format
    keyed = f"ct.protect(spark.read.parquet({str(twice)!r}), recipe({{'key': 'identifier'}}, seed={SEED}), key='key')"
    by_note = f"ct.protect(spark.read.parquet({str(good)!r}), {SECRET}, key='note')"
    return {
        save(str(good), SECRET, str(out / "done")): False,
        f"{by_note}.save({str(out / 'frame')!r})": False,
        f"assert ct.verify({str(out / 'done')!r}, engine='spark').ok": False,
        save(str(text), SECRET, str(out / "text")): True,
        save(str(torn), SECRET, str(out / "torn")): True,
        f"{keyed}.save({str(out / 'twice')!r})": True,
        FAILING.format(place=str(good), how=SECRET): True,
    }


def written(*places):
    """All that was written to some files and folders, by name."""
    files = [path for place in places for path in ([place] if place.is_file() else place.rglob("*"))]
    return {path: path.read_bytes().decode(errors="replace") for path in files if path.is_file()}


def test_logs_hold_no_value_and_no_seed(tmp_path):
    """Those of the driver, the executors and the events, at the level INFO; where all goes well, and where it fails."""
    (tmp_path / "events").mkdir()
    (tmp_path / "out").mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (tmp_path / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.log.level": "INFO",
        "spark.executor.syncLogLevel.enabled": "true",
    }
    said = []
    with cluster(tmp_path) as own, Driver(session(own.url, **settings), tmp_path, "driver") as driver:
        for code, refused in runs(*tables(tmp_path), tmp_path / "out").items():
            driver.tell(code)
            said.append(driver.answer())
            assert (said[-1] != ["done"]) == refused, (code, said[-1])
            assert not refused or said[-1][2], said[-1]
        driver.tell("spark.stop()")
        driver.answer()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"done", "frame"}
    logs = written(driver.log, tmp_path / "daemons.log", tmp_path / "events", tmp_path / "work-0", tmp_path / "work-1")
    assert sum("INFO" in text for text in logs.values()) >= 3
    assert any("SparkListenerSQLExecutionStart" in text for text in logs.values())
    assert any("RuntimeError: Coterie failed." in text for text in logs.values())  # the errors went there, too
    for path, text in {**logs, "the errors": json.dumps(said)}.items():
        found = [canary for canary in CANARIES if canary in text]
        assert not found, (path, found, text[max(0, text.find(found[0]) - 300) :][:600])


@pytest.fixture
def store(tmp_path):
    """An object store of this machine, with a bucket; and what a driver must know of it."""
    check_spark()
    pytest.importorskip("moto.server", reason="moto stands in for an object store")
    if not hasattr(fs, "S3FileSystem"):
        pytest.skip("pyarrow knows no object stores")
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with open(tmp_path / "store.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        until(lambda: listens(port), "an object store")
        known = {"access_key": "a", "secret_key": "b", "region": "us-east-1", "scheme": "http"}
        system = fs.S3FileSystem(endpoint_override=f"127.0.0.1:{port}", allow_bucket_creation=True, **known)
        system.create_dir("bucket")
        env = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        yield system, {**env, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    finally:
        stopped(process)


def listens(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def names(system, place):
    """The files below a place of the store."""
    found = system.get_file_info(fs.FileSelector(place, recursive=True, allow_not_found=True))
    return {entry.path[len(place) + 1 :] for entry in found if entry.type == fs.FileType.File}


def test_bundles_in_object_stores(tmp_path, store):
    """The manifest comes last: whatever has none is no bundle. A byte that was changed is found."""
    system, env = store
    folder = laid(tmp_path / "in", people(), 3)
    verify = "assert ct.verify('s3://bucket/{}', engine='spark').ok".format
    with Driver(session("local[2]"), tmp_path, "driver", **env) as driver:
        driver.tell(f"ct.protect({str(folder)!r}, recipe(), engine='spark').save('s3://bucket/whole')")
        assert driver.answer() == ["done"]
        made = names(system, "bucket/whole")
        (data,) = [name for name in made if name.startswith("data/")]
        assert made - {data} == {"manifest.json", "recipe.toml", "report.html", "internal.html", "verify.json"}
        with system.open_input_stream(f"bucket/whole/{data}") as stream:
            content = stream.read()
        found = parquet.read_table(pa.BufferReader(content)).sort_by("note")
        assert found.equals(released(folder, recipe(), "memory")[0])
        driver.tell(verify("whole"))
        assert driver.answer() == ["done"]
        with system.open_output_stream(f"bucket/whole/{data}") as stream:
            stream.write(content[:100] + bytes([content[100] ^ 1]) + content[101:])
        driver.tell(verify("whole"))
        kind, words, ours = driver.answer()
        assert ours, (kind, words)
        assert "part-" in words
        frame = f"spark.read.parquet({str(folder)!r})"
        driver.tell(f"ct.protect({frame}, recipe(), key='note').save('s3://bucket/killed')")
        until(lambda: any(name.startswith("data/") for name in names(system, "bucket/killed")), "a file")
        os.kill(driver.process.pid, signal.SIGKILL)
    assert "manifest.json" not in names(system, "bucket/killed")
    with Driver(session("local[2]"), tmp_path, "next", **env) as driver:
        driver.tell(verify("killed"))
        kind, words, ours = driver.answer()
        assert ours, (kind, words)
        assert "manifest" in words
