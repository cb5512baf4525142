"""The propensity score: can a model tell the original records from the released ones?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import Propensity
from ..tables.columns import Column
from .standard_units import Scale, finite, gram, product

Floats = NDArray[np.float64]

RECORDS = 50_000  # of each file, at most
CELLS = 8_000_000  # of the model's matrix, at most
TERMS = 400  # of the model, at most: its cost grows with their square
INDICATORS = 30  # of a column, at most: rarer categories are one
RIDGE = 1e-6  # on every coefficient but the constant, times the number of rows, columns having variance 1
RANK = 1e-9  # eigenvalues below this part of the largest are taken for 0


def propensity(before: Sequence[Column], after: Sequence[Column], *, seed: int = 0, limit: int = RECORDS) -> Propensity:
    """Stack both files, predict by logistic regression which row is released, and see how far predictions leave 1/2.

    pMSE = mean of (p_i - c)² over the N stacked rows; c is the share of released ones, 1/2. If the released records
    were drawn at random from the original ones, (q-1)(1-c)²c/N would be expected of a model with q parameters; `ratio`
    is pMSE over that. Woo, Reiter, Oganian, Karr 2009, doi 10.29012/jpc.v1i1.568; Snoke, Raab, Nowok, Dibben,
    Slavkovic 2018, doi 10.1111/rssa.12358.

    The model has main effects and squares: amounts, moments and ranks of ordered categories with their squares; for the
    other columns indicators of the categories but the most frequent, at most 29 of them; an indicator of missing
    values, whose amount is taken for the mean. Directions that the others explain are left out of the model, and of q.
    A small ridge keeps coefficients finite where the files can be separated perfectly; pMSE is then close to its
    largest value, 1/4. Above 50,000 records, or fewer in wide models, a seeded sample of records is taken, the same of
    both files. Of more columns than 400 terms have room for, a seeded sample is taken as well.
    """
    n = len(before[0].numbers) if before else 0
    widths = [2 if b.is_ordered else min(max(1, len(b.categories)), INDICATORS) for b in before]
    chosen = _that_fit(widths, seed)
    before, after, wide = [before[j] for j in chosen], [after[j] for j in chosen], sum(widths[j] for j in chosen) + 1
    size = min(n, limit, max(1, CELLS // (2 * wide)))
    rows = np.arange(n)
    if size < n:
        rows = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    terms = [t for b, a in zip(before, after, strict=True) for t in _terms(b, a, rows)]
    if not terms:
        return Propensity(None, None, None, "none", n, len(chosen))
    X, q = _full_rank(np.column_stack(terms))
    released = np.repeat([0.0, 1.0], size)
    p = _fitted(X, released)
    pmse, expected = float(np.mean((p - 0.5) ** 2)), (q - 1) / (16.0 * size)
    model = f"logistic regression with main effects and squares, {q} parameters"
    return Propensity(pmse, expected, finite(pmse / expected), model, size, len(chosen))


def _that_fit(widths: Sequence[int], seed: int) -> list[int]:
    """The columns that the model looks at: all, or so many, drawn by the seed, that their terms are not too many."""
    if sum(widths) <= TERMS:
        return list(range(len(widths)))
    order = np.random.default_rng(seed).permutation(len(widths))
    terms = np.cumsum(np.array(widths)[order])
    return sorted(order[terms <= TERMS].tolist())


def _terms(before: Column, after: Column, rows: NDArray[np.int64]) -> list[Floats]:
    """The columns of the model's matrix that one column gives, of mean 0 and variance 1; constant ones are left out."""
    x = np.concatenate([before.numbers[rows], after.numbers[rows]])
    gone = np.isnan(x)
    raw = [gone.astype(np.float64)]
    if before.is_ordered:
        scale = Scale(x)
        if not scale.constant:
            z = np.nan_to_num(scale(x))
            raw += [z, z * z]
    else:
        codes = x[~gone].astype(np.int64)
        often = np.argsort(-np.bincount(codes, minlength=1), kind="stable")
        # the most frequent category is what the others are held against, together with those beyond the limit
        raw += [(x == code).astype(np.float64) for code in often[1:INDICATORS]]
    scaled = [(Scale(t), t) for t in raw]
    return [scale(t) for scale, t in scaled if not scale.constant]


def _full_rank(terms: Floats) -> tuple[Floats, int]:
    """The constant and orthogonal directions that span the terms; and how many these are."""
    size, directions = np.linalg.eigh(gram(terms, terms) / len(terms))
    keep = size > RANK * size[-1]
    X = product(terms, directions[:, keep] / np.sqrt(size[keep]))
    return np.column_stack([np.ones(len(X)), X]), 1 + int(np.count_nonzero(keep))


def _fitted(X: Floats, y: Floats) -> Floats:
    """The fitted probabilities of a logistic regression, by iteratively reweighted least squares.

    Steps are halved until the penalized likelihood does not fall: it rises to its only maximum, whatever the data.
    """
    penalty = np.full(X.shape[1], RIDGE * len(X))
    penalty[0] = 0.0
    beta, eta = np.zeros(X.shape[1]), np.zeros(len(X))
    value = _likelihood(eta, y)
    for _ in range(60):
        p = _logistic(eta)
        w = p * (1.0 - p)
        gradient = np.einsum("ij,i->j", X, y - p) - penalty * beta
        step = np.linalg.solve(gram(X * w[:, None], X) + np.diag(penalty + 1e-12 * len(X)), gradient)
        for _ in range(30):
            tried = beta + step
            eta = np.einsum("ij,j->i", X, tried)
            new = _likelihood(eta, y) - 0.5 * float(penalty @ tried**2)
            if new >= value:
                break
            step /= 2
        else:
            return p
        beta, gain, value = tried, new - value, new
        if gain < 1e-10 * len(X):
            break
    return _logistic(eta)


def _logistic(eta: Floats) -> Floats:
    out: Floats = 0.5 * (1.0 + np.tanh(0.5 * eta))
    return out


def _likelihood(eta: Floats, y: Floats) -> float:
    return float(np.sum(y * eta - np.logaddexp(0.0, eta)))
