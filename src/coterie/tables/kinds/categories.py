"""Ordinal, nominal and boolean columns: codes of categories, whose names are texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import CoterieError
from ..arrow import array_of, is_text, nulls_of
from ..columns import Column
from ..text_keys import text_key, text_keys
from .typed import Floats, Typed
from .unfit import UnfitError

MOST_CATEGORIES = 4096  # categories of a nominal quasi-identifier: with more, it is an identifier rather
_AROUND = " \t\r\n\xa0\u200b\ufeff"
_NO = ("false", "no", "n", "f", "0", "off")
_YES = ("true", "yes", "y", "t", "1", "on")


def read_nominal(
    name: str, array: Any, rule: Any, every: tuple[str, ...] | None = None, missing: Sequence[str] = ()
) -> Typed:
    """Categories without an order; `every` are those of the whole table, where these are some of its records.

    Of a confidential column, texts that are one value are one category, and those that are one with a text of `missing`
    are missing.
    """
    texts, codes, back = _categories(array)
    first = np.arange(len(texts))
    if rule.role == "confidential" and is_text(back.values.type):
        texts, codes, first = _different(texts, codes, missing)
    order = np.argsort(np.array(texts, dtype=object)) if texts else np.empty(0, np.int64)
    if len(texts) > MOST_CATEGORIES and rule.role == "quasi":
        what = f"A nominal quasi-identifier can have at most {MOST_CATEGORIES:,} categories."
        raise CoterieError(what, f"'{name}' with {len(texts):,}", "combine rare ones; or is it an identifier?")
    names, old = [texts[i] for i in order], first[order]
    if every is None or every == tuple(names):
        return _typed(name, "nominal", names, _renumbered(codes, order), back, old)
    at = {text: i for i, text in enumerate(texts)}
    own = np.array([at.get(text, -1) for text in every], np.int64)
    place = {text: i for i, text in enumerate(every)}
    numbers = np.array([*(place[text] for text in texts), np.nan])[codes]
    return _typed(name, "nominal", list(every), numbers, back, own)


def _different(
    texts: list[str], codes: NDArray[np.int64], missing: Sequence[str]
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The keys of texts as categories: nothing counts twice, and so does whoever checks a release.

    The third array holds the first old code of each category.
    """
    keys, number = text_keys(texts)
    nothing = {text_key(text) for text in missing}
    left = np.array([key not in nothing for key in keys], bool)
    place = np.append(np.where(left, np.cumsum(left) - 1, -1), -1)
    number = np.append(place[number], -1)
    kept, first = np.unique(number[:-1], return_index=True)
    return [key for key, is_left in zip(keys, left, strict=True) if is_left], number[codes], first[kept >= 0]


def read_ordinal(name: str, array: Any, rule: Any, *_: Any) -> Typed:
    """Categories in the order that the rule gives."""
    texts, codes, back = _categories(array)
    place = {text: i for i, text in enumerate(rule.order)}
    unknown = [t for t in texts if t not in place]
    if unknown:
        rows = np.flatnonzero(np.isin(codes, [i for i, t in enumerate(texts) if t not in place])).tolist()
        hint = 'add them to order in their place; name values that mean missing in [file] missing = ["", "NA"].'
        what = f"The order of '{name}' must name all its categories."
        raise UnfitError(what, len(rows), f"{len(unknown)} others", hint, rows)
    at = {text: i for i, text in enumerate(texts)}
    numbers = np.full(len(codes), np.nan)
    for text, i in at.items():
        numbers[codes == i] = place[text]
    old = np.array([at.get(text, -1) for text in rule.order])
    return _typed(name, "ordinal", list(rule.order), numbers, back, old)


def read_boolean(name: str, array: Any, rule: Any, every: tuple[str, ...] | None = None, *_: Any) -> Typed:
    """Yes and no, by whichever pair of words; `every` are those of the whole table."""
    if getattr(rule, "true", None):
        return _read_words(name, array, rule)
    texts, codes, back = _categories(array)
    means = [meaning(text) for text in texts]
    if None in means or len(set(means)) < len(texts):
        hint = 'list the words, such as true = ["Ja"] and false = ["Nein"]; with further values, kind = "nominal".'
        what = f"The column '{name}' must hold two values: true and false, yes and no, or 1 and 0."
        if None not in means:
            raise CoterieError(what, f"{len(texts)} different values", hint)
        unknown = [i for i, m in enumerate(means) if m is None]
        rows = np.flatnonzero(np.isin(codes, unknown)).tolist()
        raise UnfitError(what, len(rows), "others", hint, rows)
    no, yes = every or ("false", "true")
    no = next((t for t, m in zip(texts, means, strict=True) if m is False), no)
    yes = next((t for t, m in zip(texts, means, strict=True) if m is True), yes)
    numbers = np.full(len(codes), np.nan)
    for i, m in enumerate(means):
        numbers[codes == i] = float(bool(m))
    old = np.array([texts.index(t) if t in texts else -1 for t in (no, yes)])
    return _typed(name, "boolean", [no, yes], numbers, back, old)._replace(style=tuple(texts))


