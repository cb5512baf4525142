"""Lower bounds from windows: never above the optimum, however small the windows and wherever they stop."""

from __future__ import annotations

import numpy as np
import pytest

import coterie as ct
from coterie.algorithms.limits import Limits
from coterie.algorithms.optimal import lower_bound as lower_bound_module
from coterie.algorithms.optimal.lagrangian import lagrangian_bound
from coterie.algorithms.optimal.lower_bound import by_windows, lower_bound, scaled
from coterie.algorithms.optimal.master import group_costs, reduced_costs
from coterie.algorithms.optimal.neighbour_bound import neighbour_bound
from coterie.algorithms.optimal.pricing import Pricing
from coterie.algorithms.optimal.relaxation import Dual
from coterie.algorithms.optimal.repair import lowered, repair
from coterie.algorithms.optimal.subset_row_cuts import room
from coterie.algorithms.optimal.windowed_bound import WindowedBound
from coterie.algorithms.optimal.windows import batches, cut_windows, halo, window_of
from strategies import KINDS, table
from test_bounds import Stopping, all_groups, least_sse, random_cuts, start


def problem_of(X, k):
    labels = ct.microaggregate(X, k, "mdav", standardize=False).labels if len(X) >= 2 * k else start(X, k)
    return scaled(X, k, labels, Limits())


@pytest.mark.parametrize("kind", KINDS)
def test_windows_far_too_small_are_valid(kind):
    """Windows of one group each, or of a few: not above the optimum, and no worse than the neighbours."""
    for seed in range(4):
        k, n = ((2, 9), (3, 11), (4, 12), (5, 14))[seed]
        X = table(kind, n, 2, seed)
        problem = problem_of(X, k)
        if problem is None:
            continue
        least = least_sse(X, k)
        for size in (1, 2 * k):
            proven = by_windows(problem, k, Limits(), size)
            assert neighbour_bound(X, k) * (1 - 1e-9) <= proven.sse <= least * (1 + 1e-12)
            assert 0.0 <= proven.tolerance <= 1e-9 * max(least, 1e-300)


