"""Provably optimal partitions, held against exhaustive search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import coterie as ct
from conftest import needs_casc
from coterie.algorithms.limits import Limits
from coterie.algorithms.optimal import exact as exact_module
from coterie.algorithms.optimal import relaxation
from coterie.algorithms.optimal.branching import Branching
from coterie.algorithms.optimal.components import components
from coterie.algorithms.optimal.dive_schedule import Dives
from coterie.algorithms.optimal.diving import Diving
from coterie.algorithms.optimal.exact import exact
from coterie.algorithms.optimal.lower_bound import scaled
from coterie.algorithms.optimal.master import group_costs
from coterie.algorithms.optimal.neighbourhoods import Neighbourhoods
from coterie.algorithms.optimal.relaxation import Relaxation
from coterie.algorithms.optimal.subset_row_cuts import NO_CUTS, WIDTH, within
from coterie.kernels.subset_rows import grow_sets
from coterie.measures.loss import distortion
from coterie.microaggregation.matrix import encode
from reference import cheapest_partition, grown_set
from reference import components as literal_components
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
    problem = scaled(X, k, start(X, k), Limits())
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
    best = problem.groups
    stages = []
    for _ in dives.stages(lambda: best):
        stages.append(len(values))
    assert len(stages) == 9
    assert min(values) < group_costs(problem.X, problem.groups).sum()
    assert min(values) >= relaxation.bound * (1 - 1e-9)


def listed_groups(rng, k, parts):
    """Records in parts that hardly any group joins, and most of the groups inside of parts."""
    n, groups = 0, []
    for size in parts:
        inside = [g for s in range(k, 2 * k) for g in itertools.combinations(range(n, n + size), s)]
        groups += [g for g in inside if rng.random() < 0.5] + [tuple(range(n, n + k)), tuple(range(n + k, n + size))]
        n += size
    groups += [(n - 1, *range(k - 1))] if rng.random() < 0.5 else []
    rows = np.full((len(groups), 2 * k - 1), -1)
    for row, group in zip(rows, groups, strict=True):
        row[: len(group)] = sorted(group)
    return n, np.unique(rows, axis=0)


@pytest.mark.parametrize("seed", range(40))
def test_branching_against_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    n, groups = listed_groups(rng, k, rng.integers(2 * k, 2 * k + 2, 3).tolist())
    X = rng.integers(0, 3, (n, 2)).astype(float) if seed % 4 == 0 else rng.normal(size=(n, 3))
    cost = group_costs(X, groups)
    sets = [frozenset(g[g >= 0].tolist()) for g in groups]
    least = cheapest_partition(sets, cost, frozenset(range(n)))
    for times in (0.9, 1.1, 3.0):
        for most in (0, 1, 2, 5, 10**6):
            value = times * least + 0.01
            closed = Branching(X, k, groups, cost, NO_CUTS, value, 1e-9).run(0.0, Limits(), most)
            assert closed.bound <= least + 1e-9 or closed.best is None
            assert closed.bound <= min(least, value) + 1e-9
            if closed.best is not None:
                assert is_partition(groups[closed.best], n, k)
                assert closed.value == pytest.approx(cost[closed.best].sum())
            if most == 10**6:
                assert closed.value == pytest.approx(min(least, value))
                assert (closed.best is None) == (least >= value)
                assert closed.bound >= closed.value - 2e-9


def test_a_part_of_a_search_may_be_cut_short():
    rng = np.random.default_rng(0)
    n, groups = listed_groups(rng, 3, [7, 7, 6])
    X = rng.normal(size=(n, 3))
    cost = group_costs(X, groups)
    least = cheapest_partition([frozenset(g[g >= 0].tolist()) for g in groups], cost, frozenset(range(n)))
    bounds = []
    for after in range(40):
        closed = Branching(X, 3, groups, cost, NO_CUTS, 2 * least, 1e-9).run(0.0, Stopping(after), 10**6)
        assert closed.bound <= least + 1e-9
        bounds.append(closed.bound)
    assert bounds[0] < bounds[-1] == pytest.approx(least)


def test_components():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        groups = np.full((25, 4), -1)
        for row in groups:
            size = int(rng.integers(1, 4))
            row[:size] = np.sort(rng.choice(60, size, replace=False))
        found = components(groups, 60)
        rows = [set(g[g >= 0].tolist()) for g in groups]
        shared = [(a, b) for a, b in itertools.combinations(range(25), 2) if rows[a] & rows[b]]
        expected = sorted(map(sorted, literal_components(25, shared)))
        assert sorted(np.flatnonzero(found == c).tolist() for c in range(found.max() + 1)) == expected


@pytest.mark.parametrize("seed", range(30))
def test_sets_of_cuts_grow_by_the_best_two(seed):
    rng = np.random.default_rng(seed)
    groups = np.full((12, 5), -1)
    for row in groups:
        size = int(rng.integers(2, 6))
        row[:size] = np.sort(rng.choice(14, size, replace=False))
    x = rng.random(12)
    triples = np.array([rng.choice(np.unique(groups[groups >= 0]), 3, replace=False) for _ in range(10)])
    sets, excess = np.zeros((10, 9), np.int64), np.empty((10, 3))
    grow_sets(groups, x, 14, triples, sets, excess)
    for t in range(10):
        rows = [set(g[g >= 0].tolist()) for g in groups]
        chosen, sides = grown_set(rows, x.tolist(), triples[t].tolist(), 9)
        for j, side in enumerate(sides):
            assert excess[t, j] == pytest.approx(side - (4 + 2 * j) // 2)
        if len(chosen) == 9:
            assert set(sets[t].tolist()) == chosen


def test_where_groups_are_too_many_to_list(monkeypatch):
    """What is done for large k and many records, with few: nothing is listed, and what is proven is true."""
    monkeypatch.setattr(exact_module, "CUT_K", 1)
    monkeypatch.setattr(exact_module, "_SMALL", 0)
    monkeypatch.setattr(relaxation, "CUT_K", 1)
    for seed in range(6):
        k = 3 + seed % 2
        X = table("normal", 12, 2, seed)
        solved = solve(X, k)
        least = least_sse(X, k)
        assert 0.8 * least <= solved.proven.sse <= least * (1 + 1e-12)
        assert least * (1 - 1e-9) <= distortion(X, solved.labels) <= distortion(X, start(X, k)) * (1 + 1e-12)
        assert np.bincount(solved.labels).min() >= k


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
