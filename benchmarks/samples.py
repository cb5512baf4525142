"""The data of the benchmark: seeded, and standardized as the methods get them."""

from __future__ import annotations

from functools import cache, lru_cache, partial

import numpy as np

from coterie.datasets import load_eia10
from coterie.errors import CoterieError
from coterie.microaggregation.matrix import encode

# New kinds come last: the place is part of the seed
KINDS = ("normal", "eia-like", "equal", "duplicates", "outlier", "line", "blurred", "uniform", "grid", "core")
USUAL, ADVERSARIAL = KINDS[:2], KINDS[2:]
JITTER = 0.05


@lru_cache(maxsize=1)
def sample(kind, n, p):
    """n records in p columns."""
    rng = np.random.default_rng([KINDS.index(kind), n, p])
    make = {"normal": _normal, "eia-like": _eia_like, "blurred": _blurred}.get(kind, partial(_adversarial, kind))
    return encode(make(rng, n, p), standardize=True).values


def describe(kind):
    """What the data are, for the report."""
    if kind == "normal":
        return "independent N(0, 1): the worst case for bounds in space"
    if kind == "blurred" and _eia() is not None:
        return "EIA resampled with replacement, plus 0.05 N(0, 1) in each standardized column"
    if kind in ADVERSARIAL:
        return {
            "blurred": "no EIA file found: a log-normal factor model, plus 0.05 N(0, 1) in each standardized column",
            "equal": "all records equal",
            "duplicates": "a hundred N(0, 1) records, drawn with replacement",
            "outlier": "N(0, 1), and one record a billion away",
            "line": "N(0, 1) on a line through all columns",
            "uniform": "independent, uniform in a cube",
            "grid": "independent integers from 0 to 9: many equal distances",
            "core": "N(0, 1), and a tenth of the records in a shell 50 to 55 away from them",
        }[kind]
    if _eia() is None:
        return "no EIA file found: a log-normal factor model, exp(1.5 (0.9 common factor + 0.44 own noise))"
    return "EIA resampled with replacement, every value times exp(0.05 N(0, 1)); beyond 10 columns, columns repeat"


def _normal(rng, n, p):
    return rng.standard_normal((n, p))


def _adversarial(kind, rng, n, p):
    """What bounds and ties could stumble over."""
    if kind == "equal":
        return np.full((n, p), 0.1)
    if kind == "duplicates":
        return rng.standard_normal((100, p))[rng.integers(100, size=n)]
    if kind == "uniform":
        return rng.random((n, p))
    if kind == "grid":
        return rng.integers(10, size=(n, p)).astype(float)
    if kind == "core":
        return _core(rng, n, p)
    if kind == "line":
        return rng.standard_normal((n, 1)) * np.arange(1, p + 1)
    X = rng.standard_normal((n, p))
    X[n // 2] = 1e9
    return X


def _core(rng, n, p):
    """A dense core in a sparse shell."""
    X = rng.standard_normal((n, p))
    shell = X[: n // 10]
    shell *= rng.uniform(50.0, 55.0, (len(shell), 1)) / np.linalg.norm(shell, axis=1, keepdims=True)
    return X


def _eia_like(rng, n, p):
    """Skewed and correlated, with the many zeros of the real file where it is at hand."""
    rows = _resampled(rng, n, p)
    return rows if _eia() is None else rows * np.exp(JITTER * rng.standard_normal((n, p)))


def _blurred(rng, n, p):
    """The same rows, but each value blurred by as much as any other of its column: zeros are apart."""
    return encode(_resampled(rng, n, p), standardize=True).values + JITTER * rng.standard_normal((n, p))


def _resampled(rng, n, p):
    """Rows of EIA, or of a model of it."""
    eia = _eia()
    if eia is None:
        common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, p))
        return np.exp(1.5 * (0.9 * common + 0.44 * own))
    return eia[rng.integers(len(eia), size=n)][:, np.arange(p) % eia.shape[1]]


@cache
def _eia():
    try:
        return load_eia10().X
    except CoterieError:
        return None
