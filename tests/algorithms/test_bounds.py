"""Lower bounds on the SSE: never above the optimum, whatever the data, the prices, and wherever they stop."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import coterie as ct
import reference
from conftest import needs_casc
from coterie.algorithms.limits import Limits
from coterie.algorithms.optimal import relaxation
from coterie.algorithms.optimal.boxstep import Boxstep
from coterie.algorithms.optimal.dual_ascent import shares
from coterie.algorithms.optimal.lagrangian import lagrangian_bound
from coterie.algorithms.optimal.lower_bound import lower_bound, scaled
from coterie.algorithms.optimal.master import Master, group_costs
from coterie.algorithms.optimal.neighbour_bound import neighbour_bound
from coterie.algorithms.optimal.pricing import Pricing
from coterie.algorithms.optimal.relaxation import Relaxation
from coterie.algorithms.optimal.subset_row_cuts import NO_CUTS, WIDTH, by_record, entries, room, separate
from coterie.errors import CoterieError
from coterie.kernels.price_balls import Asked, reachable
from coterie.measures.loss import distortion, diversity
from coterie.microaggregation.matrix import encode
from strategies import KINDS, table

NONE = NO_CUTS, np.empty(0)


def random_cuts(rng, n, m):
    """On 3, 5 or 7 of n records."""
    cuts = np.full((m, WIDTH), -1)
    for cut in cuts:
        size = int(rng.choice([c for c in (3, 5, 7) if c <= n]))
        cut[:size] = np.sort(rng.choice(n, size, replace=False))
    return cuts


def all_groups(n, k):
    for s in range(k, min(2 * k - 1, n) + 1):
        yield from itertools.combinations(range(n), s)


def start(X, k):
    return np.arange(len(X)) // k if len(X) % k == 0 else np.minimum(np.arange(len(X)) // k, len(X) // k - 1)


def least_sse(X, k):
    """By dynamic programming over all sets of records, groups of k to 2k - 1."""
    n = len(X)
    by_first = [[] for _ in range(n)]
    for _, same_size in itertools.groupby(all_groups(n, k), len):
        groups = list(same_size)
        for group, c in zip(groups, group_costs(X, np.array(groups)).tolist(), strict=True):
            by_first[group[0]].append((sum(1 << i for i in group), c))
    best = {0: 0.0}
    for done in range(2**n):
        if done in best and done != 2**n - 1:
            first = (~done & -~done).bit_length() - 1
            for mask, c in by_first[first]:
                if not mask & done:
                    value = best[done] + c
                    if value < best.get(done | mask, np.inf):
                        best[done | mask] = value
    return best[2**n - 1]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_not_above_the_optimum(kind):
    for seed in range(4):
        k = 2 + seed
        n = min(10, 2 * k + seed)
        X = table(kind, n, 2, seed)
        least = reference.optimal_sse(X, k)
        assert least == pytest.approx(least_sse(X, k), rel=1e-9, abs=1e-300)
        fast = lower_bound(X, k, effort="fast", labels=start(X, k), limits=Limits())
        tight = lower_bound(X, k, effort="tight", labels=start(X, k), limits=Limits())
        assert fast.sse >= neighbour_bound(X, k) * (1 - 1e-12)
        assert 0.0 <= fast.sse <= least * (1 + 1e-12)
        assert fast.sse * (1 - 1e-9) <= tight.sse <= least * (1 + 1e-12)
        assert 0.0 <= tight.tolerance <= 1e-9 * max(least, 1e-300)


def test_pricing_finds_what_brute_force_finds():
    rng = np.random.default_rng(1)
    for trial in range(60):
        k = int(rng.integers(2, 5))
        n = int(rng.integers(2 * k, 11))
        X = table(KINDS[trial % len(KINDS)] if trial % 2 else "integers", n, 2, trial)
        X = X / (np.ptp(X) or 1.0)
        pi = rng.uniform(-0.1, 0.3, n)
        m = int(rng.integers(0, 5))
        cuts = random_cuts(rng, n, m)
        sigma = rng.uniform(0.0, 0.1, m)
        reduced = {}
        for group in all_groups(n, k):
            charged = sum(s * (len({*cut} & {*group}) // 2) for cut, s in zip(cuts, sigma, strict=True))
            reduced[group] = group_costs(X, np.array([group]))[0] - pi[list(group)].sum() + charged
        pricing = Pricing(X, k, listed=int(rng.integers(2 * k - 1, n)))  # the records beyond are looked at, too
        found = pricing.price(pi, cuts, sigma, below=-1e-9)
        least = min(-1e-9, *reduced.values())
        assert found.least.min() == pytest.approx(least, abs=1e-10)
        assert min(found.cost, default=-1e-9) == pytest.approx(least, abs=1e-10)
        for larger in range(k):
            found_there = pricing.price(pi, cuts, sigma, below=-1e-9, larger=larger)
            expected = min([-1e-9, *(cost for group, cost in reduced.items() if len(group) <= k + larger)])
            assert found_there.least.min() == pytest.approx(expected, abs=1e-10)
            assert ((found_there.groups >= 0).sum(axis=1) <= k + larger).all()
        for nodes in (0, 1, 5):
            assert (pricing.price(pi, cuts, sigma, below=-1e-9, nodes=nodes).least <= found.least + 1e-15).all()
        listed = pricing.enumerate(pi, cuts, sigma, 0.1, 10_000, 10**9)
        assert listed is not None
        groups = {tuple(i for i in group if i >= 0) for group in listed[0].tolist()}
        assert groups == {group for group, cost in reduced.items() if cost < 0.1}
        if groups:
            assert pricing.enumerate(pi, cuts, sigma, 0.1, len(groups) - 1, 10**9) is None


@pytest.mark.parametrize("spread", [1e-3, 0.0])
def test_an_outlier_among_many_records_takes_no_matrix_of_their_distances(spread):
    """Records on a sphere about it are all as near: too many to search among, but what is said of them is true."""
    rng, n, k = np.random.default_rng(0), 5_000, 3
    X = rng.normal(size=(n, 3))
    X *= (1.0 + spread * rng.random((n, 1))) / np.sqrt((X**2).sum(axis=1, keepdims=True))
    X[0] = 0.0
    pi = np.full(n, 1e-3)
    pi[0] = 0.7  # two of them and it cost at least 2/3 of a squared radius
    pricing = Pricing(X, k)
    found = pricing.price(pi, NO_CUTS, np.empty(0), below=-1e-9, anchors=np.array([0]))
    near = np.argsort(((X - X[1]) ** 2).sum(axis=1))[:60]
    a, b = np.triu_indices(len(near), 1)
    groups = np.column_stack([np.zeros(len(a), np.int64), near[a], near[b], *[np.full(len(a), -1)] * 2])
    some = group_costs(X, groups) - pi[groups[:, :3]].sum(axis=1)
    assert found.least[0] <= some[(near[a] != 0) & (near[b] != 0)].min() < -0.02
    assert found.least[0] > -0.5
    listed = pricing.enumerate(pi, NO_CUTS, np.empty(0), -1e-9, 1000, 10**6)
    assert listed is None


def test_a_search_around_an_outlier_looks_at_the_side_that_is_near():
    X = np.random.default_rng(0).normal(size=(3_000, 3))
    X[0] = 20.0, 0.0, 0.0
    d2 = np.sort(((X - X[0]) ** 2).sum(axis=1))
    pricing, pi = Pricing(X, 5), np.full(len(X), 0.01)
    pi[0] = 0.8 * d2[4] + 0.1  # as much as it costs with the four nearest
    asked, ball = Asked(5, 9, -1e-9, len(X) - 1, 10**9), np.empty(len(X), np.int64)
    reach = 2 * 9 * pi[0] - d2[1:9].sum() + d2[8]
    assert np.count_nonzero(d2 <= reach) > 2_500
    assert 4 <= reachable(pricing._space, pricing._prices(pi, *NONE), asked, 0, ball) < 500


def test_any_prices_prove_a_valid_bound():
    rng = np.random.default_rng(2)
    for trial in range(60):
        k = 2 + trial % 3
        n = int(rng.integers(2 * k, 11))
        problem = scaled(table(KINDS[trial % len(KINDS)], n, 2, trial), k, np.zeros(n, np.int64), Limits())
        if problem is None:
            continue
        least = least_sse(problem.X, k)
        relaxed = Relaxation(problem.X, k, problem.groups)
        relaxed.run(Limits(), np.inf, 1000)
        assert relaxed.bound <= least * (1 + 1e-12)
        pi, cuts, sigma = relaxed.dual
        for noise in (1e-9, 1e-3, 0.3):
            moved = pi * (1.0 + noise * rng.standard_normal(n)) + noise * rng.standard_normal(n)
            charged = np.abs(sigma + noise * rng.standard_normal(len(sigma)))
            for nodes in (0, 2, 10**9):
                priced = relaxed.pricing.price(moved, cuts, charged, below=-1e-9, nodes=nodes)
                assert lagrangian_bound(moved, charged, room(cuts), priced.least, k) <= least * (1 + 1e-12)
        cuts = random_cuts(rng, n, 6)
        charged = np.abs(rng.standard_normal(6)) * pi.mean()
        priced = relaxed.pricing.price(pi, cuts, charged, below=-1e-9)
        assert lagrangian_bound(pi, charged, room(cuts), priced.least, k) <= least * (1 + 1e-12)


def test_groups_of_k_are_enough_without_cuts():
    """The prices may be anything; and the relaxation over these groups is that over all."""
    rng = np.random.default_rng(3)
    converged = 0
    for trial in range(60):
        k = 2 + trial % 4
        n = int(rng.integers(2 * k, 12))
        problem = scaled(table(KINDS[trial % len(KINDS)], n, 2, trial), k, np.zeros(n, np.int64), Limits())
        if problem is None:
            continue
        X, groups = problem.X, problem.groups
        least, proofs = least_sse(X, k), []
        pricing = Pricing(X, k)
        box = Boxstep(X, k, groups, pricing, lambda bound, pi, proofs=proofs: proofs.append((bound, pi)))
        box.run(shares(X, groups), Limits(), np.inf, 60, finely=True)
        master = Master(X, k)
        master.add(np.array([[*g, *[-1] * (2 * k - 1 - len(g))] for g in all_groups(n, k)]))
        value, bound = master.solve().value, max(bound for bound, _ in proofs)
        assert bound <= value * (1 + 1e-9)
        if box.converged:
            converged += 1
            assert bound == pytest.approx(value, rel=1e-4)
        pi = proofs[-1][1]
        for noise in (0.0, 1e-3, 0.3):
            moved = pi * (1.0 + noise * rng.standard_normal(n)) + noise * rng.standard_normal(n)
            for nodes in (0, 2, 10**9):
                found = pricing.price(moved, *NONE, below=-1e-9, nodes=nodes, smallest=True)
                assert lagrangian_bound(moved, np.empty(0), np.empty(0), found.least, k, True) <= least * (1 + 1e-12)
    assert converged > 30


@pytest.mark.parametrize("size", [3, 5, 7, 9])
def test_odd_cycles_are_cut_off(size):
    groups = np.array([[(2 * i) % size + 4, (2 * i + 2) % size + 4, -1] for i in range(size)])
    cuts = separate(groups, np.full(size, 0.5), 20, 10, 3, set())
    assert [sorted(c for c in cut if c >= 0) for cut in cuts.tolist()] == [list(range(4, 4 + size))]
    assert room(cuts).tolist() == [size // 2]
    known = {tuple(cuts[0].tolist())}
    assert len(separate(groups, np.full(size, 0.5), 20, 10, 3, known)) == 0


def test_how_much_groups_count_in_cuts():
    rng = np.random.default_rng(4)
    cuts = random_cuts(rng, 15, 20)
    groups = np.full((50, 9), -1)
    for group in groups:
        size = int(rng.integers(3, 10))
        group[:size] = np.sort(rng.choice(15, size, replace=False))
    counts, found, much = entries(groups, by_record(cuts, 15), len(cuts))
    dense = np.zeros((50, 20))
    dense[np.repeat(np.arange(50), counts), found] = much
    halves = [[len({*g} & {*c} - {-1}) // 2 for c in cuts.tolist()] for g in groups.tolist()]
    np.testing.assert_array_equal(dense, halves)


class Stopping(Limits):
    """Says stop when it is asked for the n-th time; or is interrupted then."""

    def __init__(self, after, interrupt=False):
        super().__init__()
        self.after, self.interrupt = after, interrupt

    def over(self):
        self.after -= 1
        if self.after < 0 and self.interrupt:
            raise KeyboardInterrupt
        if self.after < 0:
            self.cut_short = "seconds"
        return self.cut_short is not None


@pytest.mark.parametrize("interrupt", [False, True])
def test_truncated_runs_are_valid(interrupt):
    for after in (0, 1, 20, 79, 80, 81, 83, 86, 90, 95):
        X = table("duplicates" if after % 2 else "normal", 11, 2, after)
        limits = Stopping(after, interrupt)
        proven = lower_bound(X, 3, effort="tight", labels=start(X, 3), limits=limits)
        assert neighbour_bound(X, 3) * (1 - 1e-9) <= proven.sse <= least_sse(X, 3) * (1 + 1e-12)
        if after < 80:
            assert limits.cut_short == ("interrupted" if interrupt else "seconds")


def test_the_same_bound_again():
    X = table("normal", 60, 3, 0)
    first, second = (lower_bound(X, 3, effort="tight", labels=start(X, 3), limits=Limits()) for _ in range(2))
    assert first == second


def test_equal_records_cost_nothing():
    X = table("constant", 20, 3, 0)
    for effort in ("fast", "tight"):
        assert lower_bound(X, 3, effort=effort, labels=start(X, 3), limits=Limits()).sse == 0.0
    X = np.repeat(table("normal", 5, 2, 0), 4, axis=0)
    assert lower_bound(X, 3, effort="tight", labels=start(X, 4), limits=Limits()).sse == 0.0


def test_larger_k_and_one_group():
    X = table("normal", 40, 2, 0)
    labels = ct.microaggregate(X, 8, "mdav", standardize=False).labels
    fast = lower_bound(X, 8, effort="fast", labels=labels, limits=Limits())
    tight = lower_bound(X, 8, effort="tight", labels=labels, limits=Limits())
    assert fast.sse <= tight.sse <= distortion(X, labels)
    one = lower_bound(X[:5], 3, effort="tight", labels=np.zeros(5, np.int64), limits=Limits())
    assert one.sse == pytest.approx(diversity(X[:5]), rel=1e-9)
    assert one.kind == "optimal"


@pytest.mark.parametrize("hard", [-1.0, 1e9])
def test_bounds_where_pricing_takes_long(hard, monkeypatch):
    """What is done for large k, with small ones: cuts between proofs of another kind. Bounds hold all the same."""
    monkeypatch.setattr(relaxation, "CUT_K", 1)
    monkeypatch.setattr(relaxation, "_HARD", hard)
    cut = 0
    for seed in range(24):
        k = 2 + seed % 3
        X = table(KINDS[seed % len(KINDS)], 11, 2, seed)
        problem = scaled(X, k, start(X, k), Limits())
        if problem is None:
            continue
        relaxed = Relaxation(problem.X, k, problem.groups)
        relaxed.run(Limits(), np.inf, 300)
        least = least_sse(problem.X, k)
        assert 0.7 * least - 1e-6 <= relaxed.bound <= least * (1 + 1e-12)
        cut += len(relaxed.dual.cuts) > 0
        for after in (80, 90, 100):
            truncated = Relaxation(problem.X, k, problem.groups)
            truncated.run(Stopping(after, False), np.inf, 300)
            assert truncated.bound <= least * (1 + 1e-12)
    assert cut > 3


def test_efforts_that_do_not_exist():
    with pytest.raises(CoterieError, match="effort"):
        lower_bound(np.eye(6), 2, effort="most", labels=np.zeros(6, np.int64), limits=Limits())


@needs_casc
@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("census", 4.660), ("tarragona", 14.45)])
def test_golden_bounds(name, least):
    X = encode(getattr(ct.datasets, f"load_{name}")().X, True).values
    labels = ct.microaggregate(X, 3, "path", standardize=False).labels
    proven = lower_bound(X, 3, effort="tight", labels=labels, limits=Limits())
    assert least <= 100 * proven.sse / diversity(X) <= 100 * distortion(X, labels) / diversity(X)
