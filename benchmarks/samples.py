"""The data of the benchmark: seeded, and standardized as the methods get them."""

from __future__ import annotations

from functools import cache, lru_cache, partial

import numpy as np

from coterie.datasets import load_eia10
from coterie.errors import CoterieError
from coterie.microaggregation.matrix import encode

KINDS = ("normal", "eia-like", "equal", "duplicates", "outlier", "line")
ADVERSARIAL = KINDS[2:]
JITTER = 0.05


@lru_cache(maxsize=1)
def sample(kind, n, p):
    """n records in p columns."""
    rng = np.random.default_rng([KINDS.index(kind), n, p])
    make = {"normal": _normal, "eia-like": _eia_like}.get(kind, partial(_adversarial, kind))
    return encode(make(rng, n, p), standardize=True).values


def describe(kind):
    """What the data are, for the report."""
    if kind == "normal":
        return "independent N(0, 1): the worst case for bounds in space"
    if kind in ADVERSARIAL:
        return {
            "equal": "all records equal",
            "duplicates": "a hundred N(0, 1) records, drawn with replacement",
            "outlier": "N(0, 1), and one record a billion away",
            "line": "N(0, 1) on a line through all columns",
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
    if kind == "line":
        return rng.standard_normal((n, 1)) * np.arange(1, p + 1)
    X = rng.standard_normal((n, p))
    X[n // 2] = 1e9
    return X


def _eia_like(rng, n, p):
    """Skewed and correlated, with the many zeros of the real file where it is at hand."""
    eia = _eia()
    if eia is None:
        common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, p))
        return np.exp(1.5 * (0.9 * common + 0.44 * own))
    rows = eia[rng.integers(len(eia), size=n)]
    return rows[:, np.arange(p) % eia.shape[1]] * np.exp(JITTER * rng.standard_normal((n, p)))


@cache
def _eia():
    try:
        return load_eia10().X
    except CoterieError:
        return None
