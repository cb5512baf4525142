"""The optimal partition of a column, against exact rational arithmetic; and every column on its own."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.algorithms.univariate import _optimal
from reference import cost_of, univariate

COSTS = ("sse", "absolute", "maximal")


def values(kind, n, rng):
    """Numbers that dynamic programs stumble over."""
    x = rng.standard_normal(n)
    if kind == "offset":
        x = 1e9 + x
    elif kind == "tiny":
        x = 1e-9 * x
    elif kind == "huge":
        x = 1e149 * x
    elif kind == "integers":
        x = rng.integers(0, 4, n).astype(float)
    elif kind == "constant":
        x = np.full(n, 0.1)
    elif kind == "skewed":
        x = np.exp(6 * x)
    elif kind == "far clusters":
        x = 1e-3 * x + 1e9 * rng.integers(0, 4, n)
    elif kind == "ulps":
        x = 1e15 + rng.integers(0, 8, n) * 0.125
    elif kind == "sorted backwards":
        x = -np.sort(x)
    return x


KINDS = (
    "normal",
    "offset",
    "tiny",
    "huge",
    "integers",
    "constant",
    "skewed",
    "far clusters",
    "ulps",
    "sorted backwards",
)


def cost_of_labels(x, labels, cost):
    return sum(cost_of(x[labels == g], cost) for g in range(labels.max() + 1))


@given(
    kind=st.sampled_from(KINDS),
    k=st.integers(1, 16),
    more=st.integers(0, 25),
    cost=st.sampled_from(COSTS),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=1500)
def test_optimal_to_the_last_digits(kind, k, more, cost, seed):
    """From n = k on: fewer than 2k, 2k, 2k + 1 and more; up to k = 10 all starts are tried, above it few."""
    x = values(kind, k + more, np.random.default_rng(seed))
    labels = _optimal(x, k, cost)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    ours, least = cost_of_labels(x, labels, cost), univariate(x, k, cost)
    assert least <= ours <= least * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("kind", KINDS)
def test_from_coarse_to_fine_over_many_blocks(kind, cost):
    x = values(kind, 150, np.random.default_rng(1))
    for k in (11, 17, 40, 74, 75, 76, 149, 150):
        labels = _optimal(x, k, cost)
        ours, least = cost_of_labels(x, labels, cost), univariate(x, k, cost)
        assert least <= ours <= least * (1 + Fraction(1, 10**12))


def test_groups_are_neighbours_on_the_line():
    x = np.random.default_rng(2).standard_normal(500)
    labels = _optimal(x, 7, "sse")[np.argsort(x)]
    assert np.count_nonzero(np.diff(labels)) == labels.max()


def test_equal_values_are_grouped_by_index():
    labels = _optimal(np.ones(10), 3, "sse")
    assert sorted(map(len, np.split(labels, np.flatnonzero(np.diff(labels)) + 1))) == [3, 3, 4]


@pytest.mark.parametrize("unit", [2.0**993, 1.0, 2.0**-993])
@pytest.mark.parametrize("standardize", [True, False])
def test_sums_near_the_end_of_the_range(unit, standardize):
    """Squares that would overflow or vanish: the groups of the same values near 1."""
    x = np.random.default_rng(3).standard_normal((1000, 1))
    r = ct.microaggregate(x * unit, 5, "univariate", standardize=standardize)
    np.testing.assert_array_equal(r.labels, ct.microaggregate(x, 5, "univariate", standardize=standardize).labels)
    assert np.isfinite(r.data).all()


def test_a_million_equal_values():
    labels = _optimal(np.full(1_000_000, 1e9 + 0.1), 5, "sse")
    assert np.bincount(labels).min() == 5
    assert np.bincount(labels).max() < 10


def test_a_huge_cost_does_not_drown_the_small_ones():
    """The first group is torn apart by 1e12; the others, of 1e-3, must be optimal all the same."""
    rng = np.random.default_rng(4)
    x = np.concatenate([[-1e12, -1e9, -1e6], 1e-3 * rng.standard_normal(60)])
    labels = _optimal(x, 3, "sse")
    inside = np.sort(labels[3:])
    rest = cost_of_labels(x[3:], np.unique(labels[3:], return_inverse=True)[1], "sse")
    assert len(inside) == 60
    assert rest <= univariate(x[3:], 3) * (1 + Fraction(1, 10**9))


def test_the_result_says_optimal():
    x = np.random.default_rng(5).standard_normal((60, 1))
    r = ct.microaggregate(x, 4, "univariate")
    assert r.guarantee.factor == 1
    assert r.guarantee.lower_bound == pytest.approx(r.sse)
    assert "optimal" in str(r)
    assert r.loss <= min(ct.microaggregate(x, 4, m).loss for m in ("mdav", "mdav*", "m-d"))
    assert ct.microaggregate(x, 4, "univariate", cost="absolute").guarantee is None
    assert ct.microaggregate(x, 4, "univariate", centre="median").guarantee is None


def test_several_columns_are_refused():
    with pytest.raises(ct.CoterieError, match=r"single column.*3 columns.*individual-ranking"):
        ct.microaggregate(np.ones((20, 3)), 3, "univariate")
    with pytest.raises(ct.CoterieError, match="'sse', 'absolute' or 'maximal'"):
        ct.microaggregate(np.ones((20, 1)), 3, "univariate", cost="range")


def ranked(X, k, **own):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return ct.microaggregate(X, k, "individual-ranking", **own), caught


@pytest.mark.parametrize("cost", COSTS)
def test_individual_ranking_is_optimal_in_every_column(cost):
    X = np.random.default_rng(6).standard_normal((50, 4))
    r, _ = ranked(X, 3, cost=cost)
    assert r.labels.shape == X.shape
    for j in range(4):
        own = np.unique(r.labels[:, j], return_inverse=True)[1]
        least = univariate(X[:, j], 3, cost)
        assert least <= cost_of_labels(X[:, j], own, cost) <= least * (1 + Fraction(1, 10**12))
        for g in range(own.max() + 1):
            np.testing.assert_allclose(r.data[own == g, j], X[own == g, j].mean(), rtol=1e-12)
            assert len(set(r.data[own == g, j])) == 1
    assert r.sizes.sum() == X.size
    assert len(set(r.labels.ravel())) == len(r.sizes)
    assert r.sse == pytest.approx(sum(ct.microaggregate(X[:, [j]], 3, "univariate", cost=cost).sse for j in range(4)))


def test_individual_ranking_warns_that_records_are_not_hidden():
    X = np.random.default_rng(7).standard_normal((50, 2))
    r, caught = ranked(X, 3)
    (warning,) = caught
    assert issubclass(warning.category, ct.PrivacyWarning)
    assert "not 3-anonymous" in str(warning.message)
    assert warning.filename == __file__
    _, counts = np.unique(r.data, axis=0, return_counts=True)
    assert f"{counts[counts < 3].sum()} of 50 records" in str(warning.message)
    assert f"{r.exposed} whole records are not" in str(r)
    assert r.facts()["groups_by_column"]
    assert r.facts()["exposed"] == counts[counts < 3].sum()


def test_no_warning_where_the_records_are_hidden_after_all():
    x = np.random.default_rng(8).standard_normal(50)
    X = np.column_stack([x, 2 * x + 1, np.full(50, 7.0)])
    for table in (X, X[:, :1], X[:5]):
        r, caught = ranked(table, 3)
        assert caught == []
        assert r.exposed == 0
        assert "and so is every whole record here" in str(r)
        assert r.labels.shape == table.shape


def test_negative_zeros_are_zeros_in_the_release():
    """Else a file would tell -0 from 0, that is the sign of a mean which rounding hides, and records apart by it."""
    X = np.array([[-0.3, 1.0], [-0.2, 1.0], [0.2, 1.0], [0.3, 1.0]])
    for method in ("mdav", "individual-ranking"):
        r = ct.microaggregate(X, 2, method, rounding=0)
        assert not np.signbit(r.data).any()


@pytest.mark.parametrize("centre", ["mean", "median"])
@pytest.mark.parametrize("rounding", [None, 1])
def test_individual_ranking_with_the_options_of_all_methods(centre, rounding):
    import pandas as pd

    X = pd.DataFrame(np.random.default_rng(9).standard_normal((30, 2)), columns=["a", "b"])
    r, _ = ranked(X, 3, centre=centre, rounding=rounding)
    assert list(r.data.columns) == ["a", "b"]
    for j, name in enumerate(X):
        for g in np.unique(r.labels[:, j]):
            inside = X[name][r.labels[:, j] == g]
            centre_of = inside.mean() if centre == "mean" else inside.median()
            expected = centre_of if rounding is None else round(centre_of, rounding)
            np.testing.assert_allclose(r.data[name][r.labels[:, j] == g], expected, atol=1e-12)
