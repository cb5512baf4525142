"""Texts that a spreadsheet would run as formulas."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coterie as ct
from bundles import RECIPE, ROLES, people
from coterie.errors import CoterieError, PromiseError
from coterie.formats import formulas
from coterie.release.flow import protect


def risky():
    return people().set_column(4, "note", pa.array(["=HYPERLINK(1)", "@SUM(1)"] * 20)).rename_columns(
        ["name", "age", "town", "+illness", "note"]
    )  # fmt: skip


def test_formulas_in_tables_that_become_text(tmp_path):
    columns = {n if n != "illness" else "+illness": rule for n, rule in ROLES.items()}
    columns["town"] = {"role": "quasi", "kind": "ordinal", "order": ["Reus", "Valls"]}
    document = {**RECIPE, "columns": columns}
    protect(risky(), document).save(tmp_path / "fine")  # Parquet is opened by no spreadsheet
    with pytest.raises(PromiseError, match=r"runs as a formula.*1 in '\+illness', 40 in 'note'"):
        protect(risky(), document).save(tmp_path / "out", format="csv")
    kept = protect(risky(), {**document, "file": {"formulas": "keep"}}).save(tmp_path / "kept", format="csv")
    assert "=HYPERLINK" in (kept / "data.csv").read_text()
    safe = protect(risky(), {**document, "file": {"formulas": "neutralize"}}).save(tmp_path / "safe", format="csv")
    read = pa.csv.read_csv(safe / "data.csv")
    assert formulas(read) == {}
    assert read.column_names == ["age", "town", "'+illness", "note"]
    assert set(read.column("note").to_pylist()) == {"'=HYPERLINK(1)", "'@SUM(1)"}
    assert ct.verify(safe).ok
    assert ct.replay(safe, risky()).same


def test_formulas_of_files_that_no_spreadsheet_opens(tmp_path):
    pa.parquet.write_table(people(), tmp_path / "people.parquet")
    with pytest.raises(CoterieError, match="formulas applies only to text files"):
        protect(tmp_path / "people.parquet", {**RECIPE, "file": {"formulas": "keep"}})
