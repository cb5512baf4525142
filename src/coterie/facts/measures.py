"""What was measured of a release: information loss, utility for analysts, risk. Sources: docs/measures.

A share goes from 0 to 1, a percentage from 0 to 100, `_sd` counts standard deviations of the original column. None
stands for what is not defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .compat import Keyed
from .population_facts import PopulationRisk

Matrix = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class ColumnLoss(Keyed, old={"loss": "loss_percent", "mismatch": "mismatch_share"}):
    """What one column lost."""

    loss_percent: float | None  # None if the column is constant; of categories, see `mismatch_share` first
    il1s: float | None
    mismatch_share: float | None = None  # records whose category changed; None of numbers
    changed: int | None = None  # records with another value than before, of those that have one before and after
    distinct: int | None = None  # different values before


@dataclass(frozen=True)
class LossMeasures(
    Keyed,
    old={"loss": "loss_percent", "loss_euclidean": "loss_euclidean_percent", "loss_weighted": "loss_weighted_percent"},
):
    """What the quasi-identifiers lost together, and each column that differs."""

    sse: float
    sst: float
    loss_percent: float
    loss_euclidean_percent: float
    loss_weighted_percent: float | None
    columns: Mapping[str, ColumnLoss]
    il1s_mean: float | None
    il1s_sum: float | None
    loss_by_importance_percent: float | None = None  # columns weighted by importance; None: all weigh the same


@dataclass(frozen=True)
class QuantileChanges(Keyed, old={"change": "change_sd"}):
    """By how much quantiles moved."""

    p: tuple[float, ...]
    change_sd: tuple[float, ...] | None


@dataclass(frozen=True)
class Histogram(Keyed):
    """Counts before and after between the same edges."""

    edges: tuple[float, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class CategoryCounts(Keyed):
    """Counts of each released category before and after; the others together."""

    names: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class NumberUtility(Keyed, old={"mean_change": "mean_change_sd"}):
    """What changed in a column of amounts or moments."""

    kind: str
    mean_change_sd: float | None
    variance_ratio: float | None
    quantile_changes: QuantileChanges
    histogram: Histogram | None

    @property
    def largest_quantile_change_sd(self) -> float | None:
        """The largest shift of a quantile, up or down."""
        return max((abs(change) for change in self.quantile_changes.change_sd or ()), default=None)


@dataclass(frozen=True)
class CategoryUtility(Keyed):
    """What changed in a column of categories."""

    kind: str
    categories: CategoryCounts
    total_variation: float | None  # a share


@dataclass(frozen=True)
class Correlations(Keyed):
    """Pearson's correlations before and after. Of very many columns, of those that are named."""

    names: tuple[str, ...]
    before: Matrix
    after: Matrix
    mean_change: float | None
    largest_change: float | None


