"""assess: the risk of a raw table, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..facts import document
from ..facts.assessment import ScenarioAssessment
from ..facts.measures import ConfidentialRisk
from ..measures.risk import class_risk, classes, confidential_risk
from ..tables import kinds
from ..tables.columns import Column
from .drafting import recipe_to_look
from .source import open_source


@dataclass(frozen=True)
class Assessment:
    """How many records are alone, or among few, and what classes give away."""

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
        for s in self.scenarios:
            c = s.classes
            alone = f"{c.unique:,} records ({c.unique_percent:.1f} %)"
            few = f"{c.below_k:,} records ({c.below_k_percent:.1f} %)"
            lines += [
                f"scenario        {s.name}: {', '.join(s.quasi)}",
                f"  alone         {alone} share these values with nobody",
                f"  below k = {s.k:<4}{few} share them with fewer than {s.k - 1} others",
                f"  classes       {c.classes:,}; the smallest has {c.smallest}",
                f"  expected      {c.expected_reidentifications:,.1f} records found by whoever knows these of all",
            ]
        for one in self.confidential:
            where = "" if len(self.scenarios) == 1 else f" (scenario {one.scenario})"
            lines.append(
                f"confidential    {one.name}{where}: constant in {one.constant_classes:,} of {one.classes:,} "
                f"classes, {one.constant_records:,} records"
            )
        return "\n".join(lines)


def assess(
    table: Any,
    recipe: Any = None,
    quasi: list[str] | None = None,
    confidential: list[str] | None = None,
    k: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Assessment:
    """Assess the risk of a table as it is.

    Parameters
    ----------
    table : path or table
    recipe : Recipe, path or mapping, optional
        Says roles, kinds and scenarios.
    quasi, confidential : list of str
        Instead of a recipe.
    k : int
        Classes of fewer records are counted; 5 unless said.
    options : mapping
        How a file is read, without a recipe that says it.
    """
    chosen = recipe_to_look(table, recipe, quasi, confidential, k, options)
    source = open_source(table, chosen.file.options)
    chosen.check_columns(source.table.names)
    columns: dict[str, Column] = {
        name: kinds.read(name, source.arrow(name), rule, source.decimal).column
        for name, rule in chosen.columns.items()
        if rule.role in ("quasi", "confidential")
    }
    scenarios, told = [], []
    for name, rule in chosen.promises.items():
        names = tuple(dict.fromkeys((*chosen.within, *rule.quasi)))
        known = classes([columns[n] for n in names])
        scenarios.append(ScenarioAssessment(name, names, rule.k, class_risk(known, rule.k)))
        told += [confidential_risk(columns[n], known, name) for n in chosen.of_role("confidential")]
    return Assessment(source.table.records, tuple(scenarios), tuple(told))
