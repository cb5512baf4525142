"""Neighbours among all records, and in other parts, as plain scans find them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from coterie.algorithms import free, v_mdav
from coterie.algorithms.neighbours import Neighbours
from coterie.kernels.nearest import nearest_outside
from coterie.kernels.tree import NOBODY
from strategies import KINDS, table

some = st.integers(2, 130) | st.sampled_from([64, 65, 128, 129, 1025, 1500])
problem = {"n": some, "p": st.integers(1, 14), "seed": st.integers(0, 2**32 - 1)}


def from_record(X, x):
    """Squared distances from x, summed column after column."""
    d2 = np.zeros(len(X))
    for j in range(X.shape[1]):
        d2 += (X[:, j] - X[x, j]) ** 2
    return d2


@pytest.mark.parametrize("kind", KINDS)
@given(**problem, m=st.integers(1, 20))
@settings(max_examples=12)
def test_nearest_of_every_record(kind, n, p, seed, m):
    """More tiles than come first, and fewer; more neighbours asked for than a tile holds equal records."""
    X, m = table(kind, n, p, seed), min(m, n - 1)
    found = Neighbours(X).nearest(m)
    for x in range(0, n, 1 + n // 200):
        d2 = from_record(X, x)
        order = np.argsort(d2, kind="stable")
        expected = order[order != x][:m]
        np.testing.assert_array_equal(found.records[x], expected)
        np.testing.assert_array_equal(found.d2[x], d2[expected])


def test_one_record_far_away_blurs_no_neighbours():
    """Its tile is so large that single precision tells nothing apart in it."""
    X = table("normal", 300, 5, seed=0)
    X[150] = 1e9
    found = Neighbours(X).nearest(3)
    for x in range(300):
        order = np.argsort(from_record(X, x), kind="stable")
        np.testing.assert_array_equal(found.records[x], order[order != x][:3])


@pytest.mark.parametrize("kind", KINDS)
@given(**problem, parts=st.integers(1, 4), share=st.floats(0, 1.5))
@settings(max_examples=12)
def test_nearest_in_another_part(kind, n, p, seed, parts, share):
    """With and without a limit; a record at the limit counts if its index is low enough."""
    X, rng = table(kind, n, p, seed), np.random.default_rng(seed)
    part = rng.integers(0, parts, n)
    near = Neighbours(X)
    nowhere = np.full(len(near._tiles.tree.lowest), -1)
    for x in rng.integers(0, n, 10):
        d2 = np.where(part == part[x], np.inf, from_record(X, x))
        y = int(np.argmin(d2))
        expected = (y, d2[y]) if d2[y] < np.inf else (NOBODY, np.inf)
        assert nearest_outside(near._tiles, X, x, part, nowhere, np.inf, NOBODY) == expected
        limit, before = share * d2[y] if d2[y] < np.inf else 1.0, int(rng.integers(n + 1))
        if not (d2[y] < limit or (d2[y] == limit and y < before)):
            expected = (NOBODY, np.inf)
        assert nearest_outside(near._tiles, X, x, part, nowhere, limit, before) == expected


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.integers(65, 160), p=st.integers(7, 10), seed=st.integers(0, 2**32 - 1), gamma=st.sampled_from([0.2, 1.1]))
@settings(max_examples=4)
def test_groups_grow_as_their_literal_twins(kind, n, p, seed, gamma):
    """Over more than a tile, in few columns and in many."""
    X, k = table(kind, n, p, seed), 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(free, "FEW", 0)
        found = v_mdav.v_mdav(X, k, gamma=gamma, loss=lambda _: 0.0)
    _, ours = np.unique(found.labels, return_inverse=True)
    expected = np.asarray(reference.v_mdav(X, k, gamma))
    pairs = {(a, b) for a, b in zip(ours.tolist(), expected.tolist(), strict=True)}
    assert len(pairs) == len(set(ours.tolist())) == len(set(expected.tolist()))
