"""Sentences made from facts: what was done, what analysts must know, what is not promised. No record's value."""

from __future__ import annotations

import math

from ..constraints import least_k
from ..facts.measures import NumberUtility
from ..facts.prepared_facts import PreparedFacts
from ..facts.public_facts import PublicBound, PublicColumn, PublicFacts, PublicGrouping, PublicNumber
from ..facts.release_facts import ColumnFacts, GroupingFacts, ReleaseFacts
from .words import counted, fixed, percent, series, share

Facts = ReleaseFacts | PublicFacts
Column = ColumnFacts | PublicColumn
Grouping = GroupingFacts | PublicGrouping

RELEASED = {
    "mean": "the mean of its group",
    "rounded mean": "the mean of its group, rounded to a whole number",
    "median category": "the median category of its group",
    "mode": "the most frequent category of its group",
    "mean date": "the mean date of its group",
    "medoid": "the value of the record at the middle of its group",
    "as it was": "unchanged",
    "as prepared": "prepared, not masked",
    "merged strata": "unchanged, except where small strata were merged and given a common value",
    "dropped": "dropped from the file",
    "pseudonym": "a random pseudonym, the same for all records of a unit",
    "with noise in constant groups": "unchanged, except for random noise where a whole group had the same value",
}
ROLES = {"quasi": "quasi-identifier"}
Point = tuple[str, str]


def few(facts: Facts) -> int | None:
    """Below what counts are hidden; None in internal facts."""
    return facts.suppressed_below if isinstance(facts, PublicFacts) else None


def masked(facts: Facts) -> list[Column]:
    """The columns whose values are those of groups."""
    kept = (None, "as it was", "as prepared", "merged strata", "dropped", "with noise in constant groups", "pseudonym")
    return [column for column in facts.columns if column.released not in kept]


def promise(facts: Facts) -> str:
    """What was checked, in one sentence."""
    k, verdict = facts.least_k, facts.verdict
    if verdict is None:
        return "The written file was not checked."
    if verdict.ok:
        others = "at least one other record" if k == 2 else f"at least {k - 1} other records"
        if facts.settings.unit is not None:
            others = f"records of at least {counted(k - 1, 'other unit')}"
        where = "the written file" if facts.output.name else "the release"
        scenarios = len(facts.groupings)
        if scenarios > 1:
            each = f"each of {scenarios} sets of columns"
            return f"In {where}, every record shares its values in {each} with {others}."
        return f"In {where}, every record shares its masked values with {others}."
    return "The check of the written file failed: it does not meet the promise."


def done(facts: Facts) -> list[str]:
    """What was done to the table, as sentences."""
    output, below, columns = facts.output, few(facts), masked(facts)
    dropped = sum(column.released == "dropped" for column in facts.columns)
    replaced = sum(column.released == "pseudonym" for column in facts.columns)
    kept = len(facts.columns) - dropped - replaced - len(columns)
    alike = "Similar records were grouped, and every record was given the common value of its group in each "
    done_so = f"{counted(len(columns), 'column')} {'was' if len(columns) == 1 else 'were'} microaggregated"
    out = [f"{alike}masked column. {done_so}, {counted(kept, 'column')} kept, {counted(dropped, 'column')} dropped."]
    out += [*_prepared(facts), *_importance(facts), *_thresholds(facts)]
    if replaced:
        out.append("The identifier of units was replaced by a random pseudonym.")
    if facts.output.number is not None:
        out.append(f"Records were numbered anew, in a random order, in the column {facts.output.number}.")
    if within := facts.settings.within:
        merged = any(column.released == "merged strata" for column in facts.columns)
        but = ", except where too few records shared a value" if merged else ""
        out.append(f"No group mixes different values of {series(within)}{but}.")
    if facts.settings.totals:
        out.append(_totals(facts))
    if output.suppressed != 0:
        out.append(
            f"Suppressed, because too few records were like them: {counted(output.suppressed, 'record', below)}."
        )
    if output.blanked is None:
        out.append(
            "Where too few records had the same pattern of missing values, further values may have been set to missing "
            "(local suppression); how many is not shown."
        )
    elif output.blanked != 0:
        out.append(f"Set to missing (local suppression): {counted(output.blanked, 'value', below)}.")
    if output.shuffled:
        out.append("The rows are in random order, which says nothing about their order in the original.")
    else:
        out.append("The rows are in the order of the original file.")
    if output.measured is not None:
        out.append(
            f"Measures of loss and utility were computed on {output.measured:,} of the records, in whole groups."
        )
    return out


