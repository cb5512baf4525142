"""Population uniques by Pitman, Zayatz and SNB, and which of them is taken."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from coterie.measures.superpopulation import pitman, pitman_fit, population_uniques, shlosser, snb, snb_fit, zayatz

SIZES = {1: 40, 2: 12, 3: 6, 5: 3, 9: 1}  # 40 + 24 + 18 + 15 + 9 = 106 records in 62 classes


def drawn(population, fraction, rng):
    """How many classes of a sample have each size."""
    found = rng.binomial(population, fraction)
    return dict(Counter(found[found > 0].tolist()))


def test_zayatz_by_hand():
    # N = 10, n = 5, three classes of size 1 and one of size 2
    # h_1 = C(9,4)/C(10,5) = 126/252 = 1/2; h_2 = 2 C(8,4)/C(10,5) = 140/252 = 5/9
    # P = 3/4 1/2 / (3/4 1/2 + 1/4 5/9) = 3/8 / (37/72) = 27/37; uniques = 3 27/37 10/5 = 162/37
    assert zayatz({1: 3, 2: 1}, 10).records == pytest.approx(162 / 37, rel=1e-12)


def test_zayatz_by_hypergeometric_probabilities():
    total, n = 400, 106
    h = {j: j * math.comb(total - j, n - 1) / math.comb(total, n) for j in SIZES}
    expected = 40 * 40 * h[1] / sum(often * h[j] for j, often in SIZES.items()) * total / n
    assert zayatz(SIZES, total).records == pytest.approx(expected, rel=1e-12)
    # a class that is larger than what was not drawn can't have been drawn once: 2 of 3 without the third are 1 and 2
    assert zayatz({1: 3, 5: 1}, 9).records == pytest.approx(3 * 9 / 8)


def test_zayatz_where_numbers_are_large():
    # N = 1e9, n = 1e6: binomial probabilities are those of the hypergeometric, but for parts in a million
    sizes = {1: 500_000, 2: 100_000, 100: 3_000}
    f = 1e-3
    h = {j: j * f * (1 - f) ** (j - 1) for j in sizes}
    expected = 500_000**2 * h[1] / sum(often * h[j] for j, often in sizes.items()) / f
    assert zayatz(sizes, 1e9).records == pytest.approx(expected, rel=1e-4)


def test_shlosser_by_hand():
    # q = 1/2, s_1 = 4, s_2 = 2: u = 6
    # A = 4 1/4 + 2 2 1/4 3/4 = 7/4; B = 4 1/2 1/2 + 2 1/4 (9/4 - 1) = 13/8
    # C = 4/2 + 2/4 = 5/2; D = 4 1/2 + 2 2 1/2 1/2 = 3;  6 + 4 (14/13) (5/6)^2 = 6 + 350/117
    assert shlosser({1: 4, 2: 2}, 0.5) == pytest.approx(6 + 350 / 117, rel=1e-14)


@pytest.mark.parametrize("population_size", [150.0, 300.0, 700.0])
def test_snb_solves_its_equations(population_size):
    """Of the fitted model, the classes of sizes 1 and 2 in the sample are as observed, summed up term by term."""
    f = 106 / population_size
    classes, a, b = snb_fit(SIZES, population_size)
    assert classes == shlosser(SIZES, f)
    ones, twos, probability = 0.0, 0.0, b**a  # of a class of size 1 in the population
    assert snb(SIZES, population_size).records == pytest.approx(classes * probability, rel=1e-12)
    for size in range(1, 20_000):
        ones += probability * size * f * (1 - f) ** (size - 1)
        twos += probability * size * (size - 1) / 2 * f * f * (1 - f) ** (size - 2)
        probability *= (1 - b) * (a + size - 1) / size
    assert (classes * ones, classes * twos) == pytest.approx((40, 12), rel=1e-9)


def test_snb_where_it_fits_nothing():
    assert "unique" in snb({2: 5}, 100).reason
    assert "two records" in snb({1: 5, 3: 2}, 100).reason
    for sizes, size in (({1: 10_000, 2: 1}, 10_500.0), ({1: 3, 2: 50}, 110.0)):
        found = snb(sizes, size)
        assert found.records is None or 0 <= found.records <= size
        assert (found.records is None) == (found.reason is not None)


def log_likelihood(sizes, theta, alpha):
    """As in the docstring of `pitman`, term by term."""
    n, u = sum(j * s for j, s in sizes.items()), sum(sizes.values())
    classes = math.fsum(math.log(theta + i * alpha) for i in range(1, u))
    records = math.fsum(math.log(theta + i) for i in range(1, n))
    return classes - records + math.fsum(s * math.log(i - alpha) for j, s in sizes.items() for i in range(1, j))


@pytest.mark.parametrize(
    "sizes", [SIZES, {1: 300, 2: 40, 3: 9, 40: 2}, {1: 12, 2: 9, 3: 7, 4: 5, 6: 3, 9: 2}, {1: 2, 50: 4}]
)
def test_pitman_has_the_largest_likelihood(sizes):
    theta, alpha = pitman_fit(sizes)
    best = log_likelihood(sizes, theta, alpha)
    for factor in (0.9, 0.99, 0.999, 1.001, 1.01, 1.1):
        assert log_likelihood(sizes, theta * factor, alpha) < best
    for step in (-0.03, -0.003, 0.003, 0.03):
        aside = alpha + step
        if aside < 1 and theta > max(-aside, -aside * (sum(sizes.values()) - 1)):
            assert log_likelihood(sizes, theta, aside) < best
            for factor in (0.95, 1.05):
                assert log_likelihood(sizes, theta * factor, aside) < best


def test_pitman_uniques_by_hand():
    theta, alpha = pitman_fit(SIZES)
    # N = 300: N prod (theta + alpha + i) / (theta + 1 + i) over i = 0 ... N - 2
    share = math.prod((theta + alpha + i) / (theta + 1 + i) for i in range(299))
    assert pitman(SIZES, 300.0).records == pytest.approx(300 * share, rel=1e-10)
    # the limit for a large N, which ARX takes
    limit = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * 1e9**alpha
    assert pitman(SIZES, 1e9).records == pytest.approx(limit, rel=1e-4)


def test_where_pitman_is_not_defined():
    assert "all records" in pitman({1: 50}, 1000).reason
    assert "no record" in pitman({3: 50}, 1000).reason
    even = dict(Counter(np.random.default_rng(0).multinomial(3000, [1 / 1000] * 1000).tolist()))
    even.pop(0, None)
    found = pitman(even, 30_000)
    assert found.records is None or found.records < 10  # classes of about 30 each: none is unique


def test_the_estimate_that_is_selected():
    for size, name in ((106 / 0.1, "pitman"), (106 / 0.05, "pitman"), (106 / 0.11, None), (106 / 0.6, None)):
        found = population_uniques(SIZES, size)
        if name is None:
            less = found.zayatz.records < found.snb.records
            name = "zayatz" if less else "snb"
            assert found.records == min(found.zayatz.records, found.snb.records)
        assert found.selected == name
        assert found.records == getattr(found, name).records
        assert found.share == found.records / size
    # where the model of the rule is not defined, Zayatz
    assert population_uniques({1: 50}, 5000).selected == "zayatz"
    assert population_uniques({1: 50}, 100).selected == "zayatz"
    none = population_uniques({3: 50, 4: 2}, 5000)
    assert (none.selected, none.records, none.zayatz.records, none.pitman.records) == ("zayatz", 0.0, 0.0, None)
    assert population_uniques({}, 100).records is None


def test_estimates_beside_populations_that_are_known():
    """A small version of benchmarks/population.py: the mean of ten samples, as a multiple of the truth."""
    rng = np.random.default_rng(7)
    p = 1 / np.arange(1, 30_001)
    zipf = rng.multinomial(20_000, p / p.sum())
    uneven = rng.lognormal(0, 3, 20_000)
    for population, bounds in (
        (zipf, {0.05: (1.0, 1.6), 0.3: (0.9, 1.3)}),
        (rng.multinomial(20_000, uneven / uneven.sum()), {0.05: (1.1, 2.2), 0.3: (0.85, 1.3)}),
    ):
        truth = np.count_nonzero(population == 1)
        for fraction, (low, high) in bounds.items():
            found = [population_uniques(drawn(population, fraction, rng), 20_000).records for _ in range(10)]
            assert low < np.mean(found) / truth < high


def test_estimates_stay_in_bounds_on_odd_classes():
    rng = np.random.default_rng(3)
    for _ in range(12):
        sizes = {int(j): int(rng.integers(1, 50)) for j in rng.choice([1, 1, 2, 3, 4, 10, 300, 5000], 4)}
        n = sum(j * s for j, s in sizes.items())
        for size in (n + 1.0, n * 1.5, n * 40.0):
            found = population_uniques(sizes, size)
            for one in (found.pitman, found.zayatz, found.snb):
                assert (one.records is None) == (one.reason is not None)
                assert one.records is None or 0 <= one.records <= size


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fraction", [1e-13, 1e-6, 0.5, 0.9999999999, 1 - 1e-16])
def test_estimates_at_the_ends(fraction):
    for sizes in (
        SIZES,
        {1: 100_000, 2: 1},
        {1: 1},
        {2: 1},
        {1: 1, 2: 1},
        {10**8: 2, 1: 3, 2: 2},
        {1: 10**7, 2: 10**6},
    ):
        size = sum(j * s for j, s in sizes.items()) / fraction
        found = population_uniques(sizes, size)
        for one in (found.pitman, found.zayatz, found.snb):
            assert one.records is None or 0 <= one.records <= size


def test_more_uniques_with_more_sample_uniques():
    found = [population_uniques({1: ones, 2: 20, 3: 10, 6: 5}, 2000).records for ones in (10, 20, 40, 80)]
    assert all(a < b for a, b in pairwise(found))
