"""CSV: what is read is written, as it was, and no error quotes a value."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import stat
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coterie import CoterieError
from coterie.formats import Format, detect, read, write
from coterie.formats.csv_text import Dialect
from format_files import SECRET, columns_of, refused, rows_of, saved, text_tables, through

# CSV: what is in a file stays as it is


def test_every_column_is_text_as_it_stands(tmp_path):
    data = b"zip,sum,day,id,flag\n00123,1.50,2024-01-02,9223372036854775808,TRUE\n 7,1e5,,-0,\n"
    path = saved(tmp_path, data)
    source = read(path)
    assert source.name == "table.csv"
    assert set(source.table.schema.types) == {pa.string()}
    assert source.table.to_pydict() == {
        "zip": ["00123", " 7"],
        "sum": ["1.50", "1e5"],
        "day": ["2024-01-02", None],
        "id": ["9223372036854775808", "-0"],
        "flag": ["TRUE", None],
    }
    write(source.table, source.format, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == data


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"a,b\n1,2\n", "t.csv"),
        (b"a;b\r\n1,5;2\r\n", "t.csv"),
        (b"a\tb\n1\t2", "t.tsv"),
        (b"a\tb\n1,2\t2,3\n", "t.tab"),
        (b"a|b\n1|2\n", "t.txt"),
        (b'a,b\n"x,y","say ""no"""\n', "t.CSV"),
        (b'a,b\n"two\nlines","and\r\nmore"\n', "t.csv"),
        (b'"a\nb",c\r\n1,2\r\n', "t.csv"),
        (b"\xef\xbb\xbfa,b\n1,\xc3\xa9\n", "t.csv"),
        ("\ufeffa,b\n1,é\n".encode("utf-16-le"), "t.csv"),
        ("\ufeffa,b\r\n1,é".encode("utf-16-be"), "t.csv"),
        (b"a\n1\n\n3\n", "t.csv"),
        (b"a\r\n1\r\n\r\n", "t.csv"),
    ],
)
def test_the_dialect_is_found_and_kept(tmp_path, data, name):
    source = read(saved(tmp_path, data, name))
    assert detect(tmp_path / name) == source.format
    plain = json.loads(json.dumps(source.format.as_dict()))
    write(source.table, Format.from_dict(plain), tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == data


def test_what_the_dialect_says(tmp_path):
    made = Dialect.of(read(saved(tmp_path, b"a;b\r\n1,5;x\r\n-2,25;y")).format)
    assert made == Dialect(";", '"', "utf-8", False, ",", True, ("",), "\r\n", False)
    # a comma may part thousands, too: only where no number has a point is it clear
    assert read(saved(tmp_path, b"a;b\n1,5;2.5\n")).format.details["decimal"] == "."
    assert read(saved(tmp_path, b"a;b\n1,5;x\n"), {"decimal": "."}).format.details["decimal"] == "."
    assert read(saved(tmp_path, b'a,b\n"1,5",x\n')).format.details["decimal"] == "."


def test_a_source_shows_no_record(tmp_path):
    source = read(saved(tmp_path, b"a,b\n1,%b\n" % SECRET.encode()))
    assert SECRET not in repr(source) + str(source)
    assert "table.csv" in repr(source)


def test_options(tmp_path):
    assert columns_of(tmp_path, b"a,b\n1,\xe9\n", encoding="cp1252") == {"a": ["1"], "b": ["é"]}
    assert columns_of(tmp_path, b"a,b\nNA,\n-,NA\n", missing=["NA", "-"]) == {"a": [None, None], "b": ["", None]}
    assert columns_of(tmp_path, b'a,b\n"NA",x\n', missing=["NA"]) == {"a": [None], "b": ["x"]}
    assert columns_of(tmp_path, b"1,2\n3,4\n", names=["x", "y"]) == {"x": ["1", "3"], "y": ["2", "4"]}
    assert columns_of(tmp_path, b"1,2\n3,4\n", header=True) == {"1": ["3"], "2": ["4"]}
    assert columns_of(tmp_path, b"a,b\n'x,y',2\n", quote="'") == {"a": ["x,y"], "b": ["2"]}
    assert columns_of(tmp_path, b'a,b\n5" pipe,"\n', quote="") == {"a": ['5" pipe'], "b": ['"']}
    assert columns_of(tmp_path, b"a b\n1 2\n", delimiter=" ") == {"a": ["1"], "b": ["2"]}
    assert columns_of(tmp_path, b"a,b\n1,2\n\n\n") == {"a": ["1"], "b": ["2"]}


def test_without_a_header_none_is_written(tmp_path):
    source = read(saved(tmp_path, b"1,2\n3,4\n"), {"names": ["x", "y"]})
    write(source.table, source.format, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == b"1,2\n3,4\n"


NO = SECRET.encode()


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "must not be empty.*0 bytes"),
        (b"\r\n\n", "must not be empty"),
        (b"a,b\n", "must have records"),
        (b"a,b", "must have records"),
        (b"a,b\n1,%b\n3\n" % NO, "1 fields in line 3 where the first line has 2"),
        (b"a,b\n1,%b,%b\n3,4,5\n" % (NO, NO), "3 fields in line 2 where the first line has 2; 2 records"),
        (b"a,b\n1,2\n\n3,%b\n" % NO, "1 fields in line 3"),
        (b'a,b\n"x\ny",1\n%b\n' % NO, "1 fields in line 4"),
        (b"%b,x,%b\n1,2,3\n" % (NO, NO), "same name for columns 1 and 3"),
        (b"%b, ,b\n1,2,3\n" % NO, "empty name for column 2 of 3"),
        (b"%b,17\n1,2\n" % NO, "must hold the column names.*a number among them"),
        (b"%b;1,5\n1;2\n" % NO, "a number among them"),
        (b"0  1 2.5\n3  4 5\n", "a number among them"),
        (b"a,b\n1,%b\0\n" % NO, "NUL byte in line 2"),
        (b"a,b\n1,2\n%b\xe9,2\n" % NO, "must be UTF-8.*line 3.*cp1252"),
        (b"a,b\n1,%b\xc3" % NO, "must be UTF-8.*line 2"),
        (b'a,b\n1,"%b\n' % NO, "never closed"),
        (b'a,b\n1,x"%b\n' % NO, "quote within a field in line 2"),
        (b'a,b\n1,"x"%b\n' % NO, "quote within a field in line 2"),
        (b"a,b\r1,%b\r" % NO, "carriage return without a line feed in line 1"),
        (b"a,b;c\n1,%b;3\n" % NO, "delimiter of the CSV file is ambiguous.*2 delimiters"),
        (b"name\n%b, x\ny\n" % NO, "2 fields in line 2 where the first line has 1"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "byte order"),
        (b"\xff\xfea\x00\n\x00x", "valid utf-16-le"),
        (b"PK\x03\x04\x00\x00 %b" % NO, "NUL byte.*spreadsheet"),
    ],
)
def test_odd_files_are_refused_without_a_word_of_them(tmp_path, data, match):
    refused(read, saved(tmp_path, data), match=match)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"skip": 1}, "Options for CSV.*'skip'"),
        ({"delimiter": "--"}, "one ASCII character"),
        ({"delimiter": "é"}, "one ASCII character"),
        ({"delimiter": '"'}, "must differ"),
        ({"quote": "\n"}, "one ASCII character"),
        ({"decimal": "x"}, "decimal mark"),
        ({"encoding": "klingon"}, "encoding must be one"),
        ({"encoding": "hex"}, "encoding must be one"),
        ({"encoding": 5}, "encoding must be a name"),
        ({"encoding": "ascii"}, "valid ascii.*byte 2"),
        ({"encoding": "utf-16"}, "byte order"),
        ({"header": False}, "needs names"),
        ({"header": "no"}, "true or false"),
        ({"names": ["x", "y"]}, "stated whether the first line.*header=true"),
        ({"names": ["x"]}, "1 names for 2 columns"),
        ({"names": "xy"}, "list of strings"),
        ({"missing": "NA"}, "list of short strings"),
        ({"delimiter": ";"}, "2 fields|1 fields|first line"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, match):
    path = saved(tmp_path, "a,é\n1,2;3\n".encode())
    refused(read, path, options, match=match)


