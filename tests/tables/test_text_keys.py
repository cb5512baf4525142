"""When two texts are one value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.recipe import ColumnRule
from coterie.tables import kinds
from coterie.tables.text_keys import text_key, text_keys, value_codes

NAN = float("nan")

ONE = {
    "case": ["HIV", "hiv", "Hiv"],
    "full case folding": ["Straße", "STRASSE", "strasse", "straẞe"],
    "composed and decomposed": ["Ménière", "Me\u0301nie\u0300re"],
    "order of marks": ["a\u0323\u0302", "a\u0302\u0323", "\u1ead", "\u1eac"],
    "zero-width": ["HIV", "H\u200bIV", "HI\u200dV", "\ufeffHIV", "HIV\u2060", "HI\u00adV", "H\u202dIV\u202c"],
    "control characters": ["HIV", "HI\x00V", "\x1bHIV", "HIV\x7f", "HI\x9bV"],
    "variation selectors and fillers": ["\u2764", "\u2764\ufe0f", "\u2764\u3164", "\u2764\U000e0100"],
    "blanks": ["type 2", " type 2 ", "type\u00a02", "type  2", "type\t2", "type\u2003\r\n2", "type\u30002"],
    "compatible forms": ["HIV", "ＨＩＶ", "ℍⅠⅤ", "ＨiＶ"],
    "dashes and quotation marks": ["Crohn's-like", "Crohn’s–like", "Crohnʼs‑like", "CROHN'S−LIKE"],
    "numbers": ["1", "1.0", "01", "+1", "1.", "1,0", "1e0", "10E-1", " 1 ", "１", "0.1e1"],
    "negative": ["-0.5", "-.5", "−0,50", "-5e-1", "-00.5"],
    "zero": ["0", "0.0", "-0", "+0", "000", "0e9", ".0"],
    "large": ["1e300", "10e299", "1" + 300 * "0"],
    "unknown to Unicode": ["\U000e1000", "\U000e1001"],
}
OTHERS = ["HIV", "HPV", "é", "e", "İ", "ı", "i", "А", "A", "Straβe", "strase", "1e", "e1", "x1", ".", "-", "+"]
OTHERS += ["1", "2", "10", "-1", "1.1", "1.01", "1.1.1", "1e99999", "1 000", "12345678901234567890"]
OTHERS += ["12345678901234567891"]


@pytest.mark.parametrize("texts", ONE.values(), ids=ONE)
def test_texts_that_are_one_value(texts):
    assert len({text_key(text) for text in texts}) == 1
    assert text_key(texts[0])


def test_texts_that_are_others():
    assert len({text_key(text) for text in OTHERS}) == len(OTHERS)


@pytest.mark.parametrize("text", ["", " ", "\u00a0\u200b", "\ufeff", "\x00", "\u2800", "\u00ad\u3164"])
def test_texts_that_show_nothing_are_missing(text):
    assert text_key(text) == ""
    assert text_keys([text, "a"])[1].tolist() == [-1, 0]


@given(st.text())
def test_a_key_is_its_own_key(text):
    assert text_key(text_key(text)) == text_key(text)


def test_every_character_has_a_key_of_its_own_key():
    for code in (*range(0x30000), *range(0xE0000, 0xE1000, 7)):
        key = text_key("x" + chr(code))
        assert text_key(key) == key


def test_values_of_a_column_as_numbers():
    texts = ["a", "A ", None, "\u200b", "b", "1", "1.0"]
    for column in (
        texts,
        pa.array(texts),
        pa.chunked_array([texts[:2], texts[2:]]),
        pa.array(texts).dictionary_encode(),
    ):
        found = value_codes(column)
        assert found[0] == found[1]
        assert found[2] == found[3] == -1
        assert found[5] == found[6]
        assert sorted({*found.tolist()}) == [-1, 0, 1, 2]
    assert value_codes(np.array([5, 3, 5])).tolist() in ([0, 1, 0], [1, 0, 1])
    floats = value_codes(pa.array([0.0, -0.0, NAN, None, 1.5]))
    assert floats[0] == floats[1] >= 0
    assert floats[2:4].tolist() == [-1, -1]
    assert value_codes(pa.array([], pa.string())).tolist() == []


def test_a_confidential_column_has_the_categories_that_differ():
    texts = pa.array(["HIV", "hiv", "H\u200bIV", "1", "1.0", None, "n/a", "N/A "])
    column = kinds.read("x", texts, ColumnRule("confidential", "nominal"), missing=("n/a",)).column
    assert column.categories == ("1", "hiv")
    assert np.array_equal(column.numbers, [1, 1, 1, 0, 0, NAN, NAN, NAN], equal_nan=True)
    as_written = kinds.read("x", texts, ColumnRule("quasi", "nominal")).column
    assert len(as_written.categories) == 7  # of a quasi-identifier, anyone can tell them apart


def test_values_that_are_no_texts_stay_as_they_are():
    numbers = kinds.read("x", pa.array([1, 10, 1]), ColumnRule("confidential", "nominal")).column
    assert numbers.numbers.tolist() == [0, 1, 0]
    raw = kinds.read("x", pa.array([b"A", b"a"]), ColumnRule("confidential", "nominal")).column
    assert len(raw.categories) == 2
