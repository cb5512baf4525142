"""Which names of columns a format can hold: what is refused here is what its writer, or its program, refuses."""

from __future__ import annotations

import pytest

from coterie.formats import Format
from coterie.formats.column_names import why_not

CASES = {
    "spss": (
        ["age", "Alter_1", "größe", "a.b", "x" * 64],
        ["1st", "a b", "_x", "x.", "x_", "all", "x" * 65, "ä" * 33, "a-b", "@x"],
    ),
    "stata": (["age", "_x", "größe", "x" * 32], ["1st", "a b", "a.b", "x" * 33, "int", "str12", "a-b"]),
    "xport": (["age", "_x", "x" * 32], ["größe", "1st", "a b", "x" * 33]),
    "sas7bdat": (["age"], ["a b"]),
    "csv": (["a b", "1st", "größe"], []),
    "parquet": (["a b", "1st", "größe"], []),
    "arrow": (["a b"], []),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_names(kind):
    fit, unfit = CASES[kind]
    assert [name for name in fit if why_not(name, [name], Format(kind)) is not None] == []
    assert [name for name in unfit if why_not(name, [name], Format(kind)) is None] == []


def test_versions_and_capitals():
    assert why_not("größe", ["größe"], Format("stata", {"version": 12})) is not None
    assert why_not("longer_than_8", ["longer_than_8"], Format("xport", {"version": 5})) is not None
    assert why_not("Age", ["Age", "age"], Format("spss")) is not None
    assert why_not("Age", ["Age", "age"], Format("stata")) is None


def test_text_files():
    latin = Format("csv", {"encoding": "cp1252", "delimiter": ";", "quote": '"'})
    assert why_not("größe; cm", ["größe; cm"], latin) is None
    assert "encoding" in why_not("Größe Σ", ["Größe Σ"], latin)
    bare = Format("csv", {"encoding": "utf-8", "delimiter": ";", "quote": ""})
    assert why_not("Größe Σ", ["Größe Σ"], bare) is None
    assert "delimiter" in why_not("a; b", ["a; b"], bare)


@pytest.mark.parametrize("kind", ["spss", "stata", "xport"])
def test_what_fits_can_be_written(tmp_path, kind):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    write = {"spss": pyreadstat.write_sav, "stata": pyreadstat.write_dta, "xport": pyreadstat.write_xport}[kind]
    read = {"spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta, "xport": pyreadstat.read_xport}[kind]
    names = CASES[kind][0]
    if kind == "spss":
        names = [name for name in names if name != "x" * 64]  # pyreadstat shortens what it shows of it
    write(pd.DataFrame({name: [1.0] for name in names}), tmp_path / "x")
    assert list(read(tmp_path / "x")[0].columns) == names
