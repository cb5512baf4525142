"""Centres, distances and numbers of groups: the same however many records are treated at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie as ct
from coterie.algorithms import run
from coterie.measures import group_centres as aggregate
from coterie.measures import loss

groups = st.lists(st.integers(0, 12), min_size=1, max_size=80).map(
    lambda g: np.unique(g, return_inverse=True)[1].reshape(-1)
)


@pytest.fixture(params=[1, 7, 10**6])
def at_once(request, monkeypatch):
    monkeypatch.setattr(aggregate, "AT_ONCE", request.param)


@pytest.mark.parametrize("centre", ["mean", "median"])
@pytest.mark.parametrize("sizes", [[1, 1, 30, 2], [3] * 9, [40], [200, 5]])
@pytest.mark.usefixtures("at_once")
def test_centres_and_distances(sizes, centre):
    rng = np.random.default_rng(sum(sizes))
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.lognormal(size=(len(labels), 3))
    middle = {"mean": np.mean, "median": np.median}[centre]
    wanted = np.array([middle(X[labels == g], axis=0) for g in range(len(sizes))])
    np.testing.assert_allclose(aggregate.group_centres(X, labels, centre), wanted, rtol=1e-14)
    d2 = np.square(X - wanted[labels]).sum(axis=1)
    np.testing.assert_allclose(loss.from_groups(X, labels, centre), d2, rtol=1e-9, atol=1e-20)
    d2 = np.square(X - middle(X, axis=0)).sum(axis=1)
    np.testing.assert_allclose(loss.from_all(X, centre), d2, rtol=1e-9, atol=1e-20)


@given(groups, st.integers(1, 9))
def test_means_to_the_last_bit_however_many_at_once(labels, at_once):
    X = np.random.default_rng(len(labels)).lognormal(size=(len(labels), 2))
    whole = aggregate.means(X[np.argsort(labels, kind="stable")], np.bincount(labels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregate, "AT_ONCE", at_once)
        assert np.array_equal(aggregate.group_centres(X, labels, "mean"), whole)
        assert np.array_equal(aggregate.group_centres(X, labels, "mean", aggregate.by_group(labels)), whole)


@given(groups)
def test_records_by_group_are_a_stable_sort(labels):
    assert np.array_equal(aggregate.by_group(labels), np.argsort(labels, kind="stable"))


@given(st.lists(st.integers(-3, 12) | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40))
def test_groups_are_numbered_by_first_appearance(labels):
    seen = list(dict.fromkeys(labels))
    found = run.by_first_appearance(np.array(labels, np.int64))
    assert found.tolist() == [seen.index(g) for g in labels]


@pytest.mark.parametrize("standardize", [True, False])
def test_an_array_is_only_read_and_shares_nothing_with_the_result(standardize):
    X = np.random.default_rng(0).normal(size=(40, 2))
    X.flags.writeable = False
    found = ct.microaggregate(X, 3, "mdav", standardize=standardize)
    assert not np.shares_memory(found.data, X)
    assert not np.shares_memory(found._records.matrix().values, X)
