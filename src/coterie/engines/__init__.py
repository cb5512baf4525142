"""Engines: places where a table can be. An engine knows no method, and nothing of what a recipe asks for.

What an engine must do is all there is in `Engine`: give some columns of all records, piece by piece, as often as asked;
put the records of parts together; say if the table has changed meanwhile. The same records in the same order lead to
the same released values on each of them.

| engine | where | which tables |
|---|---|---|
| memory | `memory.py` | tables in memory, files that fit |
| duckdb | `duckdb.py` | CSV and Parquet files of any size |
| spark | `spark.py`; `spark_tasks.py` on its workers | Parquet files of any size, DataFrames |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..tables.gathering import C
from ..tables.records import Reading, Records

Ints = NDArray[np.int64]

ENGINES = ("memory", "duckdb", "spark")


@dataclass(frozen=True, eq=False)
class Chunk:
    """The records of some parts that are there together, in their order, and the part of each."""

    records: Records
    part: Ints
    parts: range


class Router(Protocol):
    """Says which part each record is in, by some columns."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that it looks at."""

    def parts(self, records: Records) -> Ints:
        """The part of each record, -1 for none; records come in their order."""


class Engine(Protocol):
    """A place for a table."""

    name: str
    names: tuple[str, ...]
    records: int
    reading: Reading

    def gather(self, columns: Sequence[str], into: C, /) -> C:
        """Show these columns of all records to a collector, and give it back."""

    def scan(self, columns: Sequence[str]) -> Iterator[Records]:
        """These columns of all records, in their order, piece by piece."""

    def chunks(
        self, columns: Sequence[str], router: Router, sizes: Sequence[int], together: tuple[int, int] | None = None
    ) -> Iterator[Chunk]:
        """The records of all parts, as many parts at a time as there is room for; `sizes` are those of the parts.

        `together` are two parts that follow each other and must be there at the same time.
        """

    def check_unchanged(self) -> None:
        """Refuse if the table is not what it was when it was opened."""

    def close(self) -> None:
        """Let go of the table."""


def chunk_ranges(sizes: Sequence[int], most: int, together: tuple[int, int] | None) -> list[range]:
    """Parts that follow one another, as many as have at most so many records; `together` are not torn apart."""
    apart = None if together is None else together[1]
    out, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        if number > start and held + size > most and number != apart:
            out.append(range(start, number))
            start, held = number, 0
        held += size
    return [*out, range(start, len(sizes))]
