"""Population risk on the internal page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts.population_facts import Estimate, PopulationRisk
from .population_text import KNOWN_BY, MODELS, about
from .words import NONE, counted, share

View = dict[str, Any]
_Row = tuple[str, Callable[[Any], str], Callable[[PopulationRisk], Any], str]

_ROWS: tuple[_Row, ...] = (
    (
        "Prosecutor: records at risk",
        counted,
        lambda r: r.prosecutor.records_at_risk,
        "risk above 1/k; the target is known to be in the table",
    ),
    ("Prosecutor: largest risk", share, lambda r: r.prosecutor.largest_risk, "1 / smallest class of the table"),
    ("Prosecutor: success rate", share, lambda r: r.prosecutor.success_share, "classes / records"),
    (
        "Journalist: records at risk",
        counted,
        lambda r: r.journalist.records_at_risk,
        "risk above 1/k; the target may be anybody in the population",
    ),
    ("Journalist: largest risk", share, lambda r: r.journalist.largest_risk, "1 / smallest class of the population"),
    ("Journalist: success rate", share, lambda r: r.journalist.success_share, "of the records, on average"),
    ("Marketer: success rate", share, lambda r: r.marketer.success_share, "all records, matched with the population"),
    (
        "Individual risk: expected re-identifications",
        about,
        lambda r: r.individual.expected_reidentifications,
        "negative binomial model; the sum over all records",
    ),
    ("Individual risk: global", share, lambda r: r.individual.mean_risk, "the mean over all records"),
    ("Individual risk: largest", share, lambda r: r.individual.largest_risk, "of a record"),
    ("Individual risk: records at risk", counted, lambda r: r.individual.records_at_risk, "above 1/k"),
    (
        "Tau 1",
        about,
        lambda r: r.individual.expected_unique,
        "expected sample uniques that are unique in the population",
    ),
    ("Tau 2", about, lambda r: r.individual.expected_unique_matches, "expected right matches of sample uniques"),
    ("k-map: smallest class", about, lambda r: r.k_map.smallest, "records of the population, estimated"),
    ("k-map: records below k", counted, lambda r: r.k_map.below_k, "in classes of fewer than k in the population"),
    ("Population uniques: Pitman", about, lambda r: r.uniques.pitman.records, "estimated records of the population"),
    ("Population uniques: Zayatz", about, lambda r: r.uniques.zayatz.records, "estimated records of the population"),
    ("Population uniques: SNB", about, lambda r: r.uniques.snb.records, "estimated records of the population"),
    ("Population uniques: selected", about, lambda r: r.uniques.records, "by the rule of Dankar et al. 2012"),
)


def population_view(before: PopulationRisk | None, after: PopulationRisk | None) -> View | None:
    """The table before and after, and why estimates are missing."""
    if after is None:
        return None
    return {
        "words": f"The table is treated as a random sample of {about(after.population_size)} records, known "
        f"{KNOWN_BY[after.known_by]}: {share(after.sampling_fraction)} of them. All figures are estimates.",
        "table": [
            {
                "name": name,
                "before": NONE if before is None else show(of(before)),
                "after": show(of(after)),
                "words": words,
            }
            for name, show, of, words in _ROWS
        ],
        "reasons": [*_reasons("Before", before), *_reasons("After", after)],
    }


def _reasons(when: str, risk: PopulationRisk | None) -> list[str]:
    if risk is None:
        return []
    models: dict[str, Estimate] = {name: getattr(risk.uniques, name) for name in MODELS}
    lacking = [f"{MODELS[name]}: {one.reason}" for name, one in models.items() if one.reason is not None]
    selected = "" if risk.uniques.selected is None else f"selected: {MODELS[risk.uniques.selected]}. "
    return [f"{when}, {selected}{' '.join(f'No estimate by {one}' for one in lacking)}".rstrip(" ,")]
