"""What the public may see of a release: each fact passes because `PublicFacts` has a field for it and a line fills it.

Whatever has no field stays behind: the seed, all of the risk, notes, file names and hashes, group numbers. What the
reader can compute from the released file is public. Every number that comes from original records passes through the
rule in `disclosure`, so that no count below k can be told. No number passes from which the value of a record follows:
no quantiles, no least or largest value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..algorithms.registry import METHODS, Method
from ..facts.measures import (
    CategoryUtility,
    ColumnLoss,
    Correlations,
    Eigenvalues,
    LossMeasures,
    Matrix,
    NumberUtility,
    UtilityMeasures,
)
from ..facts.prepared_facts import PublicPrepared
from ..facts.public_facts import (
    PublicBound,
    PublicCategories,
    PublicCategory,
    PublicCheck,
    PublicColumn,
    PublicColumnLoss,
    PublicFacts,
    PublicGrouping,
    PublicHistogram,
    PublicInput,
    PublicLoss,
    PublicMeasures,
    PublicNumber,
    PublicOutput,
    PublicPropensity,
    PublicUtility,
    PublicVerdict,
)
from ..facts.release_facts import BoundFacts, ColumnFacts, GroupingFacts, ReleaseFacts
from ..facts.settings import Settings
from ..verification.verdict import Check, VerdictFacts
from .disclosure import COUNTS, FULL, NOTHING, Cells, Disclosure
from .public_names import with_released_names

OTHERS = "others"
ROLES = ("identifier", "quasi", "confidential", "other")
KINDS = ("numeric", "integer", "ordinal", "nominal", "datetime", "boolean")
CODES = ("ordinal", "nominal", "boolean")
MASKED = ("mean", "rounded mean", "median category", "mode", "mean date", "medoid")
# Of columns that are mostly as they were, a difference of before and after would show the few records that changed.
_KEPT = ("as it was", "as prepared", "merged strata", "dropped", "with noise in constant groups", "pseudonym")
RELEASED = (*MASKED, *_KEPT)
BOUNDS = ("neighbours", "column generation", "column generation with subset-row cuts", "optimal")
Changed = NumberUtility | CategoryUtility
_CHECKS = re.compile(r"[A-Za-z0-9 -]{1,40}")


@dataclass(frozen=True)
class _Known:
    """What the table has, and what may be told of it."""

    names: frozenset[str]  # the table's columns
    written: frozenset[str]  # the columns of the release, by their names there, and those that were dropped
    masked: frozenset[str]  # those whose values are those of groups
    rule: Disclosure
    scenarios: frozenset[str]  # the names of those that may be told


def public(facts: ReleaseFacts) -> PublicFacts:
    """The facts that the public report shows."""
    names = frozenset(column.name for column in facts.columns)
    masked = frozenset(column.name for column in facts.columns if column.released in MASKED)
    scenarios = (_matching(r".{1,80}", scenario.name) for scenario in facts.measures.risk.scenarios)
    named = frozenset(name for name in scenarios if name is not None)
    called = {column.name: column.renamed or column.name for column in facts.columns}
    number = frozenset() if facts.output.number is None else frozenset({facts.output.number})
    known = _Known(names, frozenset(called.values()) | number, masked, Disclosure.of(facts, masked), named)
    told = PublicFacts(
        coterie=_matching(r"[0-9][0-9a-z.+]{0,20}", facts.coterie),
        created=_matching(r"\d{4}-\d{2}-\d{2}", facts.created),
        suppressed_below=known.rule.k,
        rounded_to_share=known.rule.share,
        settings=_settings(facts.settings, known),
        input=PublicInput(known.rule.records_before(facts), facts.input.columns),
        output=_output(facts, known),
        columns=tuple(_column(column, known) for column in facts.columns),
        groupings=tuple(_grouping(grouping, known) for grouping in facts.groupings),
        measures=PublicMeasures(_loss(facts, known), _utility(facts.measures.utility, facts.measures.loss, known)),
        verdict=None if facts.verdict is None else _verdict(facts.verdict, known),
        prepared=tuple(
            PublicPrepared(one.name, one.done, known.rule.prepared(one))
            for one in facts.prepared
            if one.name in known.names
        ),
    )
    return with_released_names(told, called)


def _matching(pattern: str, value: str | None) -> str | None:
    return value if value is not None and re.fullmatch(pattern, value) else None


def _one_of(words: Collection[str], value: str | None) -> str | None:
    return value if value in words else None


def _digits(value: float | None, digits: int = 6) -> float | None:
    """A number to so many digits that count."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def _names(names: Iterable[str], known: _Known) -> tuple[str, ...]:
    return tuple(name for name in names if name in known.names)


