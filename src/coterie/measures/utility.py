"""What an analyst finds changed: means, variances, quantiles, categories, correlations, and the distances IL1s."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import (
    CategoryCounts,
    CategoryUtility,
    Correlations,
    Eigenvalues,
    Matrix,
    NumberUtility,
    QuantileChanges,
)
from ..tables.columns import Column
from .histogram import histogram
from .standard_units import Scale, finite, gram, in_sds, is_number, present

Floats = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CATEGORIES = 40  # listed by name, at most
CORRELATED = 400  # columns, at most: there are as many correlations as pairs of them


def mean_change(before: Floats, after: Floats) -> float | None:
    """The mean after, less the mean before, in standard deviations (ddof 1) of the original.

    Each mean is of the values present. None if the original is constant, or nothing is left. Domingo-Ferrer and
    Torra 2001 compare means by their relative change; the standard deviation is a unit that cannot be 0.
    """
    scaled = in_sds(before, after)
    if scaled is None or not len(present(scaled[1])):
        return None
    return float(present(scaled[1]).mean() - present(scaled[0]).mean()) + 0.0


def variance_ratio(before: Floats, after: Floats) -> float | None:
    """The variance after over the variance before, each of the values present; None if the original is constant.

    Means of groups vary less than their records: with means, 1 - ratio is the loss of the column, SSE_j / SST_j.
    """
    scaled = in_sds(before, after)
    if scaled is None or len(present(scaled[1])) < 2:
        return None
    return float(np.var(present(scaled[1]), ddof=1))


def quantile_changes(before: Floats, after: Floats, at: Sequence[float] = QUANTILES) -> tuple[float, ...] | None:
    """Each quantile after, less the one before, in standard deviations (ddof 1) of the original.

    Quantiles interpolate linearly between the values present (type 7 of Hyndman and Fan 1996,
    doi 10.1080/00031305.1996.10473566). None if the original is constant, or nothing is left.
    """
    scaled = in_sds(before, after)
    if scaled is None or not len(present(scaled[1])):
        return None
    was, now = (np.quantile(present(z), at) for z in scaled)
    return tuple((now - was + 0.0).tolist())


def il1s_cells(before: Column, after: Column) -> Floats:
    """|x - x'| / (sqrt 2 S) of every cell present in both; S: standard deviation (ddof 1) of the original column.

    Empty for a constant column: it has no S.
    """
    both = ~(before.missing | after.missing)
    scale = Scale(before.numbers)
    if scale.constant:
        return np.zeros(0)
    return np.abs(scale(before.numbers[both]) - scale(after.numbers[both])) / math.sqrt(2.0)


def il1s(before: Sequence[Column], after: Sequence[Column]) -> tuple[float | None, float | None]:
    """IL1s, in both definitions: the mean over all cells, and their sum.

    The mean, 1/(np) sum |x - x'| / (sqrt 2 S_j), is that of Yancey, Winkler, Creecy 2002 (LNCS 2316, 135-152) and of
    the Handbook on Statistical Disclosure Control. The sum is what `dUtility(method = "IL1s")` of sdcMicro returns.
    Over amounts and moments; cells missing before or after, and constant columns, are left out; None if all are.
    """
    pairs = [(b, a) for b, a in zip(before, after, strict=True) if is_number(b)]
    cells = [il1s_cells(b, a) for b, a in pairs]
    count = sum(map(len, cells))
    total = math.fsum(float(c.sum()) for c in cells)
    return (total / count, total) if count else (None, None)


def total_variation(before: Column, after: Column) -> float | None:
    """Half the sum of |p - p'| over the categories: the least share of records that must have changed category.

    Shares are of the values present; None if a file has none. Gibbs and Su 2002,
    doi 10.1111/j.1751-5823.2002.tb00178.x.
    """
    was, now = _tally(before), _tally(after)
    if not was.sum() or not now.sum():
        return None
    return float(0.5 * np.abs(was / was.sum() - now / now.sum()).sum())


def _tally(column: Column) -> NDArray[np.int64]:
    return np.bincount(present(column.numbers).astype(np.int64), minlength=len(column.categories))


def category_counts(before: Column, after: Column, limit: int = CATEGORIES) -> CategoryCounts:
    """Counts of each category before and after. Only categories that were released are named.

    Those that vanished, and all but the `limit` - 1 most frequent ones of a longer list, are counted together as
    "(other)": a name that is not in the release would tell of a rare record. Missing values are not counted.
    """
    was, now = _tally(before), _tally(after)
    named = np.argsort(-now, kind="stable")[: limit if np.count_nonzero(now) <= limit else limit - 1]
    named = np.sort(named[now[named] > 0])
    names = [before.categories[i] for i in named]
    counts = [was[named].tolist(), now[named].tolist()]
    rest = (int(was.sum()) - sum(counts[0]), int(now.sum()) - sum(counts[1]))
    if any(rest):
        names.append("(other)")
        for listed, other in zip(counts, rest, strict=True):
            listed.append(other)
    return CategoryCounts(tuple(names), tuple(counts[0]), tuple(counts[1]))


def correlation_matrix(columns: Sequence[Column]) -> Floats:
    """Pearson's correlations, each over the records that have both values; NaN where one is constant there.

    Ordered categories count as 0, 1, 2 and so on.
    """
    Z = np.column_stack([_scaled(c.numbers) for c in columns]) if columns else np.zeros((0, 0))
    M = (~np.isnan(Z)).astype(np.float64)
    if M.all():
        return _from_products(gram(Z, Z))
    Z = np.nan_to_num(Z)
    n, s, ss = gram(M, M), gram(Z, M), gram(Z * Z, M)  # over the records that have j, too: of i in row i
    cov = n * gram(Z, Z) - s * s.T
    var = n * ss - s * s
    var[var <= 1e-12 * n * np.maximum(ss, 1e-300)] = np.nan  # constant over these pairs
    r = cov / np.sqrt(var * var.T)
    return np.clip(r, -1.0, 1.0)


def _from_products(products: Floats) -> Floats:
    """Correlations of columns whose mean is 0, from their products."""
    var = np.diag(products).copy()
    var[var == 0.0] = np.nan  # constant
    return np.clip(products / np.sqrt(np.outer(var, var)), -1.0, 1.0)


def _scaled(x: Floats) -> Floats:
    scale = Scale(x)
    return np.where(np.isnan(x), np.nan, 0.0) if scale.constant else scale(x)


def correlated(names: Sequence[str], seed: int) -> list[str]:
    """The columns whose correlations are measured: all, or 400 that are drawn by the seed."""
    if len(names) <= CORRELATED:
        return list(names)
    drawn = np.random.default_rng(seed).choice(len(names), CORRELATED, replace=False)
    return [names[j] for j in sorted(drawn.tolist())]


def correlations(before: Sequence[Column], after: Sequence[Column]) -> Correlations:
    """Both matrices, and the mean and the largest absolute change over all pairs of columns.

    Domingo-Ferrer, Mateo-Sanz, Torra 2001 call the first the mean absolute error of R. Pairs that are not defined in
    both files are left out.
    """
    was, now = correlation_matrix(before), correlation_matrix(after)
    change = np.abs(was - now)[np.triu_indices(len(was), 1)]
    change = change[~np.isnan(change)]
    mean, largest = (float(change.mean()), float(change.max())) if len(change) else (None, None)
    return Correlations(tuple(c.name for c in before), _cells(was), _cells(now), mean, largest)


def _cells(matrix: Floats) -> Matrix:
    return tuple(tuple(finite(x) for x in row) for row in matrix.tolist())


def eigenvalues(before: Matrix | Floats, after: Matrix | Floats) -> Eigenvalues:
    """The eigenvalues e and e' of the correlation matrices before and after, largest first, and sum |e - e'| / e.

    `dUtility(method = "eigen")` of sdcMicro, doi 10.18637/jss.v067.i04. Each file is scaled by its own standard
    deviations, so that shrunken variances don't show. Columns whose correlations are not defined are left out; the
    change is None if an original eigenvalue is 0, or below it as missing values can make it.
    """
    was, now = (np.array(m, np.float64).reshape(len(m), len(m)) for m in (before, after))  # None becomes NaN
    keep = ~(np.isnan(np.diag(was)) | np.isnan(np.diag(now))) if len(was) else np.zeros(0, np.bool_)
    was, now = was[np.ix_(keep, keep)], now[np.ix_(keep, keep)]
    if not keep.any() or np.isnan(was).any() or np.isnan(now).any():
        return Eigenvalues((), (), None)
    e1, e2 = np.linalg.eigvalsh(was)[::-1], np.linalg.eigvalsh(now)[::-1]
    change = float(np.sum(np.abs(e1 - e2) / e1)) if e1[-1] > 1e-10 * len(e1) else None
    return Eigenvalues(tuple(e1.tolist()), tuple(e2.tolist()), change)


def column_utility(before: Column, after: Column) -> NumberUtility | CategoryUtility:
    """All that is measured of one column by its kind."""
    if before.has_codes:
        return CategoryUtility(before.kind, category_counts(before, after), total_variation(before, after))
    x, y = before.numbers, after.numbers
    quantiles = QuantileChanges(QUANTILES, quantile_changes(x, y))
    return NumberUtility(before.kind, mean_change(x, y), variance_ratio(x, y), quantiles, histogram(before, after))
