"""Parquet and Arrow: types survive, and nothing is written that no record has."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from coterie.formats import Format, detect, read, write
from format_files import SECRET, needs_pyreadstat, refused, saved, through

NO = SECRET.encode()


def all_types():
    day = dt.datetime(2024, 1, 2, 3, 4, 5, 6)
    ordered = pa.DictionaryArray.from_arrays(pa.array([2, 0, None], pa.int8()), ["low", "mid", "high"], ordered=True)
    return pa.table(
        {
            "dict": ordered,
            "dec": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(10, 2)),
            "tz": pa.array([day, None, day], pa.timestamp("us", "Europe/Berlin")),
            "ns": pa.array([1, None, 2**60], pa.timestamp("ns")),
            "u64": pa.array([2**64 - 1, 0, None], pa.uint64()),
            "large": pa.array(["a", None, ""], pa.large_string()),
            "bytes": pa.array([b"\0", None, b"x"]),
            "list": pa.array([[1], None, [2, None]]),
            "struct": pa.array([{"a": 1}, None, {"a": None}]),
            "bool": [True, None, False],
            "time": pa.array([1, None, 2], pa.time64("us")),
            "f32": pa.array([0.1, None, float("nan")], pa.float32()),
        }
    )


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
@pytest.mark.parametrize("stream", [False, True])
def test_types_survive(tmp_path, name, stream):
    if stream and name != "t.arrow":
        return
    table = all_types()
    noted = table.replace_schema_metadata({"pandas": SECRET, "who": SECRET})
    noted = noted.set_column(3, noted.field(3).with_metadata({"note": SECRET}), noted.column(3))
    if name == "t.parquet":
        parquet.write_table(noted, tmp_path / name, compression="gzip")
    elif name == "t.feather":
        feather.write_feather(noted, str(tmp_path / name))
    else:
        new = ipc.new_stream if stream else ipc.new_file
        with new(str(tmp_path / name), noted.schema) as writer:
            writer.write_table(noted)
    source = read(tmp_path / name)
    write(source.table, source.format, tmp_path / f"again-{name}")
    again = read(tmp_path / f"again-{name}")
    assert again.format == source.format == detect(tmp_path / name)
    assert again.table.schema.equals(source.table.schema, check_metadata=True)
    assert again.table.schema.metadata is None
    used = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), ["low", "high"], ordered=True)
    for was, now in zip(table.columns, again.table.columns, strict=True):
        if pa.types.is_dictionary(was.type):
            assert now.type == was.type
            assert now.chunk(0).equals(used)
        else:
            assert str(now.to_pylist()) == str(was.to_pylist())  # as text: NaN is not equal to itself
    assert SECRET.encode() not in (tmp_path / f"again-{name}").read_bytes()
    first = (tmp_path / f"again-{name}").read_bytes()
    write(again.table, Format.from_dict(source.format.as_dict()), tmp_path / f"third-{name}")
    assert (tmp_path / f"third-{name}").read_bytes() == first


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli"])
def test_the_compression_of_parquet_is_kept(tmp_path, codec):
    parquet.write_table(pa.table({"a": [1] * 99}), tmp_path / "t.parquet", compression=codec)
    source = read(tmp_path / "t.parquet")
    assert source.format == Format("parquet", {"compression": codec})
    assert detect_written(source, tmp_path / "u.parquet") == source.format


def detect_written(source, path):
    write(source.table, source.format, path)
    return detect(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_values_that_no_record_has_are_not_written(tmp_path, name):
    """Categories no longer used, and what lies in memory below a null or beyond a slice."""
    secret = SECRET.encode()
    validity, offsets = pa.py_buffer(b"\x01"), pa.py_buffer(np.array([0, 2, 2 + len(secret)], np.int32).tobytes())
    below = pa.Array.from_buffers(pa.string(), 2, [validity, offsets, pa.py_buffer(b"ab" + secret)])
    hidden = int.from_bytes(secret[:8], "little")
    numbers = pa.Array.from_buffers(pa.int64(), 2, [validity, pa.py_buffer(np.array([1, hidden]).tobytes())])
    masked = pa.DictionaryArray.from_arrays(pa.array([0, 1], mask=np.array([False, True])), ["x", SECRET])
    table = pa.table(
        {
            "below": below,
            "numbers": numbers,
            "category": pa.DictionaryArray.from_arrays([1, 2], [SECRET, "x", "y"]),
            "masked": masked,
            "slice": pa.array([SECRET, "a", "b", SECRET]).slice(1, 2),
            "lists": pa.array([[SECRET], ["a"], ["b"]]).slice(1, 2),
            "structs": pa.StructArray.from_arrays([pa.array([SECRET, "a"])], ["f"], mask=pa.array([True, False])),
        }
    )
    kind = Format("parquet", {"compression": "none"}) if name == "t.parquet" else Format("arrow", {"stream": False})
    again = through(table, kind, tmp_path / name).table
    assert again["below"].to_pylist() == ["ab", None]
    assert again["category"].to_pylist() == ["x", "y"]
    assert again["masked"].to_pylist() == ["x", None]
    assert again["structs"].to_pylist() == [None, {"f": "a"}]
    data = (tmp_path / name).read_bytes()
    assert secret not in data
    assert secret[:8] not in data


def test_categories_in_several_chunks(tmp_path):
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    table = pa.table({"k": pa.chunked_array(chunks)})
    for format in (Format("parquet", {"compression": "none"}), Format("arrow", {"stream": False})):
        again = through(table, format, tmp_path / f"t.{format.kind}").table
        assert again["k"].type == table["k"].type
        assert again["k"].to_pylist() == ["a", "b", "c", "a"]


@pytest.mark.parametrize(
    ("name", "data", "match"),
    [
        ("t.parquet", NO * 9, "format that its name says, Parquet"),
        ("t.parquet", b"PAR1" + NO * 9, "cannot be read as Parquet"),
        ("t.feather", b"FEA1" + NO * 9, "its name says.*version 1"),
        ("t.arrow", b"ARROW1\0\0" + NO * 9, "cannot be read as Arrow"),
        ("t.arrow", b"\xff\xff\xff\xff" + NO * 9, "cannot be read as Arrow"),
        ("t.sav", b"$FL2" + NO * 99, "cannot be read as SPSS"),
        ("t.sav", b"SR\0\4" + NO * 99, "its name says, SPSS"),
        ("t.dta", NO * 99, "its name says, Stata"),
        ("t.dta", b"<stata_dta>" + NO * 99, "cannot be read as Stata"),
        ("t.xpt", b"HEADER RECORD*******LIBRARY" + NO * 99, "cannot be read as SAS transport"),
        ("t.sas7bdat", NO * 99, "its name says, SAS"),
        ("t.sas7bdat", b"\0" * 12 + b"\xc2\xea\x81\x60" + NO * 99, "cannot be read as SAS"),
    ],
)
@needs_pyreadstat
def test_damaged_files(tmp_path, name, data, match):
    refused(read, saved(tmp_path, data, name), match=match)


def test_tables_without_records_or_with_names_twice(tmp_path):
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    refused(read, tmp_path / "t.parquet", match="must have records")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    parquet.write_table(twice, tmp_path / "t.parquet")
    refused(read, tmp_path / "t.parquet", match="columns 1 and 2")
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    refused(read, tmp_path / "t.parquet", {"delimiter": ","}, match="no options.*'delimiter'")
