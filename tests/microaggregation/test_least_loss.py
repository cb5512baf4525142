"""refine, bound, exact and auto as users meet them."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import coterie as ct
from reference import optimal_sse
from strategies import table

X = table("normal", 120, 3, seed=1)


def test_refine_improves_any_method_and_says_so():
    for method in ("mdav", "mdav*", "m-d", "mu-approx", "path"):
        before = ct.microaggregate(X, 4, method)
        after = ct.microaggregate(X, 4, method, refine="quick")
        assert after.sse < before.sse
        assert after.method == method
        assert after.params["refine"] == "quick"
        assert after.params["steps"] > 0
        assert 4 <= after.sizes.min() <= after.sizes.max() < 8
        assert "refine = quick" in str(after)
    assert ct.microaggregate(X, 4, "mdav", refine="none").params == {}


def test_refining_is_deterministic_for_a_seed():
    one, two = (ct.microaggregate(X, 3, "mdav", refine="quick", random_state=5).labels for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_a_guarantee_survives_refining():
    r = ct.microaggregate(X, 3, "mu-approx", refine="quick")
    assert r.guarantee.lower_bound <= r.sse
    assert r.guarantee.factor == 250


def test_refine_labels_from_anywhere():
    labels = np.arange(120) // 5 * 7 - 3  # any numbers
    r = ct.refine(X, labels, 3)
    assert r.method == "refine"
    assert r.loss < 40
    assert 3 <= r.sizes.min() <= r.sizes.max() < 6
    np.testing.assert_array_equal(labels, np.arange(120) // 5 * 7 - 3)
    again = ct.refine(X, r.labels, 3, "thorough")
    assert again.sse <= r.sse


@pytest.mark.parametrize(
    ("labels", "own", "message"),
    [
        (np.arange(120) // 2, {}, "at least k records"),
        (np.zeros(119, int), {}, "one integer for each record"),
        (np.zeros((120, 2), int), {}, "one integer for each record"),
        (np.zeros(120), {}, "one integer for each record"),
        (np.zeros(120, int), {"effort": "much"}, "'quick' or 'thorough'"),
        (np.zeros(120, int), {"seconds": 0}, "above 0"),
        (np.zeros(120, int), {"seconds": "1"}, "above 0"),
    ],
)
def test_refine_refuses(labels, own, message):
    with pytest.raises(ct.CoterieError, match=message):
        ct.refine(X, labels, 3, **own)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"method": "mdav", "refine": "much"}, "'none', 'quick' or 'thorough'"),
        ({"method": "mdav", "refine": True}, "bool"),
        ({"method": "mdav", "refine": "quick", "centre": "median"}, "squared distances to means"),
        ({"method": "mdav", "refine": "quick", "distortion": "euclidean"}, "squared distances to means"),
        ({"method": "individual-ranking", "refine": "quick"}, "groups of whole records"),
        ({"method": "mdav", "seconds": 1}, "applies only to refine"),
        ({"method": "auto", "seconds": -1}, "above 0"),
        ({"method": "auto", "seconds": float("nan")}, "above 0"),
    ],
)
def test_options_without_effect_are_refused(own, message):
    with pytest.raises(ct.CoterieError, match=message):
        ct.microaggregate(X, 3, **own)


def test_a_search_that_time_cut_short_says_so():
    r = ct.microaggregate(X, 3, "mdav", refine="thorough", seconds=1e-9)
    assert r.params["cut_short"] == "seconds"
    assert r.sse <= ct.microaggregate(X, 3, "mdav").sse


@pytest.mark.parametrize("effort", ["fast", "tight"])
def test_bound_and_its_sentence(effort):
    r = ct.microaggregate(X, 3, "mdav", refine="quick")
    b = r.bound(effort)
    assert isinstance(b, ct.Bound)
    assert 0 < b.sse <= r.sse
    assert b.loss == pytest.approx(100 * b.sse / r.sst)
    assert b.gap == pytest.approx(r.sse / b.sse - 1, abs=1e-9)
    assert b.tolerance >= 0
    if b.optimal:
        assert "it is optimal" in str(b)
    else:
        assert f"groups of at least 3 loses less than {b.loss:.4g} %; yours loses {r.loss:.4g} %" in str(b)


def test_tight_is_tighter_than_fast_and_both_hold():
    for seed in range(5):
        Z = table("normal", 10, 2, seed)
        r = ct.microaggregate(Z, 3, "mdav", standardize=False)
        best = optimal_sse(Z, 3)
        fast, tight = r.bound("fast"), r.bound("tight")
        assert fast.sse <= tight.sse * (1 + 1e-9)
        assert tight.sse <= best * (1 + 1e-9)


def test_a_bound_of_large_groups_does_not_call_them_optimal():
    Z = np.repeat(np.arange(4.0), 3)[:, None] + table("normal", 12, 1, 1) * 1e-3
    r = ct.microaggregate(Z, 3, "v-mdav", gamma=100.0)
    b = r.bound("tight")
    assert b.optimal == (r.sse <= b.sse * (1 + 1e-8))


def test_units_of_bounds():
    plain = ct.microaggregate(X, 3, "mdav", standardize=False)
    for unit in (2.0**600, 2.0**-505):  # the SSE overflows, or nearly vanishes
        r = ct.microaggregate(X * unit, 3, "mdav", standardize=False)
        assert r.bound().gap == pytest.approx(plain.bound().gap)
        assert r.bound().loss == pytest.approx(plain.bound().loss)
        assert not r.bound().optimal


def test_bound_refuses():
    r = ct.microaggregate(X, 3, "mdav")
    with pytest.raises(ct.CoterieError, match="'fast' or 'tight'"):
        r.bound("loose")
    with pytest.raises(ct.CoterieError, match="above 0"):
        r.bound("tight", seconds=0)
    with pytest.warns(ct.PrivacyWarning):
        ranked = ct.microaggregate(X, 3, "individual-ranking")
    with pytest.raises(ct.CoterieError, match="groups of whole records"):
        ranked.bound()


def test_records_are_not_pickled():
    r = ct.microaggregate(X, 3, "mdav", standardize=False)
    stored = pickle.dumps(r)
    assert not any(X[i].tobytes() in stored for i in range(len(X)))
    with pytest.raises(ct.CoterieError, match="needs the records"):
        pickle.loads(stored).bound()
    np.testing.assert_array_equal(pickle.loads(stored).labels, r.labels)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_exact_is_optimal_and_bound_costs_nothing(k):
    Z = table("normal", 10, 2, seed=k)
    r = ct.microaggregate(Z, k, "exact", standardize=False)
    assert r.sse == pytest.approx(optimal_sse(Z, k), rel=1e-9)
    assert r.params["optimal"]
    assert r.bound("tight").optimal
    assert r.bound().gap < 1e-9
    assert "it is optimal" in str(r)
    assert pickle.loads(pickle.dumps(r)).bound().optimal
    assert json.dumps(r.facts(), allow_nan=False)


def test_auto_is_the_best_of_what_it_tries():
    small = ct.microaggregate(X[:40], 3)
    assert small.sse == pytest.approx(ct.microaggregate(X[:40], 3, "exact").sse, rel=0.02)
    medium = ct.microaggregate(X, 3)
    assert medium.loss <= min(ct.microaggregate(X, 3, m).loss for m in ("mdav", "mdav*"))
    assert medium.params["refine"] == "quick"
    plain = ct.microaggregate(X, 3, distortion="euclidean")
    assert plain.loss_euclidean <= min(
        ct.microaggregate(X, 3, m, distortion="euclidean").loss_euclidean for m in ("mdav", "mdav*")
    )
