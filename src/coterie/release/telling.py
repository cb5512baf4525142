"""From what was added up to facts: columns, measures and notes of a release."""

from __future__ import annotations

import datetime
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .._version import __version__
from ..errors import CoterieError
from ..facts.measures import Measures
from ..facts.release_facts import ColumnFacts, InputFacts, OutputFacts, ReleaseFacts, UnitFacts
from ..measures.measure import measure
from ..measures.risk import Scenario
from ..protection.plan import Plan
from ..protection.survey import Survey
from ..protection.unit_counts import codes
from ..recipe import Recipe
from .kept import kept_columns, nearly_all_differ
from .source import Source
from .tally import Sampled, Tally

RELEASED = {
    "numeric": "mean",
    "integer": "rounded mean",
    "ordinal": "median category",
    "nominal": "mode",
    "boolean": "mode",
    "datetime": "mean date",
}


def release_facts(source: Source, engine: str, survey: Survey, tally: Tally, measures: Measures) -> ReleaseFacts:
    """All that there is to say of a release but the verdict, without a record's value."""
    plan, recipe = tally.plan, tally.plan.recipe
    return ReleaseFacts(
        coterie=__version__,
        created=datetime.date.today().isoformat(),
        engine=engine,
        recipe=recipe.as_dict(),
        input=InputFacts(source.name, survey.records, len(source.names)),
        output=OutputFacts(
            name=None,
            records=tally.records,
            columns=len(recipe.columns) - len(recipe.of_role("identifier")),
            suppressed=plan.divided.suppressed,
            blanked=plan.blanked,
            shuffled=recipe.shuffle,
            measured=tally.sample().records if tally.share < 1.0 else None,
        ),
        columns=tuple(_column(name, source, engine, survey, tally) for name in recipe.columns),
        groupings=tally.grouping_facts(),
        measures=measures,
        notes=(*notes(tally, engine), *_of_kept(measures), *_on_some_columns(measures, recipe)),
        verdict=None,
        unit=_unit(survey, recipe),
    )


def _unit(survey: Survey, recipe: Recipe) -> UnitFacts | None:
    """Whose records they are."""
    name = recipe.unit_column
    if name is None:
        return None
    kept = recipe.columns[name].role != "identifier"
    k = max(rule.k for rule in recipe.promises.values())
    few = survey.units.units.records_of_largest(k - 1)
    least = survey.records if few is None else few + survey.units.unknown + 1  # not known: nothing but all is told
    return UnitFacts(name, kept, survey.units.units.different, survey.units.unknown, least)


def _column(name: str, source: Source, engine: str, survey: Survey, tally: Tally) -> ColumnFacts:
    recipe = tally.plan.recipe
    rule = recipe.columns[name]
    before: int | None = survey.missing.get(name)
    after: int | None = tally.missing_after.get(name, before)
    if rule.role == "other" and engine == "memory":
        with suppress(CoterieError):  # of objects of all sorts, nobody knows
            before = source.arrow(name).null_count
            after = None if tally.plan.divided.suppressed else before  # of the records left out, nobody counted
    return ColumnFacts(name, rule.role, rule.kind, _how(name, tally.plan), name in recipe.within, before, after)


def _how(name: str, plan: Plan) -> str:
    """What is released of a column."""
    recipe = plan.recipe
    rule = recipe.columns[name]
    if rule.role == "identifier":
        return "dropped"
    if rule.role == "quasi" and name not in recipe.within:
        return "medoid" if recipe.centre == "medoid" else RELEASED[str(rule.kind)]
    if name in recipe.within and plan.divided.merged:
        return "merged strata"
    return "as it was" if rule.noise is None else "with noise in constant groups"


def measures_of(tally: Tally) -> Measures:
    """What was lost, what analysts will find, and what an intruder could: loss, utility, risk.

    From a sample, each scenario's risk is that of whole groups of its own grouping.
    """
    recipe = tally.plan.recipe
    every = _scenarios(recipe)
    whole = _measured(tally.sample(), every, tally.plan)
    if tally.share >= 1.0 or len(tally.plan.divisions) == 1:
        return whole
    risks: dict[str, Any] = {}
    secrets: dict[tuple[str, str], Any] = {}
    for division, (names, _, _) in zip(tally.plan.divisions, recipe.joined, strict=True):
        own = [scenario for scenario in every if scenario.name in names]
        risk = _measured(tally.sample(division.number), own, tally.plan).risk
        risks |= {scenario.name: scenario for scenario in risk.scenarios}
        secrets |= {(told.scenario, told.name): told for told in risk.confidential}
    risk = replace(
        whole.risk,
        scenarios=tuple(risks[scenario.name] for scenario in every),
        confidential=tuple(secrets[told.scenario, told.name] for told in whole.risk.confidential),
    )
    return replace(whole, risk=risk)


def _scenarios(recipe: Recipe) -> list[Scenario]:
    within = recipe.within
    return [Scenario(name, tuple(dict.fromkeys((*within, *s.quasi))), s.k) for name, s in recipe.promises.items()]


