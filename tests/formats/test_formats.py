"""Files in and out: what is read is written, as it was, and no error quotes a value."""

from __future__ import annotations

import csv
import datetime as dt
import importlib.util
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
from pyarrow import feather, ipc, parquet

from coterie import CoterieError
from coterie.formats import Format, detect, formulas, neutralize, read, without_user_missing, write
from coterie.formats.text import Dialect

SECRET = "Xq7Secret"

needs_pyreadstat = pytest.mark.skipif(
    importlib.util.find_spec("pyreadstat") is None or importlib.util.find_spec("pandas") is None,
    reason="SPSS, Stata and SAS files need pyreadstat and pandas",
)


def refused(call, *given, match, secret=SECRET):
    """The error of a call, which quotes nothing: not in its words, its parts, or in what it came from."""
    with pytest.raises(CoterieError, match=match) as caught:
        call(*given)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert secret not in str(error) + repr(error.args) + repr(vars(error))
    return error


def saved(folder, data, name="table.csv"):
    path = Path(folder) / name
    path.write_bytes(data)
    return path


def through(table, format, path, options=None):
    """What comes back of a table that is written and read."""
    write(table, format, path)
    return read(path, options)


def rows_of(table):
    return [[v or "" for v in row] for row in zip(*table.to_pydict().values(), strict=True)]


def columns_of(folder, data, name="table.csv", **options):
    return read(saved(folder, data, name), options).table.to_pydict()


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
        (b"a,b\n1,2\n%b\xe9,2\n" % NO, "must be in UTF-8.*line 3.*cp1252"),
        (b"a,b\n1,%b\xc3" % NO, "must be in UTF-8.*line 2"),
        (b'a,b\n1,"%b\n' % NO, "never closed"),
        (b'a,b\n1,x"%b\n' % NO, "quote within a field in line 2"),
        (b'a,b\n1,"x"%b\n' % NO, "quote within a field in line 2"),
        (b"a,b\r1,%b\r" % NO, "carriage return without a line feed in line 1"),
        (b"a,b;c\n1,%b;3\n" % NO, "delimiter of a CSV file must be clear.*2 delimiters"),
        (b"name\n%b, x\ny\n" % NO, "2 fields in line 2 where the first line has 1"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "byte order"),
        (b"\xff\xfea\x00\n\x00x", "in its encoding, utf-16-le"),
        (b"PK\x03\x04\x00\x00 %b" % NO, "NUL byte.*spreadsheet"),
    ],
)
def test_odd_files_are_refused_without_a_word_of_them(tmp_path, data, match):
    refused(read, saved(tmp_path, data), match=match)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"thousands": ","}, "Options for CSV.*'thousands'"),
        ({"delimiter": "--"}, "one ASCII character"),
        ({"delimiter": "é"}, "one ASCII character"),
        ({"delimiter": '"'}, "must differ"),
        ({"quote": "\n"}, "one ASCII character"),
        ({"decimal": "x"}, "decimal mark"),
        ({"encoding": "klingon"}, "encoding must be one"),
        ({"encoding": "hex"}, "encoding must be one"),
        ({"encoding": 5}, "encoding must be a name"),
        ({"encoding": "ascii"}, "in its encoding, ascii.*byte 2"),
        ({"encoding": "utf-16"}, "byte order"),
        ({"header": False}, "needs names"),
        ({"header": "no"}, "true or false"),
        ({"names": ["x", "y"], "header": True}, "without a header"),
        ({"names": ["x"]}, "1 names for 2 columns"),
        ({"names": "xy"}, "list of texts"),
        ({"missing": "NA"}, "list of short texts"),
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
    refused(read, tmp_path, match="must end in")
    refused(read, saved(tmp_path, b"x", "t.xlsx"), match="must end in.*export")
    (tmp_path / "folder.csv").mkdir()
    refused(read, tmp_path / "folder.csv", match="must be a file")
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

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6) | st.text(
    ",;\"'\t|\r\n =a1", max_size=5
)
names = st.lists(texts.filter(str.strip), min_size=1, max_size=4, unique=True)


