"""assess on Spark: records go to where their class is whole, by a hash of their values; units likewise.

What is counted in each place adds up: sizes of classes, constant ones, the worst of all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Chunk, Router
from ..engines.spark import Pass, SparkEngine
from ..engines.spark_tasks import ChunkWork
from ..errors import CoterieError
from ..facts.assessment import ScenarioAssessment
from ..facts.measures import ConfidentialRisk
from ..facts.population_facts import PopulationRisk
from ..measures.population import PopulationSums, Sampling, population_risk, sums_of_sizes, sums_of_weights
from ..measures.risk import classes, confidential_risk, contents, risk_of_contents, risk_of_sizes, units_in
from ..protection.noise import mixed
from ..protection.survey import weights_of
from ..protection.unit_counts import codes
from ..protection.values import Values
from ..recipe import Recipe
from ..tables.columns import Column
from ..tables.identities import NOBODY
from ..tables.records import Records
from .cluster_source import ClusterSource
from .preparation import raw_rules
from .sampling import check_population, notes_on, sampling_of

Ints = NDArray[np.int64]
Assessed = tuple[int, tuple[ScenarioAssessment, ...], tuple[ConfidentialRisk, ...], tuple[str, ...]]

_PART = 250_000  # records, about, whose classes are counted together
_SIZE = "\ue000size"  # how many units the class of a record has: carried along under a name that no column has


def assess_on_spark(source: ClusterSource, recipe: Recipe) -> Assessed:
    """Records, what is said of each scenario, and of confidential columns in its classes."""
    if source.frame is not None:
        what = "On Spark, only Parquet files can be assessed."
        raise CoterieError(what, "a DataFrame", "write it to a folder first, and give that folder.")
    engine: Any = source.engine("spark", raw_rules(recipe))
    assert isinstance(engine, SparkEngine)
    check_population(recipe, engine.records)
    secret, unit = recipe.of_role("confidential"), recipe.unit_column
    weights = [] if recipe.weights is None else [recipe.weights.column]
    names = list(dict.fromkeys([*recipe.quasi, *secret, *([] if unit is None else [unit]), *weights]))
    seen = engine.gather(names, _Seen(recipe))
    engine.reading = engine.reading.with_survey({}, seen.all_categories, {})
    count = max(1, -(-engine.records // _PART))
    routers: list[Router] = []
    passes: list[ChunkWork] = []
    asked = []
    for name, rule in recipe.promises.items():
        quasi = tuple(dict.fromkeys((*recipe.within, *rule.quasi)))
        asked.append((name, quasi, rule.k))
        routers.append(_ByClass(quasi, count))
        passes.append(_CountClasses(len(passes), name, quasi, seen.values, seen.gaps, unit, recipe, rule.k))
        if unit is not None:
            routers.append(_ByUnit(unit, count))
            passes.append(_CountUnits(len(passes) - 1, unit))
    sizes = engine.gather(names, _PartSizes(routers, count)).sizes
    every = [Pass(own.tolist(), None, work) for own, work in zip(sizes, passes, strict=True)]
    told = engine.passes(names, _Same(routers), every)
    engine.check_unchanged()
    found = [[one for _, one in own] for own in told]
    return _summed(engine.records, asked, secret, found, recipe)


class _Seen:
    """All categories of quasi-identifiers, and the values of confidential columns."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._categories: dict[str, set[str]] = {}
        self.values: dict[str, Values | None] = {name: Values() for name in recipe.of_role("confidential")}
        self.gaps: Counter[str] = Counter()

    def add(self, records: Records) -> None:
        """Take in some records."""
        for name in self._recipe.quasi:
            column = records.column(name)
            if column.kind == "nominal":
                self._categories.setdefault(name, set()).update(column.categories)
        for name, values in self.values.items():
            self.gaps[name] += int(np.count_nonzero(records.column(name).missing))
            if values is not None and not _fits(values.add, records.column(name)):
                self.values[name] = None

    @property
    def found(self) -> tuple[dict[str, set[str]], dict[str, Values | None], Counter[str]]:
        """Categories, values, and how many are missing."""
        return self._categories, self.values, self.gaps

    def merge(self, found: tuple[dict[str, set[str]], dict[str, Values | None], Counter[str]]) -> None:
        """Take in those of other records."""
        self.gaps.update(found[2])
        for name, more in found[0].items():
            self._categories.setdefault(name, set()).update(more)
        for name, other in found[1].items():
            own = self.values[name]
            if own is None or other is None or not _fits(own.merge, other):
                self.values[name] = None

    @property
    def all_categories(self) -> dict[str, tuple[str, ...]]:
        """In the order of their codes."""
        return {name: tuple(sorted(texts)) for name, texts in self._categories.items()}


def _fits(take: Callable[[Any], None], more: Any) -> bool:
    """Take in values, unless there are too many to hold: then the distance of t is not told."""
    try:
        take(more)
    except CoterieError:
        return False
    return True


@dataclass(frozen=True)
class _ByClass:
    """Sends records with the same values to the same part."""

    columns: tuple[str, ...]
    count: int

    def parts(self, records: Records) -> Ints:
        """By a hash of the values."""
        code = np.zeros(len(records), np.uint64)
        for name in self.columns:
            numbers = records.column(name).numbers
            plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, one zero
            code = mixed(plain.view(np.uint64), code)
        return (code % np.uint64(self.count)).astype(np.int64)


