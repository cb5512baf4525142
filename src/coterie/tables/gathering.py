"""Looks at all records, wherever they are: what each piece shows is gathered, and what pieces have shown is merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from .records import Records


class Collector(Protocol):
    """Gathers something from pieces of a table that come in any order, and maybe at different places."""

    def add(self, records: Records) -> None:
        """Take in some records."""

    @property
    def found(self) -> Any:
        """What was gathered, to be sent to another collector: plain values that can be pickled."""

    def merge(self, found: Any) -> None:
        """Take in what another collector has found in other records."""


C = TypeVar("C", bound=Collector)


class Gather(Protocol):
    """Shows some columns of all records to a collector, and gives it back; as often as it is called."""

    def __call__(self, columns: Sequence[str], into: C, /) -> C:
        """Show these columns of all records."""


def gathered(pieces: Iterable[Records], into: C) -> C:
    """A collector that has seen all pieces, here, one after the other."""
    for records in pieces:
        into.add(records)
    return into
