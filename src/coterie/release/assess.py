"""assess: the risk of a raw table, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import boundary, printable
from ..facts import document
from ..facts.assessment import ScenarioAssessment
from ..facts.measures import ConfidentialRisk
from ..measures.risk import class_risk, classes, confidential_risk
from ..protection.unit_counts import codes
from ..recipe import Recipe
from ..tables.columns import Column, joined_columns
from .cluster_assess import assess_on_spark
from .cluster_source import ClusterSource
from .deprecated import renamed
from .drafting import Choices, source_and_recipe
from .source import Source, rules_of


@dataclass(frozen=True, repr=False)
class Assessment:
    """How many records are unique or in small classes, and in how many classes confidential columns are constant."""

    records: int
    scenarios: tuple[ScenarioAssessment, ...]
    confidential: tuple[ConfidentialRisk, ...]

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
                f"  expected      {c.expected_reidentifications:,.1f} re-identifications, if an intruder knows these "
                "values of everybody",
            ]
        for one in self.confidential:
            where = "" if len(self.scenarios) == 1 else f" (scenario {printable(one.scenario)})"
            lines.append(
                f"confidential    {printable(one.name)}{where}: constant in {one.constant_classes:,} of "
                f"{one.classes:,} equivalence classes, {one.constant_records:,} records"
            )
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
    engine: str | None = None,
    memory: int | str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Assessment:
    """Assess the risk of a table as it is.

    Parameters
    ----------
    table : path, table or Source
    recipe : Recipe, path or mapping, optional
        Says roles, kinds and scenarios.
    quasi, confidential, drop, keep : list of str
        Instead of a recipe. Only quasi-identifiers and confidential columns are looked at; the others need no name.
    kind : mapping
        Instead of a recipe, the kinds of columns that cannot be guessed, such as {"region": "nominal"}.
    unit : str
        The column that tells whose records they are: its different values are counted instead of records.
    k : int
        Equivalence classes of fewer records are counted; 5 by default.
    read : mapping
        How a file is read, without a recipe that says it.
    engine, memory
        As for `protect`. Part by part, the columns that are looked at are held as numbers, 8 bytes a value.
    options : mapping
        The old name of `read`.
    """
    read = renamed("options", options, "read", read)
    choices = Choices(
        k=k, quasi=quasi, confidential=confidential, drop=drop, keep=keep, kind=kind, unit=unit, read=read
    )
    source, chosen = source_and_recipe(table, recipe, choices, memory=memory, looking=True, engine=engine)
    chosen.check_columns(source.names)
    if isinstance(source, ClusterSource):
        source.choose(engine)
        return Assessment(*assess_on_spark(source, chosen))
    columns, units = _columns(source, chosen, engine)
    scenarios, guesses = [], []
    for name, rule in chosen.promises.items():
        names = tuple(dict.fromkeys((*chosen.within, *rule.quasi)))
        alike = classes([columns[n] for n in names])
        scenarios.append(ScenarioAssessment(name, names, rule.k, class_risk(alike, rule.k, units)))
        guesses += [confidential_risk(columns[n], alike, name) for n in chosen.of_role("confidential")]
    records = len(next(iter(columns.values())).numbers)
    return Assessment(records, tuple(scenarios), tuple(guesses))


def _columns(source: Source, recipe: Recipe, engine: str | None) -> tuple[dict[str, Column], Any]:
    """The quasi-identifiers and confidential columns of all records, as numbers, and whose records they are."""
    names, unit = [*recipe.quasi, *recipe.of_role("confidential")], recipe.unit_column
    place = source.engine(source.choose(engine), rules_of(recipe))
    pieces, units = [], []
    try:
        for records in place.scan([*names, *([] if unit is None else [unit])]):
            pieces.append([records.column(name) for name in names])
            if unit is not None:
                units.append(records.units(unit))
        place.check_unchanged()
    finally:
        place.close()
    columns = {name: joined_columns([piece[j] for piece in pieces]) for j, name in enumerate(names)}
    return columns, codes(np.concatenate(units)) if units else None