@dataclass(frozen=True)
class _ByUnit:
    """Sends the records of a unit to the same part, and those that are nobody's to any."""

    unit: str
    count: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of units."""
        return (self.unit,)

    def parts(self, records: Records) -> Ints:
        """By a hash of the unit."""
        return (mixed(records.units(self.unit), np.uint64(1)) % np.uint64(self.count)).astype(np.int64)


@dataclass(frozen=True)
class _Same:
    """The same routers for every task."""

    routers: Sequence[Router]

    def __call__(self, task: int) -> Sequence[Router]:
        """One for each pass."""
        del task
        return self.routers


class _PartSizes:
    """How many records each part of each pass gets."""

    def __init__(self, routers: Sequence[Any], count: int) -> None:
        self._routers = routers
        self.sizes = [np.zeros(count, np.int64) for _ in routers]

    def add(self, records: Records) -> None:
        """Take in some records."""
        for router, sizes in zip(self._routers, self.sizes, strict=True):
            sizes += np.bincount(router.parts(records), minlength=len(sizes))

    @property
    def found(self) -> list[Ints]:
        """The sizes."""
        return self.sizes

    def merge(self, found: list[Ints]) -> None:
        """Take in those of other records."""
        for own, more in zip(self.sizes, found, strict=True):
            own += more


@dataclass(frozen=True, eq=False)
class _CountClasses:
    """Counts the classes of a scenario that are in a chunk, all of them whole."""

    place: int
    scenario: str
    quasi: tuple[str, ...]
    values: Mapping[str, Values | None]  # of confidential columns
    gaps: Mapping[str, int]  # how many of these are missing
    unit: str | None
    recipe: Recipe
    k: int

    def __call__(self, number: int, chunk: Chunk) -> tuple[Mapping[str, Any] | None, Any]:
        """How many classes there are of each size, and what they tell of confidential columns; the sum of weights."""
        del number
        records = chunk.records
        alike = classes([records.column(name) for name in self.quasi])
        secrets = [self._secret(records.column(name), alike) for name in self.values]
        weights = weights_of(records, self.recipe)
        drawn = None if weights is None else (sums_of_weights(alike, weights, self.k), math.fsum(weights))
        if self.unit is None:
            return None, (Counter(np.bincount(alike).tolist()), 0, secrets, drawn)
        _, _, sizes = units_in(alike, codes(records.units(self.unit)))
        told = Counter(sizes[sizes > 0].tolist()), len(sizes), secrets, drawn
        return {f"{_SIZE}{self.place}": sizes[alike]}, told

    def _secret(self, column: Column, alike: Ints) -> ConfidentialRisk:
        known = self.values[column.name]
        if known is None:
            return replace(confidential_risk(column, alike, self.scenario), largest_t=None)
        table, code, gaps = known.table(), known.codes(column), self.gaps[column.name]
        held = contents(alike, np.where(code < 0, len(table), code))
        totals = np.append(table, gaps) if gaps else table  # those of all records, wherever they are
        return risk_of_contents(held._replace(totals=totals), column, bool(gaps), self.scenario)


@dataclass(frozen=True, eq=False)
class _CountUnits:
    """Counts units by the smallest class that one of their records is in; all records of a unit are in a chunk."""

    of: int  # the pass that counted classes
    unit: str

    def __call__(self, number: int, chunk: Chunk) -> tuple[Mapping[str, Any] | None, Any]:
        """How many units have a class of so few units as their smallest."""
        del number
        units, sizes = chunk.records.units(self.unit), chunk.records.arrow(f"{_SIZE}{self.of}").to_numpy()
        known = units != NOBODY
        who = codes(units[known])
        fewest = np.full(int(who.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(fewest, who, sizes[known])
        return None, Counter(fewest.tolist())


def _summed(
    records: int, asked: Sequence[tuple[str, Any, int]], secret: Sequence[str], told: list[list[Any]], recipe: Recipe
) -> Assessed:
    """What all chunks say, put together."""
    scenarios, confidential = [], []
    units = recipe.unit_column is not None
    total = None if recipe.weights is None else math.fsum(one[3][1] for one in told[0])
    known = sampling_of(recipe, records, total)
    for i, (name, quasi, k) in enumerate(asked):
        own = told[2 * i if units else i]
        sizes = sum((one[0] for one in own), Counter[int]())
        fewest = sum(told[2 * i + 1], Counter[int]()) if units else None
        risk = risk_of_sizes(sizes, k, fewest)
        if units:
            risk = replace(risk, records=records, classes=sum(one[1] for one in own))
        inside = _population(sizes, own, known, k) if isinstance(known, Sampling) else None
        scenarios.append(ScenarioAssessment(name, quasi, k, risk, inside))
        confidential += [_worst([one[2][j] for one in own]) for j in range(len(secret))]
    return records, tuple(scenarios), tuple(confidential), notes_on(known, scenarios)


def _population(sizes: Mapping[int, int], told: Sequence[Any], sampling: Sampling, k: int) -> PopulationRisk | None:
    """The risk in the population, from what all chunks say of a scenario's classes."""
    if sampling.fraction is not None:
        return population_risk(sizes, sums_of_sizes(sizes, sampling.fraction, k), sampling, k)
    return population_risk(sizes, sum((one[3][0] for one in told), PopulationSums()), sampling, k)


def _worst(found: Sequence[ConfidentialRisk]) -> ConfidentialRisk:
    """What chunks say of a confidential column, put together."""

    def least(name: str, pick: Any) -> Any:
        known = [value for one in found if (value := getattr(one, name)) is not None]
        return pick(known) if known and len(known) == len(found) else None

    return replace(
        found[0],
        classes=sum(one.classes for one in found),
        constant_classes=least("constant_classes", sum),
        constant_records=least("constant_records", sum),
        least_distinct=least("least_distinct", min),
        least_entropy_l=least("least_entropy_l", min),
        largest_t=least("largest_t", max),
    )
