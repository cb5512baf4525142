"""What controlled rounding left of the difference between totals before and after."""

from __future__ import annotations

from dataclasses import dataclass

from .compat import Keyed


@dataclass(frozen=True)
class TotalFacts(Keyed):
    """A column whose total is kept within each part of the table. It holds sums of original records: it is internal."""

    column: str
    weighted: bool  # whether it is the total by sampling weights
    parts: int  # that keep their totals each: strata, patterns of missing values, blocks
    left: float  # the total before minus the total after, of all released records
    left_of_nearest: float  # the same if every mean were rounded to the nearest step
    largest_left_of_part: float  # the largest difference of one part, without its sign
    turned_groups: int  # that got the rounding of their mean that is not the nearest
