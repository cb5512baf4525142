"""What reports name of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The settings of a recipe that matter to a reader of the release: no seed, no file, no order of categories."""

    centre: str
    within: tuple[str, ...]  # columns that make strata
    small_strata: str
    missing: str  # the policy for missing values
    small_missing: str
    weights: str | None  # the column
    unit: str | None  # the column whose values k counts; None where it counts records
    guard: str
    rules: Mapping[str, Mapping[str, float]]  # decimals, l, entropy, t, noise, importance of columns, where set
    totals: tuple[str, ...] = ()  # columns that keep their totals by controlled rounding
    risks: Mapping[str, float] = field(default_factory=dict)  # asked for instead of k, by scenario

    @classmethod
    def of(cls, recipe: Mapping[str, Any]) -> Settings:
        """Read a recipe as `Recipe.as_dict` gives it, which leaves defaults out."""
        strata, missing = _section(recipe, "strata", "within"), _section(recipe, "missing", "policy")
        return cls(
            centre=recipe.get("centre", "mean"),
            within=tuple(strata.get("within", ())),
            small_strata=strata.get("small", "refuse"),
            missing=missing.get("policy", "refuse"),
            small_missing=missing.get("small", "refuse"),
            weights=_section(recipe, "weights", "column").get("column"),
            unit=None if (unit := _section(recipe, "unit", "column").get("column")) == "none" else unit,
            guard=_section(recipe, "guard", "rule").get("rule", "merge"),
            rules={name: {key: rule[key] for key in _RULES if key in rule} for name, rule in recipe["columns"].items()},
            totals=tuple(name for name, rule in recipe["columns"].items() if rule.get("totals")),
            risks=_risks(recipe),
        )


_RULES = ("decimals", "l", "entropy", "t", "noise", "importance")


def _risks(recipe: Mapping[str, Any]) -> dict[str, float]:
    """The largest risk that was asked for: of each scenario that has one, or of the only one."""
    if scenarios := recipe.get("scenarios"):
        return {name: rule["risk"] for name, rule in scenarios.items() if rule.get("risk") is not None}
    risk = _section(recipe, "promise", "risk").get("risk")
    return {} if risk is None else {"all": risk}


def _section(recipe: Mapping[str, Any], name: str, first: str) -> Mapping[str, Any]:
    """A section, which may be given by its first option alone: missing = "group"."""
    given = recipe.get(name, {})
    return given if isinstance(given, Mapping) else {first: given}
