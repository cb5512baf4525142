"""assess: the risk of a raw table, before anything is done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CoterieError, boundary, printable
from ..facts import document
from ..facts.assessment import ScenarioAssessment
from ..facts.measures import ConfidentialRisk
from ..facts.risk_drivers import RiskDrivers
from ..measures.population import Sampling, population_of
from ..measures.risk import class_risk, classes, confidential_risk
from ..protection.survey import weights_of
from ..protection.unit_counts import codes
from ..recipe import Recipe
from ..report.drivers_text import drivers_lines
from ..report.population_text import population_lines
from ..tables.columns import Column, joined_columns
from .cluster_assess import assess_on_spark
from .cluster_source import ClusterSource
from .deprecated import renamed
from .drafting import Choices, source_and_recipe
from .drivers import RecordScores, check_asked, drivers_of, save_scores
from .preparation import as_it_is, prepared, raw_rules
from .sampling import check_population, notes_on, sampling_of
from .source import Source, rules_of


@dataclass(frozen=True, repr=False)
class Assessment:
    """How many records are unique or in small classes, and in how many classes confidential columns are constant."""

    records: int
    scenarios: tuple[ScenarioAssessment, ...]
    confidential: tuple[ConfidentialRisk, ...]
    drivers: tuple[RiskDrivers, ...] | None = None  # one for each scenario, where they were asked for
    notes: tuple[str, ...] = ()
    _scores: Mapping[str, RecordScores] | None = None
    _input: Path | None = None  # the file, if it is one

    @property
    def scores(self) -> Mapping[str, RecordScores] | None:
        """The scores of all records, by scenario, if drivers were asked for. Internal: no text or JSON shows them."""
        return self._scores

    def save_scores(self, path: str | Path, force: bool = False) -> None:
        """Write the scores of all records as CSV, for those who prepare the release: only the owner may read it."""
        if self._scores is None:
            raise CoterieError("There are no scores to save.", hint="assess with drivers=True.")
        save_scores(path, self._scores, force, self._input)

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        shown: dict[str, Any] = document(self)
        return shown

    def __str__(self) -> str:
        """In plain words."""
        lines = [f"records         {self.records:,}"]
        if self.scenarios and self.scenarios[0].classes.units is not None:
            lines.append(f"units           {self.scenarios[0].classes.units:,}")
        for s in self.scenarios:
            c = s.classes
            alone = f"{c.unique:,} {c.noun} ({c.unique_percent:.1f} %)"
            few = f"{c.below_k:,} {c.noun} ({c.below_k_percent:.1f} %)"
            lines += [
                f"scenario        {printable(s.name)}: {printable(', '.join(s.quasi))}",
                f"  unique        {alone} share these values with no other",
                f"  below k = {s.k:<4}{few} in equivalence classes of fewer than {s.k}",
                f"  classes       {c.classes:,} equivalence classes; the smallest has {c.smallest}",
                f"  expected      {c.expected_reidentifications:,.1f} re-identifications by an intruder who knows "
                "these values for everybody",
            ]
            if s.population is not None:
                lines += population_lines(s.population, s.k)
        for one in self.confidential:
            where = "" if len(self.scenarios) == 1 else f" (scenario {printable(one.scenario)})"
            lines.append(
                f"confidential    {printable(one.name)}{where}: constant in {one.constant_classes:,} of "
                f"{one.classes:,} equivalence classes, {one.constant_records:,} records"
            )
        for of, s in zip(self.drivers or (), self.scenarios, strict=False):
            lines += drivers_lines(of, len(self.scenarios) > 1, s.classes.noun)
        lines += [f"note            {note}" for note in self.notes]
        return printable("\n".join(lines), lines=True)

    __repr__ = __str__


@boundary
def assess(
    table: Any,
    recipe: Any = None,
    quasi: list[str] | None = None,
    confidential: list[str] | None = None,
    k: int | None = None,
    read: Mapping[str, Any] | None = None,
    *,
    drop: list[str] | None = None,
    keep: list[str] | None = None,
    kind: Mapping[str, str] | None = None,
    unit: str | None = None,
    weights: str | None = None,
    population: Mapping[str, float] | None = None,
    engine: str | None = None,
    memory: int | str | None = None,
    options: Mapping[str, Any] | None = None,
    drivers: bool = False,
    most_columns: int | None = None,
) -> Assessment:
    """Assess the risk of a table before protection.

    Parameters
    ----------
    table : path, table or Source
    recipe : Recipe, path or mapping, optional
        Gives roles, kinds and scenarios.
    quasi, confidential, drop, keep : list of str
        Instead of a recipe. Only quasi-identifiers and confidential columns are used; other columns need not be named.
    kind : mapping
        Instead of a recipe: kinds of columns that cannot be guessed, such as {"region": "nominal"}.
    unit : str
        The unit column: k counts its different values instead of records.
    weights : str
        The column of sampling weights, from which the risk in the population is estimated.
    population : mapping
        Without weights, the population from which the table is a random sample: {"fraction": 0.05} or {"size":
        1000000}.
    k : int
        Equivalence classes with fewer records are counted. Default: 5.
    read : mapping
        How to read a file, if there is no recipe.
    engine, memory
        As for `protect`. Part by part, the columns in use are held as numbers of 8 bytes per value.
    options : mapping
        Deprecated name of `read`.
    drivers : bool
        Also report what drives the risk: minimal sample uniques, SUDA scores, and how much the risk falls if a column
        is coarsened. Not on Spark.
    most_columns : int
        With drivers: the largest number of columns in a minimal sample unique. Default: all, for up to 12
        quasi-identifiers; fewer for more.
    """
    check_asked(drivers, most_columns, on_spark=engine == "spark")
    read = renamed("options", options, "read", read)
    choices = Choices(
        k=k,
        quasi=quasi,
        confidential=confidential,
        drop=drop,
        keep=keep,
        kind=kind,
        unit=unit,
        weights=weights,
        population=population,
        read=read,
    )
    source, chosen = source_and_recipe(table, recipe, choices, memory=memory, looking=True, engine=engine)
    chosen.check_columns(source.names)
    if isinstance(source, ClusterSource):
        check_asked(drivers, most_columns, on_spark=True)
        source.choose(engine)
        records, there, told, notes = assess_on_spark(source, chosen)
        return Assessment(records, there, told, notes=(*notes, *as_it_is(chosen)))
    columns, units, weighted = _columns(source, chosen, engine)
    records = len(next(iter(columns.values())).numbers)
    known = sampling_of(chosen, records, None if weighted is None else math.fsum(weighted))
    scenarios, guesses, driving, scores = [], [], [], {}
    for name, rule in chosen.promises.items():
        names = tuple(dict.fromkeys((*chosen.within, *rule.quasi)))
        alike = classes([columns[n] for n in names])
        risk = class_risk(alike, rule.k, units)
        inside = population_of(alike, weighted, known, rule.k) if isinstance(known, Sampling) else None
        scenarios.append(ScenarioAssessment(name, names, rule.k, risk, inside))
        guesses += [confidential_risk(columns[n], alike, name) for n in chosen.of_role("confidential")]
        if drivers:
            drawn = known.fraction if isinstance(known, Sampling) else None
            own = drivers_of(name, [columns[n] for n in names], rule.k, units, risk, most_columns, drawn)
            driving.append(own[0])
            scores[name] = own[1]
    notes = (*notes_on(known, scenarios), *_once_prepared(source, chosen, engine, units))
    if not drivers:
        return Assessment(records, tuple(scenarios), tuple(guesses), notes=notes)
    return Assessment(records, tuple(scenarios), tuple(guesses), tuple(driving), notes, scores, source.path)


def _once_prepared(source: Source, recipe: Recipe, engine: str | None, units: Any) -> tuple[str, ...]:
    """Where a recipe prepares quasi-identifiers: what is left of the risk once that is done."""
    if not as_it_is(recipe):
        return ()
    place = source.engine(source.choose(engine), rules_of(recipe))
    try:
        prepared(place, recipe)
        pieces = [[records.column(name) for name in recipe.quasi] for records in place.scan(recipe.quasi)]
        place.check_unchanged()
    finally:
        place.close()
    columns = {name: joined_columns([piece[j] for piece in pieces]) for j, name in enumerate(recipe.quasi)}
    out = [*as_it_is(recipe)]
    for name, rule in recipe.promises.items():
        names = dict.fromkeys((*recipe.within, *rule.quasi))
        risk = class_risk(classes([columns[n] for n in names]), rule.k, units)
        where = f" (scenario {printable(name)})" if recipe.scenarios else ""
        out.append(
            f"After preparing columns as the recipe says, {risk.unique:,} {risk.noun} would be unique, and "
            f"{risk.below_k:,} in "
            f"classes of fewer than {rule.k}{where}."
        )
    return tuple(out)


def _columns(source: Source, recipe: Recipe, engine: str | None) -> tuple[dict[str, Column], Any, Any]:
    """The quasi-identifiers and confidential columns of all records, as numbers; what k counts; weights."""
    names, unit = [*recipe.quasi, *recipe.of_role("confidential")], recipe.unit_column
    further = [*([] if unit is None else [unit]), *([] if recipe.weights is None else [recipe.weights.column])]
    place = source.engine(source.choose(engine), raw_rules(recipe))
    check_population(recipe, place.records)
    pieces, units, weights = [], [], []
    try:
        for records in place.scan([*names, *further]):
            pieces.append([records.column(name) for name in names])
            if unit is not None:
                units.append(records.units(unit))
            if recipe.weights is not None:
                weights.append(weights_of(records, recipe))
        place.check_unchanged()
    finally:
        place.close()
    columns = {name: joined_columns([piece[j] for piece in pieces]) for j, name in enumerate(names)}
    own = np.concatenate([w for w in weights if w is not None]) if weights else None
    return columns, codes(np.concatenate(units)) if units else None, own
