"""Seeded simulators of the papers' simulated sets."""

from __future__ import annotations

import numpy as np

from ..errors import CoterieError
from .dataset import MDAV_STAR, MU_APPROX, SURVEY, Dataset


def make_simu(seed: int = 0) -> Dataset:
    """Simulate SimU: 1000 records, 10 independent uniform attributes.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        1000 x 10.

    Notes
    -----
    The paper doesn't state the range: here it is [0, 1), which standardizing makes irrelevant.

    References
    ----------
    Thaeter, Reischuk 2018, doi:10.18420/sicherheit2018_05, section 5.
    """
    X = np.random.default_rng(seed).uniform(size=(1000, 10))
    return Dataset("simu", X, _numbered(10), f"{MDAV_STAR}, section 5")


def make_simc(seed: int = 0) -> Dataset:
    """Simulate SimC: 100 tight clusters of 4 to 21 records, and a third as many scattered records.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        About 1667 x 10; the number of records depends on the seed.

    Notes
    -----
    Left open by the paper, and assumed here: attributes range over [0, 1); a cluster's size is a
    uniform integer, 4 and 21 included; "at most 0.5 %" is of an attribute's range, so deviations are
    uniform in [-0.005, 0.005], and a record may leave [0, 1) by that much; the centres are no
    records; x/3 is rounded down. Clusters come one after another, then the scattered records.

    References
    ----------
    Thaeter, Reischuk 2018, doi:10.18420/sicherheit2018_05, section 5.
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(size=(100, 10))
    clusters = np.repeat(centres, rng.integers(4, 21, size=100, endpoint=True), axis=0)
    clusters += rng.uniform(-0.005, 0.005, size=clusters.shape)
    X = np.vstack([clusters, rng.uniform(size=(len(clusters) // 3, 10))])
    return Dataset("simc", X, _numbered(10), f"{MDAV_STAR}, section 5")


def make_scattered(seed: int = 0) -> Dataset:
    """Simulate "Scattered": 1000 records, 2 attributes, no natural clusters.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        1000 x 2, values in [-10000, 10000].

    Notes
    -----
    "Simple random sampling" is taken to mean independent uniform real numbers.

    References
    ----------
    Domingo-Ferrer, Solanas, Martínez-Ballesté 2006, IEEE Granular Computing, section VI.
    """
    X = np.random.default_rng(seed).uniform(-10000, 10000, size=(1000, 2))
    return Dataset("scattered", X, _numbered(2), f"{SURVEY}, section VI")


def make_clustered(seed: int = 0, spread: float = 0.01) -> Dataset:
    """Simulate "Clustered": 1000 records, 2 attributes, natural clusters of 3 to 5 records.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    spread : float
        The most that a record deviates from its cluster's centre in an attribute, as a fraction of the
        range (20000); between 0 and 0.5.

    Returns
    -------
    Dataset
        1000 x 2, values in [-10000, 10000].

    Notes
    -----
    Left open by the paper, and assumed here: sizes 3, 4 and 5 are equally likely, but for the last
    clusters, which make the total 1000; centres and deviations are uniform, and centres keep so far
    from the border that no record leaves the range. The spread isn't stated either: with 0.01 (200
    units) all figures of table I (MD, MDAV, V-MDAV with gamma 1.1) lie within the range of 25 seeds,
    with 0.002 or 0.0125 they don't. Clusters come one after another.

    References
    ----------
    Domingo-Ferrer, Solanas, Martínez-Ballesté 2006, IEEE Granular Computing, section VI.
    """
    if not 0 <= spread <= 0.5:
        raise CoterieError("spread must be between 0 and 0.5.", repr(spread))
    rng = np.random.default_rng(seed)
    sizes = _cluster_sizes(rng, 1000)
    reach = 20000 * spread
    centres = rng.uniform(-10000 + reach, 10000 - reach, size=(len(sizes), 2))
    X = np.repeat(centres, sizes, axis=0) + rng.uniform(-reach, reach, size=(1000, 2))
    return Dataset("clustered", X, _numbered(2), f"{SURVEY}, section VI")


def make_normal16(seed: int = 0) -> Dataset:
    """Simulate a non-clustered set small enough to be solved exactly: N(0, 1) throughout.

    Parameters
    ----------
    seed : int
        Seed of the generator. The paper averages over five sets.

    Returns
    -------
    Dataset
        16 x 13.

    Notes
    -----
    Attributes are taken to be independent, here and in `make_clusters5` and `make_clusters4`.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, section 6, table 6.
    """
    return _normal_clusters("normal-16", seed, sizes=(16,), means=(0,), table=6)


def make_clusters5(seed: int = 0) -> Dataset:
    """Simulate five clusters of 2, 2, 3, 4 and 5 records around 0, 3, 6, 9 and 12.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        16 x 13, clusters one after another.

    Notes
    -----
    Every attribute of a cluster is N(mean, 1). The size of the printed SSE (109.68 for k = 2; the
    clusters alone have about 13 (16 - 5) = 143) shows that the paper did not standardize this set.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, section 6, table 7.
    """
    return _normal_clusters("clusters-5", seed, sizes=(2, 2, 3, 4, 5), means=(0, 3, 6, 9, 12), table=7)


def make_clusters4(seed: int = 0) -> Dataset:
    """Simulate four clusters of 3, 4, 4 and 5 records around 0, 4, 8 and 12.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        16 x 13, clusters one after another.

    Notes
    -----
    Every attribute of a cluster is N(mean, 1); not standardized, as `make_clusters5`.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, section 6, table 8.
    """
    return _normal_clusters("clusters-4", seed, sizes=(3, 4, 4, 5), means=(0, 4, 8, 12), table=8)


def _normal_clusters(name: str, seed: int, sizes: tuple[int, ...], means: tuple[int, ...], table: int) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(np.repeat(means, sizes)[:, np.newaxis], 1, size=(sum(sizes), 13))
    return Dataset(name, X, _numbered(13), f"{MU_APPROX}, table {table}")


def _cluster_sizes(rng: np.random.Generator, n: int) -> list[int]:
    """Sizes from 3 to 5 that sum to n: what is left is always nothing or enough for a cluster."""
    sizes: list[int] = []
    while n:
        size = int(rng.choice([size for size in (3, 4, 5) if n == size or n - size >= 3]))
        sizes.append(size)
        n -= size
    return sizes


def _numbered(p: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(1, p + 1))
