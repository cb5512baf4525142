"""Why texts are no numbers, and which option helps: told by their pattern, without a word of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import in_shell
from ..arrow import bits_of, flags_of
from ..dress import GAPS, Dress, literal

CURRENCIES = (
    "$", "€", "£", "¥", "₹", "US$", "USD", "EUR", "GBP", "CHF", "JPY", "Fr.", "kr", "kr.", "SEK", "NOK", "DKK", "PLN",
    "zł", "Kč", "CZK", "Ft", "HUF", "R$", "BRL", "A$", "C$", "CAD", "AUD", "NZD", "CNY", "INR", "Rs", "Rs.", "₽", "₺",
)  # fmt: skip
_BETWEEN = (",", ".", " ", "'", "’")


def advice_on_numbers(name: str, texts: Any, decimal: str) -> str:
    """What to do with texts that are no numbers: the options that would make numbers of them, or take them out."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts.drop_null().unique())
    hints = []
    other = "," if decimal == "." else "."
    for between in _BETWEEN:
        if between != decimal and _any(texts, _grouped(between, decimal)):
            hints.append(option("thousands", between))
    if not hints and _any(texts, Dress(other, "", CURRENCIES, ("%",)).pattern(rf"\d+{literal(other)}\d+")):
        hints.append(option("decimal", other))
    for sort in ("prefix", "suffix"):
        for sign in (*CURRENCIES, *(("%",) if sort == "suffix" else ())):
            if _any(texts, _dressed(sort, sign)):
                hints.append(option(sort, sign))
    gaps = sorted(text for text in texts.to_pylist() if text.lower() in GAPS)
    if gaps:
        hints.append(f"if they mean missing, {gaps_said(gaps)}")
    if not hints:
        hints.append('correct them; if they mean missing, name them in [file] missing = ["", "NA"] (--read missing=NA)')
    return "; ".join(hints) + f'; if these are not numbers, kind = "nominal" ({in_shell("--kind", name + "=nominal")}).'


def gaps_said(gaps: Sequence[str]) -> str:
    """How to say that texts mean missing. They are words such as NA, of a fixed list: nobody's value."""
    listed = ", ".join(f'"{gap}"' for gap in gaps)
    shell = " ".join(in_shell("--read", f"missing={gap}") for gap in gaps)
    return f'[file] missing = ["", {listed}] ({shell})'


def option(name: str, value: str) -> str:
    """An option of how a file is read, in a recipe and on the command line."""
    quote = '"' if "'" in value else "'" if any(sign in " $" for sign in value) else ""
    return f'[file] {name} = "{value}" (--read {quote}{name}={value}{quote})'


def number_like(texts: Any, decimal: str) -> NDArray[np.bool_]:
    """Which texts are numbers in a dress that no option takes off yet: thousands, a currency, a percent sign."""
    import pyarrow.compute as pc

    other = "," if decimal == "." else "."
    found = flags_of(pc.fill_null(pc.match_substring_regex(texts, r"\d"), False))
    some = texts.filter(bits_of(found))
    fits = np.zeros(len(some), bool)
    for mark, between in (
        (decimal, ""),
        (other, ""),
        *((decimal, b) for b in _BETWEEN if b != decimal),
        (other, decimal),
    ):
        dress = Dress(mark, between, CURRENCIES, (*CURRENCIES, "%"))
        fits |= flags_of(pc.match_substring_regex(some, dress.pattern()))
    found[found] = fits
    return found


def _grouped(between: str, decimal: str) -> str:
    dress = Dress(decimal, between, CURRENCIES, (*CURRENCIES, "%"))
    return dress.pattern(rf"\d{{1,3}}(?:{dress.between}\d{{3}})+(?:{literal(decimal)}\d*)?")


def _dressed(sort: str, sign: str) -> str:
    """A number, in any style, that has this sign."""
    body = r"\d[\d.,'’ \x{a0}\x{202f}]*"
    mark = literal(sign)
    return rf"\A[+-]?\s*{mark}\s*[+-]?{body}" if sort == "prefix" else rf"{body}\s*{mark}\z"


def _any(texts: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())
