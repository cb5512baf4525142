"""measure: all that is said about a release, with types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..facts.measures import ColumnLoss, Intervals, LossMeasures, Measures, RiskMeasures, ScenarioRisk, UtilityMeasures
from ..tables.columns import Column, Columns
from . import intervals, loss, risk, utility
from .linkage import distance_linkage
from .population import Sampling, population_of
from .propensity import propensity
from .risk import ScenarioLike
from .standard_units import finite, is_number

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def measure(
    before: Columns,
    after: Columns,
    *,
    scenarios: Sequence[ScenarioLike],
    confidential: Sequence[str] = (),
    weights: Floats | None = None,
    units: Ints | None = None,
    seed: int = 0,
    steps: Mapping[str, float] | None = None,
    importance: Mapping[str, float] | None = None,
    original: Columns | None = None,
    sampling: Sampling | None = None,
    in_part: bool = False,
) -> Measures:
    """Measure what a release lost, what analysts find changed, and what risk is left.

    Parameters
    ----------
    before, after : mapping of str to Column
        The same columns, and record i of both is the same record. Columns that only one of them has are not measured.
    scenarios : sequence of risk.Scenario, or alike
        What intruders are taken to know: a name, the quasi-identifiers, k.
    confidential : sequence of str
        The columns whose values should not be learnt.
    weights : ndarray, optional
        Sampling weights, for `loss_weighted_percent`; all else counts records.
    units : ndarray, optional
        Whose records they are, as numbers from 0 on, -1 where that is not known: risk counts these instead of records.
    seed : int
        Of the samples that linkage and propensity take of large files.
    steps : mapping of str to float, optional
        What released means are rounded to, where not to whole numbers in integer columns and not at all in others.
    importance : mapping of str to float, optional
        The weights of columns in squared distances, for `loss_by_importance_percent`; all else weighs them the same.
    original : mapping of str to Column, optional
        Quasi-identifiers as they were before `before` was prepared from them: the classes of records before, and who is
        singled out there, are by these.
    sampling : Sampling, optional
        What is known of the population that the records were drawn from.
    in_part : bool
        Whether these are some of the released groups: how large classes were before is then not known.

    Returns
    -------
    Measures
        As docs/measures describes them; None for what is not defined. Loss, linkage and intervals are about the
        quasi-identifiers of all scenarios together; the columns that loss, utility and propensity list are these and
        any other that differs. Correlations are of all columns whose values have an order. Of very many columns,
        correlations and propensity look at some that are drawn by the seed.
    """
    names = _names(before, after, scenarios, confidential)
    quasi = list(dict.fromkeys(name for s in scenarios for name in s.quasi))
    masked = [name for name in names if name in quasi or _differs(before[name], after[name])]
    return Measures(
        _loss(before, after, quasi, masked, weights, steps or {}, importance or {}),
        _utility(before, after, names, masked, seed),
        _with_population(
            _risk(before, after, quasi, scenarios, confidential, units, seed, original or {}),
            None if in_part else {**before, **(original or {})},
            after,
            weights,
            sampling,
        ),
    )


def _names(
    before: Columns, after: Columns, scenarios: Sequence[ScenarioLike], confidential: Sequence[str]
) -> list[str]:
    """The columns of both files, in the order of the first; refuse what can't be compared."""
    names = [name for name in before if name in after]
    wanted = [*(name for s in scenarios for name in s.quasi), *confidential]
    lacking = sorted({name for name in wanted if name not in names})
    if lacking:
        raise CoterieError("Measured columns must be in both tables.", ", ".join(f"no '{name}'" for name in lacking))
    if any(not s.quasi for s in scenarios):
        raise CoterieError("A scenario needs at least one quasi-identifier.", "none")
    lengths = {len(c.numbers) for name in names for c in (before[name], after[name])}
    if len(lengths) > 1:
        what = "Record i must be the same record before and after."
        raise CoterieError(what, f"columns of {' and '.join(map(str, sorted(lengths)))} records")
    return names


def _differs(before: Column, after: Column) -> bool:
    return not np.array_equal(before.numbers, after.numbers, equal_nan=True)


def _pick(columns: Columns, names: Sequence[str]) -> list[Column]:
    return [columns[name] for name in names]


def _loss(
    before: Columns,
    after: Columns,
    quasi: Sequence[str],
    masked: Sequence[str],
    weights: Floats | None,
    steps: Mapping[str, float],
    importance: Mapping[str, float],
) -> LossMeasures:
    mean, total = utility.il1s(_pick(before, quasi), _pick(after, quasi))
    weighted = None if weights is None else finite(loss.sums(before, after, quasi, weights, steps).loss_percent)
    columns = {name: _column_loss(before[name], after[name], steps.get(name)) for name in masked}
    important = None
    if any(name in importance for name in quasi):
        important = finite(loss.sums(before, after, quasi, steps=steps, importance=importance).loss_percent)
    return LossMeasures(*loss.sums(before, after, quasi, steps=steps), weighted, columns, mean, total, important)


