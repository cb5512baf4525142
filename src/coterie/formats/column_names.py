"""Which names of columns a format can hold.

SPSS: IBM, SPSS Statistics Command Syntax Reference, "Variable Names". Stata: User's Guide, 11.3 "Naming conventions".
SAS: record layouts of transport files, version 5 and 8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .base import Format

_SPSS = {"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}
_STATA = {
    "_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n", "_N", "_pi", "_pred",
    "_rc", "_skip", "strL", "using", "with",
}  # fmt: skip


def why_not(name: str, every: Sequence[str], format: Format) -> str | None:
    """What a name must be for this format, if it is not so; `every` are all names of the file, this one too."""
    if format.kind == "csv":
        return _why_not_in_text(name, format)
    if format.kind not in ("spss", "stata", "sas7bdat", "xport"):
        return None
    if sum(other.upper() == name.upper() for other in every) > 1 and format.kind != "stata":
        return "names that differ only in case are not distinct in this format."
    if format.kind == "spss":
        fits = re.fullmatch(r"[^\W\d_][\w.@#$]*(?<![._])", name)
        if not fits or name.upper() in _SPSS or len(name.encode()) > 64:
            return "a letter, then letters, digits, dots, _, @, # and $; at most 64 bytes; not a reserved word of SPSS."
        return None
    if format.kind == "stata":
        letters = re.ASCII if format.details.get("version", 15) < 14 else re.UNICODE
        fits = re.fullmatch(r"[^\W\d]\w{0,31}", name, letters)
        if not fits or name in _STATA or re.fullmatch(r"str\d+", name):
            return "a letter or _, then letters, digits and _; at most 32 characters; not a reserved word of Stata."
        return None
    longest = 8 if format.kind == "xport" and format.details.get("version", 8) == 5 else 32
    if not re.fullmatch(rf"[A-Za-z_][A-Za-z0-9_]{{0,{longest - 1}}}", name):
        return f"a letter or _, then English letters, digits and _; at most {longest} characters."
    return None


def _why_not_in_text(name: str, format: Format) -> str | None:
    """A name must be of the file's encoding; where nothing is quoted, it must not part the line."""
    details = format.details
    try:
        name.encode(str(details.get("encoding") or "utf-8"))
    except (UnicodeError, LookupError):
        return "only characters that the encoding of the file has."
    if not details.get("quote") and "quote" in details and str(details.get("delimiter")) in name:
        return "no delimiter, because nothing is quoted in the file."
    return None
