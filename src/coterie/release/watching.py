"""What is known of every released record while a release is made, and in no file: its class, and whose it is.

A `Watcher` takes in the pieces of a release as they are solved. Records are known by their numbers, and values by codes
and hashes: no value is held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..recipe import Recipe
from ..tables.arrow import as_array
from ..tables.identities import NOBODY, Hashes, identities, mixed_bits
from .solving import Released

Ints = NDArray[np.int64]
_NUMBERS = ("numeric", "integer")


@dataclass(frozen=True, eq=False)
class Watched:
    """The released records of a release.

    Attributes
    ----------
    name : str
        The release, for people.
    recipe : Recipe
    numbers : ndarray of int
        The numbers of the records in the input.
    codes : mapping of str to ndarray of int
        For each quasi-identifier, its released values as numbers from 0 on; as the file has them, a gap is a value.
    before : mapping of str to ndarray of uint64 or None
        For each quasi-identifier, hashes of its values before masking; None where its type has none.
    values : mapping of str to ndarray of uint64 or None
        The same of confidential columns, as they are released.
    ids : mapping of str to ndarray of uint64
        The same of columns that may tell what k counts.
    input_records : int
    sha256 : str or None
        Of the input, where it is a file.
    as_numbers : frozenset of str
        The columns whose values were hashed as numbers; others as texts.
    """

    name: str
    recipe: Recipe
    numbers: Ints
    codes: Mapping[str, Ints]
    before: Mapping[str, Hashes | None]
    values: Mapping[str, Hashes | None]
    ids: Mapping[str, Hashes]
    input_records: int
    sha256: str | None
    as_numbers: frozenset[str] = frozenset()

    def classes(self, columns: Sequence[str]) -> Ints:
        """The class of each record by the released values of some columns, from 0 on."""
        klass, width = np.zeros(len(self.numbers), np.int64), 1
        for name in columns:
            codes = self.codes[name]
            most = int(codes.max(initial=0)) + 1
            if width * most >= 1 << 62:  # numbered anew only where the product would not fit
                klass, width = _numbered(klass), len(klass)
            klass, width = klass * most + codes, width * most
        return _numbered(klass)


class Watcher:
    """Takes in the pieces of a release."""

    def __init__(self, name: str, recipe: Recipe, ids: Sequence[str], sha256: str | None) -> None:
        self._name, self._recipe, self._sha256 = name, recipe, sha256
        self._numbers: list[Ints] = []
        self._after: dict[str, list[Any]] = {n: [] for n in recipe.quasi}
        self._before: dict[str, list[Hashes | None]] = {n: [] for n in recipe.quasi}
        self._values: dict[str, list[Hashes | None]] = {n: [] for n in recipe.of_role("confidential")}
        self._ids: dict[str, list[Hashes]] = {n: [] for n in ids}
        self._as_numbers: set[str] = set()
        self.columns = tuple(ids)  # that must be there, though some are not released

    def __call__(self, part: Released, column: Callable[[str], Any]) -> None:
        """Take in some released records; `column` gives one as it is kept, as Arrow has it."""
        records, after = part.records, part.after
        self._numbers.append(records.numbers)
        for name, pieces in self._after.items():
            pieces.append(records.written(name, after[name].numbers))
            self._before[name].append(self._hashed(name, column, records.column(name).numbers, part))
        for name, hashes in self._values.items():
            typed = after[name] if name in after else records.column(name)
            hashes.append(self._hashed(name, column, typed.numbers, part))
        for name, found in self._ids.items():
            found.append(identities(name, column(name), by_key=True, missing=records.reading.missing_texts))

    def _hashed(self, name: str, column: Callable[[str], Any], numbers: Any, part: Released) -> Hashes | None:
        """The values of a column as hashes: numbers as numbers, others as texts by the rule for confidential values."""
        if part.records.reading.rules[name].kind in _NUMBERS:  # what it has become: bands are texts
            self._as_numbers.add(name)
            hashed = mixed_bits((numbers + 0.0).view(np.uint64) + np.uint64(1))
            hashed[np.isnan(numbers)] = NOBODY
            return hashed
        try:
            return identities(name, column(name), by_key=True, missing=part.records.reading.missing_texts)
        except CoterieError:  # of a type that is not looked at
            return None

    def done(self, input_records: int) -> Watched:
        """All that was seen."""
        return Watched(
            self._name,
            self._recipe,
            np.concatenate(self._numbers),
            {name: _codes(pieces) for name, pieces in self._after.items()},
            {name: _joined(pieces) for name, pieces in self._before.items()},
            {name: _joined(pieces) for name, pieces in self._values.items()},
            {name: np.concatenate(pieces) for name, pieces in self._ids.items()},
            input_records,
            self._sha256,
            frozenset(self._as_numbers),
        )


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _joined(pieces: list[Hashes | None]) -> Hashes | None:
    known = [piece for piece in pieces if piece is not None]
    return np.concatenate(known) if len(known) == len(pieces) else None


def _codes(pieces: list[Any]) -> Ints:
    """The values of a column as numbers from 0 on; null is one of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = []
    for piece in map(as_array, pieces):
        piece = piece.dictionary_decode() if pa.types.is_dictionary(piece.type) else piece
        arrays.append(piece.cast(pa.large_string()) if str(piece.type) == "string_view" else piece)
    encoded = pa.concat_arrays(arrays).dictionary_encode()
    codes = pc.fill_null(pc.cast(encoded.indices, pa.int64()), -1)
    at: Ints = np.frombuffer(codes.buffers()[1], np.int64)[codes.offset : codes.offset + len(codes)]
    return at + 1
