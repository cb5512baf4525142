"""The fast bound: never above the optimum, never below the neighbours, and worth its cost."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.algorithms.limits import Limits
from coterie.algorithms.mdav import mdav
from coterie.algorithms.optimal import raised_bound as fast
from coterie.algorithms.optimal.lower_bound import lower_bound
from coterie.algorithms.optimal.neighbour_bound import neighbour_bound
from coterie.algorithms.optimal.raised_bound import raised_bound
from coterie.algorithms.refine import refine
from coterie.measures.loss import distortion
from strategies import KINDS, table
from test_bounds import Stopping, least_sse


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rise", [0.05, 0.3, 5.0])
def test_no_raise_proves_too_much(kind, rise, monkeypatch):
    """However far prices are raised, and however few neighbours and nodes there are."""
    monkeypatch.setattr(fast, "_RISE", rise)
    monkeypatch.setattr(fast, "_LARGE", 1e9)
    for seed in range(4):
        k, n = ((2, 10), (3, 11), (4, 12), (2, 13))[seed]
        X = table(kind, n, 2, seed)
        least = least_sse(X, k)
        for listed, nodes in ((4, 100), (1, 100), (4, 1)):
            monkeypatch.setattr(fast, "_LISTED", listed)
            monkeypatch.setattr(fast, "_NODES", nodes)
            bound = raised_bound(X, k, Limits(), threads=1)
            assert neighbour_bound(X, k) * (1 - 1e-12) <= bound <= least * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_partition_is_better(kind):
    for k in (2, 3, 5, 8, 16, 17):
        X = table(kind, 300, 3, k)
        bound = raised_bound(X, k, Limits())
        found = refine(X, mdav(X, k), k, effort="quick", rng=np.random.default_rng(0), limits=Limits())
        assert neighbour_bound(X, k) * (1 - 1e-12) <= bound <= distortion(X, found.labels) * (1 + 1e-12)


def test_the_same_bound_on_any_number_of_threads():
    X = table("normal", 2000, 3, 0)
    assert raised_bound(X, 5, Limits(), threads=1) == raised_bound(X, 5, Limits(), threads=3)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_much_of_what_neighbours_leave_open_is_closed(k):
    """Measured: 46 to 53 % of the optimality gap, see benchmarks/least-loss.md."""
    X = np.random.default_rng(3).normal(size=(2000, 3))
    sse = distortion(X, refine(X, mdav(X, k), k, effort="quick", rng=np.random.default_rng(0), limits=Limits()).labels)
    before, after = (sse / bound - 1 for bound in (neighbour_bound(X, k), raised_bound(X, k, Limits())))
    assert after < 0.6 * before
    assert after < 0.3


@pytest.mark.parametrize("interrupt", [False, True])
def test_stopped_at_any_time_it_holds(interrupt):
    X = table("normal", 12, 2, 1)
    least = least_sse(X, 2)
    for after in (0, 1, 2, 3, 10):
        limits = Stopping(after, interrupt)
        proven = lower_bound(X, 2, effort="fast", labels=np.arange(12) // 2, limits=limits)
        assert neighbour_bound(X, 2) * (1 - 1e-12) <= proven.sse <= least * (1 + 1e-12)


def test_records_that_are_all_equal_cost_nothing():
    assert raised_bound(np.full((50, 2), 0.1), 3, Limits()) == 0.0


def test_prices_that_are_just_within_reach_do_not_look_at_all_records():
    """Equal distances everywhere: groups stay among the neighbours that are listed."""
    X = np.eye(60)
    pricing = fast.Pricing(X, 3, 12)
    assert (pricing.most > 0).all()
    priced = pricing.price(pricing.most, fast.NO_CUTS, np.empty(0), below=-1e-9, smallest=True)
    near = pricing.near.records
    for group in priced.groups:
        records = group[group >= 0]
        assert any(np.isin(records, [i, *near[i]]).all() for i in records)
