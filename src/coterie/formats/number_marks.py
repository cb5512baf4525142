"""The marks of numbers in a file of texts: the decimal mark, between thousands, before and after a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CoterieError
from ..tables.dress import dress_of, literal

_MARKS = ", . ' ’ _ or a blank"


def as_lists(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options, with lists for a prefix or a suffix that was given alone, without blanks around them."""
    out = dict(given)
    for name in ("prefix", "suffix"):
        if isinstance(out.get(name), str):
            out[name] = [out[name]]
        if isinstance(out.get(name), (list, tuple)) and all(isinstance(text, str) for text in out[name]):
            out[name] = [text.strip() for text in out[name]]
    return out


def check_marks(given: Mapping[str, Any]) -> None:
    """Refuse marks that can't be told from a number's own signs."""
    decimal, thousands = given.get("decimal", "."), given.get("thousands", "")
    if decimal not in (".", ","):
        raise CoterieError("The decimal mark must be '.' or ','.", f"{decimal!r}")
    if thousands not in ("", ",", ".", "'", "’", "_", " ", "\xa0", "\u202f"):
        raise CoterieError(f"The thousands separator must be {_MARKS}.", _shown(thousands))
    if thousands == decimal and "decimal" in given:
        what = "The decimal mark and the thousands separator must differ."
        other = "," if decimal == "." else "."
        raise CoterieError(
            what, f"{decimal!r} for both", f"set decimal = {other!r} as well (--read decimal={other!r})."
        )
    for name in ("prefix", "suffix"):
        texts = given.get(name, ())
        good = isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts)
        if not good or any(not 0 < len(t) < 20 or t[0] in "+-.," or any(map(str.isdigit, t)) for t in texts):
            what = f"The {name} of numbers must be a short string or a list of short strings, without digits and signs."
            raise CoterieError(what, _shown(texts), 'such as "$", "EUR" or "%".')
        if len(set(texts)) < len(texts):
            raise CoterieError(f"Each {name} of numbers can be named only once.", "one twice")


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) and len(value) < 20 else f"an object of type {type(value).__name__}"


def decimal_of(table: Any, data: bytes, made: Any) -> str:
    """A decimal comma only if numbers have it, none has a point, and it does not part the fields.

    What may be thousands as well is asked about.
    """
    import pyarrow.compute as pc

    if made.thousands in (".", ","):
        return "," if made.thousands == "." else "."
    if made.delimiter == "," or b"," not in data:
        return "."
    dress = dress_of({"thousands": made.thousands, "prefix": made.prefix, "suffix": made.suffix})
    comma = surely = False
    for column in table.columns:
        if pc.any(pc.match_substring_regex(column, dress.pattern(_with(".", dress.between)))).as_py():
            return "."
        found = pc.any(pc.match_substring_regex(column, dress.pattern(_with(",", dress.between)))).as_py()
        comma = comma or bool(found)
        surely = surely or bool(found and pc.any(_no_thousands(column, dress)).as_py())
    if comma and not surely and not made.thousands:
        what = "It is unclear whether a comma is the decimal mark or the thousands separator."
        hint = "set decimal = ',' or thousands = ',' (--read decimal=, or --read thousands=,)."
        raise CoterieError(what, "only numbers with three digits after a comma", hint)
    return "," if comma else "."


def _with(decimal: str, between: str) -> str:
    """Digits with a decimal mark between them."""
    whole = rf"(?:\d{{1,3}}(?:{between}\d{{3}})+|\d+)" if between else r"\d+"
    return whole + literal(decimal) + r"\d+"


def _no_thousands(column: Any, dress: Any) -> Any:
    """Which values have a decimal comma that can't stand between thousands: 0,125 and 1234,567, and 1,5."""
    import pyarrow.compute as pc

    number = pc.match_substring_regex(column, dress.pattern(_with(",", dress.between)))
    return pc.and_not(number, pc.match_substring_regex(column, dress.pattern(r"[1-9]\d{0,2}\x{2c}\d{3}")))
