"""The simulated data sets: they depend on the seed alone, and are spread as the papers say."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import datasets
from coterie.datasets import DATASETS
from test_casc import message_of

SIMULATED = {
    "simu": (1000, 10),
    "simc": (None, 10),
    "scattered": (1000, 2),
    "clustered": (1000, 2),
    "normal-16": (16, 13),
    "clusters-5": (16, 13),
    "clusters-4": (16, 13),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_sets_depend_on_the_seed_alone(name):
    make, (n, p) = DATASETS[name], SIMULATED[name]
    first = make()
    assert first.X.shape == (n or len(first.X), p)
    assert len(set(first.columns)) == p
    np.testing.assert_array_equal(make(seed=0).X, first.X)
    np.testing.assert_array_equal(make(5).X, make(5).X)
    assert not np.isin(make(5).X, first.X).any()


def test_simu_is_uniform():
    X = datasets.make_simu().X
    assert 0 <= X.min() < 0.01
    assert 0.99 < X.max() < 1
    # 1000 records: standard errors of mean and variance are about 0.009 and 0.0024
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=0.04)
    np.testing.assert_allclose(X.var(axis=0), 1 / 12, atol=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_simc_has_100_clusters_then_a_third_scattered(seed):
    X = datasets.make_simc(seed).X
    # records of one cluster differ by at most 1 % in all attributes, others practically never do
    steps = np.abs(np.diff(X, axis=0)).max(axis=1)
    runs = np.diff(np.flatnonzero(np.r_[True, steps > 0.01, True]))
    sizes, scattered = runs[:100], runs[100:]
    assert sizes.min() == 4
    assert sizes.max() == 21
    assert set(scattered) == {1}
    assert len(scattered) == sizes.sum() // 3
    assert len(X) == sizes.sum() + len(scattered)
    assert steps[steps <= 0.01].max() > 0.009  # and they use that room
    assert X.min() >= -0.005
    assert X.max() <= 1.005


@pytest.mark.parametrize("make", [datasets.make_scattered, datasets.make_clustered])
def test_survey_sets_fill_their_range(make):
    for seed in range(5):
        X = make(seed).X
        assert -10000 <= X.min() < -9500
        assert 9500 < X.max() <= 10000


@pytest.mark.parametrize("seed", range(5))
def test_clusters_have_3_to_5_records(seed):
    # without spread, a cluster is one point
    X = datasets.make_clustered(seed, spread=0).X
    sizes = np.unique(X, axis=0, return_counts=True)[1]
    assert set(sizes) == {3, 4, 5}
    assert sizes.sum() == 1000
    assert np.bincount(sizes)[3:].min() > 50


def test_cluster_sizes_reach_every_total():
    rng = np.random.default_rng(0)
    for n in range(3, 40):
        sizes = datasets.simulated._cluster_sizes(rng, n)
        assert sum(sizes) == n
        assert set(sizes) <= {3, 4, 5}


@pytest.mark.parametrize("spread", [0.001, 0.01])
def test_spread_bounds_the_deviation(spread):
    sizes = datasets.simulated._cluster_sizes(np.random.default_rng(3), 1000)
    X = datasets.make_clustered(3, spread).X
    widths = [np.ptp(cluster, axis=0).max() for cluster in np.split(X, np.cumsum(sizes)[:-1])]
    assert 0.8 * 40000 * spread < max(widths) <= 40000 * spread


def test_default_spread():
    np.testing.assert_array_equal(datasets.make_clustered(1).X, datasets.make_clustered(1, 0.01).X)


@pytest.mark.parametrize("spread", [-0.01, 0.51, float("nan")])
def test_impossible_spread(spread):
    assert "between 0 and 0.5" in message_of(datasets.make_clustered, 0, spread)


@pytest.mark.parametrize(
    ("make", "sizes", "step"),
    [
        (datasets.make_normal16, [16], 0),
        (datasets.make_clusters5, [2, 2, 3, 4, 5], 3),
        (datasets.make_clusters4, [3, 4, 4, 5], 4),
    ],
)
def test_normal_clusters(make, sizes, step):
    means = np.repeat(step * np.arange(len(sizes)), sizes)[:, np.newaxis]
    residuals = np.concatenate([make(seed).X - means for seed in range(50)])
    # 50 seeds x 13 attributes: the mean of a row's residuals has a standard error of 0.04
    np.testing.assert_allclose(residuals.reshape(50, 16, 13).mean(axis=(0, 2)), 0, atol=0.16)
    assert residuals.var() == pytest.approx(1, abs=0.05)
