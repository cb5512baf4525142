"""Excel files: a sheet is read as a CSV file of it would be; what its reader passes over is refused."""

from __future__ import annotations

import importlib.util
import tempfile
import zipfile
from datetime import date, datetime, time

import pytest

import coterie as ct
from coterie.formats import excel_scan, read
from excel_files import Formula, Wrong, save_xlsx
from format_files import SECRET, refused, saved

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("python_calamine") is None, reason="Excel files need python-calamine"
)

N = 60
HEAD = ["id", "plz", "age", "income", "born", "member", "note"]


def people():
    return [
        [f"p{i}", f"0{1000 + i % 5}", 20 + i % 37, 1000.5 + 10 * i, date(1960 + i % 30, 1 + i % 12, 3), i % 3 == 0,
         None if i % 4 else f"x,{i % 8}"]
        for i in range(N)
    ]  # fmt: skip


RECIPE = {
    "k": 3,
    "seed": 1,
    "columns": {
        "id": "identifier",
        "plz": {"role": "quasi", "kind": "nominal"},
        "age": {"role": "quasi", "kind": "integer"},
        "income": {"role": "quasi", "kind": "numeric", "decimals": 1},
        "born": {"role": "quasi", "kind": "datetime"},
        "member": {"role": "confidential", "kind": "boolean"},
        "note": "other",
    },
}


def columns_of(path, **options):
    return read(path, options).table.to_pydict()


def test_cells_become_texts_that_say_the_same(tmp_path):
    rows = [
        ["n", "text", "yes", "day", "moment", "clock", "formula"],
        [1, "007", True, date(2024, 1, 31), datetime(2024, 1, 31, 10, 30), time(8, 5), Formula("A2+1", 2)],
        [2.5, " a ", False, date(2024, 2, 29), date(2024, 1, 1), time(0, 0, 1), Formula('"x"&"y"', "xy")],
        [-1e20, None, None, None, None, None, Formula("0.1+0.2", 0.30000000000000004)],
        [0.1, "=1+1", True, date(1999, 12, 31), None, None, "é"],
    ]
    path = save_xlsx(tmp_path / "t.xlsx", rows)
    assert columns_of(path) == {
        "n": ["1", "2.5", "-1e+20", "0.1"],
        "text": ["007", " a ", None, "=1+1"],
        "yes": ["true", "false", None, "true"],
        "day": ["2024-01-31", "2024-02-29", None, "1999-12-31"],
        "moment": ["2024-01-31T10:30:00", "2024-01-01T00:00:00", None, None],
        "clock": ["08:05:00", "00:00:01", None, None],
        "formula": ["2", "xy", "0.30000000000000004", "é"],
    }
    assert read(path).format.kind == "csv"


