"""Whose records they are: the values of a column as numbers that are the same in every part of a table.

Numbers are hashes of 64 bits, so nothing has to be known of other parts, and the values themselves are not held. Equal
values have equal numbers. Should two different values ever have the same, they count as one unit: the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from .arrow import as_array, is_text, nulls_of
from .dress import GAPS
from .text_keys import text_key

Hashes = NDArray[np.uint64]

NOBODY = np.uint64(0)  # the number of a missing value
NO_NAMES = (*GAPS, "<na>", "nat")  # texts that name nobody, even where a file does not say so
_FACTOR = 0x9E3779B97F4A7C15 | 1  # odd: 64 bits of the golden ratio
_LONG = 512  # bytes of a text that is looked at by itself
_MOST = 1 << 23  # different values that are held; of more, those whose numbers end in zero bits


def identities(name: str, array: Any, *, by_key: bool, missing: Sequence[str] = ()) -> Hashes:
    """The number of each record's value; NOBODY where it is missing or blank.

    With `by_key`, texts that differ in case, blanks or form are one value, as for confidential columns, and those that
    are one with a text of `missing`, or with one that often means it, are nobody: the safe side. Otherwise they are
    compared as they are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = _plain(name, as_array(array))
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    values = encoded.dictionary
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    values = _texts(values)
    if by_key:
        nobody = {text_key(text) for text in (*missing, *NO_NAMES)}
        keys = [None if text is None else text_key(text) for text in values.to_pylist()]
        values = pa.array([None if key in nobody else key for key in keys], pa.large_string())
    own = np.append(_hashed(values), NOBODY)
    codes = pc.fill_null(pc.cast(encoded.indices, pa.int64()), -1)
    at: NDArray[np.int64] = np.frombuffer(codes.buffers()[1], np.int64)[codes.offset : codes.offset + len(codes)]
    return own[at]


def _plain(name: str, array: Any) -> Any:
    """An array that can be encoded and written as texts; others are refused."""
    import pyarrow as pa

    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if str(kind) == "string_view":  # which older versions of pyarrow don't encode
        return array.cast(pa.large_string())
    plain = pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or is_text(kind) or pa.types.is_null(kind)
    if not plain or pa.types.is_interval(kind):
        hint = "convert it to text or whole numbers first."
        raise CoterieError(f"'{name}' must hold simple values to be counted.", f"type {array.type}", hint)
    return array


def _texts(values: Any) -> Any:
    """Values as texts without blanks around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values if is_text(values.type) else pc.cast(values, pa.large_string())
    return pc.utf8_trim_whitespace(pc.cast(texts, pa.large_string()))


def _hashed(texts: Any) -> Hashes:
    """A number for each text: its bytes as digits to a large base, modulo 2**64, well mixed; NOBODY for empty ones."""
    nulls = nulls_of(texts)
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    sizes = np.where(nulls, 0, np.diff(offsets))
    out = np.full(len(texts), NOBODY)
    for i in np.flatnonzero(sizes > _LONG).tolist():
        out[i] = int.from_bytes(blake2b(texts[i].as_py().encode(), digest_size=8).digest(), "little") | 1
    sizes[sizes > _LONG] = 0
    filled = np.flatnonzero(sizes > 0)
    if not len(filled):
        return out
    octets = np.frombuffer(texts.buffers()[2], np.uint8)
    longest = int(sizes.max())
    powers = np.ones(longest, np.uint64)
    with np.errstate(over="ignore"):
        np.cumprod(np.full(longest - 1, _FACTOR, np.uint64), out=powers[1:])
        sums = np.zeros(len(filled), np.uint64)
        starts, lengths = offsets[filled], sizes[filled]
        for i in range(longest):  # one look for each place of a character
            there = np.flatnonzero(lengths > i)
            sums[there] += (octets[starts[there] + i].astype(np.uint64) + np.uint64(1)) * powers[i]
        out[filled] = np.maximum(mixed_bits(sums + lengths.astype(np.uint64)), np.uint64(1))
    return out


def mixed_bits(z: Hashes) -> Hashes:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


@dataclass
class Repeats:
    """How often values repeat in a column, from pieces that come in any order.

    Of very many different values, those whose numbers end in some zero bits are held, which ones does not depend on the
    order; counts are those of them, times how many others each stands for.
    """

    most: int = _MOST
    bits: int = 0
    values: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    _waiting: list[Hashes] = field(default_factory=list)

    def add(self, numbers: Hashes) -> None:
        """Take in the values of some records."""
        numbers = numbers[numbers != NOBODY]
        if self.bits:
            numbers = numbers[self._held(numbers)]
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) > max(1 << 20, len(self.values)):
            self._settle()

    def merge(self, other: Repeats) -> None:
        """Take in what another has counted."""
        other._settle()
        self._settle()
        self._put(np.concatenate([self.values, other.values]), np.concatenate([self.counts, other.counts]))
        self._thin(max(self.bits, other.bits))

    def _held(self, numbers: Hashes) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = numbers & np.uint64((1 << self.bits) - 1) == 0
        return kept

    def _settle(self) -> None:
        if self._waiting:
            new = np.concatenate(self._waiting)
            self._waiting = []
            ones = np.ones(len(new), np.int64)
            self._put(np.concatenate([self.values, new]), np.concatenate([self.counts, ones]))
            self._thin(self.bits)

    def _put(self, values: Hashes, counts: NDArray[np.int64]) -> None:
        self.values, where = np.unique(values, return_inverse=True)
        self.counts = np.bincount(where.reshape(-1), counts, minlength=len(self.values)).astype(np.int64)

    def _thin(self, bits: int) -> None:
        self.bits = bits
        kept = self._held(self.values)
        while np.count_nonzero(kept) > self.most:
            self.bits += 1
            kept = self._held(self.values)
        self.values, self.counts = self.values[kept], self.counts[kept]

    @property
    def different(self) -> int:
        """How many different values there are; about, if these are very many."""
        self._settle()
        return len(self.values) << self.bits

    @property
    def repeated(self) -> int:
        """How many of them stand in two records or more."""
        self._settle()
        return int(np.count_nonzero(self.counts > 1)) << self.bits

    def records_of_largest(self, values: int) -> int | None:
        """How many records these many values have at most; None where not all values are held."""
        self._settle()
        return None if self.bits else int(np.sort(self.counts)[::-1][:values].sum())

    @property
    def most_records(self) -> int:
        """The most records that have the same value."""
        self._settle()
        return int(self.counts.max(initial=0))
