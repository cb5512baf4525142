"""The risk of a record by the negative binomial model of Benedetti and Franconi."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_STEPS = 50  # class sizes up to here go by the recurrence, where the series would be slow
_TERMS = 4000  # more than the series ever takes: below p = 1/2 it starts at class size 50, above it halves each time


def individual_risk(sizes: ArrayLike, totals: ArrayLike) -> Floats:
    """The expected 1/F of records in classes of f, where F is the class's unknown size in the population.

    Benedetti and Franconi 1998 (Pre-proceedings of New Techniques and Technologies for Statistics, vol. 1, 225-232);
    Franconi and Polettini 2004, doi 10.1007/978-3-540-25955-8_20; as in mu-Argus and sdcMicro. Given f, F is negative
    binomial: P(F = h) = C(h-1, f-1) p^f (1-p)^(h-f) for h >= f, with p = f / F', where F' is the sum of the sampling
    weights in the class.

    The expectation is p/f 2F1(1, 1; f+1; 1-p), and with q = 1 - p also the integral of p u^(f-1) / (p + q u) over u
    from 0 to 1. That gives r(1) = p/q log(1/p) and r(f+1) = p/q (1/f - r(f)), which is stable as long as p <= q. The
    sum of the hypergeometric series, all of whose terms are positive, is taken everywhere else.

    Parameters
    ----------
    sizes : array of int
        f, at least 1.
    totals : array of float
        F', the estimated sizes in the population. A class is there at least as large as here: less counts as f.
    """
    f = np.asarray(sizes, np.float64)
    p = np.minimum(1.0, f / np.asarray(totals, np.float64))
    by_steps = (p <= 0.5) & (f <= _STEPS)
    out = np.empty(len(f))
    out[by_steps] = _recurrence(f[by_steps], p[by_steps])
    out[~by_steps] = _series(f[~by_steps], p[~by_steps])
    return out


def _recurrence(f: Floats, p: Floats) -> Floats:
    odds = p / (1.0 - p)
    out = risk = -odds * np.log(p)
    for size in range(1, int(f.max(initial=1.0))):
        risk = odds * (1.0 / size - risk)
        out = np.where(f == size + 1, risk, out)
    return np.asarray(out, np.float64)


def _series(f: Floats, p: Floats) -> Floats:
    q, term, total = 1.0 - p, np.ones(len(f)), np.ones(len(f))
    for j in range(_TERMS):
        term = term * q * (j + 1) / (f + 1 + j)
        total += term
        if not (term > 1e-17 * total).any():
            break
    return np.asarray(p / f * total, np.float64)
