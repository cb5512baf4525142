"""One look at all records of a large table, before any is grouped: scales, gaps, categories, and a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.kd_blocks import sample_step
from ..engines import Engine
from ..errors import CoterieError, PromiseError
from ..progress import done
from ..protection.scales import Moments, Scale
from ..recipe import ColumnRule, Recipe
from ..tables import kinds
from ..tables.columns import Column

Floats = NDArray[np.float64]


@dataclass
class Survey:
    """What must be known of the whole table to group a part of it."""

    scales: dict[str, Scale]
    steps: dict[str, float]
    gaps: dict[str, int]
    frequency: dict[str, dict[str, float]]  # of categories, by weight
    sample: dict[str, Floats] = field(repr=False)  # every so many records, of the columns at which blocks are cut

    def categories(self, name: str) -> tuple[str, ...]:
        """All categories of a nominal column."""
        return tuple(sorted(self.frequency[name]))


def read_part(
    batch: Any, names: Sequence[str], recipe: Recipe, decimal: str, steps: Mapping[str, float] | None = None
) -> dict[str, kinds.Typed]:
    """Some columns of some records, by their kinds; `steps` say what the whole columns resolve."""
    known = steps or {}
    return {
        name: kinds.read(name, batch.column(name), recipe.columns[name], decimal, known.get(name)) for name in names
    }


def weights_of(column: Callable[[str], Any], recipe: Recipe, decimal: str) -> Floats | None:
    """The weights of some records, whose columns `column` gives."""
    if recipe.weights is None:
        return None
    name = recipe.weights.column
    weights = kinds.read(name, column(name), ColumnRule(role="other", kind="numeric"), decimal).column.numbers
    wrong = int(np.count_nonzero(~(weights > 0)))
    if wrong:
        raise CoterieError("Weights must be numbers above 0.", f"{wrong} others in column '{name}'")
    return weights


def survey(engine: Engine, recipe: Recipe, decimal: str, size: int) -> Survey:
    """Look at the quasi-identifiers, and the weights, of all records."""
    look = _Look(recipe, sample_step(engine.records, size))
    extra = () if recipe.weights is None else (recipe.weights.column,)
    for batch in engine.batches([*recipe.quasi, *extra]):
        typed = read_part(batch, recipe.quasi, recipe, decimal)
        weights = weights_of(batch.column, recipe, decimal)
        for name in recipe.quasi:
            look.add(typed[name], weights)
        look.start += batch.num_rows
        done(batch.num_rows)
    if look.start != engine.records:
        raise CoterieError("The input must stay as it is while it is read.", "another number of records")
    return look.result()


class _Look:
    def __init__(self, recipe: Recipe, step: int) -> None:
        self.start, self._every = 0, step
        rules = {name: recipe.columns[name] for name in recipe.quasi}
        self._policy = recipe.missing.policy
        self._moments = {n: Moments() for n, rule in rules.items() if rule.kind not in ("nominal", "boolean")}
        self._frequency: dict[str, dict[str, float]] = {n: {} for n, r in rules.items() if n not in self._moments}
        self._sample: dict[str, list[Floats]] = {n: [] for n, r in rules.items() if r.kind in ("numeric", "integer")}
        self._steps: dict[str, float] = {}
        self._gaps = dict.fromkeys(rules, 0)

    def add(self, typed: kinds.Typed, weights: Floats | None) -> None:
        """Take in a column of some records."""
        column, name = typed.column, typed.column.name
        self._gaps[name] += int(column.missing.sum())
        if self._gaps[name] and self._policy == "refuse":
            what = "Quasi-identifiers must have no missing values, unless the recipe says what to do."
            raise PromiseError(what, f"some in '{name}'", '[missing] policy = "group".')
        self._steps[name] = min(self._steps.get(name, np.inf), typed.step)
        if name in self._moments:
            self._moments[name].add(column.numbers, name)
        else:
            self._count(column, weights)
        if name in self._sample:
            self._sample[name].append(column.numbers[-self.start % self._every :: self._every].copy())

    def _count(self, column: Column, weights: Floats | None) -> None:
        there = ~column.missing
        codes = column.numbers[there].astype(np.int64)
        often = np.bincount(codes, None if weights is None else weights[there], len(column.categories))
        held = self._frequency[column.name]
        for category, count in zip(column.categories, often.tolist(), strict=True):
            held[category] = held.get(category, 0.0) + count

    def result(self) -> Survey:
        """What was seen."""
        scales = {name: moments.scale() for name, moments in self._moments.items()}
        sample = {name: np.concatenate(parts) for name, parts in self._sample.items()}
        return Survey(scales, self._steps, self._gaps, self._frequency, sample)


def in_batches(engine: Engine, names: Sequence[str], recipe: Recipe, decimal: str, scales: Any) -> Iterator[Floats]:
    """The columns at which blocks are cut, as they are, gaps in the middle, some records at a time."""
    for batch in engine.batches(names):
        typed = read_part(batch, names, recipe, decimal)
        yield np.column_stack([scales[n].filled(typed[n].column.numbers) for n in names])