def _prepared(facts: Facts) -> list[str]:
    """What was done to columns before all else, and to how many values."""
    out = []
    for one in facts.prepared:
        told = "not shown" if one.changed_share is None else share(one.changed_share, 1)
        if isinstance(one, PreparedFacts):
            told = f"{told}, {counted(one.changed)} of {counted(one.values, 'value')}"
        out.append(f"Prepared first: {one.name} ({'; then '.join(one.done)}). Values changed: {told}.")
    if any(column.name in {one.name for one in facts.prepared} for column in masked(facts)):
        out.append("The loss by masking is measured against the prepared values.")
    return out


def _totals(facts: Facts) -> str:
    """Which totals are kept; of the difference, nothing: it is a sum of original records."""
    of = series(facts.settings.totals, 5)
    what = "totals by sampling weights" if facts.settings.weights is not None else "totals"
    where = " within each stratum" if facts.settings.within else ""
    return (
        f"In {of}, group means were rounded up or down so that {what} are kept{where}, as closely as the group sizes "
        "allow (controlled rounding)."
    )


def _importance(facts: Facts) -> list[str]:
    """Which columns weighed how much when groups were formed."""
    rules = facts.settings.rules
    weights = {name: rule["importance"] for name, rule in rules.items() if rule.get("importance", 1) != 1}
    if not weights:
        return []
    some = series([f"{name} ({weight:g})" for name, weight in weights.items()], 8)
    return [f"Groups were formed with squared distances weighted by importance: {some}; other columns have weight 1."]


def thresholds(facts: Facts) -> list[tuple[str, float, int]]:
    """The largest risks that were asked for instead of k, by scenario, and the k that keeps each."""
    risks = facts.settings.risks
    return [(name, risk, least_k(risk)) for name, risk in risks.items()]


def _thresholds(facts: Facts) -> list[str]:
    out = []
    for name, risk, k in thresholds(facts):
        where = "" if name == "all" else f" in scenario {name}"
        asked = f"The largest re-identification risk had to be at most {risk}{where}"
        out.append(f"{asked}: k = {k:,} is the smallest that achieves it.")
    return out


_TESTS = (
    "Tests and standard errors",
    "Formulas for independent records give standard errors and p-values that are too small, because the spread is "
    "smaller and records repeat. Take them as lower bounds, and do not report a result near a threshold.",
)
_EXTREMES = (
    "Subgroups and extremes",
    "Results for a subgroup are blurred where groups cross its border, the more so the smaller it is. The largest "
    "and smallest values are averages too: do not take them for records.",
)
_RARE = (
    "Rare categories shrink",
    "A group shows its most frequent or its median category. Rare categories become rarer or disappear: do not "
    "estimate small shares from masked columns.",
)
_FILLED = (
    "Missing values were filled in",
    "In masked columns, a missing value was given the value of its group, and stays missing only where the whole "
    "group had none. Filled-in values cannot be told from others.",
)
_GAPS = (
    "Missing values are kept",
    "In masked columns, missing values stay missing: in each column, either all records of a group are missing or "
    "none. Which records are missing is as in the original, except for what was suppressed or set to missing.",
)


def analysts(facts: Facts) -> list[Point]:
    """What someone who analyses the file must know."""
    points = [_values(facts), _ties(facts), _variances(facts), _correlations(facts), _TESTS, _EXTREMES]
    if any(column.released in ("mode", "median category") for column in masked(facts)):
        points.append(_RARE)
    return [*points, _missing(facts), *_weights(facts), *_units(facts), *_rows(facts)]


def _values(facts: Facts) -> Point:
    some = series([column.name for column in masked(facts)], 5)
    if not some:
        return "Values are unchanged", "No column was masked."
    words = f"No row is a record as it was collected. In {some}, a value is the common value of a group of records. "
    return "Values are those of groups", words + "Do not link rows to other files by them."


def _ties(facts: Facts) -> Point:
    of = "of the values in a scenario's columns" if len(facts.groupings) > 1 else "of masked values"
    times = f"at least {facts.least_k} times"
    return "Rows repeat", f"Each combination {of} occurs {times}. Do not remove these repeats as duplicates."


def _variances(facts: Facts) -> Point:
    numbers = [of for of in facts.measures.utility.columns.values() if isinstance(of, (NumberUtility, PublicNumber))]
    ratios = [of.variance_ratio for of in numbers if of.variance_ratio is not None]
    words = "Averages lie closer together than the values they average, so the spread is understated."
    if ratios:
        least, most = share(min(ratios), 0), share(max(ratios), 0)
        about = "" if min(ratios) == max(ratios) else "about "
        some = f"{about}{least}" if least == most else f"between {least} and {most}"
        words += f" Here, columns keep {some} of their variance: divide by the share kept to correct a single column."
    return "Variances shrink", words


