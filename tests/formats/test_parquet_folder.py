"""Folders of Parquet files as one table: the same on every engine, whatever files are called and how they are cut."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie as ct
from coterie.errors import CoterieError
from coterie.formats import content_hash
from coterie.formats.parquet_folder import open_parquet

RECIPE = {
    "k": 3,
    "seed": 5,
    "method": {"name": "mdav", "blocks": 20},
    "unit": "none",
    "columns": {
        "x": {"role": "quasi", "kind": "numeric"},
        "year": {"role": "quasi", "kind": "integer"},
        "note": "other",
    },
}


def people(n=120):
    rng = np.random.default_rng(3)
    years = rng.integers(2020, 2023, n)
    return pa.table({"x": rng.normal(size=n), "note": [f"n{i:03d}" for i in range(n)], "year": years})


def partitioned(folder, data, column="year"):
    """Files in a folder for each value, as Spark writes them."""
    for value in sorted(set(data[column].to_pylist())):
        own = data.filter(pa.compute.equal(data[column], value)).drop_columns([column])
        place = folder / f"{column}={value}"
        place.mkdir(parents=True)
        pq.write_table(own.slice(0, 7), place / "part-0.parquet")
        pq.write_table(own.slice(7), place / "part-1.parquet", row_group_size=11)
        (place / ".part-1.parquet.crc").write_bytes(b"x")
    (folder / "_SUCCESS").touch()
    return folder


def test_a_folder_is_the_table_of_its_files_in_their_order(tmp_path):
    data = people()
    for i, start in enumerate(range(0, 120, 50)):
        pq.write_table(data.slice(start, 50), tmp_path / f"part-{i}.parquet", row_group_size=13)
    pq.write_table(data.slice(0, 0), tmp_path / "part-9.parquet")
    files = open_parquet(str(tmp_path))
    assert files.table().equals(data)
    assert files.records == 120
    for most in (1, 13, 20, 1000):
        pieces = files.pieces(most)
        assert [p.first for p in pieces] == np.cumsum([0, *(p.records for p in pieces)]).tolist()[:-1]
        assert pa.Table.from_batches(files.batches(["note"], pieces))["note"].to_pylist() == data["note"].to_pylist()
    before = content_hash(tmp_path)
    (tmp_path / "part-2.parquet").rename(tmp_path / "part-3.parquet")
    assert content_hash(tmp_path) != before  # a name may change the order
    (tmp_path / "part-3.parquet").rename(tmp_path / "part-2.parquet")
    assert content_hash(tmp_path) == before
    pq.write_table(data.slice(0, 50), tmp_path / "part-0.parquet")
    assert content_hash(tmp_path) != before


def test_every_engine_takes_a_partitioned_folder(tmp_path):
    folder = partitioned(tmp_path / "in", people())
    table = open_parquet(str(folder)).table()
    expected = ct.protect(table, RECIPE).data.sort_by("note")
    assert table.schema.field("year").type == pa.int64()
    for engine in ("memory", "duckdb"):
        release = ct.protect(folder, RECIPE, engine=engine, memory="1GB")
        bundle = release.save(tmp_path / engine)
        released = pq.read_table(bundle / "data.parquet").sort_by("note")
        assert released.to_pydict() == expected.to_pydict()
        assert ct.verify(bundle).ok
        assert ct.replay(bundle, folder).same
    pq.write_table(people().slice(0, 5).drop_columns(["year"]), folder / "year=2020" / "part-2.parquet")
    assert not ct.replay(bundle, folder).same


def test_partitions_of_texts_gaps_and_odd_signs(tmp_path):
    one = pa.table({"x": [1.0, 2.0]})
    for name in ("a%3Ab", "__HIVE_DEFAULT_PARTITION__", "%C3%A4 c"):
        (tmp_path / f"place={name}").mkdir()
        pq.write_table(one, tmp_path / f"place={name}" / "p.parquet")
    assert open_parquet(str(tmp_path)).table()["place"].to_pylist() == ["ä c"] * 2 + [None] * 2 + ["a:b"] * 2


def refused(folder, words):
    with pytest.raises(CoterieError, match=words):
        ct.open_source(folder).names  # noqa: B018


def test_what_is_no_table_is_refused(tmp_path):
    refused(tmp_path, "must contain Parquet files")
    pq.write_table(people(), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("x\n1\n")
    refused(tmp_path, "only Parquet files")
    (tmp_path / "b.csv").unlink()
    pq.write_table(people().drop_columns(["x"]), tmp_path / "b.parquet")
    refused(tmp_path, "the same columns")
    pq.write_table(people().set_column(0, "x", pa.array(["secret"] * 120)), tmp_path / "b.parquet")
    refused(tmp_path, "the same types")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 secret PAR1")
    refused(tmp_path, "cannot be read as Parquet")
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "x=1").mkdir()
    pq.write_table(people(), tmp_path / "x=1" / "c.parquet")
    refused(tmp_path, "partitioned by the same names")
    (tmp_path / "a.parquet").unlink()
    refused(tmp_path, "must not be a column")


def test_a_folder_that_changes_meanwhile(tmp_path):
    for i in range(3):
        pq.write_table(people(), tmp_path / f"{i}.parquet")
    release = ct.protect(tmp_path, RECIPE, engine="duckdb", memory="1GB")
    pq.write_table(people(60), tmp_path / "1.parquet")
    with pytest.raises(CoterieError, match="must not change"):
        release.save(tmp_path.parent / "out")