@pytest.mark.parametrize("interrupt", [False, True])
def test_windows_that_are_stopped_are_valid(interrupt):
    problem = problem_of(table("normal", 13, 2, 0), 3)
    least = least_sse(problem.X, 3)
    proofs = set()
    for after in (0, 1, 60, 100, 200, 300, 400, 500, 600, 700, 900):
        windows = WindowedBound(problem.X, 3, problem.groups, size=6, threads=1 + after // 100 % 2)
        limits = Stopping(after, interrupt)
        with limits.interruptible():
            windows.run(limits)
        assert windows.bound <= least * (1 + 1e-12)
        proofs.add(windows.bound)
    assert len(proofs) > 1  # they did stop in different places


def test_safe_prices_from_any_prices():
    """Whatever the prices of records and cuts: no group is too cheap afterwards, and the bound holds."""
    rng = np.random.default_rng(5)
    for trial in range(40):
        k = 2 + trial % 3
        n = int(rng.integers(2 * k, 12))
        problem = problem_of(table(KINDS[trial % len(KINDS)], n, 2, trial), k)
        if problem is None:
            continue
        X, pricing = problem.X, Pricing(problem.X, k)
        cuts = random_cuts(rng, n, trial % 4)
        sigma = np.abs(rng.standard_normal(len(cuts)))
        pi = 2.0 * rng.standard_normal(n) + 1.0
        least = least_sse(X, k)
        for limits in (Stopping(0), Stopping(2), Limits()):
            safe = repair(pricing, Dual(pi, cuts, sigma), limits)
            assert (safe.pi <= pi).all()
            smallest = len(sigma) == 0
            assert lagrangian_bound(safe.pi, sigma, room(cuts), safe.least, k, smallest) <= least * (1 + 1e-12)
        groups = np.array([[*g, *[-1] * (2 * k - 1 - len(g))] for g in all_groups(n, k)])
        if smallest:
            groups = groups[(groups >= 0).sum(axis=1) == k]
        reduced = reduced_costs(groups, group_costs(X, groups), safe.pi, cuts, sigma)
        assert reduced.min() >= min(safe.least.min(), 0.0) - 1e-9


def test_lowered_prices_pay_for_every_group():
    rng = np.random.default_rng(6)
    for _ in range(20):
        groups = np.sort(np.array([rng.choice(12, 4, replace=False) for _ in range(10)]), axis=1)
        cost = -rng.uniform(0.0, 1.0, 10)
        pi = rng.uniform(0.0, 2.0, 12)
        inside = rng.random(12) < 0.6
        new = lowered(pi, groups, cost, inside)
        assert (new[~inside] == pi[~inside]).all()
        touched = inside[groups].any(axis=1)
        assert (cost + (pi - new)[groups].sum(axis=1))[touched].min() >= -1e-12
        order = rng.permutation(10)
        np.testing.assert_array_equal(lowered(pi, groups[order], cost[order], inside), new)


def test_windows_are_whole_groups():
    X = table("normal", 300, 3, 0)
    groups = problem_of(X, 3).groups
    for turn in range(3):
        windows = cut_windows(X, groups, 40, turn)
        np.testing.assert_array_equal(np.sort(np.concatenate(windows)), np.arange(len(groups)))
        assert all((groups[w] >= 0).sum() <= 40 for w in windows)
        assert len(windows) > 7
        again = cut_windows(X, groups, 40, turn)
        assert all((a == b).all() for a, b in zip(windows, again, strict=True))
    first, second = (window_of(groups, cut_windows(X, groups, 40, turn), 300) for turn in (0, 1))
    assert len(np.unique(first * 1000 + second)) > 1.5 * len(np.unique(second))  # they cut elsewhere


def test_windows_at_the_same_time_are_no_neighbours():
    X = table("normal", 300, 2, 1)
    near = Pricing(X, 3).near.records[:, :9]
    groups = problem_of(X, 3).groups
    windows = cut_windows(X, groups, 30, 1)
    own = window_of(groups, windows, 300)
    parts = batches(near, own, len(windows))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(windows)))
    assert any(len(part) > 1 for part in parts)
    for part in parts:
        for w in part:
            around = halo(near, np.flatnonzero(own == w))
            assert not np.isin(own[around], part).any()


def test_the_same_bound_whatever_the_threads():
    problem = problem_of(table("normal", 150, 3, 2), 3)
    one, two, four = (by_windows(problem, 3, Limits(), 40, threads) for threads in (1, 2, 4))
    assert one == two == four
    assert one.steps > 1


@pytest.mark.parametrize(("kind", "n", "k"), [("normal", 100, 3), ("grid", 100, 4), ("normal", 64, 8)])
def test_windows_come_close_to_the_whole(kind, n, k):
    X = table(kind, n, 2, 3)
    labels = ct.microaggregate(X, k, "mdav", refine="quick", standardize=False).labels
    whole = lower_bound(X, k, effort="tight", labels=labels, limits=Limits())
    fast = lower_bound(X, k, effort="fast", labels=labels, limits=Limits())
    windows = by_windows(scaled(X, k, labels, Limits()), k, Limits(), 40)
    assert windows.sse <= whole.sse * 1.02
    assert windows.sse - fast.sse >= 0.8 * (whole.sse - fast.sse)


def test_large_tables_take_windows(monkeypatch):
    monkeypatch.setattr(lower_bound_module, "WHOLE", 50)
    X = table("normal", 90, 2, 4)
    result = ct.microaggregate(X, 3, "mdav", refine="quick")
    bound = result.bound("tight")
    assert result.bound("fast").sse < bound.sse <= result.sse
    assert bound.kind.startswith(("column generation", "optimal"))
    exact = ct.microaggregate(X, 3, "exact")
    assert exact.bound().gap < result.bound("fast").gap
    assert bound.sse <= exact.sse * (1 + 1e-12)


def test_one_window_is_the_whole():
    problem = problem_of(table("normal", 13, 2, 9), 3)
    least = least_sse(problem.X, 3)
    windows = WindowedBound(problem.X, 3, problem.groups, size=100)
    windows.run(Limits())
    assert 0.95 * least <= windows.bound <= least * (1 + 1e-12)
