"""verify takes two texts for one confidential value where the rest of the package does, by a rule of its own."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie import CoterieError
from coterie.tables.text_keys import text_key
from coterie.verification import texts, verify


def verified_keys(given_texts):
    """The keys by which verify tells texts apart."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("given", pa.table({"i": range(len(given_texts)), "v": pa.array(given_texts, pa.string())}))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
        found = connection.execute(texts.characters("SELECT v FROM t")).fetchall()
        folds = texts.folds(character for (character,) in found)
        question = f"SELECT v FROM ({texts.keyed('SELECT i, v FROM t', folds)}) ORDER BY i"
        return [key for (key,) in connection.execute(question).fetchall()]


def numbered(keys):
    number = {}
    return [number.setdefault(key, len(number)) if key else None for key in keys]


def assert_agree(given_texts):
    assert numbered(text_key(text) for text in given_texts) == numbered(verified_keys(given_texts))


ODD = "aAßẞſKÅéÉ\u0301\u0323\u0345\u0307İıIiΐΣςσǅﬁ½²…ＡＺ１가각ㄱᄀ"
ODD += "\u00a0\u200b\u200d\u00ad\ufeff\ufe0f\u3164\x00\x01\t\n\x85\u2028"
ODD += "0011..,,++--eE−’'\"“  "
SPELLINGS = st.one_of(
    st.text(st.sampled_from(ODD), max_size=6),
    st.text(max_size=5),
    st.text(st.characters(categories=["Lu", "Ll", "Lt", "Mn", "Nd", "No", "Zs", "Cf", "Cc"]), max_size=4),
    st.from_regex(r"\A[+-]?0{0,2}[0-9]{0,3}([.,][0-9]{0,3}0{0,2})?([eE][+-]?[0-9]{1,5})?\Z"),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(SPELLINGS, min_size=1, max_size=40))
@example(["e\x00\u0301", "\u00e9", "E\u200b\u0301"])
@example(["\u03b1\u0345\u0323", "\u1fb3\u0323", "\u03b1\u0323\u0345"])
@example(["'", "\\", "''", "\\'", "]", "^", "ß]^\\"])
def test_both_rules_agree_on_any_texts(given_texts):
    assert_agree([*given_texts, *(t.upper() for t in given_texts), *(t.lower() for t in given_texts)])


@pytest.mark.parametrize("first", range(0, 0x3000, 0x1000))
def test_both_rules_agree_on_every_character(first):
    characters = [chr(code) for code in range(first, first + 0x1000)]
    assert_agree([*characters, *(f"x{c}y" for c in characters), *(c.upper() for c in characters)])


@pytest.mark.campaign
@pytest.mark.parametrize("first", [0x3000, 0xA000, 0xF000, 0x10000, 0x1D000, 0x1E000, 0x1F000, 0xE0000])
def test_both_rules_agree_on_further_characters(first):
    characters = [chr(code) for code in range(first, first + 0x1000)]
    assert_agree([*characters, *(f"x{c}y" for c in characters), *(c.upper() for c in characters)])


def test_folds_of_all_characters_are_the_same():
    """Of each character alone, in Python: quick enough for all of them."""
    from coterie.tables.text_keys import _FOLDS

    characters = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000))]
    folds = texts.folds(characters)
    assert [c for c in characters if folds.get(c, c) != _FOLDS[ord(c)]] == []


ALIKE = [["HIV", "hiv"], ["é", "e\u0301"], ["H\u200bIV", "HIV"], ["1", "1.0"], ["01", "1"], ["STRASSE", "straße"]]


@pytest.mark.parametrize("pair", ALIKE, ids=str)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_two_spellings_are_no_diversity(pair, suffix, tmp_path):
    table = pa.table({"age": ["30", "30", "40", "40"], "d": [*pair, "x", "y"]})
    path = tmp_path / f"data{suffix}"
    if suffix == ".csv":
        lines = ["age,d", *(f"{a},{d}" for a, d in zip(*table.to_pydict().values(), strict=True))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        from pyarrow import parquet

        parquet.write_table(table, path)
    verdict = verify(path, ["age"], 2, confidential={"d": {"kind": "nominal", "l": 2, "entropy": 1.5, "t": 0.9}})
    assert not verdict.ok
    found = {check.what: check for check in verdict.checks}
    assert (found["distinct l-diversity"].found, found["distinct l-diversity"].offending_records) == (1, 2)
    assert found["entropy l-diversity"].found == pytest.approx(1.0)
    assert found["t-closeness"].found == pytest.approx(0.5)
    assert found["constant confidential values"].found == 1
    assert verify(path, ["age"], 2).ok  # k goes by what is written


def test_classes_go_by_what_is_written():
    table = pa.table({"town": ["Oslo", "oslo", "Oslo"]})
    assert verify(table, ["town"], 2).checks[0].sizes == {1: 1}


def test_spellings_of_missing_texts_are_missing():
    table = pa.table({"age": ["30"] * 3, "d": ["flu", "n/a ", "N/A"]})
    verdict = verify(table, ["age"], 3, confidential={"d": {"kind": "nominal", "l": 2, "missing": ["n/a"]}})
    assert verdict.checks[1].found == 1


def test_words_for_yes_are_one_value():
    table = pa.table({"age": ["30"] * 3, "d": ["Yes", "true", "1"]})
    assert verify(table, ["age"], 3, confidential={"d": {"kind": "boolean", "l": 2}}).checks[1].found == 1


def test_an_order_that_names_a_value_twice():
    table = pa.table({"age": ["30"] * 2, "d": ["low", "Low"]})
    with pytest.raises(CoterieError, match="must name each value once"):
        verify(table, ["age"], 2, confidential={"d": {"kind": "ordinal", "order": ["low", "Low", "high"], "l": 2}})


@pytest.mark.parametrize("spelling", ["p1", "P1\u200b", " P1", "Ｐ1"])
def test_two_spellings_are_one_unit(spelling):
    table = pa.table({"age": ["30"] * 2, "person": ["P1", spelling]})
    verdict = verify(table, ["age"], 2, unit="person")
    assert not verdict.ok
    assert [check.found for check in verdict.checks] == [2, 1]
    assert verify(table.set_column(1, "person", pa.array(["P1", "P2"])), ["age"], 2, unit="person").ok
