"""The recipe: what every column of a table is, and how the table is to be protected. TOML in and out."""

from .recipe import Recipe, RecipeError
from .sections import (
    ColumnRule,
    FileRule,
    GuardRule,
    MethodRule,
    MissingRule,
    PreviousRule,
    ScenarioRule,
    StrataRule,
    UnitRule,
    WeightsRule,
)

__all__ = [
    "ColumnRule",
    "FileRule",
    "GuardRule",
    "MethodRule",
    "MissingRule",
    "PreviousRule",
    "Recipe",
    "RecipeError",
    "ScenarioRule",
    "StrataRule",
    "UnitRule",
    "WeightsRule",
]
