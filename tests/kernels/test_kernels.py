"""Kernels against plain Python: exact sums, questions to the free records, growth of groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from coterie.algorithms import free as free_records
from coterie.algorithms.free import FreeRecords
from coterie.algorithms.groups import centroid, centroids
from coterie.algorithms.mdav_star import empty_shelf
from coterie.kernels import exact_sum, growth, tiles
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


def scanned(X, left, point):
    """Squared distances of these records, summed column after column."""
    d2 = np.zeros(len(left))
    for j in range(X.shape[1]):
        d2 += (X[left, j] - point[j]) ** 2
    return d2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loose", [0.25, -1.0], ids=["tree", "tiles alone"])
@given(n=st.integers(2500, 9000), p=st.integers(1, 14), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=4)
def test_questions_where_the_tree_decides(kind, loose, n, p, seed):
    """Nearest and farthest as a plain scan finds them, while records leave at random and around a point."""
    X, rng = table(kind, n, p, seed), np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(free_records, "LOOSE", loose)
        free = FreeRecords(X, keep_centroid=True)
        assert (free.tiles.tree.levels > 1) == (loose > 0)
        for gone in (0, n // 10, n // 5, n // 2, n - 70):
            near_first = rng.permutation(free.remaining())
            if gone > n // 4:
                near_first = near_first[np.argsort(scanned(X, near_first, X[0]))]
            free.take(near_first[: gone - (n - len(free))])
            left = free.remaining()
            for point in (X[rng.integers(n)], X[rng.choice(left)], free.centroid(), rng.standard_normal(p)):
                assert free.farthest(point) == left[np.argmax(scanned(X, left, point))]
                near_d2, near = np.empty(7), np.empty(7, np.int64)
                tiles.nearest(free.tiles, point, near_d2, near)
                np.testing.assert_array_equal(near, left[np.argsort(scanned(X, left, point), kind="stable")[:7]])
            tiles.anchor_at(free.tiles, rng.standard_normal(p))
            r = rng.choice(left)
            others = left[left != r]
            expected = others[np.argsort(scanned(X, others, X[r]), kind="stable")[:4]]
            np.testing.assert_array_equal(free.take_group(r, 5), [r, *expected])


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


@pytest.mark.parametrize(("groups", "cells"), [(150, 3), (4000, 500)])
def test_least_growth_looks_at_all_groups(groups, cells):
    """One cell holds more than a tile; others are empty; the tree has one level, and two."""
    rng = np.random.default_rng(1)
    centres, sizes = rng.standard_normal((groups, 2)).round(1), rng.integers(3, 9, groups)
    shelf = empty_shelf(cells, groups, 2, 0.25)
    cell = np.minimum(rng.integers(cells, size=groups), rng.integers(cells, size=groups))
    for g in rng.permutation(groups):
        place = growth.put(shelf, cell[g], -1, g, rng.standard_normal(2), 3)
        assert growth.put(shelf, cell[g], place, g, centres[g], sizes[g]) == place
    for q in [*rng.standard_normal((50, 2)).round(1), *centres[:50]]:
        growths = [reference.d2(q, c) * (m / (m + 1)) for c, m in zip(centres, sizes.tolist(), strict=True)]
        expected = (int(np.argmin(growths)), min(growths))
        assert growth.least_growth(shelf, 3, q, -1) == expected
        assert growth.least_growth(shelf, 3, q, int(rng.integers(cells))) == expected


def test_sums_over_pairs():
    X = table("normal", 40, 3, seed=8)
    out = np.empty(40)
    distances_after(X, out)
    for i in range(40):
        expected = math.fsum(math.sqrt(reference.d2(X[i], X[j])) for j in range(i + 1, 40))
        assert out[i] == pytest.approx(expected)
