"""The facts of a difference: what is left of k where several releases of the same persons are laid over each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparedRelease:
    """One of the releases. Persons are counted as they were matched; those whose records were left out don't count."""

    name: str
    records: int
    persons: int


@dataclass(frozen=True)
class ColumnDifference:
    """What one quasi-identifier has to do with it."""

    name: str
    releases: int  # that have it as a quasi-identifier
    changed_persons: int | None  # whose value before masking differs from an earlier one; None: not known
    alone_below_k: int  # persons below k, if an intruder knows this column alone in every release
    without_below_k: int | None  # persons below k, if an intruder knows all others; None where there are none


@dataclass(frozen=True)
class ValueDifference:
    """How many persons' value of a confidential column follows, because their classes have one value in common.

    Null where that was too much to count. Of these, `known_before` had a class with one value in one release already.
    """

    name: str
    determined_persons: int | None
    known_before: int | None


@dataclass(frozen=True)
class OverlaidScenario:
    """The persons of the release, as an intruder sees them who knows one scenario of each release.

    `scenarios` names them, that of this release first. k is that of the release; persons who are in earlier releases
    too must have the least k of all that they are in.
    """

    scenarios: tuple[str, ...]
    k: int
    smallest_set: int
    alone: int  # persons with a set of one: themselves
    below_k: int
    returning_below_k: int  # of these, persons who are in an earlier release, too
    new_below_k: int  # and persons who are in none
    left_smallest_set: int | None  # of persons who are in earlier releases alone
    left_below_k: int
    confidential: tuple[ValueDifference, ...]


@dataclass(frozen=True)
class DifferenceFacts:
    """What an intruder finds in a release and earlier ones of the same persons. Internal: it shows risk."""

    ok: bool
    matched_by: tuple[str, ...]  # columns; none: by record number
    releases: tuple[ComparedRelease, ...]  # this one, then the earlier ones
    persons: int  # of this release
    returning: int  # of these, in an earlier release, too
    new: int  # and in none
    left: int  # persons who are in earlier releases alone
    below_k: int  # persons of this release, in the worst scenario
    smallest_set: int
    scenarios: tuple[OverlaidScenario, ...]
    quasi: tuple[ColumnDifference, ...]  # in the worst scenario


@dataclass(frozen=True)
class PreviousFacts:
    """How a release was made beside earlier ones, and what it cost. Internal: it shows risk."""

    groups: str  # "free", or "stable" where those stay together who were
    left_out: int  # persons with too few others who were with them in all earlier releases
    loss_percent: float | None  # of stable groups; None where they are free
    free_loss_percent: float | None  # of groups of the same records that need not follow the earlier ones
    difference: DifferenceFacts
