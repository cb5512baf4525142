"""verify on files that could be read in two ways, with odd names, or that are no release."""

from __future__ import annotations

import csv as python_csv
import io
import os

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from coterie import CoterieError
from coterie.verification import verify
from verified_files import written

# Files that could be read in two ways


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,\n1,2\n",
        "a,b\n1,2,\n1,2,\n",
        "a,b\n1,2\n1,2,3\n",
        "a,b\n1,2\n1\n",
        "a,b\n1,2\n\n1,2\n",
        "a,b\n1,2\n1,2\n\n",
        'a,b\n1,2\n "1",2\n',
        'a,b\n1,2\n"1" ,2\n',
        'a,b\n1,2\n"1"x,2\n',
        'a,b\n1,2\n"1,2\n',
        "a,b\n1,2\r\n1,2\n",
        "a,b\n1,2\r1,2\n",
        b"a,b\n1,2\n\xff,2\n",
        "a,b\n",
        "a,b",
        "",
        "\n1,2\n",
    ],
)
def test_a_csv_file_in_doubt_is_refused(tmp_path, text):
    with pytest.raises(CoterieError):
        verify(written(tmp_path, text), ["a", "b"], 2)


def test_blank_lines_are_records_of_a_single_column(tmp_path):
    assert not verify(written(tmp_path, "a\n1\n1\n\n"), ["a"], 2)
    assert verify(written(tmp_path, "a\n1\n1\n\n\n"), ["a"], 2)


@pytest.mark.parametrize(
    ("text", "name", "encoding", "dialect"),
    [
        ("a;b\n1,5;ü\n1,5;ü\n", "r.csv", "utf-8", None),
        ("a\tb\n1,5\tü\n1,5\tü\n", "r.tsv", "utf-8", None),
        ("a|b\n1,5|ü\n1,5|ü\n", "r.txt", "utf-8", None),
        ("\ufeffa,b\n1,ü\n1,ü\n", "r.csv", "utf-8", None),
        ("a,b\n1,ü\n1,ü\n", "r.csv", "utf-16", None),
        ("a,b\r\n1,ü\r\n1,ü\r\n", "r.csv", "cp1252", {"encoding": "cp1252"}),
        ("a,b\n1,€\n1,€\n", "r.csv", "cp1252", {"encoding": "windows-1252", "delimiter": ","}),
        ("a,b\n'1,2',ü\n'1,2',ü\n", "r.csv", "utf-8", {"quote": "'"}),
        ('a;b\n"1;ü\n"1;ü\n', "r.csv", "utf-8", {"quote": None, "delimiter": ";"}),
        ("1,ü\n1,ü\n", "r.csv", "utf-8", {"header": False, "names": ["a", "b"], "delimiter": ","}),
        ('"a","b"\n"1","ü"\n1,ü\n', "r.CSV", "utf-8", None),
    ],
)
def test_dialects(tmp_path, text, name, encoding, dialect):
    verdict = verify(written(tmp_path, text, name, encoding), ["b", "a"], 2, dialect=dialect)
    assert verdict.ok
    assert verdict.records == 2


@pytest.mark.parametrize(
    "dialect",
    [
        {"delimiter": ",,"},
        {"delimiter": '"'},
        {"quote": "ab"},
        {"encoding": "no-such"},
        {"encoding": "ascii7"},
        {"header": False},
        {"names": ["a"]},
        {"skip": 1},
        {"encoding": "utf-16"},
        {"encoding": "cp1252", "delimiter": ";"},
    ],
)
def test_dialects_that_are_wrong(tmp_path, dialect):
    with pytest.raises(CoterieError):
        verify(written(tmp_path, "a,b\n1,2\n1,2\n"), ["a"], 2, dialect=dialect)
    with pytest.raises(CoterieError):
        verify(pa.table({"a": [1, 1]}), ["a"], 2, dialect={"delimiter": ","})


# Names


ODD = [
    'say "hi"',
    "two words",
    "select",
    "new\nline",
    "größe",
    "",
    "c0",
    "k0",
    "size",
    "v",
    "a.b",
    "it's",
    "[red]",
    "x; DROP",
]


