"""Tables in memory: all records are there, and so are all parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..tables.gathering import C, gathered
from ..tables.kinds import Typed
from ..tables.records import Reading, Records
from . import Chunk, Router


class _Whole(Records):
    """All records, whose columns are read once for all recipes that read them alike."""

    whole = True

    def __init__(self, numbers: Any, arrow: Callable[[str], Any], reading: Reading, typed: dict[Any, Typed]) -> None:
        super().__init__(numbers, arrow, reading)
        self._known = typed

    def forget(self) -> None:
        """Let go of columns as they were prepared: it is done in another way now."""
        self._prepared.clear()
        self._originals.clear()

    def typed(self, name: str) -> Typed:
        """A column as numbers, and the way back."""
        key = (name, self.reading.rules[name], self.reading.preparing.get(name))
        if key not in self._known:
            self._known[key] = self.reading.read_at(name, self.arrow(name), self.numbers, self.whole)
        return self._known[key]


class MemoryEngine:
    """A table in memory, or a file that fits.

    Parameters
    ----------
    names : sequence of str
    records : int
    arrow : function
        Gives a column as an Arrow array.
    reading : Reading
        How columns are read.
    typed : dict
        Columns that were read already, by name and rule; those that are read here are added.
    """

    name = "memory"

    def __init__(
        self,
        names: Sequence[str],
        records: int,
        arrow: Callable[[str], Any],
        reading: Reading,
        typed: dict[Any, Typed],
    ) -> None:
        self.names, self.records = tuple(names), records
        self._all = _Whole(np.arange(records), arrow, reading, typed)

    @property
    def reading(self) -> Reading:
        """How columns are read; what has been read already stays."""
        return self._all.reading

    @reading.setter
    def reading(self, reading: Reading) -> None:
        if reading.preparing != self._all.reading.preparing:
            self._all.forget()
        self._all.reading = reading  # all records know all categories already

    def gather(self, columns: Sequence[str], into: C, /) -> C:
        """Show these columns of all records to a collector."""
        return gathered(self.scan(columns), into)

    def scan(self, columns: Sequence[str]) -> Iterator[Records]:
        """All records at once."""
        del columns
        yield self._all

    def chunks(
        self, columns: Sequence[str], router: Router, sizes: Sequence[int], together: tuple[int, int] | None = None
    ) -> Iterator[Chunk]:
        """All parts at once."""
        del columns, together
        yield Chunk(self._all, router.parts(self._all), range(len(sizes)))

    def check_unchanged(self) -> None:
        """Nobody else can change it: it was read."""

    def close(self) -> None:
        """Nothing to let go of."""
