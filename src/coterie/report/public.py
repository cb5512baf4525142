"""Where the public report hides counts: the one place that decides what the public may see.

A fact passes because `PublicFacts` has a field for it and a line below fills it; whatever has no field stays behind:
the seed, all of the risk, notes, file names and hashes, group numbers.

Three rules guard what passes. What the reader can compute from the released file is public. Of the original, no count
of records below k passes, nor one that follows from a difference: counts in a distribution are multiples of k. No
number passes from which the value of a record follows: no quantiles, no least or largest value; and changes are
rounded, for the released side of them is known exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..algorithms.registry import METHODS, Method
from ..facts.measures import (
    CategoryCounts,
    CategoryUtility,
    ColumnLoss,
    Correlations,
    LossMeasures,
    Matrix,
    NumberUtility,
    UtilityMeasures,
)
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
from .bins import coarse, rounded, within_release

OTHERS = "others"
ROLES = ("identifier", "quasi", "confidential", "other")
KINDS = ("numeric", "integer", "ordinal", "nominal", "datetime", "boolean")
MASKED = ("mean", "rounded mean", "median category", "mode", "mean date", "medoid")
# Of columns that are mostly as they were, a difference of before and after would show the few records that changed.
RELEASED = (*MASKED, "as it was", "merged strata", "dropped", "with noise in constant groups")
BOUNDS = ("neighbours", "column generation", "column generation with subset-row cuts", "optimal")
_CHECKS = re.compile(r"[A-Za-z0-9 -]{1,40}")


@dataclass(frozen=True)
class _Known:
    """What the rules measure against."""

    k: int
    names: frozenset[str]  # the table's columns
    masked: frozenset[str]  # those whose values are those of groups
    records: int  # released ones
    few_left_out: bool  # fewer than k records were: their number must not follow from other numbers


def public(facts: ReleaseFacts) -> PublicFacts:
    """The facts that the public report shows."""
    known = _known(facts)
    return PublicFacts(
        coterie=_matching(r"[0-9][0-9a-z.+]{0,20}", facts.coterie),
        created=_matching(r"\d{4}-\d{2}-\d{2}", facts.created),
        suppressed_below=known.k,
        settings=_settings(facts.settings, known),
        input=PublicInput(None if known.few_left_out else facts.input.records, facts.input.columns),
        output=_output(facts, known),
        columns=tuple(_column(column, known) for column in facts.columns),
        groupings=tuple(_grouping(grouping, known) for grouping in facts.groupings),
        measures=PublicMeasures(_loss(facts.measures.loss, known), _utility(facts.measures.utility, known)),
        verdict=None if facts.verdict is None else _verdict(facts.verdict, known),
    )


def _known(facts: ReleaseFacts) -> _Known:
    k, records = facts.largest_k, facts.output.records
    few = 0 < facts.output.suppressed < k or 0 < facts.input.records - records < k
    masked = frozenset(column.name for column in facts.columns if column.released in MASKED)
    return _Known(k, frozenset(column.name for column in facts.columns), masked, records, few)


def _matching(pattern: str, value: str | None) -> str | None:
    return value if value is not None and re.fullmatch(pattern, value) else None


def _one_of(words: Collection[str], value: str | None) -> str | None:
    return value if value in words else None


def _digits(value: float | None, digits: int = 6) -> float | None:
    """A number to so many digits that count."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def _decimals(value: float | None, decimals: int = 2) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, decimals) + 0.0


def _few(count: int | None, known: _Known) -> int | None:
    """A count of original records: 0, or at least k, or None."""
    return None if count is None or 0 < count < known.k else count


def _share(share: float | None, known: _Known) -> float | None:
    """A share of the records, unless it stands for fewer than k of them."""
    return None if share is None or 0 < share * known.records < known.k else _decimals(share, 3)


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
    )


def _output(facts: ReleaseFacts, known: _Known) -> PublicOutput:
    output = facts.output
    name = None if output.name == facts.input.name else _matching(r"[^/\\]{1,80}", output.name)
    hidden = _few(output.suppressed, known), _few(output.blanked, known)
    return PublicOutput(name, output.records, output.columns, *hidden, output.shuffled, output.measured)


def _column(column: ColumnFacts, known: _Known) -> PublicColumn:
    before, after = _few(column.missing_before, known), column.missing_after
    if before is not None and after is not None and 0 < abs(before - after) < known.k:
        before = None
    role, kind = _one_of(ROLES, column.role), _one_of(KINDS, column.kind)
    return PublicColumn(column.name, role, kind, _one_of(RELEASED, column.released), before, after)