# What was done


def _settings(settings: Settings, known: _Known) -> Settings:
    small = ("refuse", "merge", "suppress")
    rules = {
        name: {key: value for key, value in rule.items() if isinstance(value, (int, float))}
        for name, rule in settings.rules.items()
        if name in known.names
    }
    return Settings(
        centre=_one_of(("mean", "medoid"), settings.centre) or "mean",
        within=_names(settings.within, known),
        small_strata=_one_of(small, settings.small_strata) or "refuse",
        missing=_one_of(("refuse", "own-value", "group"), settings.missing) or "refuse",
        small_missing=_one_of(small, settings.small_missing) or "refuse",
        weights=_one_of(known.names, settings.weights),
        unit=_one_of(known.names, settings.unit),
        guard=_one_of(("merge", "k-first", "t-first"), settings.guard) or "merge",
        rules=rules,
        totals=_names(settings.totals, known),
        risks={n: float(risk) for n, risk in settings.risks.items() if n in known.scenarios and 0 < risk <= 0.5},
    )


def _output(facts: ReleaseFacts, known: _Known) -> PublicOutput:
    output = facts.output
    name = None if output.name == facts.input.name else _matching(r"[^/\\]{1,80}", output.name)
    left_out, blanked = known.rule.left_out(output.suppressed), known.rule.blanked(facts)
    told = PublicOutput(name, output.records, output.columns, left_out, blanked, output.shuffled, output.measured)
    return replace(told, number=output.number)


def _column(column: ColumnFacts, known: _Known) -> PublicColumn:
    role, kind, released = (
        _one_of(words, value)
        for words, value in ((ROLES, column.role), (KINDS, column.kind), (RELEASED, column.released))
    )
    gaps = known.rule.missing_before(column), known.rule.missing_after(column)
    return PublicColumn(column.name, role, kind, released, *gaps)


def _grouping(grouping: GroupingFacts, known: _Known) -> PublicGrouping:
    return PublicGrouping(
        name=_matching(r".{1,80}", grouping.name),
        quasi=_names(grouping.quasi, known),
        k=grouping.k,
        method=_method(grouping.method),
        params=_params(grouping.params),
        groups=grouping.groups,
        sizes={size: n for size, n in grouping.sizes.items() if size >= grouping.k},
        loss_percent=_loss_percent(grouping.loss_percent, grouping.quasi, known),
        loss_weighted_percent=_loss_percent(grouping.loss_weighted_percent, grouping.quasi, known),
        bound=None if grouping.bound is None else _bound(grouping.bound, grouping.quasi, known),
        loss_by_importance_percent=_loss_percent(grouping.loss_by_importance_percent, grouping.quasi, known),
    )


def _bound(bound: BoundFacts, quasi: tuple[str, ...], known: _Known) -> PublicBound | None:
    if not known.rule.all_told(quasi):
        return None
    kind = bound.kind if set(bound.kind.split(", ")) <= set(BOUNDS) else None  # several where there are strata
    return PublicBound(_digits(bound.gap_percent, 3), kind)


def _loss_percent(loss_percent: float | None, quasi: Iterable[str], known: _Known) -> float | None:
    """The loss of several columns together."""
    return known.rule.figure(loss_percent, 0.1, 100.0) if known.rule.all_told(quasi) else None


