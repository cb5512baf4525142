"""What candidates of a comparison differ in: k, which may follow from a risk, method, and importance of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ..constraints import check, least_k
from ..errors import CoterieError
from ..recipe import Recipe
from ..recipe.fields import IMPORTANCE, RISK
from ..recipe.rules import close_to

_METHODS, _METHODS_FOR_UNITS = ["mdav", "mdav*", "auto"], ["mdav", "auto"]
MOST = 1000  # candidates: more is a slip, and would take days


def check_risk(risk: Any) -> float | None:
    """The largest risk that a candidate may leave, if one was asked for."""
    return None if risk is None else float(check("risk", RISK, risk))


def check_sizes(k: Sequence[int] | None, methods: Sequence[str] | None, risk: float | None, recipe: Recipe) -> Any:
    """The k and the methods to try, each once: those that were given, and the k that keeps the risk."""
    usual = _METHODS_FOR_UNITS if recipe.unit_column else _METHODS
    sizes = list(dict.fromkeys([*(k or ()), *(() if risk is None else (least_k(risk),))]))
    names = list(dict.fromkeys(usual if methods is None else methods))
    if not sizes or not names:
        raise CoterieError("Give at least one k and one method.", f"{len(sizes)} and {len(names)}")
    return sizes, names


def check_importance(importance: Any, recipe: Recipe) -> dict[str, list[float]]:
    """For each column, the importances to try."""
    if importance is None:
        return {}
    hint = 'for example {"income": [1, 3, 10]}.'
    if not isinstance(importance, Mapping) or not importance:
        got = "none" if isinstance(importance, Mapping) else f"an object of type {type(importance).__name__}"
        raise CoterieError("'importance' must map columns to lists of numbers.", got, hint)
    out: dict[str, list[float]] = {}
    for name, weights in importance.items():
        if name not in recipe.quasi:
            what = "Only the importance of quasi-identifiers can be varied."
            raise CoterieError(what, f"'{name}'", close_to(str(name), list(recipe.quasi)))
        if isinstance(weights, (str, bytes)) or not isinstance(weights, Sequence) or not weights:
            raise CoterieError(f"The importances of '{name}' must be a list of numbers.", "something else", hint)
        out[name] = list(dict.fromkeys(float(check("importance", IMPORTANCE, weight)) for weight in weights))
    return out


def varied(
    recipe: Recipe, sizes: Sequence[int], methods: Sequence[str], importance: Mapping[str, Sequence[float]], seed: int
) -> list[Recipe]:
    """A recipe for every k, method and combination of importances. Combinations of the same ratios are one."""
    kept = {n: v for n, v in recipe.as_dict().items() if n not in ("k", "promise", "method", "seed", "columns")}
    columns = list(_columns(recipe, importance))
    if len(columns) == 1 and any(len(weights) > 1 for weights in importance.values()):
        what = "Importance is relative to other quasi-identifiers: only ratios matter."
        raise CoterieError(
            what, "the same ratios in all combinations", "vary it only if there are other quasi-identifiers."
        )
    if (count := len(columns) * len(sizes) * len(methods)) > MOST:
        raise CoterieError(
            f"At most {MOST:,} candidates can be compared.", f"{count:,}", "vary fewer things at a time."
        )
    return [
        Recipe(**kept, columns=rules, k=size, method=method, seed=seed)
        for size in sizes
        for method in methods
        for rules in columns
    ]


def _columns(recipe: Recipe, importance: Mapping[str, Sequence[float]]) -> Iterator[dict[str, Any]]:
    """The columns with every combination of importances."""
    rules, seen = recipe.as_dict()["columns"], set()
    for weights in product(*importance.values()):
        chosen = dict(zip(importance, weights, strict=True))
        every = [chosen.get(name, recipe.columns[name].importance or 1.0) for name in recipe.quasi]
        ratios = tuple(weight / max(every) for weight in every)
        if ratios not in seen:
            seen.add(ratios)
            yield {**rules, **{name: {**rules[name], "importance": weight} for name, weight in chosen.items()}}
