"""Kernels against plain Python: exact sums, questions to the free records, growth of groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from coterie.algorithms.free import FreeRecords
from coterie.algorithms.groups import centroid, centroids
from coterie.kernels import exact_sum, growth
from coterie.kernels.pairs import distances_after
from strategies import KINDS, table

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def exact_mean(values):
    digits = np.zeros((1, exact_sum.DIGITS), np.int64)
    exact_sum.add_rows(digits, np.array(values, dtype=float).reshape(-1, 1))
    out = np.empty(1)
    exact_sum.mean(digits, 1, out)
    return out[0]


@given(
    st.lists(st.one_of(finite, st.sampled_from([5e-324, -5e-324, 1e300, -1e300, 0.1, 1.0])), min_size=1, max_size=60)
)
@settings(max_examples=600)
def test_sums_are_correctly_rounded(values):
    assert exact_mean(values) == math.fsum(values)


@pytest.mark.parametrize(
    "values",
    [[1e300, 1.0, -1e300], [2.0**53, 1.0], [2.0**53, 1.0, 2.0**-60], [-(2.0**53), -1.0, -(2.0**-60)], [0.0, -0.0]],
)
def test_sums_at_the_edges(values):
    assert exact_mean(values) == math.fsum(values)


@pytest.mark.parametrize("kind", ["normal", "offset", "skewed"])
def test_running_centroid_does_not_drift(kind):
    """After 100,000 removals the running centroid is the recomputed one, to the last bit."""
    X = table(kind, 100_050, 2, seed=1)
    X[::1000] *= 1e12
    free = FreeRecords(X, keep_centroid=True)
    order = np.random.default_rng(2).permutation(len(X))
    for part in np.array_split(order[:100_000], 50):
        free.take(part)
    left = np.sort(order[100_000:])
    np.testing.assert_array_equal(free.remaining(), left)
    np.testing.assert_array_equal(free.centroid(), [math.fsum(X[left, j]) / 50 for j in range(2)])


@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 400),
    p=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
    gone=st.floats(0, 1),
)
@settings(max_examples=150)
def test_questions_to_the_free_records(kind, n, p, seed, gone):
    X = table(kind, n, p, seed)
    rng = np.random.default_rng(seed)
    free = FreeRecords(X, keep_centroid=True)
    out = rng.permutation(n)[: min(n - 1, int(gone * n))]
    for part in np.array_split(out, 3):
        free.take(part)
    left = sorted(set(range(n)) - set(out.tolist()))
    assert len(free) == len(left)
    assert free.remaining().tolist() == left
    rows = X.tolist()
    for point in (X[rng.integers(n)], free.centroid(), rng.standard_normal(p)):
        assert free.farthest(point) == reference.farthest(rows, left, point.tolist())
    if len(left) > 1:
        pairs = [(-reference.d2(rows[i], rows[j]), i, j) for i in left for j in left if i < j]
        assert free.farthest_pair() == min(pairs)[1]
    r = int(rng.choice(left))
    m = min(len(left), 5)
    others = [i for i in left if i != r]
    assert free.take_group(r, m).tolist() == [r, *reference.nearest(rows, others, rows[r], m - 1)]


def test_centroids_of_groups():
    X = table("skewed", 200, 3, seed=4)
    labels = np.random.default_rng(0).integers(-1, 5, 200)
    expected = [reference.centroid(X.tolist(), np.flatnonzero(labels == g).tolist()) for g in range(5)]
    np.testing.assert_array_equal(centroids(X, labels), expected)
    np.testing.assert_array_equal(centroid(X), reference.centroid(X.tolist(), range(200)))


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 12), p=st.integers(1, 5))
@settings(max_examples=60)
def test_growth_is_the_difference_of_the_sse(seed, size, p):
    """m / (m + 1) times the squared distance is SSE(G + x) - SSE(G), the paper's definition."""
    X = table("normal", size + 1, p, seed)
    members, x = list(range(size)), size
    c = np.array(reference.centroid(X.tolist(), members))
    by_formula = reference.d2(X[x], c) * (size / (size + 1))
    difference = reference.sse(X.tolist(), [*members, x]) - reference.sse(X.tolist(), members)
    assert by_formula == pytest.approx(difference, rel=1e-9, abs=1e-12)


def test_least_growth_looks_at_all_groups():
    rng = np.random.default_rng(1)
    centres, sizes = rng.standard_normal((150, 2)).round(1), rng.integers(3, 9, 150)
    shelf = growth.Shelf(
        values=np.empty((3, 2, 64)),
        group=np.empty((3, 64), np.int64),
        weight=np.empty((3, 64)),
        filled=np.zeros(3, np.int64),
        box=np.repeat([np.inf, -np.inf], 6).reshape(2, 2, 3),
    )
    growth.put_all(shelf, rng.permutation(150), centres, sizes)
    for q in rng.standard_normal((50, 2)).round(1):
        growths = [reference.d2(q, c) * (m / (m + 1)) for c, m in zip(centres, sizes.tolist(), strict=True)]
        assert growth.least_growth(shelf, 3, q) == (int(np.argmin(growths)), min(growths))


def test_sums_over_pairs():
    X = table("normal", 40, 3, seed=8)
    out = np.empty(40)
    distances_after(X, out)
    for i in range(40):
        expected = math.fsum(math.sqrt(reference.d2(X[i], X[j])) for j in range(i + 1, 40))
        assert out[i] == pytest.approx(expected)