def test_the_whole_flow(run, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    path = save_xlsx(tmp_path / "people.xlsx", [HEAD, *people()], start=(3, 2))
    recipe = tmp_path / "r.toml"
    ct.Recipe(**RECIPE).save(recipe)
    code, out, err = run("recipe", path)
    assert code == 0, err
    assert "[columns.plz]" in out
    assert run("assess", path, "--recipe", recipe)[0] == 0
    assert run("compare", path, "--recipe", recipe, "--k", "3", "--methods", "mdav")[0] == 0
    code, _, err = run("protect", path, "--recipe", recipe, "-o", tmp_path / "out")
    assert code == 0, err
    assert "data.csv" in err
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()
    assert lines[0] == "plz,age,income,born,member,note"
    assert len(lines) == N + 1
    assert sum('"x,' in line for line in lines) == N // 4
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("verify", tmp_path / "out" / "data.csv", "--recipe", recipe)[0] == 0
    assert run("replay", tmp_path / "out", "--input", path)[0] == 0
    assert not list((tmp_path / "tmp").iterdir())


def test_the_same_as_the_same_table_in_csv(tmp_path):
    path = save_xlsx(tmp_path / "t.xlsx", [HEAD, *people()])
    texts = read(path).table
    ct.protect(path, RECIPE).save(tmp_path / "a")
    lines = [",".join(HEAD)]
    for row in zip(*texts.to_pydict().values(), strict=True):
        lines.append(",".join(f'"{v}"' if v and "," in v else v or "" for v in row))
    ct.protect(saved(tmp_path, ("\n".join(lines) + "\n").encode()), RECIPE).save(tmp_path / "b")
    assert (tmp_path / "a" / "data.csv").read_bytes() == (tmp_path / "b" / "data.csv").read_bytes()


def test_which_sheet(run, tmp_path):
    path = save_xlsx(
        tmp_path / "t.xlsx", [["a", "b"], [1, 2]], name="hidden", others=[("First", [["x"], [5]]), ("B", [["y"], [6]])],
        hidden=["hidden"],
    )  # fmt: skip
    assert columns_of(path) == {"x": ["5"]}
    assert columns_of(path, sheet="B") == {"y": ["6"]}
    assert columns_of(path, sheet="hidden") == {"a": ["1"], "b": ["2"]}
    error = refused(read, path, {"sheet": "C"}, match="'C', which is not among the 3 sheets")
    assert "First" not in str(error)
    code, out, err = run("recipe", path, "--read", "sheet=B")
    assert code == 0, err
    assert 'sheet = "B"' in out
    rows = [["v", "w"], *([i % 7, i % 5] for i in range(N))]
    path = save_xlsx(tmp_path / "u.xlsx", [["x"], [1]], others=[("B", rows)])
    given = (
        "--quasi",
        "v",
        "--kind",
        "v=integer",
        "--keep",
        "w",
        "-k",
        "3",
        "--read",
        "sheet=B",
        "-o",
        tmp_path / "out",
    )
    assert run("protect", path, *given)[0] == 0
    assert 'sheet = "B"' in (tmp_path / "out" / "recipe.toml").read_text()
    assert run("replay", tmp_path / "out", "--input", path)[0] == 0
    assert run("verify", tmp_path / "out" / "data.csv", "--recipe", tmp_path / "out" / "recipe.toml")[0] == 0


GOOD = [["a", "b"], [1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("rows", "more", "match"),
    [
        ([["a", "b"], [1, Wrong()], [Wrong("#DIV/0!"), 3]], {}, "2 that show an error, in rows 2, 3.*empty them"),
        ([["a", "b"], [1, Formula("A2*2")]], {}, "1 without one, in rows 2.*save it"),
        (GOOD, {"after": "<row r='4'><c r='A4' t='e'><v>#N/A</v></c></row>"}, "1 that show an error, in rows 4"),
        (GOOD, {"after": '<row r="4"><c r="A4" t\n=\n"e"><v>#N/A</v></c></row>'}, "1 that show an error, in rows 4"),
        (GOOD, {"after": '<row r="4"><c t="&#101;" r="A4"><v>#N/A</v></c></row>'}, "1 that show an error, in rows 4"),
        (GOOD, {"merged": ["A2:A3"]}, "1 merged, in rows 2 to 3.*unmerge them"),
        ([["a", "b"], [1, 2], [None, None], [3, 4]], {}, "no empty rows. Got: 1: row 3.*separate sheets"),
        ([["Title"], ["a", "b"], [1, 2]], {}, "empty name for column 2 of 2.*title above"),
        ([["a", "a"], [1, 2]], {}, "same name for columns 1 and 2.*rename one"),
        ([["a", 5], [1, 2]], {}, "a number among them.*header=true"),
        ([["a", "b"]], {}, "must have records"),
        ([], {}, "an empty one.*sheet=NAME"),
        ([["m", "Reus"], ["f", "Valls"], ["m", "Reus"]], {}, "comes again further down"),
        ([["a", "b"], [1, 2]], {"after": '<row r="1000000"><c r="XFD1000000"><v>1</v></c></row>'}, "stray cell far"),
        (GOOD, {"before": '<!DOCTYPE x [<!ENTITY y "z">]>'}, "cannot be read as Excel"),
    ],
)  # fmt: skip
def test_sheets_that_are_refused(tmp_path, rows, more, match):
    refused(read, save_xlsx(tmp_path / "t.xlsx", rows, **more), match=match)


def test_files_that_are_none(tmp_path):
    for data in (SECRET.encode(), b"PK\x03\x04" + SECRET.encode(), b"\xd0\xcf\x11\xe0" + SECRET.encode()):
        refused(read, saved(tmp_path, data, "t.xlsx"), match="cannot be read as Excel.*password")
    refused(read, save_xlsx(tmp_path / "t.xlsx", GOOD), {"delimiter": ";"}, match="Options for Excel.*'delimiter'")
    path = save_xlsx(tmp_path / "t.xlsx", GOOD)
    cut = path.read_bytes()[: path.stat().st_size // 2]
    refused(read, saved(tmp_path, cut, "cut.xlsx"), match="cannot be read as Excel")


def test_options(tmp_path):
    rows = [["a", "b"], ["$1,000", "NA"], ["$5", "x"]]
    path = save_xlsx(tmp_path / "t.xlsx", rows)
    assert columns_of(path, names=["c", "d"], header=True) == {"c": ["$1,000", "$5"], "d": ["NA", "x"]}
    assert columns_of(path, names=["c", "d"], header=False)["c"] == ["a", "$1,000", "$5"]
    assert columns_of(path, missing=["", "NA"])["b"] == [None, "x"]
    rows = [["pay", "note"], *([f"${1000 + i % 9:,}", ["NA", "-", None, "x"][i % 4]] for i in range(N))]
    recipe = {
        "k": 3,
        "columns": {"pay": {"role": "quasi", "kind": "integer"}, "note": {"role": "confidential", "kind": "nominal"}},
        "file": {"thousands": ",", "prefix": "$", "missing": ["NA", "-"]},
    }
    ct.protect(save_xlsx(tmp_path / "u.xlsx", rows), recipe).save(tmp_path / "out")
    data = (tmp_path / "out" / "data.csv").read_text().splitlines()[1:]
    assert all(1000 <= int(line.split(",")[0]) <= 1008 for line in data)
    assert sorted({line.split(",")[1] for line in data}) == ["", "-", "NA", "x"]
    assert ct.verify(tmp_path / "out").ok


def test_rows_are_told(tmp_path):
    rows = [HEAD, *people()]
    rows[8][2] = SECRET
    path = save_xlsx(tmp_path / "t.xlsx", rows, start=(4, 2))
    error = refused(ct.protect, path, RECIPE, match="1 that are none, in row 12")
    assert "--read missing=NA" in str(error)


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = save_xlsx(tmp_path / "t.xlsx", [HEAD, *people()])
    refused(lambda: ct.protect(path, RECIPE, memory="50kB"), match="must fit into memory.*save it as CSV")
    refused(lambda: ct.protect(path, RECIPE, engine="duckdb", memory="1GB"), match="part by part.*save the file as CSV")
    monkeypatch.setattr(excel_scan, "MOST_TEXT", 1000)
    rows = [["a", "b"], *(["x" * 50, i] for i in range(N))]  # a text that is there once, and shared
    refused(read, save_xlsx(tmp_path / "u.xlsx", rows), match="more text than fits.*as CSV")
    monkeypatch.setattr(excel_scan, "MOST_BYTES", 1000)
    refused(read, path, match="too large.*CSV")


def test_a_length_that_the_file_lies_about(tmp_path):
    """What the zip file declares is held against what comes out, before the reader makes room for it."""
    path = save_xlsx(tmp_path / "t.xlsx", GOOD)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    false = (size // 2).to_bytes(4, "little")
    data = data.replace(size.to_bytes(4, "little"), false)
    refused(read, saved(tmp_path, bytes(data), "lie.xlsx"), match="cannot be read as Excel")


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    path = save_xlsx(tmp_path / "t.xlsx", GOOD)
    refused(read, path, match=r"python-calamine.*pip install 'coterie\[files\]'")