def _correlations(facts: Facts) -> Point:
    largest = facts.measures.utility.correlations.largest_change
    words = (
        "Between masked columns, correlations are mostly stronger than in the original; between a masked and a kept "
        "column, reduced noise can look like a better fit."
    )
    found = "" if largest is None else f" The largest change here is {fixed(largest)}."
    return "Correlations and regressions change", words + found


def _missing(facts: Facts) -> Point:
    if facts.settings.missing == "group":
        return _FILLED
    if facts.settings.missing == "own-value":
        return _GAPS
    kept = [column for column in facts.columns if column.released != "dropped"]
    if all(column.missing_before == column.missing_after == 0 for column in kept):
        return "Missing values", "The file has none."
    return "Missing values", "Masked columns had none; in kept columns they are unchanged."


def _weights(facts: Facts) -> list[Point]:
    weights = facts.settings.weights
    if weights is None:
        return []
    used = f"Group means were taken with the sampling weights in {weights}. "
    if any(column.name == weights and column.released == "dropped" for column in facts.columns):
        return [("Weights", used + "The file does not hold them: it gives no estimates for the population.")]
    return [("Weights", used + "Use the same weights: weighted means of the masked columns are then kept.")]


def _units(facts: Facts) -> list[Point]:
    unit = facts.settings.unit
    if unit is None:
        return []
    several = f"A unit ({unit}) may have several records. Every equivalence class holds records of at least "
    words = f"{several}{facts.least_k} different units. "
    if any(column.name == unit and column.released == "dropped" for column in facts.columns):
        return [("Units", words + "The file does not show which records belong to the same unit.")]
    return [("Units", words + f"The column {unit} links the records of a unit: do not use it to identify anyone.")]


def _rows(facts: Facts) -> list[Point]:
    if facts.output.suppressed == 0:
        return []
    words = f"Suppressed: {counted(facts.output.suppressed, 'record', few(facts))}. "
    title = "Rows may be missing" if facts.output.suppressed is None else "Rows are missing"
    return [(title, words + "They are not a random sample: too few records were like them.")]


_SHARED = (
    "Attribute disclosure",
    "If the records of an equivalence class share a confidential value, it is known for every member.",
)
_OTHER_FILES = (
    "One release at a time",
    "This file can be combined with other files about the same people, or with another release of this table. The "
    "check does not cover that.",
)
_LAW = (
    "Not a legal verdict",
    "The numbers describe this file. They support the decision whether it may be published; they do not make it.",
)


def limits(facts: Facts) -> list[Point]:
    """What the release does not promise."""
    alike = f"A record shares its masked values with at least {facts.least_k - 1} others"
    knows = f"{alike}. That protects against someone who knows the masked columns and nothing else."
    points = [("Only against those who know the masked columns", knows)]
    open_columns = [
        column.name
        for column in facts.columns
        if column.role in ("confidential", "other") and column.released != "dropped"
    ]
    if open_columns:
        words = f"{series(open_columns, 5)}: anyone who knows their values may re-identify a record."
        points.append(("Columns that were kept", words))
    return [*points, _SHARED, _OTHER_FILES, _LAW]


def _within(grouping: Grouping) -> str:
    """What the groups that a bound is about must not cross; a public report does not say whether there is any."""
    if isinstance(grouping, PublicGrouping):
        return " within the same strata and blocks"
    crossed = [what for what, many in (("stratum", "strata"), ("block", "blocks")) if grouping.params.get(many, 1) > 1]
    return f" that cross no {' or '.join(crossed)}" if crossed else ""


def bound(grouping: Grouping) -> str:
    """How far the loss is from the best possible, where something is proven."""
    b, k = grouping.bound, grouping.k
    if b is None:
        return ""
    important = grouping.loss_by_importance_percent
    weighed = "" if important is None else " with columns weighted by importance"
    if b.kind == "optimal" or b.gap_percent == 0:
        formed = f"groups of at least {k}{_within(grouping)}"
        return f"No partition into {formed} loses less{weighed}: this one is proven optimal."
    more = ""
    if b.gap_percent is not None and math.isfinite(b.gap_percent):
        more = f", at most {b.gap_percent:{'.2g' if b.gap_percent < 100 else ',.0f'}} % more than the least possible"
    if isinstance(b, PublicBound):
        return f"Proven: these lose{more.removeprefix(',')}{_within(grouping)}{weighed}." if more else ""
    proven = f"Proven: no groups of at least {k}{_within(grouping)} lose less than {percent(b.loss_percent, 2)}"
    lost = percent(grouping.loss_percent if important is None else important, 2)
    return (
        f"{proven}; these lose {lost}{more} (squared distances to the groups' means{',' if weighed else ''}{weighed})."
    )