def _method(value: Any) -> str | None:
    known = {name: m.name for m in METHODS.values() for name in (m.name, *m.aliases)}
    return known.get(value) if isinstance(value, str) else None


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    """What the methods themselves take, with values that they take; so no seed."""
    owners: dict[str, list[Method]] = {}
    for method in METHODS.values():
        for name in method.parameters:
            owners.setdefault(name, []).append(method)
    out: dict[str, Any] = {}
    for name, value in params.items():
        if name == "method" and (chosen := _method(value)):
            out[name] = chosen
        for method in owners.get(name, ())[:1]:
            try:
                checked = method.parameters[name].check(value)
            except (TypeError, ValueError, OverflowError):
                continue
            out[name] = list(checked) if isinstance(checked, tuple) else checked
    return out


def _verdict(verdict: VerdictFacts, known: _Known) -> PublicVerdict:
    """Numbers only; the report makes its own sentences of them."""
    return PublicVerdict(verdict.ok, tuple(_check(c, known) for c in verdict.checks if _CHECKS.fullmatch(c.what)))


def _check(check: Check, known: _Known) -> PublicCheck:
    return PublicCheck(
        what=check.what,
        scenario=_matching(r".{1,80}", check.scenario),
        columns=tuple(name for name in check.columns if name in known.written),  # verify knows the release alone
        wanted=_digits(check.wanted),
        found=_digits(check.found),
        classes=check.classes,
        offending_classes=check.offending_classes,  # of the released file, as all else of a check
        offending_records=check.offending_records,
    )


# What was lost


def _loss(facts: ReleaseFacts, known: _Known) -> PublicLoss:
    loss, rule = facts.measures.loss, known.rule
    quasi = [column.name for column in facts.columns if column.role == "quasi"]
    numbers = [column.name for column in facts.columns if column.role == "quasi" and column.kind not in CODES]
    columns = {
        name: _column_loss(name, of, facts.measures.utility.columns[name], rule)
        for name, of in loss.columns.items()
        if name in known.masked
    }
    return PublicLoss(
        loss_percent=_loss_percent(loss.loss_percent, quasi, known),
        loss_euclidean_percent=_loss_percent(loss.loss_euclidean_percent, quasi, known),
        loss_weighted_percent=_loss_percent(loss.loss_weighted_percent, quasi, known),
        il1s_mean=rule.figure(loss.il1s_mean, 0.001) if rule.all_told(numbers) else None,
        columns=columns,
        loss_by_importance_percent=_loss_percent(loss.loss_by_importance_percent, quasi, known),
    )


def _column_loss(name: str, of: ColumnLoss, changed: Changed, rule: Disclosure) -> PublicColumnLoss:
    told = rule.told(name)
    if told == NOTHING:
        return PublicColumnLoss(told, None, None, None)
    if told == FULL:
        return PublicColumnLoss(told, rule.figure(of.loss_percent, 0.1, 100.0), rule.figure(of.il1s, 0.001), None)
    return PublicColumnLoss(told, None, None, rule.changed(of, sum(_counts(changed)[1])))


def _utility(utility: UtilityMeasures, loss: LossMeasures, known: _Known) -> PublicUtility:
    every = known.rule.all_told(utility.columns)
    return PublicUtility(
        columns={
            name: _of_column(of, loss.columns[name].changed if name in loss.columns else None, name, known.rule)
            for name, of in utility.columns.items()
            if name in known.masked
        },
        correlations=_correlations(utility.correlations, known),
        eigenvalues=_eigenvalues(utility, known),
        propensity=PublicPropensity(_digits(utility.propensity.ratio, 2) if every else None),
    )


def _eigenvalues(utility: UtilityMeasures, known: _Known) -> Eigenvalues:
    given, rule = utility.eigenvalues, known.rule
    if not rule.all_told(utility.correlations.names):
        return Eigenvalues((), (), None)
    before, after = (tuple(rule.figure(v, 0.01) or 0.0 for v in side) for side in (given.before, given.after))
    return Eigenvalues(before, after, rule.figure(given.change, 0.01))


