"""Texts that a spreadsheet would run are counted, and made harmless."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings

from coterie.formats import formulas, neutralize
from format_files import text_tables


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


def test_signed_numbers_in_a_dress_are_no_formulas_and_cells_are():
    fine = ["-$5", "-1,234.50", "-5 %", "+1.234,50 €", "-1'000", "-5%"]
    bad = ["-ABC123", "-A1", "-5%+A1", "+49 301 234", "-$A$1", "-$5-$4"]
    assert formulas(pa.table({"fine": fine, "bad": bad})) == {"bad": 6}


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
