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
from ..facts.total_facts import TotalFacts
from ..measures.measure import measure
from ..measures.population import Sampling
from ..measures.risk import Scenario
from ..protection.plan import Plan
from ..protection.scales import as_float
from ..protection.survey import Survey
from ..protection.unit_counts import codes
from ..recipe import Recipe
from .kept import kept_columns, nearly_all_differ
from .minorities import told_of_minorities
from .preparation import prepared_facts, prepared_notes
from .sampling import sampling_of, too_low
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


def release_facts(
    source: Source, engine: str, asked: Recipe, survey: Survey, tally: Tally, measures: Measures
) -> ReleaseFacts:
    """All that there is to say of a release but the verdict, without a record's value; `asked` is its recipe."""
    plan, recipe = tally.plan, tally.plan.recipe
    return ReleaseFacts(
        coterie=__version__,
        created=datetime.date.today().isoformat(),
        engine=engine,
        recipe=asked.as_dict(),
        input=InputFacts(source.name, survey.records, len(source.names)),
        output=OutputFacts(
            name=None,
            records=tally.records,
            columns=len(recipe.released) + (recipe.output.number is not None),
            suppressed=plan.divided.suppressed,
            blanked=plan.blanked,
            shuffled=recipe.shuffle,
            measured=tally.sample().records if tally.share < 1.0 else None,
            number=recipe.output.number,
        ),
        columns=tuple(_column(name, source, engine, survey, tally) for name in recipe.columns),
        groupings=tally.grouping_facts(),
        measures=measures,
        notes=(
            *notes(tally, engine),
            *_in_population(survey, tally, measures),
            *prepared_notes(asked, tally),
            *_of_kept(measures),
            *_on_some_columns(measures, recipe),
        ),
        verdict=None,
        unit=_unit(survey, recipe),
        totals=tally.total_facts(),
        prepared=prepared_facts(asked, tally),
        shrunk=tally.categories.shrunk(),
    )


def _unit(survey: Survey, recipe: Recipe) -> UnitFacts | None:
    """What k counts: the different values of a column (persons, say) instead of records."""
    name = recipe.unit_column
    if name is None:
        return None
    kept = name in recipe.released
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
    how, stratum = _how(name, tally.plan, name in tally.prepared), name in recipe.within
    return ColumnFacts(name, rule.role, rule.kind, how, stratum, before, after, renamed=rule.rename)


def _how(name: str, plan: Plan, prepared: bool) -> str:
    """What is released of a column."""
    recipe = plan.recipe
    rule = recipe.columns[name]
    if rule.role == "identifier":
        return "pseudonym" if name == recipe.pseudonym else "dropped"
    if rule.role == "quasi" and name not in recipe.within:
        return "medoid" if recipe.centre == "medoid" else RELEASED[str(rule.kind)]
    if name in recipe.within and plan.divided.merged:
        return "merged strata"
    if rule.noise is not None:
        return "with noise in constant groups"
    return "as prepared" if prepared else "as it was"


def measures_of(survey: Survey, tally: Tally) -> Measures:
    """What was lost, what analysts will find, and what an intruder could: loss, utility, risk.

    From a sample, each scenario's risk is that of whole groups of its own grouping.
    """
    recipe = tally.plan.recipe
    every = _scenarios(recipe)
    known = _sampling(survey, recipe)
    sampling = known if isinstance(known, Sampling) else None
    whole = _measured(tally.sample(), every, tally, sampling)
    if tally.share >= 1.0 or len(tally.plan.divisions) == 1:
        return whole
    risks: dict[str, Any] = {}
    secrets: dict[tuple[str, str], Any] = {}
    for division, (names, _, _) in zip(tally.plan.divisions, recipe.joined, strict=True):
        own = [scenario for scenario in every if scenario.name in names]
        risk = _measured(tally.sample(division.number), own, tally, sampling).risk
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


def _sampling(survey: Survey, recipe: Recipe) -> Sampling | str | None:
    """What is known of the population; or why its risk is not estimated."""
    weights = None if recipe.weights is None else as_float(survey.weight_total.sums[0])
    return sampling_of(recipe, survey.records, weights)


def _in_population(survey: Survey, tally: Tally, measures: Measures) -> list[str]:
    """What there is to know of the risk in the population."""
    known = _sampling(survey, tally.plan.recipe)
    if isinstance(known, str):
        return [known]
    if known is None or tally.share >= 1.0:
        return [note for s in measures.risk.scenarios for note in too_low(s.name, s.population_before)]
    return [
        "Population risk before protection cannot be estimated from part of the records: coterie assess uses all "
        "of them."
    ]


