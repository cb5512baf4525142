"""Tables, means, totals and quantiles of groups, with standard errors.

Errors are those of sampling with replacement, by Taylor linearization, in one stratum (Särndal, Swensson and Wretman
1992, Model Assisted Survey Sampling, chapters 2 and 5; Lumley 2010, Complex Surveys, chapter 2): with weights w,

    total T = sum w y over a group:   v = n / (n - 1) sum (w y - T / n)^2 over all n records, y = 0 outside the group
    mean  M = sum w y / sum w:        v = m / (m - 1) sum (w (y - M) / sum w)^2 over the m records of the group
    quantile:                         Woodruff (1952): the quantiles at p -+ 1.96 se of the share up to it

Without weights, w is 1: the error of a mean is s / sqrt(m).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..facts.analysis_facts import AnalysisEstimate
from .overlap import NORMAL, estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ERRORS = "sampling with replacement, Taylor linearization"
ERRORS_OF_QUANTILES = "Woodruff intervals; sampling with replacement, Taylor linearization"


def totals(y: Floats, weights: Floats, groups: Ints, number: int) -> list[AnalysisEstimate]:
    """The total of each group, by its number; of y = 1, the count."""
    n, weighted, size = len(y), weights * y, np.bincount(groups, minlength=number)
    sums = np.bincount(groups, weighted, number)
    middle = sums / max(1, n)
    squares = np.bincount(groups, (weighted - middle[groups]) ** 2, number) + (n - size) * middle**2
    errors = np.sqrt(n / (n - 1) * squares) if n > 1 else [None] * number
    return [
        estimate(float(total), None if error is None else float(error))
        for total, error in zip(sums, errors, strict=True)
    ]


def means(y: Floats, weights: Floats, groups: Ints, number: int) -> list[AnalysisEstimate | None]:
    """The mean of each group; None of one without records, no error of one with a single record."""
    size, whole = np.bincount(groups, minlength=number), np.bincount(groups, weights, number)
    safe = np.where(whole > 0.0, whole, 1.0)
    middle = np.bincount(groups, weights * y, number) / safe
    squares = np.bincount(groups, (weights * (y - middle[groups])) ** 2, number) / safe**2
    out: list[AnalysisEstimate | None] = []
    for m, mean, square in zip(size.tolist(), middle, squares, strict=True):
        error = float(np.sqrt(m / (m - 1) * square)) if m > 1 else None
        out.append(None if m == 0 else estimate(float(mean), error))
    return out


def quantile(y: Floats, weights: Floats, p: float) -> AnalysisEstimate:
    """The least value up to which there is a share of at least p of the weights, of at least one record."""
    order = np.argsort(y, kind="stable")
    values, cumulated = y[order], np.cumsum(weights[order])
    whole = cumulated[-1]

    def at(share: float) -> float:
        place = np.searchsorted(cumulated, share * whole * (1.0 - 1e-12), side="left")
        return float(values[min(int(place), len(values) - 1)])

    value = at(p)
    if len(y) == 1:
        return estimate(value, None)
    (share,) = means((y <= value).astype(np.float64), weights, np.zeros(len(y), np.int64), 1)
    assert share is not None
    half = NORMAL * (share.standard_error or 0.0)
    low, high = at(max(0.0, p - half)), at(min(1.0, p + half))
    return AnalysisEstimate(value, (high - low) / (2.0 * NORMAL), low, high)
