"""The analyses of a recipe: the columns that they use, read before and after, in memory or from a released file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..analysis.columns_used import CATEGORY, EITHER, NUMBER, Analysed, uses
from ..analysis.comparing import check_cells, compared
from ..analysis.models import check_installed
from ..engines import Engine
from ..errors import CoterieError
from ..facts.analysis_facts import AnalysisFacts
from ..recipe import ColumnRule, Recipe
from ..recipe.analysis_rules import released_weights
from ..recipe.preparing_rules import becomes_text
from ..tables.columns import Column
from ..tables.records import Records
from .preparation import original_rule
from .solving import Released
from .source import Source

_DAY = 86_400e6  # microseconds

ReadColumn = Callable[[str, ColumnRule], Column]


def check_analyses(recipe: Recipe, engine: str) -> None:
    """Refuse, before any work, analyses that can't be made: without their libraries, or of a table not in memory."""
    if not recipe.analysis:
        return
    if engine != "memory":
        what = "Analyses need the whole table in memory: models and quantiles use all records at once."
        hint = "leave [analysis] out, or use engine memory, with a higher memory limit if needed."
        raise CoterieError(what, f"engine {engine}", hint)
    if any(rule.model is not None for rule in recipe.analysis.values()):
        check_installed()


class Analyses:
    """The analyses of a recipe, with the columns that they use as they were before.

    Before is the input as it is: a prepared number is there as it was. Where preparing makes other categories of a
    column, they are made before, too: else there would be nothing to compare.

    What can't be read as an analysis needs it is refused here, before groups are formed.

    Parameters
    ----------
    source : Source
    engine : Engine
        The table in memory, once it is known how columns are prepared.
    asked, work : Recipe
        As it was written, and with columns as they have become.
    """

    def __init__(self, source: Source, engine: Engine, asked: Recipe, work: Recipe) -> None:
        self._source, self._engine, self._asked, self._work = source, engine, asked, work
        self._rules: dict[tuple[str, str], ColumnRule] = {}  # how each column is read for each use
        self._before: dict[tuple[str, str], Column] = {}
        self._kept: dict[tuple[str, str], Column] = {}  # as it is released, if it is not masked
        for rule in work.analysis.values():
            for name, use in uses(rule):
                if (name, use) not in self._rules:
                    self._read_before(name, use)
        self._weights = self._weights_by(self._read)
        self._was = _analysed(self._before, self._weights, engine.records)
        for rule in work.analysis.values():
            if rule.total is not None and self._kept[rule.total, NUMBER].kind == "datetime":
                raise CoterieError("A date column has no total.", f"'{rule.total}'", "use mean or quantiles.")
            if rule.model is None:
                check_cells(rule, self._was)

    def _read(self, name: str, rule: ColumnRule) -> Column:
        """A column of the input, prepared."""
        return self._records(name, rule).column(name)

    def _records(self, name: str, rule: ColumnRule) -> Records:
        reading = self._engine.reading
        if reading.rules.get(name) == rule:
            return next(iter(self._engine.scan([name])))
        return Records(np.arange(self._engine.records), self._source.arrow, replace(reading, rules={name: rule}))

    def _read_before(self, name: str, use: str) -> None:
        rule, kept = self._rule(name, use)
        _check_use(name, use, kept)
        self._rules[name, use] = rule
        self._kept[name, use] = self._before[name, use] = kept
        if name in self._engine.reading.preparing and not kept.has_codes:
            self._before[name, use] = self._records(name, rule).original(name)

    def _rule(self, name: str, use: str) -> tuple[ColumnRule, Column]:
        """How a column is read for a use, and the column: as numbers, if it may be either and its values are."""
        work, asked = self._work.columns[name], self._asked.columns[name]
        if work.kind is not None:
            return work, self._read(name, work)
        if asked.prepared and not becomes_text(asked):
            rule = original_rule(asked)
            return rule, self._read(name, rule)
        rule = _other("nominal" if use == CATEGORY else "numeric")
        try:
            return rule, self._read(name, rule)
        except CoterieError:
            if use != EITHER:
                raise
        rule = _other("nominal")
        return rule, self._read(name, rule)

    def of_part(self, part: Released) -> tuple[AnalysisFacts, ...]:
        """The analyses of a release in memory: masked columns as they are released, the others as they were."""
        rows = part.records.numbers
        columns = {
            (name, use): part.after[name] if name in part.after else column.at(rows)
            for (name, use), column in self._kept.items()
        }
        return self._answers(columns, None if self._weights is None else self._weights[rows], len(rows))

    def of_file(self, released: Source, names: Mapping[str, str], undo: Mapping[str, str]) -> tuple[AnalysisFacts, ...]:
        """The analyses of a released table: `names` are those of its columns, `undo` what texts stood for."""
        lacking = [names[name] for name, _ in self._rules if names[name] not in released.names]
        weights = released_weights(self._work)
        if weights is not None and names[weights] not in released.names:
            lacking.append(names[weights])
        if lacking:
            what = "The release must contain the columns to be analysed."
            raise CoterieError(what, f"no '{lacking[0]}' in it", "was it made with this recipe?")

        def read(name: str, rule: ColumnRule) -> Column:
            told = names[name]
            column = next(released.engine("memory", {told: rule}).scan([told])).column(told)
            shown = tuple(undo.get(category, category) for category in column.categories)
            return Column(name, column.kind, column.numbers, shown)

        columns = {(name, use): read(name, rule) for (name, use), rule in self._rules.items()}
        return self._answers(columns, self._weights_by(read), released.table.records)

    def _answers(
        self, columns: Mapping[tuple[str, str], Column], weights: Any, records: int
    ) -> tuple[AnalysisFacts, ...]:
        after = _analysed(columns, weights, records)
        out = []
        for name, rule in self._work.analysis.items():
            sides = self._was, after
            if rule.weighted is False:
                sides = replace(sides[0], weights=None), replace(sides[1], weights=None)
            out.append(compared(name, rule, *sides))
        return tuple(out)

    def texts(self) -> set[str]:
        """All categories of the columns as they were."""
        return {category for column in self._kept.values() for category in column.categories}

    def _weights_by(self, read: ReadColumn) -> Any:
        """The sampling weights, if they are released; numbers above 0."""
        name = released_weights(self._work)
        if name is None:
            return None
        weights = read(name, _other("numeric")).numbers
        if not np.all(weights > 0.0):
            raise CoterieError("Weights must be numbers above 0.", f"other or missing values in '{name}'")
        return weights


