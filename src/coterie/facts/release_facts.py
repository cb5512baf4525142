"""The facts of a release: what went in, what came out, how groups were formed, what was lost and what is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..verification.verdict import VerdictFacts
from .analysis_facts import AnalysisFacts
from .compat import Keyed
from .difference_facts import PreviousFacts
from .measures import Measures
from .prepared_facts import PreparedFacts
from .settings import Settings
from .total_facts import TotalFacts


@dataclass(frozen=True)
class InputFacts(Keyed):
    """The table as it was given."""

    name: str | None  # of the file
    records: int
    columns: int


@dataclass(frozen=True)
class OutputFacts(Keyed):
    """The table as it is released."""

    name: str | None  # of the file, once it is written
    records: int
    columns: int
    suppressed: int  # records left out
    blanked: int  # values set to missing
    shuffled: bool
    measured: int | None = None  # records that measures were taken from, in whole groups; None: all
    number: str | None = None  # the new column of record numbers


@dataclass(frozen=True)
class ColumnFacts(Keyed):
    """A column, and what is released of it."""

    name: str
    role: str
    kind: str | None
    released: str  # "mean", "mode", "as it was", "dropped" and so on
    within: bool  # whether it makes strata
    missing_before: int | None  # None where nobody counted
    missing_after: int | None
    renamed: str | None = None  # its name in the release, where that is another


@dataclass(frozen=True)
class UnitFacts(Keyed):
    """Whose records they are: what k counts instead of records."""

    column: str
    kept: bool  # whether the column is released, which links the records of a unit
    units: int  # different ones in the input; about, where there are millions
    unknown: int  # records of the input whose unit is missing: they count as nobody
    records_of_k: (
        int  # so many records are surely those of k units: one more than those of the k - 1 largest, and nobody's
    )


@dataclass(frozen=True)
class BoundFacts(Keyed, old={"loss": "loss_percent", "gap": "gap_percent"}):
    """A lower bound on what any groups of at least k lose."""

    sse: float
    loss_percent: float
    gap_percent: float | None  # 100 (reached / bound - 1); None if the bound is 0
    kind: str  # what proves it; kinds of several strata are separated by ", "
    sentence: str


@dataclass(frozen=True)
class GroupingFacts(Keyed, old={"loss": "loss_percent", "loss_weighted": "loss_weighted_percent"}):
    """How the records were grouped by some quasi-identifiers, and what that cost."""

    name: str  # of the scenarios
    quasi: tuple[str, ...]
    k: int
    method: str
    params: Mapping[str, Any]
    groups: int
    sizes: Mapping[int, int]  # how many groups there are of each size
    sse: float
    sst: float
    loss_percent: float  # 100 sse / sst
    loss_weighted_percent: float | None
    constant_records: int  # in groups in which a confidential column has one value at most
    bound: BoundFacts | None
    loss_by_importance_percent: float | None = None  # with the importance of columns as weights; None: all weigh 1


@dataclass(frozen=True)
class ShrunkFacts(Keyed):
    """A nominal or boolean quasi-identifier in which a category lost more than a tenth of its records.

    Counted over all records that are released; missing values are no category.
    """

    column: str
    categories: int  # that these records had
    shrunk: int  # those that lost more than a tenth of their records
    gone: int  # of these, those that no record has any more
    worst_before: int  # records of the one that lost most of them
    worst_after: int


@dataclass(frozen=True)
class ReleaseFacts(Keyed):
    """All that there is to say of a release, without a record's value. It holds risk and seed: it is internal."""

    coterie: str  # the version
    created: str  # ISO date
    engine: str
    recipe: Mapping[str, Any]
    input: InputFacts
    output: OutputFacts
    columns: tuple[ColumnFacts, ...]
    groupings: tuple[GroupingFacts, ...]
    measures: Measures
    notes: tuple[str, ...]
    verdict: VerdictFacts | None
    unit: UnitFacts | None = None
    totals: tuple[TotalFacts, ...] = ()  # of columns that keep them by controlled rounding
    prepared: tuple[PreparedFacts, ...] = ()
    shrunk: tuple[ShrunkFacts, ...] = ()  # columns whose minorities became fewer
    analyses: tuple[AnalysisFacts, ...] | None = None  # None where none were asked for
    previous: PreviousFacts | None = None  # beside earlier releases of the same persons

    @property
    def largest_k(self) -> int:
        """The largest k that was asked for."""
        scenarios = (scenario.k for scenario in self.measures.risk.scenarios)
        return max(int(self.recipe.get("k", 0)), *(grouping.k for grouping in self.groupings), *scenarios)

    @property
    def least_count(self) -> int:
        """The least count of original records that may be public: of k records, or surely of k units."""
        return self.largest_k if self.unit is None else max(self.largest_k, self.unit.records_of_k)

    @property
    def least_k(self) -> int:
        """The least k that was asked for: what holds for every record whatever the scenario."""
        return min(grouping.k for grouping in self.groupings)

    @cached_property
    def settings(self) -> Settings:
        """What reports name of the recipe."""
        return Settings.of(self.recipe)
