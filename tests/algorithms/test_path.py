"""The method "path": the orders, the cut, and what comes out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
import reference as twins
from conftest import needs_casc
from coterie import progress
from coterie.algorithms import path
from coterie.algorithms.mdav import mdav
from coterie.measures.loss import distortion
from coterie.microaggregation.matrix import encode
from strategies import KINDS, problems, table

ORDERS = ("tour", "nearest", "curve")


def sizes_along(order, labels):
    """The sizes of the groups along the order; they must follow one another."""
    runs = [len(list(run)) for _, run in itertools.groupby(labels[order])]
    assert len(runs) == labels.max() + 1
    return runs


def exact_cost(X, order, sizes):
    ends = np.cumsum([0, *sizes])
    return sum(twins.exact_sse(X, order[a:b]) for a, b in itertools.pairwise(ends))


def length(X, order):
    return math.fsum(math.dist(X[a], X[b]) for a, b in itertools.pairwise(order))


@given(problem=problems(most=40), seed=st.integers(0, 9**9))
@settings(max_examples=150)
def test_cut_costs_what_the_exact_program_says(problem, seed):
    X, k = problem
    order = np.random.default_rng(seed).permutation(len(X))
    found = path.best_cut(X, order, k)
    sizes = sizes_along(order, found.labels)
    assert min(sizes) >= k
    assert max(sizes) < 2 * k
    cost, least = exact_cost(X, order, sizes), twins.cut(X, order, k)
    assert cost <= least * (1 + Fraction(1, 10**12))
    assert found.sse == pytest.approx(float(least), rel=1e-12, abs=1e-300)


@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(4, 14),
    k=st.integers(2, 4),
    p=st.integers(1, 3),
    seed=st.integers(0, 9**9),
)
@settings(max_examples=150)
def test_cut_is_the_best_of_all(kind, n, k, p, seed):
    X = table(kind, max(n, 2 * k), p, seed)
    order = np.random.default_rng(seed).permutation(len(X))
    sizes = sizes_along(order, path.best_cut(X, order, k).labels)
    every = {tuple(c): exact_cost(X, order, c) for c in twins.compositions(len(X), k)}
    assert tuple(sizes) in every
    least = min(every.values())
    assert every[tuple(sizes)] <= least * (1 + Fraction(1, 10**12))


def test_equally_good_cuts_end_in_small_groups():
    assert sizes_along(np.arange(8), path.best_cut(np.zeros((8, 2)), np.arange(8), 3).labels) == [5, 3]
    assert sizes_along(np.arange(7), path.best_cut(np.zeros((7, 2)), np.arange(7), 2).labels) == [3, 2, 2]


def test_a_costly_beginning_does_not_drown_what_follows():
    rng = np.random.default_rng(1)
    calm = rng.standard_normal((60, 2))
    X = np.vstack([[[1e12, 0.0], [0.0, 0.0], [-1e12, 0.0]], calm])
    labels = path.best_cut(X, np.arange(63), 3).labels
    alone = path.best_cut(calm, np.arange(60), 3).labels
    np.testing.assert_array_equal(labels[3:] - 1, alone)


@pytest.mark.parametrize("work", [1, 100, 10_000])
def test_the_cut_in_pieces_is_the_cut(work, monkeypatch):
    X = table("normal", 300, 3, seed=1)
    whole = path.best_cut(X, np.arange(300), 4)
    monkeypatch.setattr(path, "_WORK", work)
    some = path.best_cut(X, np.arange(300), 4)
    np.testing.assert_array_equal(some.labels, whole.labels)
    assert some.sse == pytest.approx(whole.sse, rel=1e-14)


@pytest.mark.parametrize("order", ORDERS)
@given(problem=problems(most=150))
@settings(max_examples=60)
def test_orders_are_permutations_with_equal_records_together(order, problem):
    X, _ = problem
    for found in path.orders(X, order):
        assert sorted(found) == list(range(len(X)))
        runs = [(row, list(run)) for row, run in itertools.groupby(found, key=lambda i: tuple(X[i]))]
        assert len({row for row, _ in runs}) == len(runs)
        assert all(run == sorted(run) for _, run in runs)


@given(problem=problems(most=150))
@settings(max_examples=150)
def test_nearest_is_its_twin(problem):
    X, _ = problem
    (found,) = path.orders(X, "nearest")
    assert list(found) == twins.npn(X)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nearest_is_its_twin_over_many_tiles(kind):
    X = table(kind, 700, 3, seed=4)
    (found,) = path.orders(X, "nearest")
    assert list(found) == twins.npn(X)


@given(p=st.integers(1, 20), bits=st.integers(1, 32), seed=st.integers(0, 9**9))
@settings(max_examples=100)
def test_keys_are_the_literal_ones(p, bits, seed):
    cells = np.random.default_rng(seed).integers(0, 2**bits, (50, p))
    found = np.argsort(path.hilbert_keys(cells.T.copy(), bits), kind="stable")
    assert list(found) == sorted(range(50), key=lambda i: twins.hilbert_key(cells[i].tolist(), bits))


@pytest.mark.parametrize(("p", "side"), [(1, 64), (2, 16), (3, 8), (4, 4), (5, 4)])
def test_the_curve_goes_from_cell_to_neighbouring_cell(p, side):
    X = np.array(list(itertools.product(range(side), repeat=p)), float)
    X = X[np.random.default_rng(p).permutation(len(X))]
    (found,) = path.orders(0.25 * X - 5.0, "curve")
    assert (np.abs(np.diff(X[found], axis=0)).sum(axis=1) == 1).all()


def test_the_curve_sorts_a_single_column():
    X = table("skewed", 500, 1, seed=3)
    (found,) = path.orders(X, "curve")
    assert (np.diff(X[found, 0]) >= 0).all()


@given(problem=problems(most=200))
@settings(max_examples=60)
def test_tours_get_shorter_and_start_from_the_curve(problem):
    X, _ = problem
    lengths = [length(X, found) for found in itertools.chain(path.orders(X, "curve"), path.orders(X, "tour"))]
    slack = 1e-9 * lengths[0]
    assert all(b <= a + slack for a, b in itertools.pairwise(lengths))


def gain_of_best_flip(X, order, near):
    """How much the path gains by the best 2-opt move that gives a record one of its nearest for a farther one."""
    home = len(X)
    ring = [*order, home]
    place = {x: i for i, x in enumerate(ring)}

    def apart(a, b):
        return 0.0 if home in (a, b) else math.dist(X[a], X[b])

    best = 0.0
    for a, way in itertools.product(order, (1, -1)):
        b = ring[(place[a] + way) % len(ring)]
        for c in near[a]:
            d = ring[(place[c] + way) % len(ring)]
            if a not in (c, d) and b != c and apart(a, c) < apart(a, b):
                best = max(best, apart(a, b) + apart(c, d) - apart(a, c) - apart(b, d))
    return best


@given(kind=st.sampled_from(KINDS), n=st.integers(4, 150), p=st.integers(1, 8), seed=st.integers(0, 9**9))
@settings(max_examples=60)
def test_no_flip_to_a_near_record_shortens_a_tour(kind, n, p, seed):
    X = np.unique(table(kind, n, p, seed), axis=0)
    tours = list(path.orders(X, "tour"))
    d = [[math.dist(a, b) for b in X] for a in X]
    bound = [
        sorted(row)[8] if len(row) > 8 else math.inf for row in d
    ]  # nearer ones are among the 8, whatever the ties
    near = [[i for i, e in enumerate(row) if 0 < e < most] for row, most in zip(d, bound, strict=True)]
    for found in tours:
        assert gain_of_best_flip(X, list(found), near) <= 1e-9 * max(map(max, d))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_few_records_mostly_get_the_shortest_path(n):
    ratios = []
    for seed in range(20):
        X = table("normal", n, 2, seed)
        *_, found = path.orders(X, "tour")
        ratios.append(length(X, found) / min(length(X, order) for order in itertools.permutations(range(n))))
    assert np.mean(ratios) < 1.02


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=15)
def test_contract(order, kind, data):
    """Groups of k to 2k - 1, the same twice, X left alone, and progress that adds up."""
    k = data.draw(st.integers(2, 7))
    n = data.draw(st.one_of(st.integers(2 * k, 3 * k + 1), st.integers(2 * k, 200)))
    X = table(kind, n, data.draw(st.integers(1, 20)), data.draw(st.integers(0, 9**9)))
    before = X.copy()
    count = Count()
    with progress.listening(count):
        labels = path.path(X, k, order=order)
    assert labels.shape == (n,)
    assert labels.dtype == np.int64
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() < 2 * k
    assert count.records == n
    np.testing.assert_array_equal(labels, path.path(X, k, order=order))
    np.testing.assert_array_equal(X, before)


class Count:
    records = 0

    def more(self, records):
        self.records -= records

    def done(self, records):
        self.records += records


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_is_lost_where_every_record_has_k_equals(order):
    X = np.repeat(table("normal", 40, 3, seed=2), 3, axis=0)[np.random.default_rng(0).permutation(120)]
    assert distortion(X, path.path(X, 3, order=order)) <= 1e-25


@pytest.mark.parametrize("order", ["tour", "curve"])
def test_a_single_column_is_cut_at_the_optimum(order):
    """Sorted values, cut by the exact program: no partition is better (Hansen, Mukherjee 2003)."""
    X = table("normal", 90, 1, seed=8)
    best = twins.cut(X, np.argsort(X[:, 0]), 3)
    assert distortion(X, path.path(X, 3, order=order)) == pytest.approx(float(best), rel=1e-12)


@needs_casc
@pytest.mark.parametrize(("name", "most"), [("census", 5.04), ("tarragona", 14.9), ("eia", 0.39)])
def test_a_tour_beats_mdav(name, most):
    X = encode(getattr(ct.datasets, f"load_{name}")().X, True).values
    sst = distortion(X, np.zeros(len(X), np.int64))
    found = 100 * distortion(X, path.path(X, 3, order="tour")) / sst
    assert found < most
    assert found < 0.9 * 100 * distortion(X, mdav(X, 3)) / sst


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["integers", "constant", "duplicates", "skewed", "grid", "line"])
def test_ten_thousand_records_with_ties(order, kind):
    X = table(kind, 10_000, 3, seed=9)
    labels = path.path(X, 3, order=order)
    assert 3 <= np.bincount(labels).min() <= np.bincount(labels).max() <= 5