def _grouping(grouping: GroupingFacts, known: _Known) -> PublicGrouping:
    return PublicGrouping(
        name=_matching(r".{1,80}", grouping.name),
        quasi=_names(grouping.quasi, known),
        k=grouping.k,
        method=_method(grouping.method),
        params=_params(grouping.params),
        groups=grouping.groups,
        sizes={size: n for size, n in grouping.sizes.items() if size >= grouping.k},
        loss_percent=_digits(grouping.loss_percent),
        loss_weighted_percent=_digits(grouping.loss_weighted_percent),
        bound=None if grouping.bound is None else _bound(grouping.bound),
    )


def _bound(bound: BoundFacts) -> PublicBound:
    kind = bound.kind if set(bound.kind.split(", ")) <= set(BOUNDS) else None  # several where there are strata
    return PublicBound(_digits(bound.loss_percent), _digits(bound.gap_percent), kind)


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
        columns=_names(check.columns, known),
        wanted=_digits(check.wanted),
        found=_digits(check.found),
        classes=check.classes,
        offending_classes=_few(check.offending_classes, known),
        offending_records=_few(check.offending_records, known),
    )


# What was lost


def _loss(loss: LossMeasures, known: _Known) -> PublicLoss:
    return PublicLoss(
        loss_percent=_digits(loss.loss_percent),
        loss_euclidean_percent=_digits(loss.loss_euclidean_percent),
        loss_weighted_percent=_digits(loss.loss_weighted_percent),
        il1s_mean=_digits(loss.il1s_mean),  # from sums, n would follow
        columns={name: _column_loss(of, known) for name, of in loss.columns.items() if name in known.masked},
    )


def _column_loss(of: ColumnLoss, known: _Known) -> PublicColumnLoss:
    return PublicColumnLoss(_digits(of.loss_percent), _digits(of.il1s), _share(of.mismatch_share, known))


def _utility(utility: UtilityMeasures, known: _Known) -> PublicUtility:
    eigen = utility.eigenvalues
    return PublicUtility(
        columns={name: _of_column(of, known) for name, of in utility.columns.items() if name in known.masked},
        correlations=_correlations(utility.correlations, known),
        eigenvalues=replace(
            eigen,
            before=tuple(round(v, 2) + 0.0 for v in eigen.before),
            after=tuple(round(v, 2) + 0.0 for v in eigen.after),
            change=_decimals(eigen.change),
        ),
        propensity=PublicPropensity(_digits(utility.propensity.ratio)),
    )


def _of_column(of: NumberUtility | CategoryUtility, known: _Known) -> PublicNumber | PublicCategory:
    kind = _one_of(KINDS, of.kind)
    if isinstance(of, CategoryUtility):
        return PublicCategory(kind, _categories(of.categories, known), _share(of.total_variation, known))
    return PublicNumber(
        kind=kind,
        mean_change_sd=_mean_change(of, known),
        variance_ratio=_decimals(of.variance_ratio),
        # to a tenth: as released quantiles are known, an exact change would tell a record's
        largest_quantile_change_sd=_decimals(of.largest_quantile_change_sd, 1),
        histogram=_histogram(of, known),
    )


def _mean_change(of: NumberUtility, known: _Known) -> float | None:
    """Rough where few records were left out: group means keep the sum, so what it lacks would be that of the few."""
    if not known.few_left_out:
        return _decimals(of.mean_change_sd)
    return _decimals(of.mean_change_sd, 1) if known.records >= 100 else None


def _histogram(of: NumberUtility, known: _Known) -> PublicHistogram | None:
    if of.histogram is None:
        return None
    at_round = rounded(of.histogram.edges, of.histogram.before, of.histogram.after, of.kind)
    shown = None if at_round is None else within_release(at_round)
    if shown is None:
        return None
    after = tuple(round(n or 0) for n in shown.after)
    return PublicHistogram(tuple(coarse(shown.before, known.k)), after, tuple(shown.edges))


def _categories(given: CategoryCounts, known: _Known) -> PublicCategories:
    """Names that the release holds; all others are one."""
    counts = list(zip(given.names, given.before, given.after, strict=True))
    kept = [one for one in counts if one[2]]
    if len(kept) < len(counts):
        kept.append((OTHERS, sum(before for _, before, after in counts if not after), 0))
    hidden = coarse([before for _, before, _ in kept], known.k)
    return PublicCategories(tuple(hidden), tuple(after for *_, after in kept), tuple(name for name, *_ in kept))


def _correlations(given: Correlations, known: _Known) -> Correlations:
    kept = [i for i, name in enumerate(given.names) if name in known.names]

    def cells(matrix: Matrix) -> Matrix:
        return tuple(tuple(_decimals(matrix[i][j]) for j in kept) for i in kept)

    names = tuple(given.names[i] for i in kept)
    changes = _decimals(given.mean_change), _decimals(given.largest_change)
    return Correlations(names, cells(given.before), cells(given.after), *changes)
