"""What must hold of [population], and between it and the rest of a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import Mistake

if TYPE_CHECKING:
    from .recipe import Recipe


def check_population(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """The population is known in one way: by a fraction, by its size or by weights; and it counts records."""

    def wrong(option: str, what: str, got: str, hint: str) -> None:
        mistakes.append(Mistake(("population", option) if option else ("population",), what, got, hint))

    rule = recipe.population
    if rule is None:
        return
    if rule.fraction is None and rule.size is None:
        if not any(mistake.path[:1] == ("population",) for mistake in mistakes):
            wrong("", "Give the population as a fraction or as a size.", "neither", "for example fraction = 0.05")
        return
    if rule.fraction is not None and rule.size is not None:
        wrong("size", "Give the population only once.", "fraction and size", "leave one of them out.")
    if recipe.weights is not None:
        what = "Sampling weights already define the population: its size is their sum."
        wrong("", what, "[weights] and [population]", "leave [population] out.")
    if recipe.unit is not None and recipe.unit.column != "none":
        what = (
            "Population estimates assume that records were drawn independently, but the records of a unit are "
            "drawn together."
        )
        wrong("", what, "a unit", "leave [population] out, or assess a table with one record for each unit.")
