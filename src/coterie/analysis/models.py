"""Linear and logistic regressions, by formulaic and statsmodels, which see numbered variables and categories alone.

Both libraries need the extra `analysis`. Names and categories of the table are put back afterwards, so that nothing
that a library says could quote one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NOT_OF_THE_DATA, CoterieError
from ..facts.analysis_facts import AnalysisEstimate
from .columns_used import Analysed
from .formula import Factor, Formula
from .overlap import NORMAL, estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COLUMNS = 200  # of the matrix of a model
ERRORS = {
    ("linear", False): "ordinary least squares, homoscedastic errors; intervals by Student's t",
    ("logistic", False): "maximum likelihood, information matrix; normal intervals",
    ("linear", True): "weighted least squares, sandwich (sampling with replacement, Taylor linearization); "
    "intervals by Student's t",
    ("logistic", True): "weighted maximum likelihood, sandwich (sampling with replacement, Taylor linearization); "
    "normal intervals",
}
_MOVED = 0.01  # share of a predictor, in a step of Newton's method: 1/30 without a maximum, next to nothing at one
_FAR = 1e6  # standard deviations of an outcome from what the model says: a probability of 1e-12
_EPSILON = float(np.finfo(np.float64).eps)
_ALONE = Lock()  # libraries warn, and what is done with warnings is the same for all threads


def check_installed() -> None:
    """Refuse to fit models without the libraries that do it."""
    lacking = [name for name in ("formulaic", "pandas", "statsmodels") if find_spec(name) is None]
    if lacking:
        what = "Models need further libraries."
        raise CoterieError(what, f"no {' and no '.join(lacking)}", "pip install 'coterie[analysis]'")


class UnfittedError(Exception):
    """A model that can't be estimated, with a reason that quotes nothing."""


@dataclass(frozen=True)
class Variable:
    """What a factor is in both tables: a number, or categories by their texts, those to compare with first."""

    factor: Factor
    is_number: bool
    reference: str | None = None


@dataclass(frozen=True)
class Model:
    """A formula whose factors are known to be numbers or categories; `ones` is the category that counts as 1."""

    formula: Formula
    family: str
    variables: tuple[Variable, ...]
    ones: str | None = None


@dataclass(frozen=True)
class Fitted:
    """Coefficients by their names, and how many records were used."""

    coefficients: Mapping[str, AnalysisEstimate]
    records: int
    problem: str | None = None


def model_of(formula: Formula, family: str, before: Analysed, after: Analysed) -> tuple[Model, list[str]]:
    """The model for both tables, with what is to be said of it: both must compare with the same category."""
    variables, said = [], []
    for factor in formula.factors:
        name = factor.columns[0] if factor.columns else ""
        if factor.kind == "calculated" or (factor.kind == "column" and name in before.numbers):
            variables.append(Variable(factor, True))
            continue
        common = [c for c in _occurring(before, name) if c in set(_occurring(after, name))]
        variables.append(Variable(factor, False, common[0] if common else None))
        if not common:
            said.append(f"No category of '{name}' is there before and after: nothing can be compared with it.")
    outcome, ones = formula.outcome, None
    if family == "logistic" and outcome.kind == "column" and outcome.columns[0] not in before.numbers:
        there = _occurring(before, outcome.columns[0])
        if len(there) != 2:
            what = "The outcome of a logistic model must have two values."
            raise CoterieError(what, f"'{outcome.columns[0]}' with {len(there):,} categories")
        ones = there[1]
    return Model(formula, family, tuple(variables), ones), said


def _occurring(table: Analysed, name: str) -> list[str]:
    """The categories that records have, in the order of the column."""
    column = table.categories[name]
    counts = np.bincount(column.numbers[~column.missing].astype(np.int64), minlength=len(column.categories))
    return [c for c, count in zip(column.categories, counts.tolist(), strict=True) if count]


def fit(model: Model, table: Analysed) -> Fitted:
    """Fit a model to a table. What stands in the way is told, without a value."""
    with np.errstate(all="ignore"):
        outcome, values = _values(model, table)
    there = np.isfinite(outcome)
    for value in values:
        there &= np.isfinite(value)
    rows = np.flatnonzero(there)
    weights = None if table.weights is None else table.weights[rows]
    try:
        if len(rows) == 0:
            calculated = any(f.kind == "calculated" for f in (model.formula.outcome, *model.formula.factors))
            raise UnfittedError(f"no record has all values{', or they are not defined' if calculated else ''}")
        _check_outcome(model, outcome[rows])
        with _ALONE:
            names, matrix = _matrix(model, table, [value[rows] for value in values], len(rows))
            estimates = _fitted(model.family, outcome[rows], matrix, weights)
    except UnfittedError as error:
        return Fitted({}, len(rows), str(error))
    except NOT_OF_THE_DATA:
        raise
    except Exception as error:  # of a library, whose words may quote a value
        return Fitted({}, len(rows), f"it could not be fitted ({type(error).__name__})")
    return Fitted(dict(zip(names, estimates, strict=True)), len(rows))


