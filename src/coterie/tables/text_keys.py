"""When two texts are one value: the key of a text, by which confidential values and units are told apart and counted.

Two texts are one value if they have the same key. The key is the text

1. without what can't be seen: control and format characters, zero-width characters, variation selectors, fillers;
2. in Unicode's form NFC, each character folded as NFKC_Casefold folds it, and in NFC again: case, composed and
   decomposed letters, full-width and other compatible forms make no difference;
3. with one kind of dash, of single and of double quotation mark;
4. with a single space for any blanks inside, and none around;
5. as a number, if it is one: 1, 1.0, 01, +1, 1e0 and 1,0 are one value.

Merging is the safe side: a class never has more different values than its keys say. So codes such as 1.1 and 1.10 are
one value as well. Texts are only counted by their keys; what is released is the text as it was. The verifier has a rule
of its own for the same (`verification/texts.py`), in SQL; a test holds the two together.

Source: The Unicode Standard, section 3.13, D146 and D147 (toNFKC_Casefold); UAX #44, Default_Ignorable_Code_Point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from .arrow import as_array, floats_of, is_text, nulls_of

Ints = NDArray[np.int64]

_BLANK = "\t\n\v\f\r"
_CONTROLS = {i: None for i in (*range(32), 127) if chr(i) not in _BLANK}
_UNKNOWN = "\ufffd"  # characters that Python's Unicode does not have yet count as one
_LONGEST = 30  # zeros that are written out in a number
# characters that are ignored where they can't be shown, beside those of the categories Cc, Cf and Cs
_IGNORED = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0}
for _first, _last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)):
    _IGNORED.update(range(_first, _last + 1))
_ALIKE = {
    "\u2212": "-",
    "\u2800": " ",
    **dict.fromkeys("\u02bc\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
}
_NUMBER = re.compile(r"([+-]?)(?:([0-9]+)(?:[.,]([0-9]*))?|[.,]([0-9]+))(?:e([+-]?[0-9]{1,4}))?")


def text_key(text: str) -> str:
    """The key of a text; empty for one that shows nothing, which is no value."""
    key = text.translate(_CONTROLS)
    key = key.lower() if key.isascii() else normalize("NFC", normalize("NFC", key).translate(_FOLDS))
    key = " ".join(key.split())
    number = _NUMBER.fullmatch(key)
    return _written(*number.groups("")) if number else key


def text_keys(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """The different keys of some texts, sorted, and which of them each text has; -1 for texts that show nothing."""
    keys = [text_key(text) for text in texts]
    different = sorted({*keys} - {""})
    place = {key: i for i, key in enumerate(different)}
    return different, np.array([place.get(key, -1) for key in keys], np.int64)


def value_codes(column: Any) -> Ints:
    """The values of a column as numbers from 0 on, -1 where missing: equal numbers for values that are one.

    Texts are one value by their keys, and missing if they show nothing; other values are by being equal, NaN is
    missing. Each different text is looked at once.

    Parameters
    ----------
    column : pyarrow Array or ChunkedArray, or what `pyarrow.array` takes
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = as_array(column) if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        array = pc.add(array, pa.scalar(0.0, array.type))  # -0.0 is 0.0
    if str(array.type) == "string_view":  # which older versions of pyarrow don't encode
        array = array.cast(pa.large_string())
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    values = encoded.dictionary
    number = np.arange(len(values))
    if is_text(values.type) or str(values.type) == "string_view":
        number = text_keys(values.to_pylist())[1]
    codes = np.where(nulls_of(encoded.indices), -1, np.nan_to_num(floats_of(encoded.indices))).astype(np.int64)
    there = codes >= 0
    found = np.full(len(codes), -1, np.int64)
    found[there] = number[codes[there]]
    used, again = np.unique(found[found >= 0], return_inverse=True)
    found[found >= 0] = again.reshape(-1) if len(used) else 0
    return found


def _written(sign: str, whole: str, fraction: str, alone: str, exponent: str) -> str:
    """A number in one way, whatever its zeros, its mark and its exponent."""
    fraction = fraction or alone
    digits = (whole + fraction).lstrip("0")
    first = digits.rstrip("0")
    if not first:
        return "0"
    power = int(exponent or 0) - len(fraction) + len(digits) - len(first)
    minus = "-" if sign == "-" else ""
    if not -_LONGEST <= power <= _LONGEST:
        return f"{minus}{first}e{power}"
    if power >= 0:
        return f"{minus}{first}{'0' * power}"
    padded = first.rjust(1 - power, "0")
    return f"{minus}{padded[:power]}.{padded[power:]}"


class _Folds(dict[int, str]):
    """What stands for each character, made when it is first met; for `str.translate`."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _folded(chr(code))
        return folded


def _folded(character: str) -> str:
    """A character without case, compatible forms, and what can't be seen: folded until nothing changes."""
    text, before = character, ""
    while text != before:
        before = text
        text = normalize("NFKC", normalize("NFKC", "".join(map(_seen, before))).casefold())
    return text


def _seen(character: str) -> str:
    kind = category(character)
    if character.isspace():
        return " "
    if ord(character) in _IGNORED or kind in ("Cc", "Cf", "Cs"):
        return ""
    if kind == "Cn":
        return _UNKNOWN
    return "-" if kind == "Pd" else _ALIKE.get(character, character)


_FOLDS = _Folds()