def test_a_mark_and_an_encoding_must_agree(tmp_path):
    path = saved(tmp_path, "\ufeffa,b\n1,2\n".encode())
    refused(read, path, {"encoding": "latin-1"}, match="byte order mark.*utf-8")
    assert read(path, {"encoding": "utf-8-sig"}).table.column_names == ["a", "b"]


def test_files_that_are_none(tmp_path):
    refused(read, tmp_path / "none.csv", match="does not exist")
    refused(read, tmp_path, match="must contain Parquet files")
    refused(read, saved(tmp_path, b"x", "t.xls"), match="must end in.*save it as .xlsx")
    refused(read, saved(tmp_path, b"x", "t.pdf"), match="must end in.*export")
    (tmp_path / "folder.csv").mkdir()
    refused(read, tmp_path / "folder.csv", match="must contain Parquet files")
    refused(write, pa.table({"a": ["1"]}), Dialect().format(), tmp_path / "no" / "t.csv", match="cannot be written")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = saved(tmp_path, b"a,b\n1,2\n")
    path.chmod(0)
    refused(read, path, match="cannot be read")


def test_blocks(monkeypatch):
    """A scan in small blocks finds what a scan of the whole does."""
    from coterie.formats import dialect

    data = b'a,b\r\n"x""\r\ny",1\r\n"",2\r\n' * 3 + b"\r\n"
    whole = dialect.shape_of(data, ",", '"')
    bad = data + b"z\n"
    expected = str(refused(dialect.shape_of, bad, ",", '"', match="fields in line"))
    for block in range(1, 40):
        monkeypatch.setattr(dialect, "_BLOCK", block)
        assert dialect.shape_of(data, ",", '"') == whole
        assert str(refused(dialect.shape_of, bad, ",", '"', match="fields in line")) == expected
        monkeypatch.setattr(dialect, "_BLOCK", block + 3)  # as long as a character
        assert dialect._not_utf8("aé€😀".encode() * 9) is None
        assert dialect._not_utf8("aé€😀".encode() * 9 + b"\xe2\x82") == 90