def _of_column(of: Changed, changed: int | None, name: str, rule: Disclosure) -> PublicNumber | PublicCategory:
    kind, told = _one_of(KINDS, of.kind), rule.told(name)
    if isinstance(of, CategoryUtility):
        shown = _categories(of, changed, rule) if told == COUNTS else PublicCategories((), (), ())
        return PublicCategory(kind, shown, _distance(shown))
    histogram = _histogram(of, None if told == FULL else changed, rule) if told in (FULL, COUNTS) else None
    if told != FULL:
        return PublicNumber(kind, None, None, None, histogram)
    return PublicNumber(
        kind=kind,
        mean_change_sd=rule.figure(of.mean_change_sd, 0.01),
        variance_ratio=rule.figure(of.variance_ratio, 0.01),
        # to a tenth: as released quantiles are known, an exact change would tell a record's
        largest_quantile_change_sd=rule.figure(of.largest_quantile_change_sd, 0.1),
        histogram=histogram,
    )


def _counts(of: Changed) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The counts of a distribution before and after."""
    if isinstance(of, CategoryUtility):
        return of.categories.before, of.categories.after
    return ((), ()) if of.histogram is None else (of.histogram.before, of.histogram.after)


def _histogram(of: NumberUtility, changed: int | None, rule: Disclosure) -> PublicHistogram | None:
    """Bins are joined, as many as the number of records asks for."""
    if of.histogram is None or not rule.most_cells():
        return None
    before, after = _counts(of)
    wide = -(-len(after) // rule.most_cells())
    bins = [range(i, min(i + wide, len(after))) for i in range(0, len(after), wide)]
    shown = rule.cells(before, after, bins, changed)
    if shown is None:
        return None
    edges = [of.histogram.edges[cell[0]] for cell in shown.members]
    return PublicHistogram(shown.before, _summed(after, shown), (*edges, of.histogram.edges[-1]))


def _categories(of: CategoryUtility, changed: int | None, rule: Disclosure) -> PublicCategories:
    """The categories that most released records have; all others are one, also where there may be none."""
    before, after = _counts(of)
    often = sorted((i for i, n in enumerate(after) if n), key=lambda i: (-after[i], i))[: max(0, rule.most_cells() - 1)]
    others = [i for i in range(len(after)) if i not in often]
    shown = rule.cells(before, after, [*([i] for i in sorted(often)), others], changed)
    if shown is None:
        return PublicCategories((), (), ())
    names = (*(of.categories.names[i] for i in sorted(often)), OTHERS)
    return PublicCategories(shown.before, _summed(after, shown), names)


def _summed(counts: tuple[int, ...], cells: Cells) -> tuple[int, ...]:
    return tuple(sum(counts[i] for i in cell) for cell in cells.members)


def _distance(shown: PublicCategories) -> float | None:
    """The distance of the distributions as they are shown: it tells no more than they do."""
    was, now = sum(n or 0 for n in shown.before), sum(shown.after)
    if not was or not now:
        return None
    pairs = zip(shown.before, shown.after, strict=True)
    return round(0.5 * sum(abs((b or 0) / was - a / now) for b, a in pairs), 2)


def _correlations(given: Correlations, known: _Known) -> Correlations:
    """Changes are rounded, those beside columns that are not told in full to a tenth; what was before follows."""
    rule = known.rule
    kept = [i for i, name in enumerate(given.names) if rule.told(name) != NOTHING]
    changes: list[float] = []

    def was(i: int, j: int) -> float | None:
        a, b = given.after[i][j], given.before[i][j]
        if a is None or b is None:
            return None
        # beside a column that is released as it was, one far value would tell that record's value in the other
        full = rule.told(given.names[i]) == rule.told(given.names[j]) == FULL
        change = rule.figure(a - b, 0.01 if full else 0.1) or 0.0
        if i < j:
            changes.append(abs(change))
        return round(round(a, 2) - (0.0 if i == j else change), 2) + 0.0

    after: Matrix = tuple(tuple(_rounded(given.after[i][j]) for j in kept) for i in kept)
    before: Matrix = tuple(tuple(was(i, j) for j in kept) for i in kept)
    mean = round(sum(changes) / len(changes), 2) if changes else None
    return Correlations(tuple(given.names[i] for i in kept), before, after, mean, max(changes, default=None))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2) + 0.0
