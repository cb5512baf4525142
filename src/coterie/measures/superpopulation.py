"""How many records of the population are unique, estimated from how many classes of the sample have each size.

All of these take the table for a random sample: each record of the population is in it with the same probability.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..facts.population_facts import Estimate, PopulationUniques
from .rising import log_rise, reciprocal_rise

Floats = NDArray[np.float64]

LARGEST_FOR_PITMAN = 0.1  # sampling fraction: Dankar et al. 2012
_NONE_UNIQUE = "no record of the table is unique."


def population_uniques(sizes: Mapping[int, int], population_size: float) -> PopulationUniques:
    """The three estimates, and the one that the rule of Dankar, El Emam, Neisa and Roffey selects.

    Doi 10.1186/1472-6947-12-66: Pitman's up to a sampling fraction of 0.1; above it, the smaller of Zayatz' and SNB's.
    Where the estimate of the rule is not defined, Zayatz' is taken. So does ARX, and it says 0 if no record of the
    table is unique.
    """
    records = sum(size * often for size, often in sizes.items())
    if records == 0:
        nothing = Estimate(None, "the table has no records.")
        return PopulationUniques(nothing, nothing, nothing, None, None, None)
    found = {
        "pitman": pitman(sizes, population_size),
        "zayatz": zayatz(sizes, population_size),
        "snb": snb(sizes, population_size),
    }
    name = _selected(found, records / population_size)
    chosen = found[name].records
    share = None if chosen is None else chosen / population_size
    return PopulationUniques(found["pitman"], found["zayatz"], found["snb"], name, chosen, share)


def _selected(found: Mapping[str, Estimate], fraction: float) -> str:
    by_pitman, by_zayatz, by_snb = (found[name].records for name in ("pitman", "zayatz", "snb"))
    if fraction <= LARGEST_FOR_PITMAN * (1 + 1e-9):  # as it is said, not as it is rounded
        return "zayatz" if by_pitman is None else "pitman"
    if by_snb is None or by_zayatz is None or by_zayatz < by_snb:
        return "zayatz"
    return "snb"


def zayatz(sizes: Mapping[int, int], population_size: float) -> Estimate:
    """The estimate of Zayatz 1991 (Bureau of the Census, SRD Research Report 91/08).

    A class of size 1 in the sample comes from one of size j in the population with a probability that is proportional
    to p_j h_j, where p_j is the share of classes of size j, taken from the sample, and h_j the hypergeometric
    probability that exactly one of j records is drawn. So of the s sample uniques, s p_1 h_1 / sum p_j h_j are unique
    in the population, which has N / n times as many.
    """
    alone = sizes.get(1, 0)
    if alone == 0:
        return Estimate(0.0)
    size = np.array(sorted(sizes), np.float64)
    often = np.array([sizes[s] for s in sorted(sizes)], np.float64)
    records = float(size @ often)
    rest = population_size - records  # those that were not drawn
    possible = size - 1 <= rest
    drawn = np.zeros(len(size))  # h_j, but for the factor n / N that all have
    m = size[possible] - 1
    drawn[possible] = size[possible] * np.exp(log_rise(rest - m + 1.0, m) - log_rise(population_size - m, m))
    unique_there = alone / float(often @ drawn)
    return Estimate(min(alone * unique_there * population_size / records, population_size))


def shlosser(sizes: Mapping[int, int], fraction: float) -> float | None:
    """How many classes the population has: the modified estimator of Shlosser, D_Sh3 of Haas and Stokes 1998.

    Doi 10.1080/01621459.1998.10473807. With u classes in the sample, s_i of them of size i, and sampling fraction q:

        u + s_1 A / B (C / D)^2, where A = sum i q^2 (1-q^2)^(i-1) s_i, B = sum (1-q)^i ((1+q)^i - 1) s_i,
        C = sum (1-q)^i s_i and D = sum i q (1-q)^(i-1) s_i
    """
    i = np.array(sorted(sizes), np.float64)
    s = np.array([sizes[size] for size in sorted(sizes)], np.float64)
    q = fraction
    kept, both = np.exp(i * np.log1p(-q)), np.exp(i * np.log1p(-q * q))
    upper = float(np.sum(i * q * q / (1 - q * q) * both * s))
    lower = -float(np.sum(both * np.expm1(-i * np.log1p(q)) * s))
    once = float(np.sum(i * q / (1 - q) * kept * s))
    if lower <= 0 or once <= 0:
        return None
    return float(s.sum()) + sizes.get(1, 0) * upper / lower * (float(np.sum(kept * s)) / once) ** 2


def snb(sizes: Mapping[int, int], population_size: float) -> Estimate:
    """The slide negative binomial estimate of Chen and Keller-McNulty 1998 (Journal of Official Statistics 14, 79-95).

    The size of a class of the population is 1 and a negative binomial number: its generating function is
    G(s) = s (b / (1 - (1-b) s))^a. Of the sample, it is G(1 - f + f s), with sampling fraction f. So with K classes,
    K f G'(1-f) are expected to have size 1, and K f^2 G''(1-f) / 2 size 2. a and b are those for which these are as
    observed, with K by `shlosser`; K b^a records are then unique.

    With D = (1-f)(1-b), the ratio of the two equations is a quadratic equation in a for each b, with one positive root.
    What is left is one equation in b, whose left side grows with b.
    """
    fitted = snb_fit(sizes, population_size)
    if isinstance(fitted, str):
        return Estimate(None, fitted)
    classes, a, b = fitted
    return Estimate(float(classes * np.exp(a * np.log(b))))


def snb_fit(sizes: Mapping[int, int], population_size: float) -> tuple[float, float, float] | str:
    """K, a and b; why there are none, otherwise."""
    one, two = sizes.get(1, 0), sizes.get(2, 0)
    if one == 0:
        return _NONE_UNIQUE
    if two == 0:
        return "no class has two records, which the model needs."
    f = sum(size * often for size, often in sizes.items()) / population_size
    classes = shlosser(sizes, f)
    if classes is None or not classes < population_size:
        return "the number of classes in the population can't be estimated."
    ratio, aim = 2.0 * two / (f * one), np.log(one / (classes * f))
    low, high = -690.0, 36.0  # of log(b / (1 - b))
    if _snb_log_ones(high, ratio, f)[0] < aim:
        return "no parameters of the model fit the classes of sizes 1 and 2: there are too many uniques."
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _snb_log_ones(middle, ratio, f)[0] < aim else (low, middle)
    return classes, _snb_log_ones(high, ratio, f)[1], float(1.0 / (1.0 + np.exp(-high)))


def _snb_log_ones(logit: float, ratio: float, f: float) -> tuple[float, float]:
    """log of G'(1-f), with the a that gives the ratio of classes of sizes 2 and 1; and this a."""
    b, q = 1.0 / (1.0 + np.exp(-logit)), 1.0 / (1.0 + np.exp(logit))  # q = 1 - b
    d = (1 - f) * q
    # a q (2 + (a-1) d) = ratio (1-d) (1 + (a-1) d)
    second, first, zero = q * d, q * (2 - d) - ratio * (1 - d) * d, -ratio * (1 - d) ** 2
    root = np.sqrt(first * first - 4 * second * zero)
    a = (root - first) / (2 * second) if first < 0 else -2 * zero / (first + root)
    log_b = np.log1p(-q) if q < 0.5 else np.log(b)
    power = a * (log_b - np.log1p(-d))
    return float(power + np.log1p((a - 1) * d) - np.log1p(-d)), float(a)


