"""verify lets nothing of the data out, and is shut in; relations that others made are checked the same way."""

from __future__ import annotations

import doctest
import json
import os
import struct
import subprocess
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from coterie import CoterieError
from coterie.verification import Claims, Guard, Scenario, check, verify
from coterie.verification import reading as sources
from verified_files import MARKER, assert_silent, written


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
