"""The facts of analyses: what was found before and after, and how far the two agree. They are internal.

A table's cells and the ends of intervals may tell small counts, a quantile is the value of a record.
"""

from __future__ import annotations

from dataclasses import dataclass

from .compat import Keyed


@dataclass(frozen=True)
class AnalysisEstimate(Keyed):
    """What was found, and how sure it is; None for what is not defined."""

    estimate: float | None  # in the units of what is estimated
    standard_error: float | None
    low: float | None  # the ends of the 95 % confidence interval
    high: float | None


@dataclass(frozen=True)
class AnalysisPair(Keyed):
    """One number of an analysis, before and after."""

    name: str  # such as "age", "C(education)[T.high]" or "region = north"
    before: AnalysisEstimate | None  # None where the table has no such category, or nothing could be estimated
    after: AnalysisEstimate | None
    overlap_share: float | None  # of the confidence intervals: 1, the same; 0, disjoint
    standardized_difference: float | None  # (after - before) / standard error before
    sign_changed: bool | None
    significance_changed: bool | None  # at 5 %; of models alone


@dataclass(frozen=True)
class AnalysisFacts(Keyed):
    """An analysis before and after."""

    name: str
    kind: str  # "table", "mean", "total", "quantiles", "linear" or "logistic"
    asked: str  # what it is of, in one line
    weighted: bool
    standard_errors: str  # how they are calculated
    records_before: int  # that are used
    records_after: int
    missing_before: int  # records left out: a value is missing, or not defined
    missing_after: int
    estimates: tuple[AnalysisPair, ...]
    least_overlap_share: float | None  # 0 where an estimate is there on one side alone
    mean_overlap_share: float | None
    signs_changed: int
    significance_changed: int | None  # None of all but models
    problems: tuple[str, ...]  # why something could not be estimated, or is not comparable
