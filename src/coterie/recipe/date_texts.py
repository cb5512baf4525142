"""Which texts are dates, without a call of `datetime` for each: of dates that surely are, their pattern tells."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .contents import HEAD

FORMATS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_MONTHS_AND_DAYS = (  # that are in every year; the 29th of February is left to `datetime`
    ("0[1-9]|1[0-2]", "0[1-9]|1[0-9]|2[0-8]"),
    ("0[13-9]|1[0-2]", "29|30"),
    ("0[13578]|1[02]", "31"),
)
_YEAR = "[1-9][0-9]{3}"
_TIME = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{3}(?:[0-9]{3})?)?)?"


def are_dates(texts: Any, form: str | None = None) -> bool:
    """Whether all texts are dates or times as ISO 8601 writes them, or dates in this format."""
    import pyarrow.compute as pc

    if not all(_is_date(text, form) for text in texts[:HEAD].to_pylist()):
        return False
    unsure = texts.filter(pc.invert(pc.match_substring_regex(texts, _surely(form))))
    return all(_is_date(text, form) for text in unsure.to_pylist())


def _surely(form: str | None) -> str:
    """A pattern that fits dates only."""
    if form is None:
        return rf"\A *(?:{_in_any_year('%Y-%m-%d')})(?:{_TIME})? *\z"
    return rf"\A(?:{_in_any_year(form).replace('0[', '0?[')})\z"  # a digit may do


def _in_any_year(form: str) -> str:
    either = [
        form.replace(".", "[.]").replace("%Y", _YEAR).replace("%m", f"(?:{months})").replace("%d", f"(?:{days})")
        for months, days in _MONTHS_AND_DAYS
    ]
    return "|".join(either)


def _is_date(text: str, form: str | None = None) -> bool:
    try:
        datetime.fromisoformat(text.strip()) if form is None else datetime.strptime(text, form)
    except ValueError:
        return False
    return form is not None or "-" in text