def _values(model: Model, table: Analysed) -> tuple[Floats, list[Floats]]:
    """The outcome and every factor as numbers or codes, NaN where a value is missing or not defined."""
    outcome = model.formula.outcome
    if model.ones is not None:
        column = table.categories[outcome.columns[0]]
        one = column.categories.index(model.ones) if model.ones in column.categories else -1
        y = np.where(column.missing, np.nan, (column.numbers == one).astype(np.float64))
    else:
        y = _calculated(outcome, table)
    values = [
        _calculated(v.factor, table) if v.is_number else table.categories[v.factor.columns[0]].numbers
        for v in model.variables
    ]
    return y, values


def _calculated(factor: Factor, table: Analysed) -> Floats:
    if factor.run is None:
        return table.numbers[factor.columns[0]]
    found = factor.run(lambda name: table.numbers[name])
    return np.broadcast_to(np.asarray(found, np.float64), (table.records,))


def _check_outcome(model: Model, y: Floats) -> None:
    if model.family == "logistic" and not set(np.unique(y).tolist()) <= {0.0, 1.0}:
        raise UnfittedError("the outcome of a logistic model must be 0 or 1, or one of two categories")
    if np.all(y == y[0]):
        raise UnfittedError("the outcome is the same in all records")


def _matrix(model: Model, table: Analysed, values: Sequence[Floats], records: int) -> tuple[list[str], Floats]:
    """The matrix of the model, and the names of its columns as people write them."""
    import pandas
    from formulaic import Formula as LibraryFormula

    data: dict[str, Any] = {}
    labels: dict[str, tuple[str, list[str]]] = {}
    for i, (variable, value) in enumerate(zip(model.variables, values, strict=True)):
        if variable.is_number:
            data[f"v{i}"], labels[f"v{i}"] = value, (variable.factor.text, [])
            continue
        column = table.categories[variable.factor.columns[0]]
        levels = _levels(column.categories, value, variable.reference)
        place = np.zeros(max(levels) + 1, np.int64)
        place[levels] = np.arange(len(levels))
        codes = place[value.astype(np.int64)]
        data[f"v{i}"] = pandas.Categorical.from_codes(codes, [f"k{j}" for j in range(len(levels))])
        labels[f"v{i}"] = variable.factor.text, [column.categories[code] for code in levels]
    _check_size(model, labels)
    known = {variable.factor: f"v{i}" for i, variable in enumerate(model.variables)}
    terms = [":".join(known[factor] for factor in term) for term in model.formula.terms]
    text = " + ".join(["1" if model.formula.intercept else "0", *terms])
    if not data:
        return ["Intercept"], np.ones((records, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = LibraryFormula(text).get_model_matrix(pandas.DataFrame(data), context={})
    matrix = np.asarray(made, np.float64)
    return [_named(name, labels) for name in made.columns], matrix


def _levels(categories: Sequence[str], codes: Floats, reference: str | None) -> list[int]:
    """The codes that occur, that of the reference first."""
    if reference is None:
        raise UnfittedError("no category is there before and after")
    there = np.unique(codes).astype(np.int64).tolist()
    first = categories.index(reference) if reference in categories else -1
    if first not in there:
        raise UnfittedError("no record is left with the category to compare with")
    return [first, *(code for code in there if code != first)]


def _check_size(model: Model, labels: Mapping[str, tuple[str, list[str]]]) -> None:
    """Refuse a matrix of very many columns before it is made."""
    sizes = {v.factor: max(1, len(labels[f"v{i}"][1])) for i, v in enumerate(model.variables)}
    columns = 0
    for term in model.formula.terms:
        columns += int(np.prod([float(sizes[factor]) for factor in term]))
    if columns > MOST_COLUMNS:
        raise UnfittedError(f"it has more than {MOST_COLUMNS} coefficients, because columns have many categories")


_PART = re.compile(r"(v\d+)(?:\[(T\.)?k(\d+)\])?")


def _named(name: str, labels: Mapping[str, tuple[str, list[str]]]) -> str:
    """The name of a coefficient with the columns and categories that were numbered."""

    def shown(found: re.Match[str]) -> str:
        text, levels = labels[found[1]]
        return text if found[3] is None else f"{text}[{found[2] or ''}{levels[int(found[3])]}]"

    return _PART.sub(shown, name)


def _fitted(family: str, y: Floats, x: Floats, weights: Floats | None) -> list[AnalysisEstimate]:
    """The coefficients, with standard errors and intervals.

    Columns are fitted as shares of their largest value: beside columns of very different size, the library takes small
    ones for none.
    """
    import statsmodels.api as library
    from scipy.stats import t as student

    n, p = x.shape
    if n <= p:
        raise UnfittedError(f"{n:,} records are too few for {p:,} coefficients")
    largest = np.abs(x).max(axis=0)
    scale = np.where(largest > 0.0, largest, 1.0)
    scaled = x / scale
    if not np.all(np.isfinite(scaled)) or np.linalg.matrix_rank(scaled) < p:
        raise UnfittedError("its columns are linearly dependent, so coefficients are not unique")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if family == "linear":
            model = library.OLS(y, scaled) if weights is None else library.WLS(y, scaled, weights=weights)
            fitted = model.fit(cov_type="nonrobust" if weights is None else "HC0")
        else:
            fitted = _fitted_logistic(library, y, scaled, weights)
    errors = np.asarray(fitted.bse, np.float64)
    if weights is not None:
        errors = errors * np.sqrt(n / (n - 1))
    times = float(student.ppf(0.975, n - p)) if family == "linear" else NORMAL
    return [estimate(float(b), float(e), times) for b, e in zip(fitted.params / scale, errors / scale, strict=True)]


def _fitted_logistic(library: Any, y: Floats, x: Floats, weights: Floats | None) -> Any:
    """A logistic model at its maximum; refused if it has none. Errors come last: they have no bounds without one."""
    root = np.ones(len(y)) if weights is None else np.sqrt(weights / weights.mean())
    model = library.GLM(y, x, family=library.families.Binomial(), var_weights=root * root)
    how: dict[str, Any] = {"tol": 1e-12, "maxiter": 100}
    fitted = model.fit(**how)
    sign = np.where(y > 0.0, 1.0, -1.0)
    moved = _moved(x, sign, root, np.asarray(fitted.params, np.float64))
    if moved is not None and np.min(sign * moved) >= -_MOVED * np.max(np.abs(moved)):
        raise UnfittedError("categories or numbers separate the outcomes, so coefficients have no finite estimate")
    if moved is not None or not fitted.converged:
        raise UnfittedError("it did not converge")
    return fitted if weights is None else model.fit(start_params=fitted.params, cov_type="HC0", **how)


def _moved(x: Floats, sign: Floats, root: Floats, coefficients: Floats) -> Floats | None:
    """How one step more of Newton's method moves the predictors of records; None at a maximum.

    Where outcomes are separated there is none: each step adds about 1 to the predictor of a record that is, towards its
    outcome, and takes nothing from others; the library stops at some 30. At a maximum it adds nothing, even where a
    record far out is predicted with near certainty, rightly or wrongly.

    The step is that of least squares, with rows of the matrix times the standard deviation that the model gives to an
    outcome. Of records that are far on the wrong side this is nothing, and only their part of the slope counts.
    """
    predictor = x @ coefficients
    if np.min(sign * predictor) > 0.0:
        return predictor  # each record is on the side of its outcome
    with np.errstate(over="ignore"):
        half = np.exp(-0.5 * np.abs(predictor))
        left = root * sign * np.exp(-0.5 * sign * predictor)  # of the outcome, in its standard deviations
        wrong = 1.0 / (1.0 + np.exp(sign * predictor))
    fair = np.abs(left) < _FAR
    q, r = np.linalg.qr((root * half / (1.0 + half * half))[:, None] * x)
    pull = x[~fair].T @ (root * root * sign * wrong)[~fair]
    slope = q[fair].T @ left[fair] + np.linalg.lstsq(r.T, pull, rcond=_EPSILON)[0]
    step, _, rank, _ = np.linalg.lstsq(r, slope, rcond=_EPSILON)
    if rank < len(r):
        return -sign  # the library went astray: nowhere has a maximum all outcomes certain
    moved: Floats = x @ step
    return moved if np.max(np.abs(moved) / (1.0 + np.abs(predictor))) >= _MOVED else None