@st.composite
def text_tables(draw, least=1):
    heads = draw(names.filter(lambda n: len(n) >= least))
    rows = draw(st.integers(1, 5))
    values = st.lists(st.none() | texts, min_size=rows, max_size=rows)
    return pa.table({name: pa.array(draw(values), pa.string()) for name in heads})


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

    no([SECRET + "€"], "encoding, iso8859-1.*1 texts in column 'col'", encoding="iso8859-1")
    no([SECRET, "é" * 100_000], "encoding, ascii.*1 texts in column 'col'", encoding="ascii")
    no([SECRET, None], "means missing.*column 'col'", missing=())
    no(pa.array([1, None]), "means missing.*column 'col'", missing=())
    no([SECRET, "x"], "means? missing.*1 such texts in column 'col'", missing=("NA", SECRET))
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


# Parquet and Arrow


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


# SPSS, Stata, SAS


def spss(path, **more):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {
            "age": [31.5, np.nan, 999.0, 40.0],
            "sex": [1.0, 2.0, 1.0, np.nan],
            "town": ["x", "", "Köln", "NA"],
            "born": [86400.0 * (141428 + d) for d in (0, -9000, 19000)] + [np.nan],
            "seen": [12e9 + 0.25, 12e9, np.nan, 12e9 + 1e-5],
            "hour": [0.0, 3600.5, np.nan, 86399.0],
        }
    )
    pyreadstat.write_sav(
        frame, path, file_label=SECRET, note=SECRET,
        column_labels={"age": "Age in years", "town": "Stadt"},
        variable_value_labels={"sex": {1.0: "männlich", 2.0: "weiblich"}},
        missing_ranges={"age": [{"lo": 990.0, "hi": 1.7976931348623157e308}, {"lo": -1, "hi": -1}], "town": ["x"]},
        variable_display_width={"age": 12}, variable_measure={"age": "scale", "sex": "nominal"},
        variable_format={"born": "EDATE10", "seen": "DATETIME22.2", "hour": "TIME8", "age": "F8.2"}, **more,
    )  # fmt: skip
    return read(path)


def same(a, b):
    """Whether two columns hold the same bits, so that the letters of NaN count."""
    bits = [pa.array(np.asarray(c.combine_chunks().fill_null(-1)).view(np.uint64)) for c in (a, b)]
    return a.is_null().equals(b.is_null()) and bits[0].equals(bits[1])


@needs_pyreadstat
@pytest.mark.parametrize(
    ("name", "more", "packed"),
    [("t.sav", {}, "none"), ("t.sav", {"row_compress": True}, "rows"), ("t.zsav", {"compress": True}, "zlib")],
)
def test_spss(tmp_path, name, more, packed):
    source = spss(tmp_path / name, **more)
    assert source.format.details["compression"] == packed
    table = source.table
    assert table["sex"].to_pylist() == [1.0, 2.0, 1.0, None]
    assert table["town"].to_pylist() == ["x", None, "Köln", "NA"]
    assert table["born"].to_pylist()[:2] == [dt.date(1970, 1, 1), dt.date(1945, 5, 12)]
    assert table.schema.field("seen").type == pa.timestamp("us")
    assert table["hour"].to_pylist()[1] == dt.time(1, 0, 0, 500000)
    variables = source.format.details["variables"]
    assert variables["age"] == {
        "type": "double", "label": "Age in years", "format": "F8.2", "missing": [[990.0, None], [-1.0, -1.0]],
        "width": 12, "measure": "scale",
    }  # fmt: skip
    assert variables["sex"]["labels"] == [[1.0, "männlich"], [2.0, "weiblich"]]
    again = through(table, Format.from_dict(json.loads(json.dumps(source.format.as_dict()))), tmp_path / f"u-{name}")
    assert again.table.equals(table)
    assert again.format == source.format
    assert SECRET.encode() not in (tmp_path / f"u-{name}").read_bytes()


