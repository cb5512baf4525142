"""What must hold of the analyses of a recipe: one thing each, of columns that are released, as what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..analysis.columns_used import CATEGORY, NUMBER, uses
from ..errors import CoterieError
from .fields import Mistake, close_to

if TYPE_CHECKING:
    from .recipe import Recipe
    from .sections import AnalysisRule, ColumnRule

Wrong = Callable[..., None]

_WHAT = ("rows", "mean", "total", "quantiles", "model")
_NEEDS = {"columns": ("rows",), "by": ("mean", "total", "quantiles"), "at": ("quantiles",), "family": ("model",)}
_NUMBERS = ("numeric", "integer", "boolean", "datetime")
_CATEGORIES = ("ordinal", "nominal", "boolean", "integer")


def check_analyses(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note all mistakes."""
    for name, rule in recipe.analysis.items():
        if rule is not None:
            _check_analysis(recipe, name, rule, mistakes)


def _check_analysis(recipe: Recipe, name: str, rule: AnalysisRule, mistakes: list[Mistake]) -> None:
    def wrong(key: str | None, what: str, got: str | None = None, hint: str | None = None) -> None:
        path = ("analysis", name) if key is None else ("analysis", name, key)
        mistakes.append(Mistake(path, what, got, hint))

    given = [key for key in _WHAT if getattr(rule, key) is not None]
    if len(given) != 1:
        hint = (
            "give one of rows (a table), mean, total, quantiles or model; put further analyses into sections "
            "of their own."
        )
        wrong(None, "An analysis must be of exactly one type.", " and ".join(given) or "none", hint)
        return
    for key, of in _NEEDS.items():
        if getattr(rule, key) is not None and given[0] not in of:
            wrong(key, f"'{key}' is for {' and '.join(of)}.", f"an analysis of {given[0]}", "leave it out.")
    _check_weighted(recipe, rule, wrong)
    try:
        wanted = uses(rule)
    except CoterieError as error:
        wrong("model", error.what, error.got, error.hint)
        return
    for column, use in wanted:
        _check_column(recipe, rule, given[0], column, use, wrong)
    grouped = [*(rule.rows or ()), *(rule.columns or ())]
    if len(set(grouped)) < len(grouped):
        wrong("columns", "A column can be in rows or in columns, not in both.", "one in both")
    measured = rule.mean or rule.total or rule.quantiles
    if measured is not None and measured in (rule.by or ()):
        wrong("by", "The measured column cannot also define the groups.", f"'{measured}'")


def released_weights(recipe: Recipe) -> str | None:
    """The column of weights, if analysts have it."""
    if recipe.weights is None:
        return None
    rule = recipe.columns.get(recipe.weights.column)
    return None if rule is None or rule.role == "identifier" else recipe.weights.column


def _check_weighted(recipe: Recipe, rule: AnalysisRule, wrong: Wrong) -> None:
    if rule.weighted is None:
        return
    if recipe.weights is None:
        hint = "leave it out, or name the weights in [weights]."
        wrong("weighted", "A weighted analysis needs sampling weights.", "no [weights]", hint)
    elif rule.weighted and released_weights(recipe) is None:
        what = "Analysts can use weights only if the weights are released."
        wrong("weighted", what, "weights that are dropped", "weighted = false, or keep them.")
    elif not rule.weighted and released_weights(recipe) is None:
        wrong("weighted", "Dropped weights are never used.", "weighted = false", "leave it out.")


def _check_column(recipe: Recipe, rule: AnalysisRule, what: str, name: str, use: str, wrong: Wrong) -> None:
    key = what
    for other in ("columns", "by"):
        if name in (getattr(rule, other) or ()):
            key = other
    column = recipe.columns.get(name)
    if column is None:
        if name not in recipe.columns:
            wrong(key, "An analysis must name columns of the table.", f"'{name}'", close_to(name, list(recipe.columns)))
        return
    if column.role == "identifier":
        wrong(key, "This column is not released, so it cannot be analysed.", f"'{name}' of role \"identifier\"")
    elif column.kind is not None and not column.prepared:  # what a prepared one becomes is checked in its turn
        _check_kind(column, what, key, name, use, wrong)


def _check_kind(column: ColumnRule, what: str, key: str, name: str, use: str, wrong: Wrong) -> None:
    got = f"'{name}' of kind \"{column.kind}\""
    if use == NUMBER and column.kind not in _NUMBERS:
        hint = "C(column) takes categories in a model." if what == "model" else "to count categories, use rows."
        wrong(key, "This must be a numeric column.", got, hint)
    elif what == "total" and use == NUMBER and column.kind == "datetime":
        wrong(key, "A date column has no total.", got, "use mean or quantiles.")
    elif use == CATEGORY and column.kind not in _CATEGORIES:
        hint = (
            "a table of masked numbers would have one cell per group mean; count whole numbers or categories instead."
        )
        wrong(key, "This must be a column of categories or whole numbers.", got, hint)