# CSV: twins


dialects = st.builds(
    Dialect,
    delimiter=st.sampled_from(",;\t|"),
    quote=st.sampled_from("\"'"),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
    bom=st.booleans(),
    missing=st.sampled_from([("",), ("NA",), ("NA", ""), ("", "a1"), (",",)]),
    newline=st.sampled_from(["\n", "\r\n"]),
    final_newline=st.booleans(),
    quoted=st.booleans(),
)


@settings(max_examples=60)
@given(text_tables(), dialects)
def test_a_table_of_texts_comes_back(tmp_path_factory, table, made):
    held = {v for column in table.columns for v in column.to_pylist()}
    assume(not held & {m for m in made.missing if m})
    path = tmp_path_factory.getbasetemp() / "any.csv"
    options = {"delimiter": made.delimiter, "quote": made.quote, "missing": list(made.missing), "header": True}
    source = through(table, made.format(), path, options | {"encoding": made.encoding})
    expected = table
    if "" in made.missing:  # there, an empty text and nothing are the same
        full = {name: [v or None for v in values] for name, values in table.to_pydict().items()}
        expected = pa.table(full, schema=table.schema)
    assert source.table.equals(expected)
    data = path.read_bytes()
    write(source.table, source.format, path)
    assert path.read_bytes() == data


@settings(max_examples=50)
@given(text_tables(least=2), st.sampled_from(",;\t|"), st.booleans())
def test_the_same_bytes_as_pythons_writer(tmp_path_factory, table, delimiter, quoted):
    rows = [table.column_names, *rows_of(table)]
    assume(not any("\ufeff" in v for row in rows for v in row))
    twin = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(twin, delimiter=delimiter, lineterminator="\r\n", quoting=quoting).writerows(rows)
    path = tmp_path_factory.getbasetemp() / "twin.csv"
    write(table, Dialect(delimiter=delimiter, newline="\r\n", quoted=quoted).format(), path)
    assert path.read_bytes() == twin.getvalue().encode()
    if quoted:
        assert read(path, {"delimiter": delimiter, "header": True}).format.details["quoted"]


def test_one_field_without_quotes_and_they_are_no_style(tmp_path):
    for text, quoted in (
        (b'"a","b"\n"1","x""y"\n"","z"\n', True),
        (b'"a","b"\r\n"1","x, y"\r\n\r\n', True),
        (b'"a","b"\n"1,""2","\n"', True),
        (b'"a","b"\n1,"x"\n', False),
        (b'a,b\n"1","x"\n', False),
        (b'"a","b"\n"1",\n', False),
        (b"a,b\n1,2\n", False),
    ):
        source = read(saved(tmp_path, text))
        assert source.format.details["quoted"] == quoted, text
        numbers = pa.table({"a": [1, 2], "b": pa.array([None, 0.5])})
        write(numbers, source.format, tmp_path / "u.csv")
        again = (tmp_path / "u.csv").read_bytes().splitlines()[:3]
        assert again == ([b'"a","b"', b'"1",""', b'"2","0.5"'] if quoted else [b"a,b", b"1,", b"2,0.5"])


def read_or_refused(path, options=None):
    try:
        return read(path, options)
    except CoterieError as caught:
        error = caught
    assert error.__context__ is None
    return None


@settings(max_examples=300)
@given(st.text('a1,;"\n\r\t|é', min_size=1, max_size=30), st.sampled_from([None, ",", ";"]))
def test_any_bytes_are_read_as_python_reads_them_or_refused(tmp_path_factory, text, delimiter):
    path = saved(tmp_path_factory.getbasetemp(), text.encode(), "fuzz.csv")
    source = read_or_refused(path, {"header": True, "missing": [], **({"delimiter": delimiter} if delimiter else {})})
    if source is None:
        return
    width = source.table.num_columns
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=source.format.details["delimiter"], strict=True))
    rows = [row or [""] for row in rows] if width == 1 else [row for row in rows if row]
    if width > 1 and not rows[0][0].strip():
        rows[0][0] = "row"  # as R writes the names of rows
    assert [source.table.column_names, *rows_of(source.table)] == rows


