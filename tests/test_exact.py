"""Provably optimal partitions, held against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import coterie as ct
from conftest import needs_casc
from coterie.algorithms.bounds import scaled
from coterie.algorithms.column_generation.diving import Diving
from coterie.algorithms.column_generation.relaxation import Relaxation
from coterie.algorithms.exact import exact
from coterie.algorithms.limits import Limits
from coterie.encode import encode
from coterie.measures.loss import distortion
from strategies import KINDS, table
from test_bounds import Stopping, least_sse, start


def solve(X, k, limits=None, labels=None):
    labels = start(X, k) if labels is None else labels
    return exact(X, k, rng=np.random.default_rng(0), limits=limits or Limits(), start=labels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_optimum(kind, k):
    for seed in range(5):
        n = min(12, 2 * k + seed)
        X = table(kind, n, 2, seed)
        solved = solve(X, k)
        least = least_sse(X, k)
        assert solved.optimal
        assert np.bincount(solved.labels).min() >= k
        assert distortion(X, solved.labels) == pytest.approx(least, rel=1e-8, abs=1e-12 * (X * X).max())
        assert least * (1 - 2e-9) <= solved.proven.sse <= least * (1 + 1e-12)
        assert solved.proven.kind == "optimal"


@pytest.mark.parametrize("interrupt", [False, True])
def test_truncated_searches_are_valid(interrupt):
    for after in (0, 5, 80, 82, 85, 88, 92, 100):
        X = table("normal", 12, 3, after)
        solved = solve(X, 3, Stopping(after, interrupt))
        least = least_sse(X, 3)
        assert solved.proven.sse <= least * (1 + 1e-12)
        assert np.bincount(solved.labels).min() >= 3
        assert least * (1 - 1e-9) <= distortion(X, solved.labels) <= distortion(X, start(X, 3)) * (1 + 1e-12)


def test_groups_that_are_too_large_are_split():
    X = table("normal", 12, 2, 0)
    solved = solve(X, 3, labels=np.zeros(12, np.int64))
    assert solved.optimal
    assert np.bincount(solved.labels).max() <= 5


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_dive_gives_a_partition_and_leaves_no_trace(k):
    for seed in range(3):
        X = table("normal", 90, 3, seed)
        problem = scaled(X, k, start(X, k))
        relaxation = Relaxation(problem.X, k, problem.groups)
        relaxation.run(Limits(), np.inf, 300)
        for part in (0.3, 0.05):
            before = relaxation.master.solve().value
            groups = Diving(problem.X, k, relaxation.master, Limits(), part, np.inf).run()
            assert relaxation.master.solve().value >= relaxation.bound * (1 - 1e-9)
            assert relaxation.master.solve().value <= before * (1 + 1e-6) + 1e-2 * before  # more cuts
            if groups is not None:
                assert np.array_equal(np.sort(groups[groups >= 0]), np.arange(90))
                assert ((groups >= 0).sum(axis=1) >= k).all()
        assert Diving(problem.X, k, relaxation.master, Stopping(0), 0.1, np.inf).run() is None


@needs_casc
@pytest.mark.slow
@pytest.mark.parametrize("name", ["census", "tarragona"])
@pytest.mark.parametrize("k", [3, 5])
def test_samples_are_solved(name, k):
    X = encode(getattr(ct.datasets, f"load_{name}")().X, True).values
    X = X[np.random.default_rng(0).permutation(len(X))[:60]]
    labels = ct.microaggregate(X, k, "path", standardize=False).labels
    solved = solve(X, k, labels=labels)
    assert solved.optimal
    assert distortion(X, solved.labels) <= distortion(X, labels)
