"""What a recipe says of the population, held against the table."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import CoterieError
from ..facts.assessment import ScenarioAssessment
from ..facts.population_facts import PopulationRisk
from ..measures.population import Sampling
from ..recipe import Recipe

_MOST = 1e15  # records of a population: whole numbers up to there are exact
_MANY = 0.01  # a share of uniques with which individual risk was a fourth of the truth: docs/population-risk.md


def check_population(recipe: Recipe, records: int) -> None:
    """Refuse, before any work, a population that is no larger than the table, or larger than any."""
    rule = recipe.population
    if rule is None:
        return
    if rule.size is not None and rule.size <= records:
        what = "The population must be larger than the table, which is a sample of it."
        got = f"size = {rule.size:,}, and {records:,} records"
        raise CoterieError(what, got, "leave [population] out if the table is the whole population.")
    if rule.fraction is not None and records > rule.fraction * _MOST:
        what = f"A population has at most {_MOST:.0e} records."
        raise CoterieError(what, f"fraction = {rule.fraction:g}, and {records:,} records")


def too_low(name: str, risk: PopulationRisk | None) -> list[str]:
    """A sentence, where many of the population are unique: estimates that rely on weights or a fraction miss them."""
    if risk is None or risk.uniques.share is None or risk.uniques.share < _MANY:
        return []
    where = "" if name == "all" else f" (scenario {name})"
    return [
        f"About {100 * risk.uniques.share:.0f} % of the population is estimated to be unique{where}: individual risk "
        "and the risks of journalist and marketer are then far too low, and the classes of k-map far too large, "
        "because they assume that every class is as large as the sampling fraction suggests."
    ]


def sampling_of(recipe: Recipe, records: int, weights: float | None) -> Sampling | str | None:
    """What is known of the population; a sentence, if weights are there that do not tell; None if nothing is said.

    `records` are those of the table, `weights` the sum of theirs.
    """
    check_population(recipe, records)
    rule = recipe.population
    if rule is not None:
        if rule.fraction is not None:
            return Sampling("fraction", records / rule.fraction, rule.fraction)
        assert rule.size is not None
        return Sampling("size", float(rule.size), records / rule.size)
    if weights is None:
        return None
    if recipe.unit_column is not None:
        return "Risk in the population is not estimated: weights are those of records, and there is a unit."
    if weights > _MOST:
        return f"Risk in the population is not estimated: the sampling weights sum to more than {_MOST:.0e}."
    if not weights > records:
        return (
            "Risk in the population is not estimated: the sampling weights must sum to the size of the population, "
            "but their sum does not exceed the number of records."
        )
    return Sampling("weights", weights)


def notes_on(known: Sampling | str | None, scenarios: Sequence[ScenarioAssessment]) -> tuple[str, ...]:
    """What an assessment says of its estimates."""
    if isinstance(known, str):
        return (known,)
    return tuple(note for scenario in scenarios for note in too_low(scenario.name, scenario.population))
