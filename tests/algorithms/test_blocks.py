"""Blocks: a partition into groups of at least k, whatever the data; the same on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.algorithms.kd_blocks import in_blocks, joined, learn, loss_at_faces, members, route, sample_step, sse
from coterie.algorithms.mdav import mdav
from coterie.errors import CoterieError


def whole(X, b):
    del b
    return np.zeros(len(X), np.int64)


matrices = st.tuples(st.integers(1, 60), st.integers(1, 3), st.integers(0, 5), st.integers(1, 5)).map(
    lambda c: np.random.default_rng(c[2]).integers(0, c[3], size=(c[0], c[1])).astype(float)
)


@given(matrices, st.integers(2, 12))
def test_cuts_lead_where_they_were_learnt(X, size):
    tree = learn(X, len(X), size)
    blocks = route(X, tree)
    assert set(blocks.tolist()) == set(range(tree.blocks))  # none is empty, as all records were in the sample
    for b in range(tree.blocks):
        rows = X[blocks == b]
        assert len(rows) <= size or len(np.unique(rows, axis=0)) == 1


def led(x, tree):
    """The block of one record, cut by cut."""
    at = 0 if len(tree.column) else -1
    while at >= 0:
        low = x[tree.column[at]] <= tree.value[at]
        at = int(tree.left[at] if low else tree.right[at])
    return -1 - at


@given(matrices, matrices, st.integers(1, 12), st.booleans())
def test_every_record_follows_the_cuts(learnt, X, size, turned):
    tree = learn(np.resize(learnt, (len(learnt), X.shape[1])), len(learnt), size)
    X = np.asfortranarray(X) if turned else X
    assert route(X, tree).tolist() == [led(x, tree) for x in X]


@given(matrices, st.integers(2, 12), st.integers(2, 4))
def test_blocks_have_k_records_and_every_record_one_block(X, size, k):
    if len(X) < k:
        return
    found = route(X, learn(X[::3], len(X), size))
    parts = members(joined(np.bincount(found), k)[found], max(size, 2 * k), k)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(X)))
    assert min(map(len, parts)) >= k
    assert all(np.all(np.diff(part) > 0) for part in parts)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(1, 6))
def test_small_blocks_join_their_neighbours(counts, k):
    number = joined(np.array(counts), k)
    assert np.all(np.diff(number) >= 0)
    assert set(number.tolist()) == set(range(number[-1] + 1))
    held = np.bincount(number, counts)
    assert held.min() >= k or len(held) == 1


def test_few_are_all_in_the_sample_and_many_are_not():
    assert sample_step(100_000, 1000) == 1
    assert sample_step(50_000_000, 150_000) == 250
    assert sample_step(50_000_000, 1000) == 31  # enough for each block


@settings(max_examples=20)
@given(matrices, st.integers(4, 10))
def test_the_groups_are_those_of_the_blocks(X, size):
    k = 2
    if len(X) < 2 * k:
        return
    found = in_blocks(X, k, lambda Z, b: mdav(Z, k) if len(Z) >= 2 * k else whole(Z, b), size=size, threads=2)
    for part in found.parts:
        own = mdav(np.ascontiguousarray(X[part]), k) if len(part) >= 2 * k else whole(part, 0)
        assert np.array_equal(
            np.unique(found.labels[part], return_inverse=True)[1], np.unique(own, return_inverse=True)[1]
        )
    assert np.bincount(found.labels).min() >= k


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "mu-approx", "auto"])
def test_any_method_in_blocks(method):
    X = np.random.default_rng(0).normal(size=(900, 3))
    one = ct.microaggregate(X, 4, method, blocks=200, threads=1)
    two = ct.microaggregate(X, 4, method, blocks=200, threads=2)
    assert np.array_equal(one.labels, two.labels)
    assert one.sizes.min() >= 4
    assert one.params["blocks"] == 8
    assert one.params["block_size"] <= 200
    assert "8 of up to" in str(one)
    assert one.bound().sse <= one.sse


def test_refining_repairs_the_faces():
    X = np.random.default_rng(0).normal(size=(900, 3))
    plain = ct.microaggregate(X, 4, "mdav", blocks=200)
    better = ct.microaggregate(X, 4, "mdav", blocks=200, refine="quick")
    assert better.loss < plain.loss


def test_equal_records_are_cut_by_their_order():
    r = ct.microaggregate(np.ones((100, 2)), 3, "mdav", blocks=10)
    assert r.sizes.min() >= 3
    assert r.params["blocks"] == 10
    assert r.params["faces"] == 0.0


def test_small_tables_are_one_block():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert "blocks" not in ct.microaggregate(X, 4, "mdav", blocks="auto").params
    assert np.array_equal(ct.microaggregate(X, 4, "mdav", blocks=50).labels, ct.microaggregate(X, 4, "mdav").labels)


def test_what_is_measured_at_a_face():
    X = np.concatenate([np.arange(0.0, 4.0), np.arange(4.0, 7.0)])[:, None]
    found = in_blocks(X, 2, lambda Z, b: mdav(Z, 2) if len(Z) > 3 else whole(Z, b), size=4)
    measured = loss_at_faces(X, found, lambda Z, b: mdav(Z, 2) if len(Z) > 3 else whole(Z, b))
    assert measured["compared"] == 7
    both = sse(X, mdav(X, 2))
    assert measured["faces"] == pytest.approx(100 * (sse(X, found.labels) / both - 1))


@pytest.mark.parametrize(
    "more",
    [{"blocks": 5}, {"blocks": "many"}, {"blocks": True}, {"blocks": 1.5}, {"threads": 2}, {"blocks": 20, "threads": 0},
     {"blocks": 20, "method": "individual-ranking"}],
)  # fmt: skip
def test_what_is_refused(more):
    with pytest.raises(CoterieError):
        ct.microaggregate(np.ones((50, 2)), 4, **{"method": "mdav", **more})
