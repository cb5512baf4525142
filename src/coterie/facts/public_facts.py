"""The facts that go out with a release. What the public must not see has no field here.

No seed, no risk, no notes, no sentence of others, no name of the input, no group of a record, no sum from which the
number of original records would follow. A count that may be hidden is None where it is. `report.public.public` makes
these facts, and is the only one to do so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .measures import Correlations, Eigenvalues
from .prepared_facts import PublicPrepared
from .settings import Settings


@dataclass(frozen=True)
class PublicInput:
    """The table as it was given."""

    records: int | None  # hidden where the number of records left out would follow from it
    columns: int


@dataclass(frozen=True)
class PublicOutput:
    """The table as it is released."""

    name: str | None
    records: int
    columns: int
    suppressed: int | None
    blanked: int | None
    shuffled: bool
    measured: int | None = None  # records that measures were taken from; None: all
    number: str | None = None  # the new column of record numbers


@dataclass(frozen=True)
class PublicColumn:
    """A column, and what is released of it."""

    name: str
    role: str | None
    kind: str | None
    released: str | None
    missing_before: int | None
    missing_after: int | None


@dataclass(frozen=True)
class PublicBound:
    """How far the groups are from the least that any groups of at least k lose, as far as that is proven."""

    gap_percent: float | None
    kind: str | None


@dataclass(frozen=True)
class PublicGrouping:
    """How the records were grouped, and what that cost."""

    name: str | None
    quasi: tuple[str, ...]
    k: int
    method: str | None
    params: Mapping[str, Any]  # those that methods list, with values that they take
    groups: int
    sizes: Mapping[int, int]
    loss_percent: float | None
    loss_weighted_percent: float | None
    bound: PublicBound | None
    loss_by_importance_percent: float | None = None


@dataclass(frozen=True)
class PublicCheck:
    """A claim and what was found."""

    what: str
    scenario: str | None
    columns: tuple[str, ...]
    wanted: float | None
    found: float | None
    classes: int
    offending_classes: int | None
    offending_records: int | None


@dataclass(frozen=True)
class PublicVerdict:
    """Whether the release keeps what is claimed of it."""

    ok: bool
    checks: tuple[PublicCheck, ...]


@dataclass(frozen=True)
class PublicColumnLoss:
    """What one masked column lost, as far as it is told: "full", "counts", "share" or "nothing"."""

    told: str
    loss_percent: float | None
    il1s: float | None
    mismatch_share: float | None  # changed records, of columns not told in full; None if few changed, or few did not


@dataclass(frozen=True)
class PublicLoss:
    """What the quasi-identifiers lost together, and each masked column."""

    loss_percent: float | None
    loss_euclidean_percent: float | None
    loss_weighted_percent: float | None
    il1s_mean: float | None
    columns: Mapping[str, PublicColumnLoss]
    loss_by_importance_percent: float | None = None


@dataclass(frozen=True)
class PublicCounts:
    """Counts of a distribution: before, by their class of k, or None where they are below it; after, exact."""

    before: tuple[int | None, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class PublicHistogram(PublicCounts):
    """Counts between round edges that the released values reach."""

    edges: tuple[float, ...]


@dataclass(frozen=True)
class PublicCategories(PublicCounts):
    """Counts of released categories; the others together. None if they are not told."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class PublicNumber:
    """What changed in a column of amounts or moments, rounded."""

    kind: str | None
    mean_change_sd: float | None
    variance_ratio: float | None
    largest_quantile_change_sd: float | None
    histogram: PublicHistogram | None


@dataclass(frozen=True)
class PublicCategory:
    """What changed in a column of categories."""

    kind: str | None
    categories: PublicCategories
    total_variation: float | None


@dataclass(frozen=True)
class PublicPropensity:
    """How well a model tells original from released records."""

    ratio: float | None


@dataclass(frozen=True)
class PublicUtility:
    """What analysts find changed in masked columns; correlations and eigenvalues are rounded."""

    columns: Mapping[str, PublicNumber | PublicCategory]
    correlations: Correlations
    eigenvalues: Eigenvalues
    propensity: PublicPropensity


@dataclass(frozen=True)
class PublicMeasures:
    """What was lost."""

    loss: PublicLoss
    utility: PublicUtility


@dataclass(frozen=True)
class PublicFacts:
    """What the public report shows."""

    coterie: str | None
    created: str | None
    suppressed_below: int  # counts of original records below it are hidden: the largest k
    rounded_to_share: float  # the share that k records have: no figure is finer
    settings: Settings
    input: PublicInput
    output: PublicOutput
    columns: tuple[PublicColumn, ...]
    groupings: tuple[PublicGrouping, ...]
    measures: PublicMeasures
    verdict: PublicVerdict | None
    prepared: tuple[PublicPrepared, ...] = ()

    @property
    def least_k(self) -> int:
        """What holds for every record whatever the scenario."""
        return min(grouping.k for grouping in self.groupings)
