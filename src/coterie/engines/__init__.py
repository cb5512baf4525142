"""Engines: where a table larger than memory lives.

An engine knows no method and no recipe. What it must do is all there is in `Engine`: say the columns and the number of
records, give columns in the order of the records, batch by batch, and give the records that lie in some boxes. The same
records in the same order lead to the same blocks and the same groups, whichever engine gave them. DuckDB does this for
files (`files.py`); a cluster would do it with a filter and a sort by record number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

Range = tuple[float | None, float | None]  # above the one, at most the other
Box = Mapping[str, Range]


class Number(NamedTuple):
    """How a column is read as a number: whether it is text, with which decimal mark, and what stands for a gap."""

    text: bool
    decimal: str
    gap: float


class Engine(Protocol):
    """A table that is too large to be read as a whole."""

    names: tuple[str, ...]
    records: int

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """These columns of all records, in their order, as pyarrow RecordBatches."""

    def select(self, columns: Sequence[str], boxes: Sequence[Box], numbers: Mapping[str, Number]) -> Any:
        """These columns of the records that lie in any of the boxes, in their order, as a pyarrow Table."""

    def close(self) -> None:
        """Let go of the table."""
