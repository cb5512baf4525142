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
    """What a column is.

    Attributes
    ----------
    role : {"identifier", "quasi", "confidential", "other"}
        Dropped; microaggregated; kept and guarded; kept.
    kind : {"numeric", "integer", "ordinal", "nominal", "datetime", "boolean"}
        How its values are read, averaged and written. Needed for quasi and confidential columns.
    order : tuple of str
        The categories of an ordinal column, from the lowest to the highest.
    decimals : int
        Round the released means of a numeric column to so many decimals.
    format : str
        How dates are written in a text file, such as "%d.%m.%Y"; ISO 8601 without.
    l, entropy, t : float
        What must hold of a confidential column in every class: at least l different values; an entropy of at least
        log(entropy); a distribution no farther than t from that of the whole table.
    noise : float
        Where a numeric confidential column is constant in a group, add normal noise to it there, of so many of the
        column's standard deviations.
    true, false : tuple of str
        The words for yes and for no in a boolean column, such as ["Ja"] and ["Nein"]. The first of each is released.
    totals : bool
        Whether rounded means are rounded up or down so that the column's total is kept (controlled rounding).
    importance : float
        The weight of a quasi-identifier in squared distances, above 0 and at most 1000; 1 unless given.
    top, bottom : float, or str for dates
        Values above, or below, become this one.
    top_label, bottom_label : str
        Values at or beyond the bound become this text, and the column one of texts; with bands, the name of the last,
        or of the first.
    bands : tuple of float
        Rising edges. A number becomes the band that it is in: [0, 18, 65] makes 0-17, 18-64 and 65+.
    width : float
        The same with bands of equal width, at its multiples.
    bands_as : {"label", "middle"}
        Whether a band is released as a text or as the number in its middle. A text unless given.
    round : float
        Numbers become the nearest multiple of this base.
    precision : {"year", "quarter", "month", "week", "day", "hour"}
        Dates and moments become the beginning of theirs.
    recode : mapping of str to str
        New names of categories, by the old ones.
    others : str
        The category that all others become: those that `recode` does not name, and those that are `rare`.
    rare : int
        Categories with fewer records (with a unit, of fewer units) become `others`.
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
    """What an intruder may know, and among how many records everyone must hide from them.

    Instead of k, `risk` may be given: k is then the least whole number with 1 / k at most this.
    """

    quasi: tuple[str, ...] = ask(TEXTS)
    k: int = ask(AT_LEAST_2, 0)  # 0: nobody said, and `recipe.read` refuses it or takes it from the risk
    risk: float | None = ask(RISK, None)


@dataclass(frozen=True)
class PromiseRule:
    """The largest re-identification risk that may be left, instead of k: k is the least with 1 / k at most this."""

    risk: float = ask(RISK)


@dataclass(frozen=True)
class AnalysisRule:
    """An analysis that is made before and after: one of a table, a mean, a total, quantiles and a model.

    Attributes
    ----------
    rows, columns : tuple of str
        Of a table: the columns of categories whose combinations are counted.
    mean, total, quantiles : str
        The column of numbers.
    at : tuple of float
        Which quantiles; the quartiles unless given.
    by : tuple of str
        The columns whose categories make groups.
    model : str
        A formula, such as "income ~ age + C(education)".
    family : {"linear", "logistic"}
        What is fitted; "linear" unless given.
    weighted : bool
        Whether sampling weights are used: where the recipe has some and releases them, unless said otherwise.
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
    """How groups are formed. `params` holds the method's own parameters.

    Attributes
    ----------
    name, refine, bound
        The method; local search afterwards; what is proven of the loss.
    blocks : int or "auto"
        Group the records in blocks of at most so many, cut where numeric quasi-identifiers are widest.
    """

    name: str = ask(TEXT, "auto")
    blocks: int | str | None = ask(BLOCKS, None)
    refine: str = ask(one_of("none", "quick", "thorough"), "none")
    bound: str = ask(one_of("none", "fast", "tight"), "none")
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StrataRule:
    """Columns whose values no group may mix, and what is done where a stratum has fewer than k records."""

    within: tuple[str, ...] = ask(TEXTS)
    small: str = ask(one_of(*SMALL), "refuse")


@dataclass(frozen=True)
class MissingRule:
    """What is done with gaps, and with too few records that have the same gaps."""

    policy: str = ask(one_of("refuse", "own-value", "group"), "refuse")
    small: str = ask(one_of(*SMALL), "refuse")


@dataclass(frozen=True)
class WeightsRule:
    """The column of sampling weights."""

    column: str = ask(TEXT)


@dataclass(frozen=True)
class PopulationRule:
    """The population that the table is a random sample of: which fraction was drawn, or how many records it has."""

    fraction: float | None = ask(FRACTION, None)
    size: int | None = ask(POPULATION, None)


@dataclass(frozen=True)
class UnitRule:
    """Whose records they are.

    Attributes
    ----------
    column : str
        The column whose different values are counted to k, or "none" if records are.
    release : {"pseudonym"}
        Release a random pseudonym of each unit in place of its identifier.
    key : str
        Of the pseudonyms, 32 hexadecimal digits. Without, one is drawn, and kept in the release's recipe.
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
        The name of a new first column with the numbers 1, 2, … of the records, in their random order.
    """

    number: str | None = ask(TEXT, None)


@dataclass(frozen=True)
class GuardRule:
    """How l, entropy and t are reached.

    Attributes
    ----------
    rule : {"merge", "k-first", "t-first"}
        Merge groups that fall short, exchange records while groups are formed, or take records from all parts of the
        confidential column's range.
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
    """Earlier releases of the same persons, beside which k must hold, too.

    Attributes
    ----------
    releases : list of mappings
        The bundle of each, and the input that it was made from.
    by : str or list of str
        The columns that tell persons apart, in all inputs. Without, an identifier or unit of all recipes that does.
    rows : bool
        Match records by their numbers instead.
    groups : {"free", "stable"}
        Group as without earlier releases, and refuse what breaks k beside them; or keep those together who were.
    small : {"refuse", "suppress"}
        With stable groups, what is done with persons who have too few others that were with them in all earlier ones.
    """

    releases: tuple[Mapping[str, str], ...] = ask(RELEASES)
    by: tuple[str, ...] | None = ask(NAMES, None)
    rows: bool = ask(FLAG, False)
    groups: str = ask(one_of("free", "stable"), "free")
    small: str = ask(one_of("refuse", "suppress"), "refuse")


@dataclass(frozen=True)
class FileRule:
    """How a table is read (`options` of a file: delimiter, encoding, decimal and so on).

    Attributes
    ----------
    formulas : {"refuse", "neutralize", "keep"}
        What is done with formulas in a file of text.
    key : str
        Of a Spark DataFrame, whose rows have no order: the column whose values, each in one record, give them one.
    """

    formulas: str = ask(one_of("refuse", "neutralize", "keep"), "refuse")
    key: str | None = ask(TEXT, None)
    options: Mapping[str, Any] = field(default_factory=dict)
