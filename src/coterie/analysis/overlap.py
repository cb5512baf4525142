"""How far two estimates agree: the overlap of their confidence intervals, signs, significance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

from ..facts.analysis_facts import AnalysisEstimate, AnalysisPair

NORMAL = NormalDist().inv_cdf(0.975)  # 1.96: half the width of a 95 % interval, in standard errors


def estimate(value: float, error: float | None, times: float = NORMAL) -> AnalysisEstimate:
    """An estimate with an interval of so many standard errors to each side."""
    if error is None or not math.isfinite(error):
        return AnalysisEstimate(_finite(value), None, None, None)
    return AnalysisEstimate(_finite(value), error, _finite(value - times * error), _finite(value + times * error))


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def overlap(one: AnalysisEstimate | None, other: AnalysisEstimate | None) -> float | None:
    """The mean of the shares that the intersection has in each of two confidence intervals; 0 if they are disjoint.

    Karr, Kohnen, Oganian, Reiter and Sanil 2006, The American Statistician 60(3), 224-232, doi
    10.1198/000313006X124640. Their formula gets negative where intervals are disjoint; here it is 0 then. An interval
    without width counts as a whole if it lies in the other one. None where an interval is not defined, or there is
    nothing before; 0 where something was there before, and is not any more.
    """
    if one is None or other is None:
        return None if one is None or one.low is None else 0.0
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    low, high = max(one.low, other.low), min(one.high, other.high)
    if high < low:
        return 0.0
    widths = one.high - one.low, other.high - other.low
    return 0.5 * sum((high - low) / width if width > 0.0 else 1.0 for width in widths)


def pairs(
    before: Mapping[str, AnalysisEstimate], after: Mapping[str, AnalysisEstimate], tested: bool
) -> tuple[AnalysisPair, ...]:
    """The estimates of both sides by their names; `tested` says whether they are held against 0."""
    return tuple(pair(name, before.get(name), after.get(name), tested) for name in dict.fromkeys((*before, *after)))


def pair(name: str, before: AnalysisEstimate | None, after: AnalysisEstimate | None, tested: bool) -> AnalysisPair:
    """Two estimates and how they differ."""
    return AnalysisPair(
        name,
        before,
        after,
        overlap_share=overlap(before, after),
        standardized_difference=_standardized(before, after),
        sign_changed=_sign_changed(before, after),
        significance_changed=_significance_changed(before, after) if tested else None,
    )


def _standardized(before: AnalysisEstimate | None, after: AnalysisEstimate | None) -> float | None:
    if before is None or after is None or before.estimate is None or after.estimate is None:
        return None
    change = after.estimate - before.estimate
    if change == 0.0:
        return 0.0
    return change / before.standard_error if before.standard_error else None


def _sign_changed(before: AnalysisEstimate | None, after: AnalysisEstimate | None) -> bool | None:
    if before is None or after is None or before.estimate is None or after.estimate is None:
        return None
    noise = 1e-9 * (before.standard_error or 0.0)  # of a sum in another order
    return before.estimate * after.estimate < 0.0 and abs(after.estimate - before.estimate) > noise


def _significance_changed(before: AnalysisEstimate | None, after: AnalysisEstimate | None) -> bool | None:
    sides = [None if one is None else significant(one) for one in (before, after)]
    return None if None in sides else sides[0] != sides[1]


def significant(one: AnalysisEstimate) -> bool | None:
    """Whether 0 lies outside the interval: the two-sided test at 5 %."""
    return None if one.low is None or one.high is None else not one.low <= 0.0 <= one.high
