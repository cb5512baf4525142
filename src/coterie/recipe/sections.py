"""The sections of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..constraints import GUARDS
from ..tables.columns import KINDS
from .fields import AT_LEAST_2, BLOCKS, DECIMALS, FLAG, POSITIVE, TEXT, TEXTS, ask, decided, one_of

ROLES = ("identifier", "quasi", "confidential", "other")
SMALL = ("refuse", "merge", "suppress")


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

    @property
    def guarded(self) -> bool:
        """Whether something must hold of the column in every class."""
        return self.l is not None or self.entropy is not None or self.t is not None


@dataclass(frozen=True)
class ScenarioRule:
    """What an intruder may know, and among how many records everyone must hide from them."""

    quasi: tuple[str, ...] = ask(TEXTS)
    k: int = ask(AT_LEAST_2)


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
class UnitRule:
    """Whose records they are: the column whose different values are counted to k, or "none" if records are."""

    column: str = ask(decided(TEXT))


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