def _measured(sample: Sampled, scenarios: list[Scenario], plan: Plan) -> Measures:
    recipe = plan.recipe
    return measure(
        sample.before,
        sample.after,
        scenarios=scenarios,
        confidential=recipe.of_role("confidential"),
        weights=sample.weights,
        units=None if sample.units is None else codes(sample.units),
        seed=recipe.seed or 0,
        steps=plan.whole.steps,
    )


def notes(tally: Tally, engine: str) -> list[str]:
    """What weakens the promise, or what analysts must know, in plain sentences."""
    plan, recipe = tally.plan, tally.plan.recipe
    out = []
    if engine != "memory":
        out += _part_by_part(tally)
    if tally.exposed:
        out.append(f"{told_by_groups(tally.exposed)} l, t, noise or regroup in the recipe are remedies.")
    for name in recipe.of_role("confidential"):
        if recipe.columns[name].noise is not None and (groups := tally.unmoved(name)):
            some = _counted(groups, "constant group", "constant groups")
            out.append(f"Noise changed no value of '{name}' in {some}: it is too weak for the column's digits.")
    if len(recipe.scenarios) > 1 and len(plan.divisions) > 1:
        out.append(
            "The scenarios were protected each on its own. An intruder who knows columns of several of them is not "
            "covered by any."
        )
    out += released_as_observed(recipe, len(plan.divisions))
    if not recipe.shuffle and engine == "memory":
        out.append("Rows are in the order of the input, which may tell who they are.")
    out += _left_out(plan)
    if linked := links_records(recipe):
        out.append(linked)
    if kept := kept_columns(recipe):
        out.append(kept_as_they_are(len(kept)))
    return out


def _of_kept(measures: Measures) -> list[str]:
    said = nearly_all_differ(measures.risk.kept)
    return [] if said is None else [said]


def _on_some_columns(measures: Measures, recipe: Recipe) -> list[str]:
    """Which measures of a very wide table look at some columns only."""
    utility, kinds = measures.utility, {name: rule.kind for name, rule in recipe.columns.items()}
    ordered = [n for n in (*recipe.quasi, *recipe.of_role("confidential")) if kinds[n] not in ("nominal", "boolean")]
    looked = {
        "Correlations and eigenvalues": (len(utility.correlations.names), len(ordered)),
        "The propensity score": (utility.propensity.columns, len(measures.loss.columns)),
    }
    some = [f"{what}: {seen:,} of {there:,} columns." for what, (seen, there) in looked.items() if seen < there]
    return [" ".join(["Measured on columns that were drawn at random.", *some])] if some else []


def _part_by_part(tally: Tally) -> list[str]:
    """What it means that the table was released part by part."""
    recipe = tally.plan.recipe
    out = []
    if tally.share < 1.0:
        out.append(
            f"Measures of loss, utility and risk were taken on {tally.sample().records:,} of {tally.records:,} "
            "records, in whole groups. Records that are unique there need not be unique among all."
        )
    if recipe.shuffle:
        out.append(
            "Rows are in a random order within each part of the file; parts follow each other by values of masked "
            "columns."
        )
    else:
        out.append("Rows are not shuffled, which may tell who they are.")
    return out


def _left_out(plan: Plan) -> list[str]:
    divided, out = plan.divided, []
    if divided.merged:
        before = divided.strata + divided.merged
        out.append(f"{before:,} strata were merged into {divided.strata:,}, because some had too few records.")
    if divided.suppressed:
        left = _counted(divided.suppressed, "record was", "records were")
        out.append(f"{left} suppressed, because too few were like them. Totals are smaller by them.")
    if plan.blanked:
        blank = _counted(plan.blanked, "value was", "values were")
        out.append(f"{blank} set to missing (local suppression), because too few records had the same gaps.")
    return out


def released_as_observed(recipe: Recipe, groupings: int = 1) -> list[str]:
    """What weights and medoids mean, which are as they were observed."""
    out = []
    if recipe.weights is not None and recipe.columns[recipe.weights.column].role == "other":
        out.append("Sampling weights are released as they are. A rare weight can tell a record's stratum.")
    if recipe.centre == "medoid":
        some = "quasi-identifiers" if groupings == 1 else "a scenario's quasi-identifiers, but for strata,"
        out.append(f"Every released combination of {some} is that of a real record.")
    return out


def links_records(recipe: Recipe) -> str | None:
    """What it means that the column of units is released; None if it is not."""
    name = recipe.unit_column
    if name is None or recipe.columns[name].role == "identifier":
        return None
    return (
        f"The unit '{name}' is released: it links all records of a unit. Whoever finds one of them knows the others, "
        'and several classes together may tell who it is. Drop it (role = "identifier") unless it is needed.'
    )


def told_by_groups(records: int) -> str:
    """What groups mean in which a confidential column has one value at most."""
    some = _counted(records, "record is", "records are")
    return (
        f"Attribute disclosure: {some} in groups in which a confidential column has one value at most, which is known "
        "for every member."
    )


def kept_as_they_are(columns: int) -> str:
    """What columns mean that nothing was done to."""
    kept = _counted(columns, "column is", "columns are")
    return f"{kept} released unchanged. If an intruder knows one, the promise does not hold against that."


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
