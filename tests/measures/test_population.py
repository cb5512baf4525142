"""Risk in the population: individual risk, k-map, prosecutor, journalist and marketer."""

import math

import numpy as np
import pytest

from coterie.measures.individual_risk import individual_risk
from coterie.measures.population import (
    PopulationSums,
    Sampling,
    population_of,
    population_risk,
    sums_of_sizes,
    sums_of_weights,
)
from coterie.measures.rising import log_rise, reciprocal_rise


def posterior_mean(f: int, p: float) -> float:
    """The sum of 1/h P(F = h) over all h, term by term, from the probabilities of the negative binomial."""
    h = np.arange(f, f + int(60 * (f + 10) / p), dtype=float)
    steps = np.log(h[:-1]) - np.log(h[:-1] - f + 1) + math.log1p(-p)
    probabilities = np.exp(f * math.log(p) + np.concatenate(([0.0], np.cumsum(steps))))
    assert math.fsum(probabilities) == pytest.approx(1.0, rel=1e-10)
    return math.fsum(probabilities / h)


@pytest.mark.parametrize("f", [1, 2, 3, 4, 10, 49, 50, 51, 120])
@pytest.mark.parametrize("p", [0.01, 0.05, 0.3, 0.4999, 0.5, 0.5001, 0.8, 0.999])
def test_individual_risk_is_the_mean_of_the_posterior(f, p):
    assert individual_risk([f], [f / p])[0] == pytest.approx(posterior_mean(f, p), rel=1e-10)


def test_individual_risk_by_the_closed_forms():
    # p = 0.1, p/q = 1/9, log(1/p) = 2.302585092994046
    # f = 1: 2.302585092994046 / 9                      = 0.255842788110450
    # f = 2: 1/9 - 2.302585092994046 / 81                = 0.082684134654394
    # f = 3: 1/18 - 1/81 + 2.302585092994046 / 729       = 0.046368429482845
    found = individual_risk([1, 2, 3], [10.0, 20.0, 30.0])
    assert found == pytest.approx([0.255842788110450, 0.082684134654394, 0.046368429482845], abs=1e-15)


def test_individual_risk_as_a_manual_prints_it():
    """Benschop, Machingauta, Welch: SDC Practice Guide, table 4.1: f, sum of weights, risk."""
    printed = [
        (2, 360, 0.0054),
        (1, 215, 0.0251),
        (2, 152, 0.0126),
        (1, 186, 0.0282),
        (1, 180, 0.0290),
        (2, 262, 0.0074),
    ]
    sizes, totals, risks = zip(*printed, strict=True)
    assert np.round(individual_risk(sizes, totals), 4).tolist() == list(risks)


def test_individual_risk_at_the_ends():
    # p = 1: the class is all there is, 1/f. Less than f in the population counts as f.
    assert individual_risk([1, 2, 7, 300], [1.0, 2.0, 7.0, 10.0]).tolist() == [1.0, 0.5, 1 / 7, 1 / 300]
    # p tiny: p/q log(1/p) for f = 1, about p / (f - 1) for others
    tiny = individual_risk([1, 2, 60], [1e200, 2e200, 60e200])
    assert tiny == pytest.approx([1e-200 * 200 * math.log(10), 1e-200, 1e-200 / 59], rel=1e-12)
    assert (np.diff(individual_risk([1] * 9, [10.0**e for e in range(9)])) < 0).all()