@pytest.mark.parametrize("way", ["csv", "parquet", "feather", "pandas", "polars"])
def test_odd_column_names(tmp_path, way):
    names = [*(n for n in ODD if n or way != "polars"), "Größe", "SELECT"]  # polars names an empty one itself
    table = pa.table({name: [1, 1, 2, 2] for name in names})
    broken = table.set_column(len(names) - 1, "SELECT", pa.array([1, 1, 2, 3]))
    for given_, holds in ((table, True), (broken, False)):
        if way == "csv":
            text = io.StringIO()
            python_csv.writer(text, lineterminator="\n").writerows(
                [names, *zip(*given_.to_pydict().values(), strict=True)]
            )
            release = written(tmp_path, text.getvalue())
        elif way == "parquet":
            release = tmp_path / "r.parquet"
            parquet.write_table(given_, release)
        elif way == "feather":
            release = tmp_path / "r.arrow"
            feather.write_feather(given_, release)
        else:
            release = given_.to_pandas() if way == "pandas" else pl.from_arrow(given_)
        assert verify(release, names[:-1], 2, within=["SELECT"]).ok is holds
        assert verify(release, ["select"], 2, confidential={"SELECT": {"kind": "integer", "t": 0.9}}).records == 4


@pytest.mark.parametrize(
    "name",
    [
        *[
            "r*.csv",
            "r?.csv",
            "[r].csv",
            "[[]r].csv",
            "{r,s}.csv",
            "it's.csv",
            'q"q.csv',
            "r\\*.csv",
            "a b.csv",
        ],
        *["~.csv", "n\nl.csv"],
    ],
)
def test_odd_file_names_are_read_literally(tmp_path, name):
    for other in ("rr.csv", "r.csv", "s.csv", "[r].csv", "r*.csv"):
        if other != name:
            written(tmp_path, "a\n1\n2\n3\n", other)
    path = written(tmp_path, "a\n5\n5\n", name)
    assert verify(path, ["a"], 2).records == 2
    parquet.write_table(pa.table({"a": [5, 5]}), tmp_path / f"{name}.parquet")
    assert verify(str(tmp_path / f"{name}.parquet"), ["a"], 2).records == 2


def test_folders_in_the_path_add_nothing(tmp_path):
    folder = tmp_path / "a=1" / "b=[2]"
    folder.mkdir(parents=True)
    assert verify(written(folder, "a,b\n3,3\n3,3\n"), ["a", "b"], 2).records == 2


def test_what_is_no_release(tmp_path):
    path = written(tmp_path, "a\n1\n1\n")
    (tmp_path / "link.csv").symlink_to(path)
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "r.xlsx").write_bytes(b"")
    (tmp_path / "r.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "r.feather").write_bytes(b"ARROW1 and no more")
    (tmp_path / "r.sav").write_bytes(b"no such thing")
    told = {
        "link.csv": "a link",
        "dangling.csv": "a link",
        "pipe.csv": "a pipe",
        "r.xlsx": "must end in",
        "none.csv": "No such file",
        "a\0b.csv": "no name of a file",
        "": "a folder",
        "r.parquet": "cannot be read as parquet",
        "r.feather": "cannot be read as feather",
        "r.sav": "cannot be read as sav",
    }
    for name, words in told.items():
        with pytest.raises(CoterieError, match=words) as error:
            verify(f"{tmp_path}/{name}", ["a"], 2)
        assert error.value.__context__ is None
    for thing in (None, 5, [1, 2], np.zeros((2, 2)), {"a": [1]}, b"r.csv", pl.DataFrame({"a": [1, 1]}).lazy()):
        with pytest.raises(CoterieError):
            verify(thing, ["a"], 2)
    with pytest.raises(CoterieError, match="parts"):
        verify(pa.table({"a": [[1], [1]]}), ["a"], 2)
    with pytest.raises(CoterieError, match="must hold records"):
        verify(pa.table({"a": pa.array([], pa.int64())}), ["a"], 2)