@given(st.binary(max_size=60))
def test_any_bytes_at_all(tmp_path_factory, data):
    path = saved(tmp_path_factory.getbasetemp(), data, "bytes.csv")
    read_or_refused(path)


# CSV: writing


def test_released_numbers_are_written_short_and_exact(tmp_path):
    moment = dt.datetime(2024, 1, 2, 3, 4, 5, 600)
    table = pa.table(
        {
            "f": [0.1, 38.0, 123456789012.5, 1e-7, -0.0, None],
            "i": pa.array([1, 2**53 + 1, -5, 0, None, 3]),
            "u": pa.array([2**64 - 1, 0, 1, 2, 3, None], pa.uint64()),
            "b": [True, False, None, True, True, True],
            "d": [dt.date(2024, 1, 2)] * 6,
            "t": pa.array([moment, dt.datetime(2024, 1, 2), *[None] * 4], pa.timestamp("us")),
            "c": pa.array([Decimal("1.50")] * 6),
            "k": pa.array(["x", "y", "x", None, "x,y", "x"]).dictionary_encode(),
            "n": pa.nulls(6),
        }
    )
    write(table, Dialect(delimiter=";", decimal=",").format(), tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "0,1;1;18446744073709551615;true;2024-01-02;2024-01-02 03:04:05.0006;1,50;x;"
    assert lines[2] == "38;9007199254740993;0;false;2024-01-02;2024-01-02 00:00:00;1,50;y;"
    assert lines[3].startswith("123456789012,5;-5;1;;")
    assert [line.split(";")[0] for line in lines[4:]] == ["1e-07", "0", ""]
    write(table.select(["f", "d"]), Dialect(decimal=",").format(), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[1] == '"0,1",2024-01-02'


@settings(max_examples=50)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_floats_read_back_the_same(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "floats.csv"
    write(pa.table({"x": numbers, "y": [0] * len(numbers)}), Dialect().format(), path)
    assert [float(v) for v in read(path).table["x"].to_pylist()] == numbers


def test_what_a_csv_file_cannot_hold(tmp_path):
    path = tmp_path / "t.csv"

    def no(values, match, **dialect):
        refused(write, pa.table({"col": values}), Dialect(**dialect).format(), path, match=match)
        assert not path.exists()

    no([SECRET + "€"], "encoding, iso8859-1.*1 values in column 'col'", encoding="iso8859-1")
    no([SECRET, "é" * 100_000], "encoding, ascii.*1 values in column 'col'", encoding="ascii")
    no([SECRET, None], "missing values is needed.*column 'col'", missing=())
    no(pa.array([1, None]), "missing values is needed.*column 'col'", missing=())
    no([SECRET, "x"], "marker of missing values.*1 such texts in column 'col'", missing=("NA", SECRET))
    no([SECRET + "\n"], "Without a quote.*column 'col'", quote="")
    no([float("inf")], "finite.*column 'col'")
    no([[SECRET]], "CSV file can hold.*'col'")
    no([SECRET.encode()], "CSV file can hold.*'col'")


def test_a_format_must_be_one():
    refused(Format.from_dict, {"kind": "excel"}, match="one of csv")
    refused(write, pa.table({"a": [1]}), Format("excel"), Path("x"), match="one of csv")
    refused(Dialect.of, Format("csv", {"colour": "red"}), match="'colour'")
    refused(Dialect.of, Format("csv", {"delimiter": "ab"}), match="one ASCII")
    assert hash(Format("csv", {"quote": '"'})) == hash(Format("csv", {"quote": "'"}))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", "t.arrow"])
def test_written_for_the_owner_alone(tmp_path, name):
    path = saved(tmp_path, b"old", name)
    path.chmod(0o644)
    kind = {"csv": Dialect().format(), "parquet": Format("parquet", {"compression": "zstd"})}
    table = pa.table({"a": ["x", "y"]})
    write(table, kind.get(name[2:], Format("arrow", {"stream": False, "compression": "none"})), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read(path).table.equals(table)


def test_a_large_file(tmp_path):
    n = 200_000
    numbers = np.random.default_rng(0).normal(size=(5, n)).round(6)
    table = pa.table({f"c{i}": pa.array(numbers[i]).cast(pa.string()) for i in range(5)})
    assert through(table, Dialect().format(), tmp_path / "t.csv").table.equals(table)
    long = pa.table({"a": ["x", "y" * 20_000_000, "z"], "b": ["1", "2", "3"]})  # longer than blocks of the parser
    assert through(long, Dialect().format(), tmp_path / "t.csv").table.equals(long)
    broken = pa.table({"a": [f"{i}" + "x\n" * 40 for i in range(120_000)], "b": ["1"] * 120_000})  # over blocks' ends
    assert through(broken, Dialect().format(), tmp_path / "t.csv").table.equals(broken)
