"""Where a method stands that takes the records in turn."""

from __future__ import annotations

from typing import NamedTuple


class Turn(NamedTuple):
    """Whose turn it is, between two calls of a kernel."""

    at: int  # the place of the next record in the order
    group: int  # the number of the next group
    free: int  # how many records no group has taken