_LEAST_ALPHA = -1000.0  # from there on, all classes of the population are about equally frequent
_ALPHAS = np.concatenate(
    (-np.geomspace(-_LEAST_ALPHA, 1e-3, 30), np.linspace(0.0, 0.9, 19), 1.0 - np.geomspace(0.09, 1e-6, 12))
)
_STEPS = 32


def pitman(sizes: Mapping[int, int], population_size: float) -> Estimate:
    """The estimate by Pitman's sampling formula: Hoshino 2001 (Journal of Official Statistics 17, 499-520).

    theta and alpha are those of the largest likelihood of the sample's classes,

        sum log(theta + i alpha), i < u  -  sum log(theta + i), i < n  +  sum s_j sum log(i - alpha), i < j

    and in a population of N, N (theta+alpha)(theta+alpha+1)...(theta+alpha+N-2) / ((theta+1)...(theta+N-1)) records
    are expected to be unique. (ARX takes the limit of this for a large N, gamma(theta+1) / gamma(theta+alpha) N^alpha.)
    """
    fitted = pitman_fit(sizes)
    if isinstance(fitted, str):
        return Estimate(None, fitted)
    theta, alpha = fitted
    rest = max(0, round(population_size) - 1)
    log_share = float(log_rise(theta + alpha, rest) - log_rise(theta + 1.0, rest))
    return Estimate(float(population_size * np.exp(min(0.0, log_share))))


