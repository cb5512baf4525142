"""The facts of what drives the risk: minimal sample uniques, and what coarsening each column would change. Internal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Coarsened:
    """The risk if a column were coarsened, the others left as they are. Counts are of units where a unit is given."""

    values: int  # different values that the column would have left, a missing one among them
    unique: int
    below_k: int
    expected_reidentifications: float
    fall_percent: float | None  # of the expected re-identifications; None where there are none


@dataclass(frozen=True)
class ColumnDriver:
    """What a quasi-identifier has to do with the risk."""

    name: str
    values: int  # different ones, a missing one among them
    unique_alone: int  # records that are unique by this column alone
    minimal_uniques: int  # that hold the column
    score_percent: float | None  # of all SUDA scores, that of minimal sample uniques which hold it
    halved: Coarsened
    left_out: Coarsened


@dataclass(frozen=True)
class CoarseningStep:
    """One of the steps in which columns are halved in turn, and the risk after it and those before."""

    column: str
    values: int  # that it has left, a missing one among them
    unique: int
    below_k: int
    expected_reidentifications: float


@dataclass(frozen=True)
class RiskDrivers:
    """By which columns records are unique in a scenario, and which columns to coarsen first."""

    scenario: str
    quasi: tuple[str, ...]
    most_columns: int  # the largest minimal sample unique that was looked for
    complete: bool  # whether that is all: no minimal sample unique is larger
    records: int  # that have a minimal sample unique of at most that size
    minimal_uniques: int
    minimal_uniques_by_size: dict[str, int]
    records_by_smallest: dict[str, int]  # records by the size of their smallest minimal sample unique
    largest_score: float
    mean_score: float | None  # of all records; None where there are none
    unique: int  # as the file is: of records, or of units
    below_k: int
    expected_reidentifications: float
    columns: tuple[ColumnDriver, ...]  # the first is to be coarsened first
    in_turn: tuple[CoarseningStep, ...]  # columns halved one after the other, until a tenth of the risk is left
    dis: float | None = None  # how probably a match with a unique record is right, where the sampling fraction is known