def _analysed(columns: Mapping[tuple[str, str], Column], weights: Any, records: int) -> Analysed:
    numbers: dict[str, Any] = {}
    categories: dict[str, Column] = {}
    for (name, use), column in columns.items():
        if use == CATEGORY or column.kind in ("ordinal", "nominal"):
            categories[name] = _with_categories(column)
        else:
            numbers[name] = column.numbers / _DAY if column.kind == "datetime" else column.numbers
    return Analysed(numbers, categories, weights, records)


def _check_use(name: str, use: str, column: Column) -> None:
    """Refuse a column that is not what an analysis needs; of those whose kind the recipe knows, it has done so."""
    if use == NUMBER and column.kind in ("ordinal", "nominal"):
        raise CoterieError("This must be a numeric column.", f"'{name}', which holds categories")
    if use == CATEGORY and column.kind in ("numeric", "datetime"):
        what = "This must be a column of categories or whole numbers."
        raise CoterieError(what, f"'{name}' of kind {column.kind}")


def _other(kind: str) -> ColumnRule:
    return ColumnRule(role="other", kind=kind)


def _with_categories(column: Column) -> Column:
    """A column of whole numbers as one of categories, in their order."""
    if column.has_codes:
        return column
    there = ~column.missing
    values, codes = np.unique(column.numbers[there], return_inverse=True)
    numbers = np.full(len(column.numbers), np.nan)
    numbers[there] = codes
    return Column(column.name, "ordinal", numbers, tuple(f"{value:.0f}" for value in values))
