"""Population risk in lines of text."""

from __future__ import annotations

from ..facts.population_facts import AttackerRisk, Estimate, PopulationRisk, PopulationUniques
from .words import counted, plain, share

MODELS = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}
KNOWN_BY = {
    "weights": "by the sum of the sampling weights",
    "fraction": "by the sampling fraction",
    "size": "by its size",
}


def population_lines(risk: PopulationRisk, k: int) -> list[str]:
    """What an assessment says of a scenario in the population, as lines."""
    return [f"  {name:<14}{words}" for name, words in population_words(risk, k)]


def population_words(risk: PopulationRisk, k: int) -> list[tuple[str, str]]:
    """What an assessment says of a scenario in the population: names, and words."""
    individual, above = risk.individual, f"above {share(risk.threshold)}"
    return [
        (
            "population",
            f"{about(risk.population_size)} records {KNOWN_BY[risk.known_by]}; {share(risk.sampling_fraction)} of it "
            "are in this table",
        ),
        ("prosecutor", f"{_attacker(risk.prosecutor, above)} (target known to be in the table)"),
        ("journalist", f"{_attacker(risk.journalist, above)} (target anywhere in the population)"),
        ("marketer", f"success rate {share(risk.marketer.success_share)} (all records matched with the population)"),
        (
            "individual",
            f"{about(individual.expected_reidentifications)} expected re-identifications "
            f"({share(individual.mean_risk)}), {counted(individual.records_at_risk)} records {above}; largest "
            f"{share(individual.largest_risk)} (negative binomial model)",
        ),
        (
            "k-map",
            f"the smallest class has about {about(risk.k_map.smallest)} in the population; "
            f"{counted(risk.k_map.below_k)} records in classes below {k} there",
        ),
        ("uniques", uniques_words(risk.uniques)),
    ]


def _attacker(risk: AttackerRisk, above: str) -> str:
    largest, success = share(risk.largest_risk), share(risk.success_share)
    return f"{counted(risk.records_at_risk)} records {above}; largest {largest}; success rate {success}"


def about(value: float | None) -> str:
    """An estimated number of records, with no more digits than it deserves."""
    return f"{value:,.0f}" if value is not None and 100 <= value < 1e15 else plain(value, 3)


def uniques_words(uniques: PopulationUniques) -> str:
    """The selected estimate, and all three."""
    models = {"pitman": uniques.pitman, "zayatz": uniques.zayatz, "snb": uniques.snb}
    each = "; ".join(f"{MODELS[name]}: {estimate_words(one)}" for name, one in models.items())
    if uniques.selected is None or uniques.records is None:
        return f"not estimated ({each})"
    chosen = f"{about(uniques.records)} records ({share(uniques.share)}) of the population are unique by "
    return f"{chosen}{MODELS[uniques.selected]} ({each})"


def estimate_words(estimate: Estimate) -> str:
    """A number, or why there is none."""
    return about(estimate.records) if estimate.records is not None else f"none, {(estimate.reason or '').rstrip('.')}"
