"""Dates that are told by a pattern are those that `datetime` takes, and no others."""

import random
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from coterie.recipe.contents import HEAD
from coterie.recipe.date_texts import FORMATS, _is_date, _surely, are_dates

YEARS = ("0000", "0001", "0999", "1000", "1900", "2000", "2023", "2024", "9999", "999", "20200")
DAYS = [(m, d) for m in range(14) for d in range(33)]


def told(texts, form):
    return pc.match_substring_regex(pa.array(texts), _surely(form)).to_pylist()


@pytest.mark.parametrize("form", [None, *FORMATS])
@pytest.mark.parametrize("width", [1, 2])
def test_what_the_pattern_takes_is_a_date(form, width):
    written = form or "%Y-%m-%d"
    texts = [
        written.replace("%Y", y).replace("%m", f"{m:0{width}}").replace("%d", f"{d:0{width}}")
        for y in YEARS
        for m, d in DAYS
    ]
    found = told(texts, form)
    assert not [text for text, sure in zip(texts, found, strict=True) if sure and not _is_date(text, form)]
    if form is not None or width == 2:
        usual = [text for text in texts if _is_date(text, form) and text.count("0001") + text.count("0999") == 0]
        unsure = [text for text in usual if not told([text], form)[0]]
        assert {datetime.strptime(text, written).strftime("%m%d") for text in unsure} <= {"0229"}


def test_what_the_pattern_takes_of_times_is_one():
    draw = random.Random(0)
    signs = "2020-02-28T23:59:59.999999 +Z :-T1230"
    ends = ("", ":00", ":59", ":60", ":59.123", ":59.123456", ":59.12", ":59.", "Z", "+02:00", " ")
    hours = [f"{sign}{h:02}:{m:02}" for sign in "T _" for h in range(26) for m in (0, 59, 60)]
    texts = [f"2024-05-{day}{hour}{end}" for day in ("01", "31") for hour in hours for end in ends]
    for _ in range(20_000):
        text = list("2020-02-28T23:59:59.123456"[: draw.choice((10, 16, 19, 23, 26))])
        text[draw.randrange(len(text))] = draw.choice(signs)
        texts.append("".join(text))
    found = told(texts, None)
    assert any(found)
    assert not [text for text, sure in zip(texts, found, strict=True) if sure and not _is_date(text)]


@pytest.mark.parametrize("odd", ["2024-02-29", "2024-05-01T10:00+02:00", "0900-01-01", "2024-W05-3", " 2024-05-01\t"])
def test_a_date_beyond_the_first_that_the_pattern_does_not_take(odd):
    usual = [f"{1500 + i}-01-01" for i in range(HEAD + 50)]
    assert are_dates(pa.array([*usual, odd]))
    for wrong in ("2023-02-29", "2024-13-01", "x", "", "20240501"):
        assert not are_dates(pa.array([*usual, odd, wrong]))
        assert not are_dates(pa.array([wrong, *usual]))
