"""Provably optimal partitions, held against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import coterie as ct
from conftest import needs_casc
from coterie.algorithms.bounds import scaled
from coterie.algorithms.column_generation.cuts import WIDTH, within
from coterie.algorithms.column_generation.dives import Dives
from coterie.algorithms.column_generation.diving import Diving
from coterie.algorithms.column_generation.master import group_costs
from coterie.algorithms.column_generation.neighbourhoods import Neighbourhoods
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


def relaxed(X, k):
    problem = scaled(X, k, start(X, k))
    relaxation = Relaxation(problem.X, k, problem.groups)
    relaxation.run(Limits(), np.inf, 300)
    return problem, relaxation


def is_partition(groups, n, k):
    sizes = (groups >= 0).sum(axis=1)
    return np.array_equal(np.sort(groups[groups >= 0]), np.arange(n)) and k <= sizes.min() <= sizes.max() < 2 * k


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_dive_finds_better_and_better_partitions(k):
    for seed in range(3):
        X = table("normal", 90, 3, seed)
        problem, relaxation = relaxed(X, k)
        master, met = relaxation.master, []
        for part in (0.3, 0.05):
            met.clear()
            Diving(problem.X, k, master.groups, master.cuts, Limits(), part).run(problem.groups, np.inf, met.append)
            values = [group_costs(problem.X, groups).sum() for groups in met]
            assert met
            assert all(is_partition(groups, 90, k) for groups in met)
            assert values == sorted(values, reverse=True)
            assert relaxation.bound * (1 - 1e-9) <= values[-1] <= 1.05 * relaxation.bound
        met.clear()
        Diving(problem.X, k, master.groups, master.cuts, Stopping(0), 0.1).run(problem.groups, np.inf, met.append)
        assert not met


def test_a_dive_among_some_records_leaves_the_others():
    X = table("normal", 90, 3, 1)
    problem, relaxation = relaxed(X, 3)
    some, met = problem.groups[:12], []
    before = group_costs(problem.X, some).sum()
    Diving(problem.X, 3, relaxation.master.groups, relaxation.master.cuts, Limits(), 0.2).run(some, before, met.append)
    for groups in met:
        assert np.array_equal(np.sort(groups[groups >= 0]), np.sort(some[some >= 0]))
        assert group_costs(problem.X, groups).sum() < before


def test_cuts_among_some_records():
    cuts = np.full((4, WIDTH), -1)
    cuts[0, :3], cuts[1, :5], cuts[2, :5], cuts[3, :3] = [0, 2, 4], [0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 6]
    place = np.array([0, -1, 1, -1, 2, 3, -1, -1])  # of 7 records, and of nobody
    expected = np.full((1, WIDTH), -1)
    expected[0, :3] = [0, 1, 2]  # the first and the second; of the others, 4 and 1 are left
    np.testing.assert_array_equal(within(cuts, place), expected)


def test_neighbourhoods_follow_the_ties():
    groups = np.array([[0, 1, -1], [2, 3, -1], [4, 5, -1], [6, 7, -1]])
    columns = np.array([[1, 6, -1], [2, 4, -1], [3, 4, -1], [0, 7, -1]])
    near = Neighbourhoods(groups, 8, columns, np.array([1.0, 1.0, 1.0, 0.0]))
    assert near.around(0, 4).tolist() == [0, 3]
    assert near.around(0, 8).tolist() == [0, 3]  # nothing ties the others to these
    assert near.around(2, 3).tolist() == [2, 1]
    assert near.around(1, 2).tolist() == [1]


def test_dives_in_neighbourhoods_never_lose():
    X = table("normal", 90, 3, 2)
    problem, relaxation = relaxed(X, 3)
    values = []

    def met(groups):
        assert is_partition(groups, 90, 3)
        values.append(group_costs(problem.X, groups).sum())
        return False

    dives = Dives(problem.X, 3, relaxation.master, Limits(), met)
    dives.everywhere(problem.groups, 0.3)
    dives.around(40)
    assert values == sorted(values, reverse=True)
    assert values[-1] >= relaxation.bound * (1 - 1e-9)


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
