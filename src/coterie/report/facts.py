"""What the public may see: the one place that decides.

Everything here is a whitelist. A fact passes because a line below names it and its value is of the kind that the line
expects; whatever is not named stays behind: the seed, all of the risk, notes, file names and hashes, group numbers.

Three rules guard what passes. What the reader can compute from the released file is public. Of the original, no count
of records below k passes, nor one that follows from a difference: counts in a distribution are multiples of k. No
number passes from which the value of a record follows: no quantiles, no least or largest value; and changes are
rounded, for the released side of them is known exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..algorithms.registry import METHODS, Method
from .bins import coarse, rounded, within_release
from .reading import (
    Facts,
    column_names,
    count,
    items,
    largest_k,
    names,
    number,
    numbers,
    part,
    rows,
    setting,
    sizes,
    text,
)

UNKNOWN_K = 10  # counts below it are hidden where no k is known: a usual threshold for tables of counts
OTHERS = "others"
ROLES = ("identifier", "quasi", "confidential", "other")
KINDS = ("numeric", "integer", "ordinal", "nominal", "datetime", "boolean")
MASKED = ("mean", "rounded mean", "median category", "mode", "mean date", "medoid")
# Of columns that are mostly as they were, a difference of before and after would show the few records that changed.
RELEASED = (*MASKED, "as it was", "merged strata", "dropped", "with noise in constant groups")
_BOUNDS = ("neighbours", "column generation", "optimal")
_CHECKS = re.compile(r"[A-Za-z0-9 -]{1,40}")


@dataclass(frozen=True)
class _Known:
    """What the whitelist measures against."""

    k: int
    names: frozenset[str]  # the table's columns
    masked: frozenset[str]  # those whose values are those of groups
    records: int | None  # released ones
    few_left_out: bool  # fewer than k records were: their number must not follow from other numbers


def public(facts: Facts) -> dict[str, Any]:
    """The facts that the public report shows.

    Parameters
    ----------
    facts : mapping
        All facts of a release. Anything may be missing or None.

    Returns
    -------
    dict
        A new dictionary of the same form, with `suppressed_below`: counts of original records below it are None.
        The public facts of public facts are the same.
    """
    known = _known(facts)
    return {
        "coterie": _matching(r"[0-9][0-9a-z.+]{0,20}", part(facts).get("coterie")),
        "created": _matching(r"\d{4}-\d{2}-\d{2}", part(facts).get("created")),
        "suppressed_below": known.k,
        "recipe": _recipe(part(facts, "recipe"), known),
        "input": _input(part(facts, "input"), known),
        "output": _output(facts, known),
        "columns": [_column(row, known) for row in rows(facts, "columns") if text(row.get("name"))],
        "groupings": [_grouping(row, known) for row in rows(facts, "groupings")],
        "verdict": _verdict(part(facts, "verdict"), known),
        "measures": {
            "loss": _loss(part(facts, "measures", "loss"), known),
            "utility": _utility(part(facts, "measures", "utility"), known),
        },
    }


def _known(facts: Facts) -> _Known:
    k = largest_k(facts) or UNKNOWN_K
    columns = [row for row in rows(facts, "columns") if text(row.get("name"))]
    masked = {row["name"] for row in columns if _one_of(MASKED, row.get("released"))}
    output = part(facts, "output")
    left_out = count(output.get("suppressed"))
    few = left_out is None or 0 < left_out < k
    before, after = count(part(facts, "input").get("records")), count(output.get("records"))
    if before is not None and after is not None and 0 < before - after < k:
        few = True
    return _Known(k, frozenset(column_names(facts)), frozenset(masked), after, few)


def _matching(pattern: str, value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(pattern, value) else None


def _one_of(words: Iterable[str], value: Any) -> str | None:
    return value if isinstance(value, str) and value in words else None


def _number(value: Any, digits: int = 6) -> float | None:
    """A number to so many digits that count."""
    found = number(value)
    return None if found is None else float(f"{found:.{digits}g}")


def _decimals(value: Any, decimals: int = 2) -> float | None:
    found = number(value)
    return None if found is None else round(found, decimals) + 0.0


def _few(value: Any, known: _Known) -> int | None:
    """A count of original records: 0, or at least k, or None."""
    found = count(value)
    return None if found is None or 0 < found < known.k else found


def _share(value: Any, known: _Known) -> float | None:
    """A share of the records, unless it stands for fewer than k of them."""
    found = number(value)
    if found is None or known.records is None or 0 < found * known.records < known.k:
        return None
    return _decimals(found, 3)


def _names(value: Any, known: _Known) -> list[str]:
    return [name for name in names(value) if name in known.names]


def _keep(source: Facts, keys: Iterable[str], reader: Callable[[Any], Any] = _number) -> dict[str, Any]:
    return {key: reader(source.get(key)) for key in keys}


# What was done


def _recipe(recipe: Facts, known: _Known) -> dict[str, Any]:
    small = ("refuse", "merge", "suppress")
    out: dict[str, Any] = {"centre": _one_of(("mean", "medoid"), recipe.get("centre")), "k": count(recipe.get("k"))}
    within = _names(setting(recipe, "strata", "within"), known)
    out["strata"] = {"within": within, "small": _one_of(small, part(recipe, "strata").get("small"))}
    policy = _one_of(("refuse", "own-value", "group"), setting(recipe, "missing", "policy"))
    out["missing"] = {"policy": policy, "small": _one_of(small, part(recipe, "missing").get("small"))}
    out["weights"] = {"column": _one_of(known.names, setting(recipe, "weights", "column"))}
    out["guard"] = {"rule": _one_of(("merge", "k-first", "t-first"), setting(recipe, "guard", "rule"))}
    rules = {name: _keep(part(rule), ("decimals", "l", "entropy", "t", "noise"), number)
             for name, rule in part(recipe, "columns").items() if name in known.names}  # fmt: skip
    out["columns"] = {name: {key: v for key, v in rule.items() if v is not None} for name, rule in rules.items()}
    return out


def _input(source: Facts, known: _Known) -> dict[str, Any]:
    records = None if known.few_left_out else count(source.get("records"))
    return {"records": records, "columns": count(source.get("columns"))}


def _output(facts: Facts, known: _Known) -> dict[str, Any]:
    output = part(facts, "output")
    name = _matching(r"[^/\\]{1,80}", output.get("name"))
    if name is not None and name == part(facts, "input").get("name"):
        name = None
    return {
        "name": name,
        "records": count(output.get("records")),
        "columns": count(output.get("columns")),
        "suppressed": _few(output.get("suppressed"), known),
        "blanked": _few(output.get("blanked"), known),
        "shuffled": output.get("shuffled") if isinstance(output.get("shuffled"), bool) else None,
    }


def _column(row: Facts, known: _Known) -> dict[str, Any]:
    before, after = _few(row.get("missing_before"), known), count(row.get("missing_after"))
    if before is not None and after is not None and 0 < abs(before - after) < known.k:
        before = None
    return {
        "name": row["name"],
        "role": _one_of(ROLES, row.get("role")),
        "kind": _one_of(KINDS, row.get("kind")),
        "released": _one_of(RELEASED, row.get("released")),
        "missing_before": before,
        "missing_after": after,
    }


def _grouping(row: Facts, known: _Known) -> dict[str, Any]:
    bound = part(row, "bound")
    kind = _one_of(_BOUNDS, bound.get("kind"))
    return {
        "name": _matching(r".{1,80}", row.get("name")),
        "quasi": _names(row.get("quasi"), known),
        "k": count(row.get("k")),
        "method": _method(row.get("method")),
        "params": _params(part(row, "params")),
        "groups": count(row.get("groups")),
        "sizes": {size: n for size, n in sizes(row.get("sizes")).items() if _at_least_k(size, row)},
        **_keep(row, ("loss", "loss_weighted")),
        "bound": {**_keep(bound, ("loss", "gap")), "kind": kind} if bound else None,
    }


def _at_least_k(size: str, row: Facts) -> bool:
    return bool(re.fullmatch(r"\d{1,9}(-\d{1,9})?\+?", size)) and int(re.split(r"\D", size)[0]) >= (
        count(row.get("k")) or 0
    )


def _method(value: Any) -> str | None:
    known = {name: m.name for m in METHODS.values() for name in (m.name, *m.aliases)}
    return known.get(value) if isinstance(value, str) else None


def _params(params: Facts) -> dict[str, Any]:
    """What the methods themselves take, with values that they take; so no seed."""
    owners: dict[str, list[Method]] = {}
    for method in METHODS.values():
        for name in method.parameters:
            owners.setdefault(name, []).append(method)
    out: dict[str, Any] = {}
    for name, value in params.items():
        if name == "method" and (chosen := _method(value)):
            out[name] = chosen
        for method in owners.get(name, ())[:1]:
            try:
                checked = method.parameters[name].check(value)
            except (TypeError, ValueError, OverflowError):
                continue
            out[name] = list(checked) if isinstance(checked, tuple) else checked
    return out


def _verdict(verdict: Facts, known: _Known) -> dict[str, Any]:
    """Numbers only; the report makes its own sentences of them."""
    checks = [
        {
            "what": check["what"],
            "scenario": _matching(r".{1,80}", check.get("scenario")),
            "columns": _names(check.get("columns"), known),
            **_keep(check, ("wanted", "found")),
            "classes": count(check.get("classes")),
            **_keep(check, ("offending_classes", "offending_records"), lambda value: _few(value, known)),
        }
        for check in rows(verdict, "checks")
        if isinstance(check.get("what"), str) and _CHECKS.fullmatch(check["what"])
    ]
    return {"ok": verdict.get("ok") if isinstance(verdict.get("ok"), bool) else None, "checks": checks}


# What was lost


def _loss(loss: Facts, known: _Known) -> dict[str, Any]:
    columns = {}
    for name, of in part(loss, "columns").items():
        if name in known.masked:
            columns[name] = _keep(part(of), ("loss", "il1s"))
            if "mismatch" in part(of):
                columns[name]["mismatch"] = _share(part(of)["mismatch"], known)
    totals = _keep(loss, ("loss", "loss_euclidean", "loss_weighted", "il1s_mean"))  # from sums, n would follow
    return {**totals, "columns": columns}


def _utility(utility: Facts, known: _Known) -> dict[str, Any]:
    columns = {name: _of_column(part(of), known) for name, of in part(utility, "columns").items()
               if name in known.masked}  # fmt: skip
    propensity, eigen = part(utility, "propensity"), part(utility, "eigenvalues")
    return {
        "columns": columns,
        "correlations": _correlations(part(utility, "correlations"), known),
        "eigenvalues": {
            **{side: [_decimals(v) for v in numbers(eigen.get(side))] for side in ("before", "after")},
            "change": _decimals(eigen.get("change")),
        },
        "propensity": _keep(propensity, ("ratio",)),
    }  # fmt: skip


def _of_column(of: Facts, known: _Known) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": _one_of(KINDS, of.get("kind"))}
    if "variance_ratio" in of or "histogram" in of:
        out["mean_change"] = _mean_change(of, known)
        out["variance_ratio"] = _decimals(of.get("variance_ratio"))
        out["largest_quantile_change"] = _largest_quantile_change(of)
        out["histogram"] = _histogram(of, known)
    if "total_variation" in of or "categories" in of:
        out["total_variation"] = _share(of.get("total_variation"), known)
        out["categories"] = _categories(part(of, "categories"), known)
    return out


def _mean_change(of: Facts, known: _Known) -> float | None:
    """Rough where few records were left out: group means keep the sum, so what it lacks would be that of the few."""
    if not known.few_left_out:
        return _decimals(of.get("mean_change"))
    return _decimals(of.get("mean_change"), 1) if (known.records or 0) >= 100 else None


def _largest_quantile_change(of: Facts) -> float | None:
    """To a tenth of a standard deviation: as released quantiles are known, an exact change would tell a record's."""
    if "largest_quantile_change" in of:
        return _decimals(of["largest_quantile_change"], 1)
    changes = [abs(v) for v in numbers(part(of, "quantile_changes").get("change")) if v is not None]
    return _decimals(max(changes), 1) if changes else None