def _measured(sample: Sampled, scenarios: list[Scenario], tally: Tally, sampling: Sampling | None) -> Measures:
    plan = tally.plan
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
        importance=recipe.importance,
        original=sample.original,
        sampling=sampling,
        in_part=tally.share < 1.0,
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
            out.append(
                f"Noise changed no value of '{name}' in {some}: it is too small for the precision of the column."
            )
    if len(recipe.scenarios) > 1 and len(plan.divisions) > 1:
        out.append(
            "The scenarios were protected separately. The promise does not cover an intruder who knows columns of "
            "several scenarios."
        )
    out += told_of_minorities(tally.categories.shrunk())
    out += released_as_observed(recipe, len(plan.divisions))
    if not recipe.shuffle and engine == "memory":
        out.append("Rows are in the order of the input, which may reveal identities.")
    out += _left_out(plan)
    out += [_kept_total(total) for total in tally.total_facts()]
    if linked := links_records(recipe):
        out.append(linked)
    if kept := kept_columns(recipe):
        out.append(kept_as_they_are(len(kept), sum(name in tally.prepared for name in kept)))
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
            f"Measures of loss, utility and risk were computed on {tally.sample().records:,} of {tally.records:,} "
            "records, in whole groups. Records that are unique there need not be unique among all."
        )
    if recipe.shuffle:
        out.append(
            "Rows are in a random order within each part of the file; parts follow each other by values of masked "
            "columns."
        )
    else:
        out.append("Rows are not shuffled, which may reveal identities.")
    return out


def _kept_total(total: TotalFacts) -> str:
    """How near the total of a column is to the original one."""
    what = f"{'weighted ' if total.weighted else ''}total of '{total.column}'"
    if not total.left and not total.largest_left_of_part:
        return f"Controlled rounding keeps the {what} exactly{' in every part' if total.parts > 1 else ''}."
    before = f"the original {what} minus the released one is {total.left:,.6g}"
    parts = f", and at most {total.largest_left_of_part:,.6g} in one of {total.parts:,} parts" * (total.parts > 1)
    return (
        f"Controlled rounding: {before}{parts}. Means rounded to the nearest would leave {total.left_of_nearest:,.6g}."
    )


def _left_out(plan: Plan) -> list[str]:
    divided, out = plan.divided, []
    if divided.merged:
        before = divided.strata + divided.merged
        out.append(f"{before:,} strata were merged into {divided.strata:,}, because some had too few records.")
    apart = 0 if plan.together is None else int(plan.together.left_out.sum())
    gone = "of those who were with them in earlier releases are left, or too few came with them"
    for count, why in ((divided.suppressed - apart, "were like them"), (apart, gone)):
        if count:
            left = _counted(count, "record was", "records were")
            out.append(f"{left} suppressed, because too few {why}. Totals are smaller by them.")
    if plan.blanked:
        blank = _counted(plan.blanked, "value was", "values were")
        out.append(
            f"{blank} set to missing (local suppression), because too few records had the same pattern of missing "
            "values."
        )
    return out


def released_as_observed(recipe: Recipe, groupings: int = 1) -> list[str]:
    """What weights and medoids mean, which are as they were observed."""
    out = []
    if recipe.weights is not None and recipe.columns[recipe.weights.column].role == "other":
        out.append("Sampling weights are released unchanged. A rare weight can reveal a record's stratum.")
    if recipe.centre == "medoid":
        some = "quasi-identifiers" if groupings == 1 else "a scenario's quasi-identifiers, but for strata,"
        out.append(f"Every released combination of {some} belongs to a real record.")
    return out


def links_records(recipe: Recipe) -> str | None:
    """What it means that the column of units is released; None if it is not."""
    name = recipe.unit_column
    if name is None or name not in recipe.released:
        return None
    if recipe.pseudonym is not None:
        return (
            f"The unit '{name}' is released as a pseudonym: it links all records of a unit. Anyone who finds one of "
            "them knows the others, and several classes together may reveal who it is. Anyone who has the "
            "identifiers and the key, which is in the bundle's recipe, can compute the pseudonyms. Leave release "
            "out unless it is needed."
        )
    return (
        f"The unit '{name}' is released: it links all records of a unit. Anyone who finds one of them knows the "
        "others, "
        'and several classes together may tell who it is. Drop it (role = "identifier") unless it is needed.'
    )


def same_pseudonyms(recipe: Recipe) -> str | None:
    """What it means that a recipe says the key of pseudonyms; None if it does not."""
    if recipe.pseudonym is None or recipe.unit is None or recipe.unit.key is None:
        return None
    return (
        "The recipe holds the key of the pseudonyms: every release made with it gives a unit the same pseudonym, so "
        "releases can be linked. Leave key out of [unit] to have a new one drawn."
    )


def told_by_groups(records: int) -> str:
    """What groups mean in which a confidential column has one value at most."""
    some = _counted(records, "record is", "records are")
    return (
        f"Attribute disclosure: {some} in groups in which a confidential column has at most one value, which is "
        "known for every member."
    )


def kept_as_they_are(columns: int, prepared: int = 0) -> str:
    """What columns mean that nothing was done to."""
    kept = _counted(columns, "column is", "columns are")
    if prepared:
        some = (
            "it was prepared" if columns == 1 else f"{prepared:,} of them {'was' if prepared == 1 else 'were'} prepared"
        )
        return f"{kept} not masked; {some}. If an intruder knows one, the promise does not hold against that."
    return f"{kept} not masked. If an intruder knows one, the promise does not hold against that."


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
