"""What an analysis needs of a table: columns as numbers or as categories, and weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column
from .formula import read_formula

if TYPE_CHECKING:
    from ..recipe.sections import AnalysisRule

Floats = NDArray[np.float64]

NUMBER, CATEGORY, EITHER = "number", "category", "either"


def uses(rule: AnalysisRule) -> list[tuple[str, str]]:
    """The columns of an analysis, and as what it needs them: as numbers, as categories, or as what they are."""
    categories = [(name, CATEGORY) for name in (*(rule.rows or ()), *(rule.columns or ()), *(rule.by or ()))]
    numbers = [(name, NUMBER) for name in (rule.mean, rule.total, rule.quantiles) if name is not None]
    return list(dict.fromkeys([*numbers, *categories, *(of_model(rule.model, rule.family) if rule.model else ())]))


def of_model(model: str, family: str | None) -> Iterable[tuple[str, str]]:
    """The columns of a formula."""
    formula = read_formula(model)
    outcome = formula.outcome
    is_number = family != "logistic" or outcome.kind == "calculated"
    yield from ((name, NUMBER if is_number else EITHER) for name in outcome.columns)
    kinds = {"column": EITHER, "category": CATEGORY, "calculated": NUMBER}
    for factor in formula.factors:
        yield from ((name, kinds[factor.kind]) for name in factor.columns)


@dataclass(frozen=True, eq=False)
class Analysed:
    """The columns of a table that analyses use.

    Attributes
    ----------
    numbers : mapping of str to ndarray
        NaN where a value is missing.
    categories : mapping of str to Column
        Codes; before and after, the categories need not be the same.
    weights : ndarray or None
    records : int
    """

    numbers: Mapping[str, Floats]
    categories: Mapping[str, Column]
    weights: Floats | None
    records: int


def present(table: Analysed, numbers: Iterable[str], categories: Iterable[str]) -> NDArray[np.bool_]:
    """Which records have all values of these columns."""
    there = np.ones(table.records, np.bool_)
    for name in numbers:
        there &= np.isfinite(table.numbers[name])
    for name in categories:
        there &= ~table.categories[name].missing
    return there
