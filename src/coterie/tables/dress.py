"""Numbers as people dress them up: a mark between thousands, a currency before them, a percent sign behind.

What was said of a file is taken off before a number is read. Whatever does not fit is left as it is, for the reader of
numbers to refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_BLANKS = r"[\s\x{a0}\x{2009}\x{200a}\x{202f}]*"
_SPACES = r"[ \x{a0}\x{2009}\x{202f}]"  # a blank between thousands is often one that does not break

# texts that often mean missing, in lower case
GAPS = (
    "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", ".", "..", "-", "--", "?", "unknown", "missing", "k.a.",
    "k. a.", "keine angabe", "unbekannt", "fehlt", "inconnu", "desconocido", "not available", "no answer", "refused",
)  # fmt: skip


class Dress(NamedTuple):
    """How numbers are written in a file of texts.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        What may stand between groups of three digits; nothing if it is empty.
    prefix, suffix : tuple of str
        What may stand before or after a number, such as "$" or "%".
    """

    decimal: str = "."
    thousands: str = ""
    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to take off."""
        return not (self.thousands or self.prefix or self.suffix)

    def pattern(self, body: str | None = None) -> str:
        """What a number looks like: sign and digits are the groups 1 to 3."""
        before, after = _any_of(self.prefix), _any_of(self.suffix)
        sign = rf"(?:([+-]?){_BLANKS}{before}?{_BLANKS}|{before}{_BLANKS}([+-]))" if self.prefix else "([+-]?)()"
        end = rf"{_BLANKS}{after}?" if self.suffix else ""
        return rf"\A{_BLANKS}{sign}({body or self.body()}){end}{_BLANKS}\z"

    def body(self) -> str:
        """The digits of a number, with the marks that may be among them."""
        mark, between = literal(self.decimal), self.between
        whole = rf"(?:\d{{1,3}}(?:{between}\d{{3}})+|\d+)" if between else r"\d+"
        return rf"(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?"

    @property
    def between(self) -> str:
        """The mark between thousands, as a pattern."""
        return _SPACES if self.thousands == " " else literal(self.thousands)


PLAIN = Dress()


def dress_of(details: Mapping[str, Any]) -> Dress:
    """How numbers are written, by what is known of a file."""
    return Dress(
        str(details.get("decimal") or "."),
        str(details.get("thousands") or ""),
        tuple(details.get("prefix") or ()),
        tuple(details.get("suffix") or ()),
    )


def undressed(array: Any, dress: Dress) -> Any:
    """A column of texts in which numbers are bare: sign, digits, decimal mark. All else is as it was."""
    import pyarrow.compute as pc

    if dress.is_plain or not _is_text(array.type):
        return array
    pattern = dress.pattern()
    bare = pc.replace_substring_regex(array, pattern, r"\1\2\3")
    if dress.thousands:
        bare = pc.replace_substring_regex(bare, dress.between, "")
    return pc.if_else(pc.match_substring_regex(array, pattern), bare, array)


def units(array: Any, dress: Dress) -> tuple[str, ...]:
    """Which of several prefixes and suffixes the numbers of a column have: more than one of a sort is two units."""
    import pyarrow.compute as pc

    if not _is_text(array.type):
        return ()
    found = []
    for sort in ("prefix", "suffix"):
        signs = getattr(dress, sort)
        bare = pc.match_substring_regex(array, _with(dress, sort).pattern())
        for sign in signs if len(signs) > 1 else ():
            with_it = pc.match_substring_regex(array, _with(dress, sort, sign).pattern())
            if pc.any(pc.and_not(with_it, bare)).as_py():
                found.append(f"{sort} {sign}")
    return tuple(found)


def _with(dress: Dress, sort: str, *signs: str) -> Dress:
    return dress._replace(prefix=signs) if sort == "prefix" else dress._replace(suffix=signs)


def literal(text: str) -> str:
    """A text as a pattern that matches it alone."""
    return "".join(rf"\x{{{ord(sign):x}}}" for sign in text)


def _any_of(texts: Iterable[str]) -> str:
    return "(?:" + "|".join(literal(text) for text in sorted(texts, key=len, reverse=True)) + ")"


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
