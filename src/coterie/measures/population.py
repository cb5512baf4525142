"""The risk of a sample's records in the population that it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..facts.population_facts import AttackerRisk, IndividualRisk, KMap, PopulationRisk
from .individual_risk import individual_risk
from .superpopulation import population_uniques

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EQUAL = 1e-9  # sums of weights, or a size over a fraction, that differ by no more are equal


class Sampling(NamedTuple):
    """What is known of how the table was drawn: by weights, a fraction or the population's size."""

    known_by: str
    population_size: float
    fraction: float | None = None  # of each record; None where weights say it


@dataclass(frozen=True)
class PopulationSums:
    """What classes say with their estimated sizes F in the population; sums of several tables can be added."""

    totals: float = 0.0  # of F over the classes
    smallest: float = np.inf
    below_k: int = 0  # records in classes with F < k
    matched: float = 0.0  # of f / F over the classes
    risks: float = 0.0  # of the individual risks of all records
    largest: float = 0.0
    above: int = 0  # records with an individual risk above 1/k
    unique: float = 0.0  # of P(F = 1) over sample uniques
    unique_risks: float = 0.0  # of the individual risks over sample uniques

    def __add__(self, other: PopulationSums) -> PopulationSums:
        return PopulationSums(
            self.totals + other.totals,
            min(self.smallest, other.smallest),
            self.below_k + other.below_k,
            self.matched + other.matched,
            self.risks + other.risks,
            max(self.largest, other.largest),
            self.above + other.above,
            self.unique + other.unique,
            self.unique_risks + other.unique_risks,
        )


def sums_of_sizes(sizes: Mapping[int, int], fraction: float, k: int) -> PopulationSums:
    """The sums where every record is drawn with the same probability: a class of f stands for f / fraction."""
    size = np.array(sorted(sizes), np.int64)
    return _sums(size, size / fraction, np.array([sizes[s] for s in sorted(sizes)], np.int64), k)


def sums_of_weights(classes: Ints, weights: Floats, k: int) -> PopulationSums:
    """The sums where sampling weights say how many records of the population each one stands for.

    A class is in the population at least as large as in the table, whatever its weights.
    """
    size = np.bincount(classes)
    total = np.bincount(classes, weights)[size > 0]
    size = size[size > 0]
    return _sums(size, np.maximum(total, size), np.ones(len(size), np.int64), k)


def _sums(size: Ints, total: Floats, often: Ints, k: int) -> PopulationSums:
    if len(size) == 0:
        return PopulationSums()
    risk = individual_risk(size, total)
    records = size * often
    alone = size == 1
    return PopulationSums(
        totals=float(total @ often),
        smallest=float(total.min()),
        below_k=int(records[total < k * (1 - _EQUAL)].sum()),
        matched=float((size / total) @ often),
        risks=float(risk @ records),
        largest=float(risk.max()),
        above=int(records[risk * k > 1 + _EQUAL].sum()),
        unique=float(often[alone] @ (1.0 / total[alone])),
        unique_risks=float(often[alone] @ risk[alone]),
    )


def sizes_of(classes: Ints) -> dict[int, int]:
    """How many classes there are of each size."""
    sizes = np.bincount(classes)
    found, often = np.unique(sizes[sizes > 0], return_counts=True)
    return dict(zip(found.tolist(), often.tolist(), strict=True))


def population_of(classes: Ints, weights: Floats | None, sampling: Sampling, k: int) -> PopulationRisk | None:
    """`population_risk` of records, by the numbers of their classes."""
    sizes = sizes_of(classes)
    if sampling.fraction is not None:
        sums = sums_of_sizes(sizes, sampling.fraction, k)
    else:
        assert weights is not None
        sums = sums_of_weights(classes, weights, k)
    return population_risk(sizes, sums, sampling, k)


def population_risk(
    sizes: Mapping[int, int], sums: PopulationSums, sampling: Sampling, k: int
) -> PopulationRisk | None:
    """Everything that is said of a sample's records in the population; None without records.

    The three attackers are those of El Emam 2013 (Guide to the De-Identification of Personal Health Information,
    ISBN 978-1-4665-7906-4), with f the size of a class in the table, F in the population:

    - The prosecutor knows that somebody is in the table: 1/f; on average, classes / records.
    - The journalist looks for anybody in a register of the population: 1/F; on average, the larger of classes / sum of
      F, and of the mean of 1/F over the records. The second is what the marketer gets right.
    - The marketer matches all records with the register: the mean of 1/F over the records.

    At risk are records with more than 1/k. The k-map is Sweeney's of 2001 (Computational disclosure control, MIT): k
    counts records of the population. Tau 1 and tau 2 are those of Skinner and Shlomo 2008, doi
    10.1198/016214507000001328, under the model of `individual_risk`.
    """
    records = sum(size * often for size, often in sizes.items())
    if records == 0:
        return None
    classes, smallest = sum(sizes.values()), min(sizes)
    below = sum(size * often for size, often in sizes.items() if size < k)
    marketer = sums.matched / records
    return PopulationRisk(
        known_by=sampling.known_by,
        population_size=sampling.population_size,
        sampling_fraction=records / sampling.population_size if sampling.fraction is None else sampling.fraction,
        threshold=1.0 / k,
        prosecutor=AttackerRisk(below, 1.0 / smallest, classes / records),
        journalist=AttackerRisk(sums.below_k, 1.0 / sums.smallest, max(classes / sums.totals, marketer)),
        marketer=AttackerRisk(None, None, marketer),
        individual=IndividualRisk(
            expected_reidentifications=sums.risks,
            mean_risk=sums.risks / records,
            largest_risk=sums.largest,
            records_at_risk=sums.above,
            expected_unique=sums.unique,
            expected_unique_matches=sums.unique_risks,
        ),
        k_map=KMap(sums.smallest, sums.below_k),
        uniques=population_uniques(sizes, sampling.population_size),
    )