def test_the_measures_of_a_manual_by_hand():
    """The table of the manual, whose ten records have the weights 180 180 215 76 186 76 180 215 186 76."""
    classes = np.array([0, 0, 1, 2, 3, 2, 4, 5, 6, 6])
    weights = np.array([180, 180, 215, 76, 186, 76, 180, 215, 186, 76], float)
    # classes: f = 2 1 2 1 1 1 2, F = 360 215 152 186 180 215 262; n = 10, N = 1570, 7 classes; k = 3
    found = population_of(classes, weights, Sampling("weights", 1570.0), 3)
    assert (found.population_size, found.sampling_fraction, found.threshold) == (1570.0, 10 / 1570, 1 / 3)
    assert (found.prosecutor.records_at_risk, found.prosecutor.largest_risk) == (10, 1.0)
    assert found.prosecutor.success_share == 0.7
    assert (found.journalist.records_at_risk, found.journalist.largest_risk) == (0, 1 / 152)
    # 1/10 (2/360 + 1/215 + 2/152 + 1/186 + 1/180 + 1/215 + 2/262) = 0.0046581; classes / sum of F = 7 / 1570
    marketer = (2 / 360 + 2 / 215 + 2 / 152 + 1 / 186 + 1 / 180 + 2 / 262) / 10
    assert found.marketer.success_share == pytest.approx(marketer, rel=1e-14)
    assert marketer == pytest.approx(0.0046581, abs=5e-8)
    assert found.journalist.success_share == max(7 / 1570, marketer)
    # by the risks that the manual prints, to four digits: 2 (0.0054 + 0.0126 + 0.0074 + 0.0251) + 0.0282 + 0.0290
    assert found.individual.expected_reidentifications == pytest.approx(0.1582, abs=5e-4)
    assert found.individual.mean_risk == found.individual.expected_reidentifications / 10
    assert found.individual.largest_risk == pytest.approx(0.0290, abs=5e-5)
    assert found.individual.records_at_risk == 0
    # tau 1 = 2/215 + 1/186 + 1/180 = 0.02023; tau 2 = 2 0.0251 + 0.0282 + 0.0290
    assert found.individual.expected_unique == pytest.approx(2 / 215 + 1 / 186 + 1 / 180)
    assert found.individual.expected_unique_matches == pytest.approx(0.1074, abs=2e-4)
    assert (found.k_map.smallest, found.k_map.below_k) == (152.0, 0)


def test_a_fraction_is_a_weight_for_all():
    rng = np.random.default_rng(4)
    classes = np.unique(rng.zipf(1.5, 500).clip(max=300), return_inverse=True)[1]
    by_fraction = population_of(classes, None, Sampling("fraction", 2000.0, 0.25), 7)
    by_weights = population_of(classes, np.full(500, 4.0), Sampling("weights", 2000.0), 7)
    for name in ("prosecutor", "journalist", "marketer", "individual", "k_map", "uniques"):
        one, other = getattr(by_fraction, name), getattr(by_weights, name)
        for key in vars(one):
            if isinstance(getattr(one, key), float):
                assert getattr(one, key) == pytest.approx(getattr(other, key), rel=1e-12)
            else:
                assert getattr(one, key) == getattr(other, key)
    # a class of f has 4 f in the population, which is below 7 for f = 1 alone
    assert by_fraction.k_map.below_k == by_fraction.journalist.records_at_risk == np.sum(np.bincount(classes) == 1)


def test_at_the_threshold_is_not_above_it():
    # 3 / 0.1 and 0.3 / 0.1 are no whole numbers in floating point; a class of exactly k is not below k
    for size, fraction, k in [(3, 0.1, 30), (1, 0.05, 20), (7, 0.7, 10), (1, 0.1, 10)]:
        assert sums_of_sizes({size: 1}, fraction, k).below_k == 0
        assert sums_of_sizes({size: 1}, fraction, k + 1).below_k == size
    assert sums_of_weights(np.zeros(3, int), np.full(3, 0.1) * 100 / 3, 10).below_k == 0
    # a class that is whole in the table: risk 1/f, not above 1/k at f = k
    assert sums_of_weights(np.zeros(3, int), np.full(3, 0.5), 3).above == 0
    assert sums_of_weights(np.zeros(3, int), np.full(3, 0.5), 4).above == 3


def test_sums_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(1)
    classes, weights = rng.integers(0, 90, 400), rng.lognormal(2, 1, 400)
    halves = [classes < 40, classes >= 40]  # whole classes
    parts = sum((sums_of_weights(classes[half], weights[half], 5) for half in halves), PopulationSums())
    whole = sums_of_weights(classes, weights, 5)
    assert vars(parts) == pytest.approx(vars(whole), rel=1e-12)
    assert parts.below_k == whole.below_k
    assert parts.above == whole.above


def test_nothing_is_said_of_no_records():
    assert population_risk({}, PopulationSums(), Sampling("fraction", 0.0, 0.5), 5) is None


@pytest.mark.parametrize("m", [0, 1, 5, 15, 16, 17, 100, 5000])
@pytest.mark.parametrize("x", [1e-3, 0.7, 3.0, 40.5, 1e6, 1e12])
def test_sums_over_a_rise(x, m):
    terms = [x + i for i in range(m)]
    assert float(log_rise(x, m)) == pytest.approx(math.fsum(map(math.log, terms)), rel=1e-13, abs=1e-13)
    assert float(reciprocal_rise(x, m)) == pytest.approx(math.fsum(1 / t for t in terms), rel=1e-12, abs=1e-25)