@needs_pyreadstat
def test_user_missing_values_of_spss(tmp_path):
    source = spss(tmp_path / "t.sav")
    assert source.table["age"].to_pylist() == [31.5, None, 999.0, 40.0]
    blank = without_user_missing(source.table, source.format)
    assert blank["age"].to_pylist() == [31.5, None, None, 40.0]
    assert blank["town"].to_pylist() == [None, None, "Köln", "NA"]
    assert blank.drop_columns(["age", "town"]).equals(source.table.drop_columns(["age", "town"]))
    one = without_user_missing(source.table, source.format, ["town"])
    assert one["age"].to_pylist() == [31.5, None, 999.0, 40.0]
    plain = pa.table({"a": [1]})
    assert without_user_missing(plain, Format("csv")) is plain


@needs_pyreadstat
def test_columns_that_are_left_out_or_changed(tmp_path):
    source = spss(tmp_path / "t.sav")
    kept = source.format.keep(["age", "town"])
    assert list(kept.details["variables"]) == ["age", "town"]
    assert Format("csv").keep(["a"]) == Format("csv")
    changed = pa.table(
        {
            "age": ["young", "old", None, "old"],  # was a number, with a format and missing values
            "town": [1.5, 2.5, None, 3.5],  # was a text
            "sex": pa.array([1, 2, 1, None], pa.int8()),
            "born": pa.array([dt.date(2000, 1, 1)] * 4),
            "fresh": pa.array([dt.datetime(2001, 2, 3, 4)] * 4, pa.timestamp("ns")),
            "flag": [True, False, None, True],
        }
    )
    again = through(changed, source.format, tmp_path / "u.sav")
    assert again.table["age"].to_pylist() == ["young", "old", None, "old"]
    assert again.table["town"].to_pylist() == [1.5, 2.5, None, 3.5]
    assert again.table["born"].equals(changed["born"])
    assert again.table["fresh"].to_pylist() == [dt.datetime(2001, 2, 3, 4)] * 4
    assert again.table["flag"].to_pylist() == [1.0, 0.0, None, 1.0]
    variables = again.format.details["variables"]
    assert variables["age"]["label"] == "Age in years"
    assert "missing" not in variables["age"]
    assert variables["sex"]["labels"] == [[1.0, "männlich"], [2.0, "weiblich"]]
    assert variables["born"]["format"] == "EDATE10"


def stata(path, version=15):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"i": np.array([1, 2, 3], np.int32), "x": [0.5, np.nan, 2.0], "s": ["e", "", "z"]})
    frame["d"] = [20000.0, -1.0, np.nan]
    frame["c"] = [1.7e12, 1.6e12 + 500, np.nan]
    frame["m"] = np.array([1, "a", None], dtype=object)
    frame["o"] = np.array(["b", 2.5, "z"], dtype=object)
    frame["n"] = np.array([1, None, 3], dtype=object)
    pyreadstat.write_dta(
        frame, path, version=version, file_label=SECRET,
        column_labels={"i": "A number"}, missing_user_values={"m": ["a"], "o": ["b", "z"]},
        variable_value_labels={"i": {1: "one"}, "m": {1: "eins", "a": "refused"}},
        variable_format={"d": "%tdD_m_Y", "c": "%tc"},
    )  # fmt: skip
    return read(path)


@needs_pyreadstat
@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_stata(tmp_path, version):
    source = stata(tmp_path / "t.dta", version)
    table = source.table
    assert source.format.details["version"] == version
    assert table.schema.types[:5] == [pa.int32(), pa.float64(), pa.string(), pa.date32(), pa.timestamp("us")]
    assert table["d"].to_pylist() == [dt.date(2014, 10, 4), dt.date(1959, 12, 31), None]
    assert table["n"].to_pylist() == [1, None, 3]
    assert source.format.details["variables"]["m"]["labels"] == [[1, "eins"], ["a", "refused"]]
    again = through(table, Format.from_dict(json.loads(json.dumps(source.format.as_dict()))), tmp_path / "u.dta")
    assert again.format == source.format
    assert again.table.drop_columns(["m", "o"]).equals(table.drop_columns(["m", "o"]))
    assert same(again.table["m"], table["m"])
    assert same(again.table["o"], table["o"])
    assert np.isnan(table["m"].to_pylist()[1])
    assert SECRET.encode() not in (tmp_path / "u.dta").read_bytes()
    blank = without_user_missing(table, source.format)
    assert blank["m"].to_pylist() == [1.0, None, None]
    assert blank["o"].to_pylist() == [None, 2.5, None]
    assert through(blank, source.format, tmp_path / "v.dta").table["m"].to_pylist() == [1, None, None]