def _column_loss(b: Column, a: Column, step: float | None) -> ColumnLoss:
    return ColumnLoss(
        loss.column_loss(b, a, step),
        utility.il1s([b], [a])[0],
        loss.mismatch(b, a) if b.has_codes else None,
        changed=loss.changed(b, a),
        distinct=len(np.unique(b.numbers[~b.missing])),
    )


def _utility(
    before: Columns, after: Columns, names: Sequence[str], masked: Sequence[str], seed: int
) -> UtilityMeasures:
    ordered = utility.correlated([name for name in names if before[name].is_ordered], seed)
    related = utility.correlations(_pick(before, ordered), _pick(after, ordered))
    return UtilityMeasures(
        columns={name: utility.column_utility(before[name], after[name]) for name in masked},
        correlations=related,
        eigenvalues=utility.eigenvalues(related.before, related.after),
        propensity=propensity(_pick(before, masked), _pick(after, masked), seed=seed),
    )


def _risk(
    before: Columns,
    after: Columns,
    quasi: Sequence[str],
    scenarios: Sequence[ScenarioLike],
    confidential: Sequence[str],
    units: Ints | None,
    seed: int,
    original: Columns,
) -> RiskMeasures:
    was, now = _Classes({**before, **original}), _Classes(after)
    labels = (_Classes(before) if original else was).of(quasi), now.of(quasi)
    linked = distance_linkage(_pick(before, quasi), _pick(after, quasi), seed=seed, labels=labels, units=units)
    numbers = [name for name in quasi if is_number(before[name])]
    b, a = _pick(before, numbers), _pick(after, numbers)
    secrets = _pick(after, confidential)
    released = [now.of(s.quasi) for s in scenarios]
    return RiskMeasures(
        scenarios=tuple(
            ScenarioRisk(
                s.name,
                tuple(s.quasi),
                s.k,
                before=risk.class_risk(was.of(s.quasi), s.k, units),
                after=risk.class_risk(now.of(s.quasi), s.k, units),
            )
            for s in scenarios
        ),
        linkage=linked,
        intervals=Intervals(intervals.sd_intervals(b, a), intervals.rank_intervals(b, a)),
        confidential=tuple(
            risk.confidential_risk(column, c, s.name)
            for column in secrets
            for s, c in zip(scenarios, released, strict=True)
        ),
        singling_out=risk.singling_out([was.of(s.quasi) for s in scenarios], released, units),
        linkability=risk.linkability(labels[0], linked, units),
        inference=risk.inference(secrets, released),
    )


def _with_population(
    risks: RiskMeasures, before: Columns | None, after: Columns, weights: Floats | None, sampling: Sampling | None
) -> RiskMeasures:
    """The same, with the risk in the population, if something is known of it."""
    if sampling is None:
        return risks
    was, now = None if before is None else _Classes(before), _Classes(after)
    return replace(
        risks,
        scenarios=tuple(
            replace(
                s,
                population_before=None if was is None else population_of(was.of(s.quasi), weights, sampling, s.k),
                population_after=population_of(now.of(s.quasi), weights, sampling, s.k),
            )
            for s in risks.scenarios
        ),
    )


def measure_candidate(
    before: Columns,
    after: Columns,
    quasi: Sequence[str],
    alike: Ints | None,
    seed: int,
    steps: Mapping[str, float],
    units: Ints | None = None,
) -> tuple[float, float | None, float | None]:
    """What candidates are compared by: loss in percent, the share of records that are linked, the largest risk.

    `alike` are the equivalence classes of the original records, if they are known; `steps` and `units` as for
    `measure`.
    """
    was, now = _pick(before, quasi), _pick(after, quasi)
    own, released = risk.classes(was) if alike is None else alike, risk.classes(now)
    linked = distance_linkage(was, now, seed=seed, labels=(own, released), units=units)
    largest = risk.class_risk(released, 2, units).largest_risk
    return loss.sums(before, after, quasi, steps=steps).loss_percent, linked.share, largest


class _Classes:
    """The classes of a table by any columns, each column sorted only once."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._values: dict[str, NDArray[np.integer]] = {}
        self._classes: dict[tuple[str, ...], Ints] = {}

    def of(self, names: Sequence[str]) -> Ints:
        key = tuple(sorted(set(names)))
        if not key:
            return np.zeros(0, np.int64)
        for name in key:
            if name not in self._values:
                number = risk.values(self._columns[name])
                self._values[name] = number.astype(np.min_scalar_type(int(number.max(initial=0))))  # as few bytes as do
        if key not in self._classes:
            self._classes[key] = risk.combined([self._values[name] for name in key])
        return self._classes[key]