def _read_words(name: str, array: Any, rule: Any) -> Typed:
    """Yes and no by the words that the rule names; the first of each is what is released."""
    texts, codes, back = _categories(array)
    words = {**dict.fromkeys(rule.false, False), **dict.fromkeys(rule.true, True)}
    means = [words.get(text.strip(_AROUND).strip()) for text in texts]
    unknown = [i for i, m in enumerate(means) if m is None]
    if unknown:
        rows = np.flatnonzero(np.isin(codes, unknown)).tolist()
        what = f"The column '{name}' may hold only the words listed in its true and false."
        raise UnfitError(what, len(rows), "others", "add them to true or false, or to [file] missing.", rows)
    numbers = np.array([*(float(bool(m)) for m in means), np.nan])[codes]
    names = [rule.false[0], rule.true[0]]
    old = np.array([texts.index(word) if word in texts else -1 for word in names])
    return _typed(name, "boolean", names, numbers, back, old)


def meaning(text: str) -> bool | None:
    """Whether a word means yes or no; None for others."""
    word = text.strip().lower()
    return False if word in _NO else True if word in _YES else None


def categories_of(array: Any) -> tuple[list[str], NDArray[np.int64], Any]:
    """The categories of an Arrow array as texts, the code of each record (-1: missing), and the type they had."""
    texts, codes, _ = _categories(array)
    return texts, codes, array.type


def _categories(array: Any) -> tuple[list[str], NDArray[np.int64], Any]:
    """The categories as texts, the code of each record (-1: missing), and the categories as they were."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    used = (
        encoded.indices.drop_null().unique().sort()
        if hasattr(pa.Array, "sort")
        else encoded.indices.drop_null().unique()
    )
    values = encoded.dictionary
    missing = nulls_of(encoded.indices)
    indices = pc.fill_null(pc.cast(encoded.indices, pa.int64()), -1)
    codes = np.frombuffer(indices.buffers()[1], np.int64)[indices.offset : indices.offset + len(indices)].copy()
    codes[missing] = -1
    kept = np.array(used.to_pylist(), np.int64)
    number = np.full(len(values) + 1, -1)
    number[kept] = np.arange(len(kept))
    back = values.take(pa.array(kept.tolist(), pa.int64()))
    texts = [_text(v) for v in back.to_pylist()]
    if len(set(texts)) < len(texts):
        raise CoterieError("Categories must be distinct when written as text.", "some that do not")
    return texts, number[codes], _Back(back, array.type)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


class _Back:
    """The categories as they were, to write codes with."""

    def __init__(self, values: Any, kind: Any) -> None:
        self.values, self.kind = values, kind

    def write(self, old: NDArray[np.int64]) -> Any:
        """The values of these codes (-1: missing); a dictionary holds those that occur, and no others."""
        import pyarrow as pa

        missing = old < 0
        if not pa.types.is_dictionary(self.kind):
            return self.values.take(array_of(np.where(missing, 0, old), missing, pa.int64()))
        used = np.unique(old[~missing])
        codes = np.searchsorted(used, np.where(missing, used[0] if len(used) else 0, old))
        indices = array_of(codes.astype(np.int64), missing, self.kind.index_type)
        return pa.DictionaryArray.from_arrays(
            indices, self.values.take(pa.array(used.tolist(), pa.int64())), ordered=self.kind.ordered
        )

    def with_others(self, texts: list[str], old: NDArray[np.int64]) -> tuple[_Back, NDArray[np.int64]]:
        """The same with the categories that only other records of the table have, in the column's type."""
        import pyarrow as pa

        others = np.flatnonzero(old < 0)
        names = [texts[i] for i in others]
        try:
            values = pa.array(names, pa.string()).cast(self.values.type)
            same = [_text(v) for v in values.to_pylist()] == names
        except (pa.ArrowException, ValueError):
            same = False
        if not same:
            what = "Part by part, categories must be text, numbers, dates or booleans."
            raise CoterieError(what, str(self.values.type), "use engine memory.")
        old = old.copy()
        old[others] = len(self.values) + np.arange(len(others))
        return _Back(pa.concat_arrays([self.values, values]), self.kind), old


def _renumbered(codes: NDArray[np.int64], order: NDArray[np.int64]) -> Floats:
    place = np.empty(len(order) + 1)
    place[order] = np.arange(len(order))
    place[-1] = np.nan
    return place[codes]


def _typed(name: str, kind: str, texts: list[str], numbers: Floats, back: _Back, old: NDArray[np.int64]) -> Typed:
    def write(new: Floats) -> Any:
        missing = np.isnan(new)
        if not len(old):
            return back.write(np.full(len(new), -1))
        codes = np.where(missing, 0, new).astype(np.int64)
        # a group that was formed elsewhere, or a merged stratum, can have a category that no record here has
        lacking = bool(np.any(old[codes[~missing]] < 0))
        by, at = back.with_others(texts, old) if lacking else (back, old)
        return by.write(np.where(missing, -1, at[codes]))

    return Typed(Column(name, kind, numbers, tuple(texts)), 1.0, write)
