"""When two confidential texts are one value, in SQL: case, blanks, form and what can't be seen make no difference.

Characters beyond ASCII are asked for first, so that their folds, as Unicode's NFKC_Casefold has them, can stand in the
question. All else is DuckDB's: composing, replacing, reading numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from .literals import literal

Folds = Mapping[str, str]

_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f]"
_BLANK = r"[ \t\n\x0b\f\r]+"
_NUMBER = r"([+-]?)([0-9]*)[.,]?([0-9]*)(?:e([+-]?[0-9]{1,4}))?"  # and a digit before the e
_CAPITALS, _SMALL = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_MOST_REPLACED = 50
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0"
_SAME = str.maketrans("\u2212\u2800\u02bc\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f", "- '''''\"\"\"\"")


def characters(texts: str) -> str:
    """The question for all characters beyond ASCII of the texts that a query gives as `v`."""
    return (
        f"SELECT DISTINCT unnest(regexp_extract_all({_composed('v')}, '[^\\x00-\\x7f]')) "
        f"FROM ({texts}) WHERE length(v) <> strlen(v)"
    )


def folds(found: Iterable[str]) -> dict[str, str]:
    """What stands for each of these characters; those that stay as they are are left out."""
    made = {character: _fold(character) for character in found}
    return {character: fold for character, fold in sorted(made.items()) if fold != character}


def keyed(values: str, folds: Folds) -> str:
    """A query like `values`, with the key of each text `v` in its place; NULL for a text that shows nothing."""
    ascii = "length(v) = strlen(v)"
    single = f"trim(regexp_replace(regexp_replace(v, '{_CONTROL}', '', 'g'), '{_BLANK}', ' ', 'g'), ' ')"
    for step in (
        f"CASE WHEN {ascii} THEN lower(v) ELSE {_composed('v')} END",
        f"CASE WHEN {ascii} THEN v ELSE {_longer('v', folds)} END",
        f"CASE WHEN {ascii} THEN lower(v) ELSE nfc_normalize({_folded('v', folds)}) END",
        f"CASE WHEN regexp_full_match(v, '[!-~]+( [!-~]+)*') THEN v ELSE {single} END",
        f"nullif({_number()}, '')",
    ):
        values = f"SELECT * REPLACE ({step} AS v) FROM ({values})"
    return values


def _composed(text: str) -> str:
    """In the form NFC; without controls first, since DuckDB ends at a NUL."""
    return f"nfc_normalize(regexp_replace({text}, '{_CONTROL}', '', 'g'))"


def _longer(text: str, folds: Folds) -> str:
    """A text with the characters folded that become several; what they become stays as it is afterwards."""
    several = {c: fold for c, fold in folds.items() if len(fold) > 1}
    if len(several) > _MOST_REPLACED:  # an expression must not be too deep
        pairs = ", ".join(f"{literal(c)}: {literal(fold)}" for c, fold in several.items())
        each = f"[coalesce(map_extract(MAP {{{pairs}}}, c)[1], c) FOR c IN regexp_extract_all({text}, '(?s).')]"
        return (
            f"CASE WHEN regexp_matches({text}, '[{''.join(several)}]') THEN array_to_string({each}, '') ELSE {text} END"
        )
    for c, fold in several.items():
        text = f"replace({text}, {literal(c)}, {literal(fold)})"
    return text


def _folded(text: str, folds: Folds) -> str:
    """A text with the characters folded that become one other, or nothing."""
    single = {c: fold for c, fold in folds.items() if len(fold) == 1}
    gone = "".join(c for c, fold in folds.items() if not fold)
    old, new = _CAPITALS + "".join(single) + gone, _SMALL + "".join(single.values())
    return f"translate({text}, {literal(old)}, {literal(new)})"


def _number() -> str:
    """A number by its digits and the power of ten of the last; other texts as they are."""
    sign, whole, fraction, exponent = (f"regexp_extract(v, '{_NUMBER}', {i})" for i in (1, 2, 3, 4))
    digits = f"ltrim({whole} || {fraction}, '0')"
    first = f"rtrim({digits}, '0')"
    power = f"coalesce(TRY_CAST({exponent} AS INTEGER), 0) - length({fraction}) + length({digits}) - length({first})"
    minus = f"CASE WHEN {sign} = '-' THEN '-' ELSE '' END"
    written = f"{minus} || {first} || CASE WHEN {power} = 0 THEN '' ELSE 'e' || ({power}) END"
    is_number = f"regexp_full_match(v, '{_NUMBER}') AND regexp_matches(v, '^[+-]?[.,]?[0-9]')"
    return f"CASE WHEN {is_number} THEN CASE WHEN {first} = '' THEN '0' ELSE {written} END ELSE v END"


def _fold(character: str) -> str:
    """A character by NFKC_Casefold, with dashes and quotation marks alike; applied again while it changes."""
    fold = "".join(_visible(c) for c in unicodedata.normalize("NFKC", character)).translate(_SAME)
    fold = unicodedata.normalize("NFKC", fold.casefold())
    return fold if fold == character else "".join(_fold(c) for c in fold) if len(fold) > 1 else fold and _fold(fold)


def _visible(character: str) -> str:
    kind, code = unicodedata.category(character), ord(character)
    if kind in ("Zs", "Zl", "Zp") or character == "\x85":
        return " "
    selectors = 0x180B <= code <= 0x180F or 0xFE00 <= code <= 0xFE0F or 0xE0000 <= code <= 0xE0FFF
    if kind in ("Cc", "Cf", "Cs") or selectors or 0xFFF0 <= code <= 0xFFF8 or character in _FILLERS:
        return ""
    if kind == "Cn":
        return "\ufffd"  # not in this Unicode yet: all count as one
    return "-" if kind == "Pd" else character