@needs_pyreadstat
def test_letters_survive_a_change_of_order(tmp_path):
    source = stata(tmp_path / "t.dta")
    turned = source.table.take([2, 0, 1])
    again = through(turned, source.format, tmp_path / "u.dta").table
    assert same(again["o"], turned["o"])
    back = again.take([1, 2, 0])
    assert same(back["o"], source.table["o"])


@needs_pyreadstat
def test_stata_without_utf8_is_raised_to_a_version_with_it(tmp_path):
    source = stata(tmp_path / "t.dta", version=12)
    again = through(source.table.set_column(2, "s", pa.array(["é", "", "z"])), source.format, tmp_path / "u.dta")
    assert again.table["s"].to_pylist() == ["é", None, "z"]
    assert again.format.details["version"] == 14


@needs_pyreadstat
def test_an_old_stata_file_with_long_texts_and_the_least_integer(tmp_path):
    texts, least = ["x" * 244, "y"], [-2_147_483_647, 1]
    format = Format("stata", {"version": 10, "variables": {"n": {"type": "int32"}, "s": {"type": "string"}}})
    again = through(pa.table({"n": pa.array(least, pa.int32()), "s": texts}), format, tmp_path / "t.dta")
    assert again.table.to_pydict() == {"n": least, "s": texts}
    assert again.table.schema.types == [pa.int32(), pa.string()]
    assert again.format.details["version"] == 13
    assert through(pa.table({"s": ["x" * 243]}), format, tmp_path / "u.dta").format.details["version"] == 10


@needs_pyreadstat
def test_a_file_of_pandas_own_writer(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(
        {
            "small": np.array([1, -2, 100], np.int8),
            "day": pd.to_datetime(["2020-01-01", "1999-12-31", "2024-02-29"]),
            "kind": pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True),
            "text": ["ä", "b" * 300, ""],
        }
    )
    frame.to_stata(
        tmp_path / "t.dta", write_index=False, convert_dates={"day": "td"}, version=118, data_label=SECRET,
        variable_labels={"small": "A small number"}, time_stamp=dt.datetime(2020, 1, 1),
    )  # fmt: skip
    source = read(tmp_path / "t.dta")
    assert source.table["kind"].to_pylist() == [0, 1, 0]  # the codes
    assert source.table["day"].to_pylist() == [dt.date(2020, 1, 1), dt.date(1999, 12, 31), dt.date(2024, 2, 29)]
    write(source.table, source.format, tmp_path / "u.dta")
    again = pd.read_stata(tmp_path / "u.dta")
    assert again["kind"].tolist() == ["low", "high", "low"]
    assert again["text"].tolist() == frame["text"].tolist()
    assert again["day"].tolist() == frame["day"].tolist()
    with pd.read_stata(tmp_path / "u.dta", iterator=True) as reader:
        assert reader.variable_labels()["small"] == "A small number"
        assert reader.data_label == ""


@needs_pyreadstat
@pytest.mark.parametrize("version", [5, 8])
def test_sas_transport(tmp_path, version):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"age": [31.5, np.nan], "town": ["x", "Köln"], "born": [20000.0, np.nan], "at": [1e9, 2e9]})
    pyreadstat.write_xport(
        frame, tmp_path / "t.xpt", file_format_version=version, file_label=SECRET, table_name="SECRETS",
        column_labels={"age": "Age"}, variable_format={"born": "DATE9.", "at": "DATETIME20.", "town": "$20."},
    )  # fmt: skip
    source = read(tmp_path / "t.xpt")
    assert source.format.details["version"] == version
    assert source.table["born"].to_pylist() == [dt.date(2014, 10, 4), None]
    assert source.table["at"].to_pylist()[0] == dt.datetime(1960, 1, 1) + dt.timedelta(seconds=1e9)
    again = through(source.table, source.format, tmp_path / "u.xpt")
    assert again.table.equals(source.table)
    assert again.format == source.format
    assert b"SECRET" not in (tmp_path / "u.xpt").read_bytes().upper()
    refused(write, source.table, Format("sas7bdat"), tmp_path / "u.sas7bdat", match="read, not written.*xpt")


