"""Estimates of population risk beside the truth: samples are drawn from populations that are known.

    python benchmarks/population.py [--samples 25] [--records 100000] [--seed 1]

Of each population, Bernoulli samples are drawn with several fractions. The tables say the mean of estimate / truth over
the samples (1 is right; above 1, risk is told too high) and the standard deviation of it. docs/population-risk.md
shows them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.measures.population import Sampling, population_risk, sums_of_sizes

Ints = NDArray[np.int64]
FRACTIONS = (0.01, 0.05, 0.1, 0.3)


def populations(records: int, rng: np.random.Generator) -> Iterator[tuple[str, Ints]]:
    """The sizes of the classes of some populations, with what they are called."""
    for exponent in (0.8, 1.0, 1.3):
        share = np.arange(1.0, 2 * records + 1) ** -exponent
        yield f"Zipf, exponent {exponent}", rng.multinomial(records, share / share.sum())
    for sigma in (1, 2, 3):
        share = rng.lognormal(0.0, sigma, records // 2)
        yield f"log-normal, sigma {sigma}", rng.multinomial(records, share / share.sum())
    share = rng.lognormal(0.0, 1.0, records // 50)
    yield "large classes, log-normal, sigma 1", rng.multinomial(records, share / share.sum())


def _unique(population: Ints, sample: Ints) -> float:
    del sample
    return float(np.count_nonzero(population == 1))


Truth = Callable[[Ints, Ints], float]
ESTIMATES: dict[str, tuple[Callable[[Any], float | None], Truth]] = {
    "Pitman": (lambda r: r.uniques.pitman.records, _unique),
    "Zayatz": (lambda r: r.uniques.zayatz.records, _unique),
    "SNB": (lambda r: r.uniques.snb.records, _unique),
    "selected": (lambda r: r.uniques.records, _unique),
    "individual": (lambda r: r.individual.expected_reidentifications, lambda F, f: float(np.sum(f[f > 0] / F[f > 0]))),
    "tau 1": (lambda r: r.individual.expected_unique, lambda F, f: float(np.count_nonzero((f == 1) & (F == 1)))),
    "marketer": (lambda r: r.marketer.success_share, lambda F, f: float(np.sum(f[f > 0] / F[f > 0]) / f.sum())),
}  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=25)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print(f"| population | uniques | fraction | {' | '.join(ESTIMATES)} |")
    print("|---|---:|---:|" + "---:|" * len(ESTIMATES))
    for name, population in populations(given.records, rng):
        for fraction in FRACTIONS:
            ratios: dict[str, list[float]] = {estimate: [] for estimate in ESTIMATES}
            for _ in range(given.samples):
                sample = rng.binomial(population, fraction)
                sizes = dict(Counter(sample[sample > 0].tolist()))
                sampling = Sampling("fraction", sample.sum() / fraction, fraction)  # as for whoever knows the fraction
                risk = population_risk(sizes, sums_of_sizes(sizes, fraction, 5), sampling, 5)
                for estimate, (value, truth) in ESTIMATES.items():
                    found, right = value(risk), truth(population, sample)
                    if found is not None and right:
                        ratios[estimate].append(found / right)
            cells = [_cell(ratios[estimate], given.samples) for estimate in ESTIMATES]
            unique = f"{np.count_nonzero(population == 1):,}"
            print(f"| {name} | {unique} | {fraction:g} | {' | '.join(cells)} |", flush=True)


def _cell(ratios: list[float], samples: int) -> str:
    if not ratios:
        return "none"
    some = "" if len(ratios) == samples else f" ({len(ratios)} of {samples})"
    return f"{np.mean(ratios):.2f} ± {np.std(ratios):.2f}{some}"


if __name__ == "__main__":
    main()
