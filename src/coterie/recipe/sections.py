"""The sections of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..constraints import GUARDS
from ..tables.columns import KINDS
from .fields import (
    AT_LEAST_2,
    BASE,
    BLOCKS,
    BOUND,
    DECIMALS,
    EDGES,
    FLAG,
    FRACTION,
    IMPORTANCE,
    KEY,
    NAMES,
    POPULATION,
    POSITIVE,
    RECODING,
    RELEASES,
    RISK,
    SHARES,
    TEXT,
    TEXTS,
    ask,
    decided,
    one_of,
)

ROLES = ("identifier", "quasi", "confidential", "other")
SMALL = ("refuse", "merge", "suppress")
PRECISIONS = ("year", "quarter", "month", "week", "day", "hour")
PREPARING = (
    "top", "bottom", "top_label", "bottom_label", "bands", "width", "bands_as", "round", "precision", "recode",
    "others", "rare",
)  # fmt: skip


@dataclass(frozen=True)
class ColumnRule:
    """The role of a column, and what is done to it.

    Attributes
    ----------
    role : {"identifier", "quasi", "confidential", "other"}
        identifier: dropped; quasi: microaggregated; confidential: kept and guarded; other: kept.
    kind : {"numeric", "integer", "ordinal", "nominal", "datetime", "boolean"}
        How values are read, averaged and written. Required for quasi and confidential columns.
    order : tuple of str
        The categories of an ordinal column, from lowest to highest.
    decimals : int
        Number of decimals to which the released means of a numeric column are rounded.
    format : str
        How dates are written in a text file, such as "%d.%m.%Y". Default: ISO 8601.
    l, entropy, t : float
        What must hold for a confidential column in every class: at least l different values; an entropy of at least
        log(entropy); a distribution no farther than t from that of the whole table.
    noise : float
        Where a numeric confidential column is constant in a group, add normal noise to it, with this many of the
        column's standard deviations.
    true, false : tuple of str
        The words for true and false in a boolean column, such as ["Ja"] and ["Nein"]. The first of each is released.
    totals : bool
        Whether rounded means are rounded up or down so that the column's total is kept (controlled rounding).
    importance : float
        The weight of a quasi-identifier in squared distances, above 0 and at most 1000. Default: 1.
    top, bottom : float, or str for dates
        Values above (below) this bound are replaced by it.
    top_label, bottom_label : str
        Values at or beyond the bound are replaced by this label, and the column becomes text; with bands, the name of
        the last (first) band.
    bands : tuple of float
        Increasing edges. A number is replaced by its band: [0, 18, 65] makes 0-17, 18-64 and 65+.
    width : float
        Bands of equal width, starting at multiples of it.
    bands_as : {"label", "middle"}
        Whether a band is released as a label or as the number in its middle. Default: "label".
    round : float
        Numbers are rounded to the nearest multiple of this base.
    precision : {"year", "quarter", "month", "week", "day", "hour"}
        Dates and times are set to the start of the period they lie in.
    recode : mapping of str to str
        New names of categories, keyed by the old names.
    others : str
        The category for all others: those that `recode` does not name, and those that are `rare`.
    rare : int
        Categories with fewer records (with a unit: fewer units) than this become `others`.
    rename : str
        The name of the column in the release.
    """

    role: str = ask(decided(one_of(*ROLES)))
    kind: str | None = ask(decided(one_of(*KINDS)), None)
    order: tuple[str, ...] | None = ask(TEXTS, None)
    decimals: int | None = ask(DECIMALS, None)
    format: str | None = ask(TEXT, None)
    l: int | None = ask(GUARDS["l"], None)  # noqa: E741
    entropy: float | None = ask(GUARDS["entropy"], None)
    t: float | None = ask(GUARDS["t"], None)
    noise: float | None = ask(POSITIVE, None)
    true: tuple[str, ...] | None = ask(TEXTS, None)
    false: tuple[str, ...] | None = ask(TEXTS, None)
    totals: bool = ask(FLAG, False)
    importance: float | None = ask(IMPORTANCE, None)
    top: float | str | None = ask(BOUND, None)
    bottom: float | str | None = ask(BOUND, None)
    top_label: str | None = ask(TEXT, None)
    bottom_label: str | None = ask(TEXT, None)
    bands: tuple[float, ...] | None = ask(EDGES, None)
    width: float | None = ask(BASE, None)
    bands_as: str | None = ask(one_of("label", "middle"), None)
    round: float | None = ask(BASE, None)
    precision: str | None = ask(one_of(*PRECISIONS), None)
    recode: Mapping[str, str] | None = ask(RECODING, None)
    others: str | None = ask(TEXT, None)
    rare: int | None = ask(AT_LEAST_2, None)
    rename: str | None = ask(TEXT, None)

    @property
    def prepared(self) -> bool:
        """Whether something is done to the column before it is masked or kept."""
        return any(getattr(self, key) is not None for key in PREPARING)

    @property
    def guarded(self) -> bool:
        """Whether something must hold of the column in every class."""
        return self.l is not None or self.entropy is not None or self.t is not None


@dataclass(frozen=True)
class ScenarioRule:
    """The quasi-identifiers that an intruder may know, and the k that must hold for them.

    Instead of k, `risk` may be given: k is then the smallest whole number with 1 / k <= risk.
    """

    quasi: tuple[str, ...] = ask(TEXTS)
    k: int = ask(AT_LEAST_2, 0)  # 0: nobody said, and `recipe.read` refuses it or takes it from the risk
    risk: float | None = ask(RISK, None)


@dataclass(frozen=True)
class PromiseRule:
    """The largest acceptable re-identification risk, instead of k: k is the smallest with 1 / k <= risk."""

    risk: float = ask(RISK)


@dataclass(frozen=True)
class AnalysisRule:
    """An analysis to run before and after: a table, a mean, a total, quantiles or a model.

    Attributes
    ----------
    rows, columns : tuple of str
        For a table: the columns whose combinations of categories are counted.
    mean, total, quantiles : str
        The numeric column to summarize.
    at : tuple of float
        Which quantiles. Default: the quartiles.
    by : tuple of str
        The columns whose categories define the groups.
    model : str
        A formula, such as "income ~ age + C(education)".
    family : {"linear", "logistic"}
        The model to fit. Default: "linear".
    weighted : bool
        Whether to use sampling weights. Default: if the recipe has weights and releases them.
    """

    rows: tuple[str, ...] | None = ask(NAMES, None)
    columns: tuple[str, ...] | None = ask(NAMES, None)
    mean: str | None = ask(TEXT, None)
    total: str | None = ask(TEXT, None)
    quantiles: str | None = ask(TEXT, None)
    at: tuple[float, ...] | None = ask(SHARES, None)
    by: tuple[str, ...] | None = ask(NAMES, None)
    model: str | None = ask(TEXT, None)
    family: str | None = ask(one_of("linear", "logistic"), None)
    weighted: bool | None = ask(FLAG, None)


@dataclass(frozen=True)
class MethodRule:
    """How groups are formed. `params` holds the parameters of the method.

    Attributes
    ----------
    name, refine, bound
        The method; local search afterwards; which lower bound on the loss is proven.
    blocks : int or "auto"
        Group the records in blocks of at most this many, split along the widest numeric quasi-identifiers.
    """

    name: str = ask(TEXT, "auto")
    blocks: int | str | None = ask(BLOCKS, None)
    refine: str = ask(one_of("none", "quick", "thorough"), "none")
    bound: str = ask(one_of("none", "fast", "tight"), "none")
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StrataRule:
    """Columns whose values no group may mix, and what to do with strata of fewer than k records."""

    within: tuple[str, ...] = ask(TEXTS)
    small: str = ask(one_of(*SMALL), "refuse")


@dataclass(frozen=True)
class MissingRule:
    """What to do with missing values, and with patterns of missing values that too few records share."""

    policy: str = ask(one_of("refuse", "own-value", "group"), "refuse")
    small: str = ask(one_of(*SMALL), "refuse")


@dataclass(frozen=True)
class WeightsRule:
    """The column of sampling weights."""

    column: str = ask(TEXT)


@dataclass(frozen=True)
class PopulationRule:
    """The population from which the table is a random sample: the sampling fraction, or the size of the population."""

    fraction: float | None = ask(FRACTION, None)
    size: int | None = ask(POPULATION, None)


@dataclass(frozen=True)
class UnitRule:
    """What k counts: the different values of a column (persons, say) instead of records.

    Attributes
    ----------
    column : str
        The column whose different values k counts, or "none" to count records.
    release : {"pseudonym"}
        Release a random pseudonym of each unit in place of its identifier.
    key : str
        Key of the pseudonyms, 32 hexadecimal digits. Default: drawn at random and kept in the release's recipe.
    """

    column: str = ask(decided(TEXT))
    release: str | None = ask(one_of("pseudonym"), None)
    key: str | None = ask(KEY, None)


@dataclass(frozen=True)
class OutputRule:
    """How the release is written.

    Attributes
    ----------
    number : str
        The name of a new first column that numbers the records 1, 2, … in their random order.
    """

    number: str | None = ask(TEXT, None)


@dataclass(frozen=True)
class GuardRule:
    """How l, entropy and t are achieved.

    Attributes
    ----------
    rule : {"merge", "k-first", "t-first"}
        merge: merge groups that fall short; k-first: exchange records while groups are formed; t-first: take records
        from all parts of the confidential column's range.
    split : bool
        Whether groups are split again where the parts keep k and all guards.
    regroup : bool
        Whether other methods and a larger k are tried where a confidential column is constant in a group.
    """

    rule: str = ask(one_of("merge", "k-first", "t-first"), "merge")
    split: bool = ask(FLAG, True)
    regroup: bool = ask(FLAG, False)


@dataclass(frozen=True)
class PreviousRule:
    """Earlier releases about the same persons; k must also hold when they are combined with this one.

    Attributes
    ----------
    releases : list of mappings
        The bundle of each, and its original table.
    by : str or list of str
        The columns that identify persons in all inputs. Default: an identifier or unit common to all recipes.
    rows : bool
        Match records by row number instead.
    groups : {"free", "stable"}
        free: group without regard to earlier releases, and refuse a result that breaks k when combined with them;
        stable: keep persons together who were together before.
    small : {"refuse", "suppress"}
        With stable groups: what to do with persons of whose earlier companions too few are left.
    """

    releases: tuple[Mapping[str, str], ...] = ask(RELEASES)
    by: tuple[str, ...] | None = ask(NAMES, None)
    rows: bool = ask(FLAG, False)
    groups: str = ask(one_of("free", "stable"), "free")
    small: str = ask(one_of("refuse", "suppress"), "refuse")


@dataclass(frozen=True)
class FileRule:
    """How to read a table (`options` of a file: delimiter, encoding, decimal and so on).

    Attributes
    ----------
    formulas : {"refuse", "neutralize", "keep"}
        What to do with text that a spreadsheet would run as a formula.
    key : str
        For a Spark DataFrame, whose rows have no fixed order: the column whose unique values define one.
    """

    formulas: str = ask(one_of("refuse", "neutralize", "keep"), "refuse")
    key: str | None = ask(TEXT, None)
    options: Mapping[str, Any] = field(default_factory=dict)
