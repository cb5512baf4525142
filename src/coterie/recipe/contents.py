"""What the values of a column have in common, beside the kinds that they fit. No value leaves this module."""

from __future__ import annotations

from typing import Any, NamedTuple

HEAD = 200  # values that are looked at before all others are: mostly these settle that a pattern does not fit all
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_YMD = r"^(1[89]|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
_PATTERNS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "web addresses": r"^https?://",
    "UUIDs": r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$",
    "ICD codes": r"^[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?[-+*!]?$",
}


class Contents(NamedTuple):
    """What was found of the different values of a column.

    Attributes
    ----------
    number, whole : bool
        Whether all are numbers; whole ones.
    low, high : float
        The least and the largest number.
    zeros : bool
        Whether they are codes of digits, of which some begin with 0.
    ymd : bool
        Whether all are dates written as YYYYMMDD.
    like : str or None
        What all of them look like: e-mail addresses, ICD codes, ...
    letters : int
        With how many different letters they begin, of codes such as those of ICD.
    words : float
        How many words a text has, on average.
    """

    number: bool = False
    whole: bool = False
    low: float = 0.0
    high: float = 0.0
    zeros: bool = False
    ymd: bool = False
    like: str | None = None
    letters: int = 0
    words: float = 0.0

    def __and__(self, other: Contents) -> Contents:
        """What holds of two sets of values together; averages are those of the first."""
        return Contents(
            self.number and other.number,
            self.whole and other.whole,
            min(self.low, other.low),
            max(self.high, other.high),
            self.zeros and other.zeros,
            self.ymd and other.ymd,
            self.like if self.like == other.like else None,
            self.letters,
            self.words,
        )


def contents_of(values: Any, decimal: str) -> Contents:
    """What different values have in common; nothing where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(values):
        return Contents()
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _of_numbers(pc.cast(values, pa.float64(), safe=False), Contents())
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return Contents()
    texts = pc.utf8_trim_whitespace(values)
    found = _of_texts(texts)
    plain = pc.replace_substring(texts, decimal, ".") if decimal != "." else texts
    if found.zeros or not all_fit(plain, _NUMBER) or (decimal != "." and not all_fit(texts, r"^[^.]*$")):
        return found._replace(words=pc.mean(pc.add(pc.count_substring_regex(texts, r"\s+"), 1)).as_py() or 0.0)
    return _of_numbers(_floats(plain), found._replace(words=1.0))


def numbers_of(values: Any, decimal: str) -> Any:
    """Values that are all numbers, be they texts or not, as floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return pc.cast(values, pa.float64(), safe=False)
    return _floats(pc.replace_substring(pc.utf8_trim_whitespace(values), decimal, "."))


def _floats(texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    signed = pc.any(pc.starts_with(texts, "+")).as_py()
    return pc.cast(pc.replace_substring_regex(texts, r"^\+", "") if signed else texts, pa.float64())


def _of_numbers(numbers: Any, found: Contents) -> Contents:
    import pyarrow.compute as pc

    if not pc.all(pc.is_finite(numbers)).as_py():
        return found
    whole = bool(pc.all(pc.equal(numbers, pc.floor(numbers))).as_py())
    ends = pc.min_max(numbers).as_py()
    ymd = whole and ends["min"] >= 18_000_101 and ends["max"] < 21_000_000 and all_fit(_digits(numbers), _YMD)
    return found._replace(number=True, whole=whole, low=ends["min"], high=ends["max"], ymd=ymd)


def _digits(numbers: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cast(pc.cast(numbers, pa.int64()), pa.string())


def _of_texts(texts: Any) -> Contents:
    import pyarrow.compute as pc

    nought = texts.filter(pc.starts_with(texts, "0"))
    zeros = bool(pc.any(pc.match_substring_regex(nought, r"^0\d")).as_py()) and all_fit(texts, r"^\d[\dA-Za-z./-]*$")
    like = next((what for what, pattern in _PATTERNS.items() if all_fit(texts, pattern)), None)
    letters = len(pc.unique(pc.utf8_slice_codeunits(texts, 0, 1))) if like == "ICD codes" else 0
    return Contents(zeros=zeros, like=like, letters=letters)


def all_fit(texts: Any, pattern: str) -> bool:
    """Whether a pattern fits all texts."""
    import pyarrow.compute as pc

    pieces = (texts[:HEAD], texts) if len(texts) > HEAD else (texts,)
    return all(pc.all(pc.match_substring_regex(piece, pattern)).as_py() for piece in pieces)