@dataclass(frozen=True)
class Eigenvalues(Keyed):
    """The eigenvalues of the correlation matrices, largest first."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    change: float | None


@dataclass(frozen=True)
class Propensity(Keyed):
    """How well a model tells original from released records."""

    pmse: float | None
    expected: float | None
    ratio: float | None
    model: str
    records: int  # of each file
    columns: int  # that the model looks at


@dataclass(frozen=True)
class UtilityMeasures(Keyed):
    """What analysts find changed."""

    columns: Mapping[str, NumberUtility | CategoryUtility]
    correlations: Correlations
    eigenvalues: Eigenvalues
    propensity: Propensity


@dataclass(frozen=True)
class ClassRisk(Keyed):
    """The risk of records that can only be told from each other by their equivalence class.

    With a unit, `unique`, `below_k`, `smallest`, the risks and `sizes` count units instead of records.
    """

    records: int
    classes: int
    unique: int  # records that are alone in their class
    below_k: int  # records in classes of fewer than k
    smallest: int | None
    largest_risk: float | None  # 1 / smallest
    mean_risk: float | None  # classes / records; of units, the mean of each one's largest risk
    expected_reidentifications: float  # records, or units
    sizes: Mapping[str, int]  # how many classes there are of each size, or range of sizes: "5", "10-19"
    units: int | None = None  # how many there are; None where records are counted
    largest_unit_share: float | None = None  # of the records of a class, those of one unit: at least `largest_risk`

    @property
    def counted(self) -> int:
        """How many records or units there are."""
        return self.records if self.units is None else self.units

    @property
    def noun(self) -> str:
        """What is counted."""
        return "records" if self.units is None else "units"

    @property
    def unique_percent(self) -> float:
        """Of the records or units, those alone in their class."""
        return 100 * self.unique / self.counted if self.counted else 0.0

    @property
    def below_k_percent(self) -> float:
        """Of the records or units, those in classes of fewer than k."""
        return 100 * self.below_k / self.counted if self.counted else 0.0


@dataclass(frozen=True)
class ScenarioRisk(Keyed):
    """The classes by the quasi-identifiers of a scenario."""

    name: str
    quasi: tuple[str, ...]
    k: int
    before: ClassRisk
    after: ClassRisk
    population_before: PopulationRisk | None = None  # None where nothing is known of the population
    population_after: PopulationRisk | None = None


@dataclass(frozen=True)
class Linkage(Keyed, old={"baseline": "baseline_share"}):
    """Released records linked to the nearest original."""

    records: int  # that were linked
    sampled: bool
    expected_correct: float | None  # records
    share: float | None
    baseline_share: float | None  # that guessing gets right

    @property
    def times_guessing(self) -> float | None:
        """How many times as good as guessing it is."""
        return self.share / self.baseline_share if self.share is not None and self.baseline_share else None


@dataclass(frozen=True)
class IntervalShares(Keyed):
    """The share of records whose original values all lie within a width of the released ones, by width."""

    widths: tuple[float, ...]
    share: tuple[float | None, ...]


@dataclass(frozen=True)
class Intervals(Keyed):
    """Interval disclosure: widths in standard deviations, and in shares of ranks."""

    sd: IntervalShares
    rank: IntervalShares


@dataclass(frozen=True)
class ConfidentialRisk(Keyed):
    """What the classes of a scenario tell about a confidential column: its worst class."""

    scenario: str
    name: str
    kind: str
    classes: int
    constant_classes: int | None
    constant_records: int | None
    least_distinct: int | None
    least_entropy_l: float | None
    largest_t: float | None


@dataclass(frozen=True)
class SinglingOut(Keyed, old={"before": "records_before", "after": "records_after"}):
    """Records that are alone in their class in at least one scenario."""

    records_before: int
    records_after: int
    sentence: str
    does_not_show: str


@dataclass(frozen=True)
class Linkability(Keyed, old={"before": "share_before", "after": "share_after"}):
    """The share of records that an intruder with the original values would link."""

    share_before: float | None
    share_after: float | None
    sentence: str
    does_not_show: str


@dataclass(frozen=True)
class Guess(Keyed, old={"value": "share", "baseline": "baseline_share"}):
    """How well a confidential column is guessed from the class of a record."""

    what: str | None  # "right guesses" or "variance explained"
    share: float | None
    baseline_share: float | None  # without the classes
    constant_share: float | None  # of the records, those whose class has one value at most


@dataclass(frozen=True)
class Inference(Keyed):
    """The guesses of every confidential column, in the scenario where guessing is easiest."""

    columns: Mapping[str, Guess]
    sentence: str
    does_not_show: str


@dataclass(frozen=True)
class KeptColumn(Keyed):
    """The values of a column that is not masked."""

    name: str
    role: str
    present: int  # values that are not missing
    different: int  # values, each counted once
    once: int  # values that only one record has

    @property
    def once_share(self) -> float:
        """Of the values that are present, those that only one record has."""
        return self.once / self.present if self.present else 0.0

    @property
    def nearly_all_differ(self) -> bool:
        """Whether at least 95 % of the values that are present occur once: a value then tells the record."""
        return self.present > 1 and self.once_share >= 0.95


@dataclass(frozen=True)
class KeptRisk(Keyed):
    """Records that are unique on the columns that are not masked."""

    records: int
    columns: tuple[KeptColumn, ...]
    unique: int  # on all of these columns together
    unique_with_masked: int  # on these and the released quasi-identifiers together

    @property
    def nearly_all_differ(self) -> tuple[str, ...]:
        """The columns in which nearly all values differ."""
        return tuple(column.name for column in self.columns if column.nearly_all_differ)


@dataclass(frozen=True)
class RiskMeasures(Keyed):
    """What an intruder could learn."""

    scenarios: tuple[ScenarioRisk, ...]
    linkage: Linkage
    intervals: Intervals
    confidential: tuple[ConfidentialRisk, ...]
    singling_out: SinglingOut
    linkability: Linkability
    inference: Inference
    kept: KeptRisk | None = None  # None where no column is kept, or nobody counted


@dataclass(frozen=True)
class Measures(Keyed):
    """What was lost, what analysts will find, and what an intruder could."""

    loss: LossMeasures
    utility: UtilityMeasures
    risk: RiskMeasures
