"""Guards of confidential columns: definitions against explicit sums, rules against literal versions, promises kept."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confidential_reference import (
    distance,
    effective,
    groups_of,
    kept,
    lacking,
    literal_k_first,
    literal_merge,
    literal_t_first,
    ordered_distance,
)
from conftest import needs_casc
from coterie import datasets
from coterie.algorithms import free
from coterie.algorithms.confidential import k_first as k_first_
from coterie.algorithms.confidential.guarded import guarded
from coterie.algorithms.confidential.guards import Guard, closeness, distinct, entropy_l, holds, least_distance, watch
from coterie.algorithms.confidential.k_first import k_first
from coterie.algorithms.confidential.merge import by_first_appearance, merge
from coterie.algorithms.confidential.t_first import Cut, choose_cut, t_first, worst_distance
from coterie.algorithms.mdav import mdav
from coterie.errors import CoterieError
from coterie.kernels import watch as kernels
from reference import labels_of
from strategies import KINDS, table

RULES = ("merge", "k-first", "t-first")


# --- tables and guards that they may stumble over ---

LIMITS = {
    "l": st.integers(2, 4),
    "entropy": st.sampled_from([1.1, 1.5, 2.0, 2.5, 3.0]),
    "t": st.sampled_from([0.02, 0.05, 0.1, 0.125, 0.2, 0.25, 1 / 3, 0.5, 0.95]),
}


@st.composite
def guard_of(draw, n, name, must_be_ordered_t=False):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ordered = must_be_ordered_t or draw(st.booleans())
    chosen = draw(st.sets(st.sampled_from(sorted(LIMITS)), min_size=1)) | ({"t"} if must_be_ordered_t else set())
    kind = draw(st.sampled_from(["few", "skewed", "different", "constant", "ties at an end"]))
    codes = {
        "few": rng.integers(0, 4, n),
        "skewed": np.minimum(rng.geometric(0.4, n), 8) * 3,
        "different": rng.permutation(n),
        "constant": np.full(n, 7),
        "ties at an end": np.maximum(rng.permutation(n), n // 2),
    }[kind]
    if not (ordered and "t" in chosen) and draw(st.booleans()):
        codes = np.where(rng.random(n) < 0.2, -1, codes)
    return Guard(name, codes, ordered, **{limit: draw(LIMITS[limit]) for limit in chosen})


@st.composite
def problems(draw, most=48, must_be_ordered_t=False):
    k = draw(st.integers(2, 5))
    n = draw(st.one_of(st.sampled_from([k, k + 1, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k]), st.integers(k, most)))
    X = table(draw(st.sampled_from(KINDS)), n, draw(st.integers(1, 4)), draw(st.integers(0, 2**32 - 1)))
    guards = [draw(guard_of(n, "first", must_be_ordered_t))]
    if not must_be_ordered_t and draw(st.booleans()):
        guards.append(draw(guard_of(n, "second")))
    return X, k, guards


def fits(guards, rule):
    return rule != "t-first" or sum(g.ordered and g.t is not None for g in guards) == 1


# --- definitions ---


@given(st.data())
@settings(max_examples=60)
def test_measures_are_the_explicit_sums(data):
    n = data.draw(st.integers(1, 40))
    guard = data.draw(guard_of(n, "x"))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    labels = by_first_appearance(rng.integers(0, data.draw(st.integers(1, 6)), n))
    groups, codes = groups_of(labels), guard.codes.tolist()
    assert distinct(guard, labels).tolist() == [len({codes[i] for i in g} - {-1}) for g in groups]
    np.testing.assert_allclose(entropy_l(guard, labels), [effective(codes, g) for g in groups], rtol=1e-12)
    if not guard.ordered or -1 not in codes:
        np.testing.assert_allclose(
            closeness(guard, labels), [float(distance(guard, g)) for g in groups], rtol=1e-13, atol=1e-15
        )
    for said, g in zip(holds(guard, labels), groups, strict=True):
        assert said == (lacking([guard], 1, g) == 0)
        assert kept(guard, g) or not said


def test_definitions_by_hand():
    # Li, Li, Venkatasubramanian (2007): nine salaries 3k..11k, groups {3,4,5}, {6,8,11}, {7,9,10}
    salaries = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10])
    labels = np.repeat([0, 1, 2], 3)
    np.testing.assert_allclose(closeness(Guard("salary", salaries, True, t=0.5), labels)[:2], [0.375, 1 / 6])
    boolean = Guard("ill", np.array([0, 0, 1, 1, -1, 0]), False, t=0.9)
    np.testing.assert_allclose(closeness(boolean, np.array([0, 0, 0, 1, 1, 1])), [1 / 6, 1 / 6])
    assert distinct(boolean, np.array([0, 0, 1, 1, 2, 2])).tolist() == [1, 1, 1]
    np.testing.assert_allclose(entropy_l(boolean, np.array([0, 0, 0, 0, 1, 0])), [math.exp(0.6730116670092565), 0.0])


def test_distances_of_tables_whose_sums_leave_64_bits():
    rng = np.random.default_rng(0)
    below = np.cumsum(rng.integers(1, 2 * 10**13, 100))
    area = np.concatenate(([0], np.cumsum(below)))
    codes = np.sort(rng.integers(0, 100, 300))
    assert len(codes) * int(below[-1]) * 100 > 2**63
    explicit = sum(
        abs(Fraction(int((codes <= i).sum()), 300) - Fraction(int(below[i]), int(below[-1]))) for i in range(100)
    )
    assert kernels.ordered_distance(codes, 100, below, area) == pytest.approx(float(explicit / 99), rel=1e-12)


# --- rules against their literal versions ---


@given(problems(most=36), st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_merge_is_the_literal_rule(problem, seed):
    X, k, guards = problem
    rng = np.random.default_rng(seed)
    labels = by_first_appearance(rng.integers(0, max(1, len(X) // 3), len(X)))
    slow = literal_merge(X, k, groups_of(labels), guards)
    np.testing.assert_array_equal(merge(X, k, labels, watch(guards)), by_first_appearance(labels_of(slow, len(X))))


@pytest.mark.parametrize("looks", [10**9, 0], ids=["scan", "tiles"])
@given(problem=problems(most=30), near=st.integers(0, 6), blocks=st.integers(1, 6))
@settings(max_examples=60)
def test_k_first_is_the_literal_rule(looks, problem, near, blocks):
    X, k, guards = problem
    slow = literal_k_first(X, k, guards, near, blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_first_, "NEAR", near)
        patch.setattr(k_first_, "BLOCKS", blocks)
        patch.setattr(free, "FEW", looks)
        fast = k_first(X, k, watch(guards))
    np.testing.assert_array_equal(fast, by_first_appearance(labels_of(slow, len(X))))


@given(problems(must_be_ordered_t=True), st.booleans())
@settings(max_examples=80)
def test_t_first_is_the_literal_rule(problem, one_each):
    X, k, guards = problem
    cut = choose_cut(watch(guards), 0, k, one_each)
    slow = literal_t_first(X, k, guards, guards[0].codes.tolist(), cut)
    fast = t_first(X, k, watch(guards), 0, one_each=one_each)
    np.testing.assert_array_equal(fast, by_first_appearance(labels_of(slow, len(X))))


@pytest.mark.parametrize("looks", [10**9, 0], ids=["scan", "tiles"])
@pytest.mark.parametrize("rule", RULES)
def test_many_tiles_change_nothing(rule, looks, monkeypatch):
    """More groups and records than a tile holds: the literal rule again, once."""
    monkeypatch.setattr(free, "FEW", looks)
    rng = np.random.default_rng(1)
    X, k = rng.integers(0, 30, (420, 2)).astype(float), 2
    guards = [Guard("x", rng.integers(0, 25, len(X)), True, t=0.2)]
    labels = mdav(X, k)
    slow = {
        "merge": lambda: literal_merge(X, k, groups_of(labels), guards),
        "k-first": lambda: literal_k_first(X, k, guards, k_first_.NEAR, k_first_.BLOCKS),
        "t-first": lambda: literal_t_first(
            X, k, guards, guards[0].codes.tolist(), choose_cut(watch(guards), 0, k, False)
        ),
    }[rule]()
    fast = guarded(X, k, labels if rule == "merge" else None, guards, rule)
    np.testing.assert_array_equal(fast, by_first_appearance(labels_of(slow, len(X))))


# --- promises ---


@given(problems(), st.sampled_from(RULES), st.integers(1, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=200)
def test_every_group_keeps_every_guard_or_it_is_refused(problem, rule, parts, seed):
    X, k, guards = problem
    if not fits(guards, rule):
        with pytest.raises(CoterieError, match="exactly one guard"):
            guarded(X, k, None, guards, rule)
        return
    strata = np.random.default_rng(seed).integers(0, parts, len(X))
    wholes = groups_of(by_first_appearance(strata))
    try:
        labels = guarded(X, k, None, guards, rule, strata=strata)
    except CoterieError:
        # only where a stratum is too small or falls short as a whole, be it by a hair
        assert any(lacking(guards, k, members) > 0 for members in wholes)
        return
    assert all(lacking(guards, k, members) == 0 for members in wholes)
    np.testing.assert_array_equal(labels, by_first_appearance(labels))
    for members in groups_of(labels):
        assert len(members) >= k
        assert len(set(strata[members])) == 1
        assert all(kept(guard, members) for guard in guards)


@given(problems(), st.integers(0, 1))
@settings(max_examples=60)
def test_splitting_again_keeps_every_guard_within_the_groups(problem, more):
    X, k, guards = problem
    if lacking(guards, k, list(range(len(X)))) > 0:
        return
    everyone = np.zeros(len(X), int)
    before = everyone if more else guarded(X, k, None, guards, "merge")
    after = guarded(X, k, before, guards, "merge", split=True)
    for members in groups_of(after):
        assert len(members) >= k
        assert len(set(before[members])) == 1
        assert all(kept(guard, members) for guard in guards)


def test_splitting_again_undoes_merging():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 3))
    guards = [Guard("x", rng.permutation(300), True, t=0.2)]
    assert guarded(X, 5, np.zeros(300, int), guards, "merge").max() == 0
    assert guarded(X, 5, np.zeros(300, int), guards, "merge", split=True).max() + 1 > 50


@given(problems(must_be_ordered_t=True))
@settings(max_examples=60)
def test_t_first_keeps_t_before_anything_is_merged(problem):
    """Whatever the ties: the groups that blocks make need no merging for t."""
    X, k, (guard,) = problem
    only_t = [Guard("x", guard.codes, True, t=guard.t)]
    cut = choose_cut(watch(only_t), 0, k, False)
    labels = t_first(X, k, watch(only_t), 0)
    assert labels.max() + 1 == cut.groups
    assert all(kept(only_t[0], members) for members in groups_of(labels))


@given(st.integers(2, 4), st.integers(2, 3), st.integers(0, 1), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_worst_distance_bounds_every_group(size, groups, surplus, blocks, seed):
    """The bound against all ways to take records from the blocks, with ties."""
    cut = Cut(size, groups, surplus, min(blocks, size))
    n = size * groups + surplus
    codes = np.sort(np.random.default_rng(seed).integers(0, 2 * n, n) // 2)
    own = watch([Guard("x", codes, True, t=0.5)])
    worst = Fraction(0)
    for more in {0, min(1, surplus)}:
        ends, quotas = cut.ends(), cut.quotas(more)
        choices = [itertools.combinations(range(ends[j], ends[j + 1]), int(quotas[j])) for j in range(cut.blocks)]
        for taken in itertools.product(*choices):
            worst = max(worst, ordered_distance(codes.tolist(), list(itertools.chain(*taken))))
    before = np.searchsorted(codes, np.unique(codes), side="right")
    bound = worst_distance(own, 0, cut, before)
    assert bound >= float(worst) - 1e-14
    if cut.blocks == cut.size and not surplus:  # it counts on no two records from a block being different
        assert bound == pytest.approx(float(worst), abs=1e-14)


@pytest.mark.parametrize(("n", "k"), [(60, 5), (60, 4), (99, 9), (1000, 10), (105, 7)])
def test_the_bounds_of_the_paper(n, k):
    """Without ties: the construction's bound, the bound below any group, and k' from t."""
    own = watch([Guard("x", np.arange(n), True, t=0.5)])
    before = np.arange(1, n + 1)
    upper = (n - k) / (2 * (n - 1) * k)
    assert worst_distance(own, 0, Cut(k, n // k, 0, k), before) == pytest.approx(upper, rel=1e-12)
    lower = (n + k) * (n - k) / (4 * n * (n - 1) * k)
    if (n // k) % 2:
        assert least_distance(own, 0, k) == pytest.approx(lower, rel=1e-12)
    else:
        assert lower < least_distance(own, 0, k) < upper
    t = upper * (1 + 1e-9)
    assert math.ceil(n / (2 * (n - 1) * t + 1)) == k
    assert choose_cut(watch([Guard("x", np.arange(n), True, t=t)]), 0, 2, True).size == k


@given(st.data(), st.integers(1, 5))
@settings(max_examples=40)
def test_least_distance_is_that_of_the_best_group(data, size):
    n = data.draw(st.integers(size, 9))
    codes = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    guard = Guard("x", codes, data.draw(st.booleans()), t=0.5)
    best = min(distance(guard, members) for members in itertools.combinations(range(n), size))
    assert least_distance(watch([guard]), 0, size) == pytest.approx(float(best), abs=1e-12)


def test_ties_break_the_promise_of_ranks_but_not_ours():
    """Many ties below, many values above: k' of the paper's formula does not keep t over different values."""
    n, t = 120, 0.1
    codes = np.maximum(np.arange(n), 97)
    by_ranks = math.ceil(n / (2 * (n - 1) * t + 1))
    own = watch([Guard("x", codes, True, t=t)])
    before = np.cumsum(np.bincount(own.codes[0]))
    assert worst_distance(own, 0, Cut(by_ranks, n // by_ranks, 0, by_ranks), before) > t
    assert choose_cut(own, 0, 2, True).size > by_ranks


def test_k_first_beats_merging_where_values_are_scattered():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((600, 3))
    guards = [Guard("x", rng.permutation(600), True, t=0.1)]
    count = {rule: guarded(X, 5, None, guards, rule).max() + 1 for rule in RULES}
    assert count["t-first"] == 120
    assert count["k-first"] > 2 * count["merge"]


@needs_casc
def test_census_groups():
    """As docs/confidential.md says."""
    X = np.asarray(datasets.load_census().X, float)
    codes = np.unique(X[:, 0], return_inverse=True)[1]
    Z = np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0))[:, 1:])
    guards = [Guard("AFNLWGT", codes, True, t=0.1)]
    loss = {}
    for rule in RULES:
        labels = guarded(Z, 5, None, guards, rule)
        centres = np.stack([Z[labels == g].mean(axis=0) for g in range(labels.max() + 1)])
        loss[rule] = round(100 * ((Z - centres[labels]) ** 2).sum() / (Z**2).sum(), 1)
    assert loss == {"merge": 15.8, "k-first": 9.6, "t-first": 11.5}


# --- what is refused ---


def refused(match, **changes):
    guard = Guard("x", np.arange(10), True, t=0.5)
    arguments = dict(X=np.zeros((10, 1)), k=2, labels=None, guards=[guard], rule="merge", strata=None) | changes
    with pytest.raises(CoterieError, match=match):
        guarded(**arguments)


def test_what_is_refused():
    nominal = Guard("y", np.arange(10), False, t=0.5)
    refused("'rule' must be", rule="best")
    refused("at least one guard", guards=[])
    refused("at least k records", k=11)
    refused("a code for each record", X=np.zeros((9, 1)))
    refused("'labels' must be one integer", labels=np.zeros(9, int))
    refused("'strata' must be one integer", strata=np.zeros(10))
    refused("forms the groups itself", labels=np.zeros(10, int), rule="k-first")
    refused("exactly one guard", guards=[nominal], rule="t-first")
    refused("exactly one guard", guards=[Guard("x", np.arange(10), True, t=0.5)] * 2, rule="t-first")
    refused("strata of fewer than 2", strata=np.arange(10) // 9)
    refused("'y' .l = 3.*all records as one group", guards=[Guard("y", np.arange(10) % 2, False, l=3)])
    refused("'x' .t = 0.1.*2 strata", strata=np.arange(10) // 5, guards=[Guard("x", np.arange(10), True, t=0.1)])


@pytest.mark.parametrize(
    ("match", "changes"),
    [
        ("needs l, entropy or t", {}),
        ("l of 'pay' must be", {"l": 0}),
        ("l of 'pay' must be", {"l": 2.5}),
        ("entropy of 'pay' must be", {"entropy": 0.5}),
        ("t of 'pay' must be", {"t": 0.0}),
        ("t of 'pay' must be", {"t": "0.1"}),
        ("not defined for missing", {"t": 0.1, "codes": np.array([0, -1])}),
        ("must be one integer", {"t": 0.1, "codes": np.array([0.5, 1.0])}),
    ],
)
def test_guards_that_are_refused(match, changes):
    with pytest.raises(CoterieError, match=match):
        Guard(**(dict(name="pay", codes=np.array([0, 1]), ordered=True) | changes))


def test_a_guard_shows_no_value():
    assert "98765" not in repr(Guard("pay", np.array([98765, 1]), True, l=2))
