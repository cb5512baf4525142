"""The different values of a confidential column in the whole table, and their counts: what t is held against."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..tables.columns import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_VALUES = 50_000_000  # different ones: 24 bytes each are held


@dataclass
class Values:
    """Different values and their counts, from pieces that come in any order."""

    numbers: Floats = field(default_factory=lambda: np.empty(0))
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    texts: dict[str, int] = field(default_factory=dict)  # of nominal columns: the categories

    def add(self, column: Column) -> None:
        """Take in more values; missing ones are not counted here."""
        present = column.numbers[~column.missing]
        if column.kind == "nominal":
            often = np.bincount(present.astype(np.int64), minlength=len(column.categories)).tolist()
            self._merge_texts(dict(zip(column.categories, often, strict=True)))
            return
        numbers, counts = np.unique(present, return_counts=True)
        self._merge_numbers(numbers, counts)

    def merge(self, other: Values) -> None:
        """Take in what another has counted."""
        self._merge_texts(other.texts)
        self._merge_numbers(other.numbers, other.counts)

    def _merge_texts(self, texts: dict[str, int]) -> None:
        for text, count in texts.items():
            self.texts[text] = self.texts.get(text, 0) + count

    def _merge_numbers(self, numbers: Floats, counts: Ints) -> None:
        if not len(self.numbers):
            self.numbers, self.counts = numbers, counts
        elif len(numbers):
            both, where = np.unique(np.concatenate([self.numbers, numbers]), return_inverse=True)
            every = np.concatenate([self.counts, counts])
            self.counts = np.bincount(where.reshape(-1), every).astype(np.int64)
            self.numbers = both
        if len(self.numbers) > MOST_VALUES:
            what = "t-closeness needs all distinct values of its column at once."
            raise CoterieError(what, f"more than {MOST_VALUES:,}", "round the column, or use l.")

    def codes(self, column: Column) -> Ints:
        """The values of some records as numbers in the order of all values; -1 where missing."""
        out = np.full(len(column.numbers), -1, np.int64)
        there = ~column.missing
        if column.kind == "nominal":
            place = {text: i for i, text in enumerate(sorted(t for t, count in self.texts.items() if count))}
            own = np.array([place.get(text, -1) for text in column.categories], np.int64)
            out[there] = own[column.numbers[there].astype(np.int64)]
        else:
            last = max(0, len(self.numbers) - 1)  # records that are left out may have values beyond
            out[there] = np.minimum(np.searchsorted(self.numbers, column.numbers[there]), last)
        return out

    def table(self) -> Ints:
        """How often each value comes, in their order."""
        if self.texts:
            return np.array([self.texts[text] for text in sorted(self.texts) if self.texts[text]], np.int64)
        return self.counts