def pitman_fit(sizes: Mapping[int, int]) -> tuple[float, float] | str:
    """theta and alpha of the largest likelihood; why there are none, otherwise.

    For each alpha the best theta, by bisection; then alpha between the two at which the slope changes its sign.
    """
    likelihood = _Pitman(sizes)
    if sizes.get(1, 0) == 0:
        return _NONE_UNIQUE
    if likelihood.classes == likelihood.records:
        return "all records of the table are unique."
    alphas = _ALPHAS
    for _ in range(9):
        thetas = likelihood.best_thetas(alphas)
        slopes = likelihood.slopes(thetas, alphas)[1]
        tops = np.flatnonzero((slopes[:-1] > 0) & (slopes[1:] <= 0))
        if len(tops) == 0:
            even = "the classes are more even than the model can be."
            return even if slopes[0] <= 0 else "the likelihood has no maximum: nearly all records are unique."
        at = max(tops.tolist(), key=lambda j: float(likelihood.logs(thetas, alphas)[j]))
        alphas = np.linspace(alphas[at], alphas[at + 1], _STEPS + 1)
    middle = alphas[_STEPS // 2 : _STEPS // 2 + 1]
    return float(likelihood.best_thetas(middle)[0]), float(middle[0])


class _Pitman:
    """The likelihood of Pitman's sampling formula, at several alphas at once, each with a theta of its own."""

    def __init__(self, sizes: Mapping[int, int]) -> None:
        self._sizes = np.array(sorted(sizes), np.float64)
        self._often = np.array([sizes[size] for size in sorted(sizes)], np.float64)
        self.classes = float(self._often.sum())
        self.records = float(self._sizes @ self._often)

    def best_thetas(self, alphas: Floats) -> Floats:
        """For each alpha, the theta at which the likelihood stops to grow."""
        low, high = np.full(len(alphas), -60.0), np.full(len(alphas), 60.0)
        for _ in range(90):
            middle = (low + high) / 2
            grows = self.slopes(self._theta(middle, alphas), alphas, theta_alone=True)[0] > 0
            low, high = np.where(grows, middle, low), np.where(grows, high, middle)
        return self._theta(low, alphas)

    def _theta(self, log_above: Floats, alphas: Floats) -> Floats:
        """theta must be above -alpha, and above -(u - 1) alpha if alpha is negative."""
        return np.asarray(np.maximum(-alphas, -alphas * (self.classes - 1)) + np.exp(log_above), np.float64)

    def slopes(self, thetas: Floats, alphas: Floats, theta_alone: bool = False) -> tuple[Floats, Floats]:
        """The derivatives by theta and by alpha."""
        u = self.classes
        flat = np.abs(alphas) < 1e-7
        alpha = np.where(flat, 1.0, alphas)
        start = np.where(alpha > 0, thetas / alpha + 1.0, thetas / np.abs(alpha) - u + 1.0)
        start = np.maximum(start, 1e-300)
        each = np.where(flat, (u - 1) / thetas, reciprocal_rise(start, u - 1) / np.abs(alpha))
        by_theta = each - reciprocal_rise(thetas + 1.0, self.records - 1)
        if theta_alone:
            return by_theta, by_theta
        weighted = np.where(flat, u * (u - 1) / (2 * thetas), (u - 1 - thetas * each) / alpha)
        inside = reciprocal_rise(1.0 - alphas[:, None], self._sizes[None, :] - 1) @ self._often
        return by_theta, np.asarray(weighted - inside, np.float64)

    def logs(self, thetas: Floats, alphas: Floats) -> Floats:
        """The logarithm of the likelihood, but for what doesn't depend on theta and alpha."""
        u = self.classes
        flat = np.abs(alphas) < 1e-7
        alpha = np.where(flat, 1.0, alphas)
        start = np.where(alpha > 0, thetas / alpha + 1.0, thetas / np.abs(alpha) - u + 1.0)
        start = np.maximum(start, 1e-300)
        rise = (u - 1) * np.log(np.abs(alpha)) + log_rise(start, u - 1)
        first = np.where(flat, (u - 1) * np.log(np.where(flat, thetas, 1.0)), rise)
        inside = log_rise(1.0 - alphas[:, None], self._sizes[None, :] - 1) @ self._often
        return np.asarray(first - log_rise(thetas + 1.0, self.records - 1) + inside, np.float64)
