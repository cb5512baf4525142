"""The facts of an assessment: the risk of a table as it is."""

from __future__ import annotations

from dataclasses import dataclass

from .compat import Keyed
from .measures import ClassRisk
from .population_facts import PopulationRisk


@dataclass(frozen=True)
class ScenarioAssessment(Keyed):
    """The classes by what a scenario's intruder knows."""

    name: str
    quasi: tuple[str, ...]  # with the columns that make strata
    k: int
    classes: ClassRisk
    population: PopulationRisk | None = None  # None where nothing is known of the population