def _histogram(of: Facts, known: _Known) -> dict[str, Any] | None:
    given = part(of, "histogram")
    edges = [edge for edge in numbers(given.get("edges")) if edge is not None]
    at_round = rounded(edges, numbers(given.get("before")), numbers(given.get("after")), text(of.get("kind")))
    shown = None if at_round is None else within_release(at_round)
    if shown is None:
        return None
    before = coarse(shown.before, known.k)
    return {"edges": shown.edges, "before": before, "after": [round(n or 0) for n in shown.after]}


def _categories(given: Facts, known: _Known) -> dict[str, Any] | None:
    """Names that the release holds; all others are one."""
    before, after = numbers(given.get("before")), numbers(given.get("after"))
    called = items(given, "names")
    if not called or not len(called) == len(before) == len(after):
        return None
    kept, rest = [], []
    for name, old, new in zip(called, before, after, strict=True):
        if isinstance(name, str) and (released := count(new)):
            kept.append((name, old, released))
        else:
            rest.append(old)
    if rest:
        kept.append((OTHERS, None if None in rest else sum(n or 0 for n in rest), 0))
    hidden = coarse([old for _, old, _ in kept], known.k)
    return {"names": [name for name, _, _ in kept], "before": hidden, "after": [new for _, _, new in kept]}


def _correlations(given: Facts, known: _Known) -> dict[str, Any]:
    called = items(given, "names")
    kept = [i for i, name in enumerate(called) if isinstance(name, str) and name in known.names]

    def cells(side: str) -> list[list[float | None]]:
        matrix = [numbers(row) for row in items(given, side)]
        if len(matrix) != len(called) or any(len(row) != len(called) for row in matrix):
            return []
        return [[_decimals(matrix[i][j]) for j in kept] for i in kept]

    return {
        "names": [called[i] for i in kept],
        "before": cells("before"),
        "after": cells("after"),
        **_keep(given, ("mean_change", "largest_change"), _decimals),
    }
