"""The facts of population risk: what a sample says about the population that it was drawn from. Internal."""

from __future__ import annotations

from dataclasses import dataclass

from .compat import Keyed


@dataclass(frozen=True)
class AttackerRisk(Keyed):
    """What an intruder of one sort gets right."""

    records_at_risk: int | None  # records with a risk above the threshold; None of a marketer, who picks no one
    largest_risk: float | None
    success_share: float  # of the records, those that are re-identified on average


@dataclass(frozen=True)
class KMap(Keyed):
    """The sizes that equivalence classes have in the population."""

    smallest: float  # the least
    below_k: int  # records in classes of fewer than k


@dataclass(frozen=True)
class IndividualRisk(Keyed):
    """The risk of each record by the negative binomial model, summed up."""

    expected_reidentifications: float  # records: the sum of all risks
    mean_risk: float  # the global risk as a share
    largest_risk: float
    records_at_risk: int  # with a risk above the threshold
    expected_unique: float  # tau 1: sample uniques that are unique in the population
    expected_unique_matches: float  # tau 2: sample uniques that are matched rightly


@dataclass(frozen=True)
class Estimate(Keyed):
    """An estimated number of records of the population; None with the reason where it is not defined."""

    records: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PopulationUniques(Keyed):
    """How many records of the population are unique, by three models, and the one that is selected."""

    pitman: Estimate
    zayatz: Estimate
    snb: Estimate
    selected: str | None  # "pitman", "zayatz" or "snb"
    records: float | None  # by the selected one
    share: float | None  # of the population


@dataclass(frozen=True)
class PopulationRisk(Keyed):
    """The risk of a sample's records in the population."""

    known_by: str  # "weights", "fraction" or "size"
    population_size: float  # records
    sampling_fraction: float
    threshold: float  # 1/k: risks above it are counted
    prosecutor: AttackerRisk
    journalist: AttackerRisk
    marketer: AttackerRisk
    individual: IndividualRisk
    k_map: KMap
    uniques: PopulationUniques
