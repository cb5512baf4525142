"""Analyses of two tables, of which one is a release of the other: what both find, and how far they agree.

Whole tables are compared, not records: rows may be in any order, and records may have been suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..facts.analysis_facts import AnalysisEstimate, AnalysisFacts, AnalysisPair
from . import estimates, models
from .columns_used import Analysed, present
from .formula import read_formula
from .overlap import pairs

if TYPE_CHECKING:
    from ..recipe.sections import AnalysisRule

Ints = NDArray[np.int64]
Cells = dict[str, AnalysisEstimate]

MOST_CELLS = 2_000  # of a table, or groups
AT = (0.25, 0.5, 0.75)  # quantiles, unless others are asked for


def compared(name: str, rule: AnalysisRule, before: Analysed, after: Analysed) -> AnalysisFacts:
    """An analysis on both tables. They have weights only if it is to be weighted."""
    if rule.model is not None:
        return _of_model(name, rule, before, after)
    check_cells(rule, before)
    kind, measured = _kind(rule)
    sides, used = [], []
    for table in (before, after):
        rows = np.flatnonzero(present(table, [measured] if measured else [], _groupers(rule)))
        used.append(len(rows))
        sides.append(_cells(rule, kind, measured, table, rows))
    if kind in ("table", "total"):  # a cell without records is a count of 0
        every = dict.fromkeys((*sides[0], *sides[1]), AnalysisEstimate(0.0, 0.0, 0.0, 0.0))
        sides = [{**every, **side} for side in sides]
    found = pairs(sides[0], sides[1], tested=False)
    errors = estimates.ERRORS_OF_QUANTILES if kind == "quantiles" else estimates.ERRORS
    return _facts(name, kind, asked(rule), (before, after), used, errors, found, [])


def _facts(
    name: str,
    kind: str,
    of: str,
    tables: tuple[Analysed, Analysed],
    used: Sequence[int],
    errors: str,
    found: tuple[AnalysisPair, ...],
    problems: Sequence[str],
) -> AnalysisFacts:
    overlaps = [one.overlap_share for one in found if one.overlap_share is not None]
    tested = kind in ("linear", "logistic")
    return AnalysisFacts(
        name=name,
        kind=kind,
        asked=of,
        weighted=tables[0].weights is not None,
        standard_errors=errors,
        records_before=used[0],
        records_after=used[1],
        missing_before=tables[0].records - used[0],
        missing_after=tables[1].records - used[1],
        estimates=found,
        least_overlap_share=min(overlaps, default=None),
        mean_overlap_share=sum(overlaps) / len(overlaps) if overlaps else None,
        signs_changed=sum(bool(one.sign_changed) for one in found),
        significance_changed=sum(bool(one.significance_changed) for one in found) if tested else None,
        problems=tuple(problems),
    )


def asked(rule: AnalysisRule) -> str:
    """What an analysis is of, in one line."""
    if rule.model is not None:
        return rule.model
    by = f" by {', '.join(rule.by)}" if rule.by else ""
    if rule.rows is not None:
        return " x ".join([", ".join(rule.rows), *([", ".join(rule.columns)] if rule.columns else [])])
    if rule.quantiles is not None:
        return f"{', '.join(f'{p:g}' for p in rule.at or AT)} quantiles of {rule.quantiles}{by}"
    return f"{rule.mean}{by}" if rule.mean is not None else f"{rule.total}{by}"


def _kind(rule: AnalysisRule) -> tuple[str, str | None]:
    """What is calculated, and of which column of numbers."""
    for kind in ("mean", "total", "quantiles"):
        if (name := getattr(rule, kind)) is not None:
            return kind, name
    return "table", None


def _groupers(rule: AnalysisRule) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(rule.rows or ()), *(rule.columns or ()), *(rule.by or ()))))


def check_cells(rule: AnalysisRule, table: Analysed) -> None:
    """Refuse a table of very many cells, before anything is done."""
    cells = 1
    for name in _groupers(rule):
        cells *= max(1, len(table.categories[name].categories))
    if cells > MOST_CELLS:
        what = f"A table, or the groups of an analysis, must have at most {MOST_CELLS:,} cells."
        raise CoterieError(what, f"{cells:,} by {', '.join(_groupers(rule))}", "name fewer columns, or coarser ones.")


def _cells(rule: AnalysisRule, kind: str, measured: str | None, table: Analysed, rows: Ints) -> Cells:
    """The estimates of every group that has records, by name."""
    names = _groupers(rule)
    groups, labels = _groups(table, names, rows)
    weights = np.ones(len(rows)) if table.weights is None else table.weights[rows]
    y = np.ones(len(rows)) if measured is None else table.numbers[measured][rows]
    if kind == "quantiles":
        found: Cells = {}
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=len(labels)))
        for label, inside in zip(labels, np.split(order, ends[:-1]) if labels else (), strict=True):
            for p in rule.at or AT:
                named = ", ".join([f"{p:g}", *([label] if names else [])])
                found[named] = estimates.quantile(y[inside], weights[inside], p)
        return found
    of = estimates.means if kind == "mean" else estimates.totals
    listed = zip(labels, of(y, weights, groups, len(labels)), strict=True)
    return {label: one for label, one in listed if one is not None}


def _groups(table: Analysed, names: Sequence[str], rows: Ints) -> tuple[Ints, list[str]]:
    """The group of each record, and the names of all groups that have one."""
    if not names:
        return np.zeros(len(rows), np.int64), ["all"] if len(rows) else []
    cell = np.zeros(len(rows), np.int64)
    for name in names:
        column = table.categories[name]
        cell = cell * max(1, len(column.categories)) + column.numbers[rows].astype(np.int64)
    there, groups = np.unique(cell, return_inverse=True)
    return groups.astype(np.int64), [_label(table, names, number) for number in there.tolist()]


def _label(table: Analysed, names: Sequence[str], number: int) -> str:
    parts = []
    for name in reversed(names):
        categories = table.categories[name].categories
        number, code = divmod(number, max(1, len(categories)))
        parts.append(f"{name} = {categories[code]}")
    return ", ".join(reversed(parts))


def _of_model(name: str, rule: AnalysisRule, before: Analysed, after: Analysed) -> AnalysisFacts:
    assert rule.model is not None
    family = rule.family or "linear"
    formula = read_formula(rule.model)
    model, problems = models.model_of(formula, family, before, after)
    sides, used = [], []
    for table, when in ((before, "Before"), (after, "After")):
        fitted = models.fit(model, table)
        sides.append(fitted.coefficients)
        used.append(fitted.records)
        if fitted.problem is not None:
            problems.append(f"{when}: {fitted.problem}.")
    errors = models.ERRORS[family, before.weights is not None]
    found = pairs(sides[0], sides[1], tested=True)
    return _facts(name, family, rule.model, (before, after), used, errors, found, problems)


def least_overlap(analyses: Sequence[AnalysisFacts]) -> float | None:
    """The least overlap of all analyses; 0 where one could be made before, and not after."""
    found = [one.least_overlap_share for one in analyses if one.least_overlap_share is not None]
    return min(found, default=None)
