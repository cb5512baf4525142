"""What was done to columns before they were masked or kept, and how many of their values that changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PreparedFacts:
    """A column that was prepared: what was done, in the order in which it was, and the released values it changed."""

    name: str
    done: tuple[str, ...]  # sentences without a full stop; of categories, no names but that of the others
    values: int  # released records that have a value
    changed: int  # of these, whose value was another one before
    changed_share: float | None  # None where there are no values
    landed: int  # values that are such as others were changed to: at a bound, on a base, of a new category
    replaces_all: bool  # whether every value becomes another one, whatever it was: the label of its band
    masked: bool  # whether it was microaggregated afterwards, so that the file does not show these values


@dataclass(frozen=True)
class PublicPrepared:
    """What the public may know of a column that was prepared."""

    name: str
    done: tuple[str, ...]
    changed_share: float | None  # by classes of k; None if few changed, or few did not