@needs_pyreadstat
@pytest.mark.parametrize("name", ["t.sav", "t.dta", "t.xpt"])
def test_the_moment_of_writing_is_not_in_the_file(tmp_path, name):
    table = pa.table({"a": [1.5, 2.5], "s": ["x", "y"]})
    format = Format({"sav": "spss", "dta": "stata", "xpt": "xport"}[name[2:]], {"variables": {}})
    write(table, format, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    today = dt.date.today()
    for form in ("%d %b %y", "%d %b %Y", "%d%b%y"):
        assert today.strftime(form).upper().encode() not in data.upper()
    assert b"70" in data[:700]
    assert read(tmp_path / name).table["a"].to_pylist() == [1.5, 2.5]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@needs_pyreadstat
def test_what_statistical_files_cannot_hold(tmp_path):
    for kind, name in (("spss", "t.sav"), ("stata", "t.dta"), ("xport", "t.xpt")):
        format, path = Format(kind, {"variables": {}}), tmp_path / name
        refused(write, pa.table({"col": [[1]]}), format, path, match="can hold.*column 'col'")
        refused(write, pa.table({"col": pa.array([2**60 + 1])}), format, path, match="15 digits.*column 'col'")
        refused(write, pa.table({"a b": [SECRET]}), format, path, match="cannot be written")
        assert not path.exists()
    refused(read, saved(tmp_path, b"$FL2", "t.sav"), {"delimiter": ","}, match="Options for SPSS files are encoding")


@needs_pyreadstat
@given(st.lists(st.none() | st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(9999, 1, 1)), min_size=1, max_size=4))
@settings(max_examples=12)
def test_moments_are_exact(tmp_path_factory, moments):
    folder = tmp_path_factory.getbasetemp()
    days = pa.array([m and m.date() for m in moments], pa.date32())
    clock = pa.array([m and m.replace(microsecond=m.microsecond // 1000 * 1000) for m in moments], pa.timestamp("us"))
    table = pa.table({"d": days, "c": clock, "x": [1.0] * len(moments)})
    for kind, suffix in (("spss", "sav"), ("stata", "dta"), ("xport", "xpt")):
        again = through(table, Format(kind, {"variables": {}}), folder / f"moments.{suffix}").table
        assert again["d"].equals(table["d"])
        assert again["c"].equals(table["c"])


@needs_pyreadstat
def test_without_pyreadstat(tmp_path, monkeypatch):
    from coterie.formats import statistical

    source = spss(tmp_path / "t.sav")
    monkeypatch.setattr(statistical, "find_spec", lambda name: None if name == "pyreadstat" else name)
    refused(read, tmp_path / "t.sav", match=r"need pyreadstat.*coterie\[files\]")
    monkeypatch.setattr(statistical, "find_spec", lambda name: None if name == "pandas" else name)
    refused(write, source.table, source.format, tmp_path / "u.sav", match="needs pandas")


# Spreadsheets


def test_formulas_are_counted_and_neutralized():
    bad = ["=1+1", "+49 30 1234", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "\rx", "＝1+1", "-1+2", "=", "＠x", "--1"]
    fine = ["-1", "+1.5", "-1,5", "-.5", "+1e-5", "-", "a=b", "", None, "-0044-03-15", "1-2"]
    table = pa.table({"bad": bad, "fine": fine, "=name": range(11), "n": [-1.5] * 11, "'=name": ["x"] * 11})
    assert formulas(table) == {"bad": 10, "=name": 1}  # "=" alone runs nothing
    safe = neutralize(table)
    assert safe.column_names == ["bad", "fine", "''=name", "n", "'=name"]
    assert safe["bad"].to_pylist() == [b if b == "=" else "'" + b for b in bad]
    assert safe["fine"].to_pylist() == fine
    assert formulas(safe) == {}
    assert neutralize(safe).equals(safe)


def test_formulas_in_categories():
    ordered = pa.DictionaryArray.from_arrays([1, 0, 2, None], ["=b", "a", "'=b"], ordered=True)
    table = pa.table({"k": pa.chunked_array([ordered, ordered])})
    assert formulas(table) == {"k": 2}
    safe = neutralize(table)
    assert safe["k"].type == table["k"].type
    assert safe["k"].to_pylist() == ["a", "'=b", "'=b", None] * 2
    assert safe["k"].chunk(0).dictionary.to_pylist() == ["'=b", "a"]


@settings(max_examples=50)
@given(text_tables())
def test_nothing_risky_is_left(table):
    assert formulas(neutralize(table)) == {}


# Files that nobody here wrote


def shipped(package, path):
    spec = importlib.util.find_spec(package)
    if spec is None or not (Path(spec.origin).parent / path).is_file():
        pytest.skip(f"{package} is not installed, or without its sample files")
    return Path(spec.origin).parent / path


def unchanged(path, folder, **options):
    source = read(path, options)
    write(source.table, source.format, folder / f"again{path.suffix}")
    again = read(folder / f"again{path.suffix}", options)
    assert again.table.equals(source.table)
    return source.table, (folder / f"again{path.suffix}").read_bytes() == path.read_bytes()


def test_samples_of_scikit_learn(tmp_path):
    data = "datasets/data"
    refused(
        read, shipped("sklearn", f"{data}/breast_cancer.csv"), match="31 fields in line 2.*569 records", secret="17.99"
    )
    refused(read, shipped("sklearn", f"{data}/wine_data.csv"), match="178 records", secret="14.23")
    iris = shipped("sklearn", f"{data}/iris.csv")
    refused(read, iris, match="a number among them", secret="setosa")
    table, same_bytes = unchanged(iris, tmp_path, header=True)
    assert table.shape == (150, 5)
    assert same_bytes
    table, same_bytes = unchanged(shipped("sklearn", f"{data}/linnerud_exercise.csv"), tmp_path, delimiter=" ")
    assert (table.shape, same_bytes) == ((20, 3), True)


def test_samples_of_matplotlib_and_numpy(tmp_path):
    data = "mpl-data/sample_data"
    table, same_bytes = unchanged(shipped("matplotlib", f"{data}/msft.csv"), tmp_path)
    assert (table.shape, same_bytes) == ((65, 7), True)
    refused(read, shipped("matplotlib", f"{data}/Stocks.csv"), match="11 fields in line 2", secret="10.97")
    refused(read, shipped("matplotlib", f"{data}/data_x_x2_x3.csv"), match="a number among them")
    table, same_bytes = unchanged(shipped("numpy", "_core/tests/data/umath-validation-set-tanh.csv"), tmp_path)
    assert (table.num_columns, same_bytes) == (4, True)


@pytest.mark.parametrize(
    "path",
    [
        "parquet/v0.7.1.parquet",
        "parquet/v0.7.1.all-named-index.parquet",
        "parquet/v0.7.1.column-metadata-handling.parquet",
        "feather/v0.17.0.version.2-compression.lz4.feather",
    ],
)
def test_samples_of_pyarrow(tmp_path, path):
    table, _ = unchanged(shipped("pyarrow", f"tests/data/{path}"), tmp_path)
    assert table.schema.metadata is None


@needs_pyreadstat
@pytest.mark.parametrize("name", ["scalar_float64", "struct_arrays", "various_compressed"])
def test_files_of_another_program_with_the_suffix_of_spss(name):
    refused(read, shipped("scipy", f"io/tests/data/{name}.sav"), match="its name says, SPSS")
