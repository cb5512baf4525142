"""What a release promises, as the verifier is told it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formats import harmless
from ..recipe import ColumnRule, Recipe
from ..recipe.preparing_rules import as_prepared, becomes_text
from ..tables.bands import edges_between, known_edges, middles_of, names_of
from ..tables.identities import NO_NAMES
from ..verification import Claims, Guard, Prepared, Scenario, Unit


def dialect_of(form: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    """How a CSV file is to be read; None for others."""
    if form.get("kind") != "csv":
        return None
    named = {} if form["header"] else {"names": list(names)}
    return {
        "delimiter": form["delimiter"],
        "quote": form.get("quote") or None,
        "encoding": form["encoding"],
        "header": form["header"],
        **named,
    }


def released_names(recipe: Recipe, details: Mapping[str, Any]) -> dict[str, str]:
    """What the columns of the input that are released are called in the file."""
    return dict(zip(recipe.released, _names(recipe, details)[-len(recipe.released) :], strict=True))


def names_in_file(names: Sequence[str], recipe: Recipe, details: Mapping[str, Any]) -> list[str]:
    """All columns of a file that is released, in their order; `names` are those of the input."""
    told = released_names(recipe, details)
    first = [] if recipe.output.number is None else _names(recipe, details)[:1]
    return [*first, *(told[name] for name in names if name in told)]


def _names(recipe: Recipe, details: Mapping[str, Any]) -> list[str]:
    """That of record numbers, if there is one, and those of released columns, as they stand in the file."""
    names = [*([] if recipe.output.number is None else [recipe.output.number]), *recipe.released.values()]
    return harmless(names) if _is_neutralized(recipe, details) else names


def _is_neutralized(recipe: Recipe, details: Mapping[str, Any]) -> bool:
    return recipe.file.formulas == "neutralize" and "delimiter" in details


def _dress(kind: str | None, details: Mapping[str, Any]) -> dict[str, Any]:
    """What the verifier takes off numbers in a text file; those that are released for a group have nothing on."""
    if kind not in ("numeric", "integer"):
        return {}
    lists = {name: tuple(details.get(name) or ()) for name in ("prefix", "suffix")}
    return {"thousands": str(details.get("thousands") or ""), **lists}


def _as_written(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts that mean missing, and what they are in a file whose formulas are made harmless."""
    return tuple(dict.fromkeys((*texts, *(harmless([text])[0] for text in texts))))


def claims_of(recipe: Recipe, details: Mapping[str, Any]) -> Claims:
    """What a release promises. `details` say how a text file writes numbers and gaps."""
    asked, recipe = recipe, as_prepared(recipe)
    within, told, neutral = recipe.within, released_names(recipe, details), _is_neutralized(recipe, details)
    missing = tuple(details.get("missing") or ())
    guards = tuple(
        Guard(
            column=told[name],
            kind=str(rule.kind),
            l=rule.l,
            entropy=rule.entropy,
            t=rule.t,
            order=tuple(harmless(rule.order or ()) if neutral else rule.order or ()),
            decimal=(details.get("decimal") or ".") if rule.kind in ("numeric", "integer") else ".",
            missing=_as_written(missing) if neutral else missing,
            format=rule.format,
            true=tuple(harmless(rule.true or ()) if neutral else rule.true or ()),
            false=tuple(harmless(rule.false or ()) if neutral else rule.false or ()),
            **_dress(rule.kind, details),
        )
        for name, rule in recipe.columns.items()
        if rule.role == "confidential"
    )
    nobody = _as_written((*missing, *NO_NAMES)) if neutral else missing
    unit = Unit(told[name], nobody) if (name := recipe.unit_column) in told else None
    names = _names(recipe, details)
    return Claims(
        scenarios_of(recipe, told),
        tuple(told[w] for w in within),
        guards,
        tuple(names),
        unit,
        _prepared(asked, told, details, neutral),
        None if recipe.output.number is None else names[0],
    )


def _prepared(
    recipe: Recipe, told: Mapping[str, str], details: Mapping[str, Any], neutral: bool
) -> tuple[Prepared, ...]:
    """What every value of a prepared column keeps, as far as the recipe alone says it."""
    missing = tuple(details.get("missing") or ())
    out = []
    for name, rule in recipe.columns.items():
        said = _said(rule, is_masked=rule.role == "quasi" and not _as_prepared(name, recipe)) if rule.prepared else {}
        if rule.rare is not None and rule.role != "quasi" and not may_suppress(recipe):
            said |= {"fewest": rule.rare, "spared": (rule.others,)}
        if not any(value is not None and value != () for key, value in said.items() if key != "kind"):
            continue
        for key in ("values", "gone", "spared"):
            if neutral and said.get(key):
                said[key] = _as_written(said[key])
        number = _dress(rule.kind, details) if said["kind"] == "number" else {}
        out.append(
            Prepared(
                column=told[name],
                decimal=(details.get("decimal") or ".") if said["kind"] == "number" else ".",
                missing=_as_written(missing) if neutral else missing,
                format=rule.format if said["kind"] == "date" else None,
                **said,
                **number,
            )
        )
    return tuple(out)


def _as_prepared(name: str, recipe: Recipe) -> bool:
    """Whether a quasi-identifier is released as it was prepared: in strata, unless small ones may be merged."""
    return name in recipe.within and recipe.strata is not None and recipe.strata.small != "merge"


def may_suppress(recipe: Recipe) -> bool:
    """Whether records may be left out: counts in the file are smaller then than those of the table."""
    return any(
        rule is not None and rule.small == "suppress" for rule in (recipe.strata, recipe.missing, recipe.previous)
    )


def _said(rule: ColumnRule, is_masked: bool) -> dict[str, Any]:
    """What is claimed of a column: bounds hold for means, too; a base, a precision do not."""
    if rule.kind == "datetime":
        precision = None if is_masked else rule.precision
        return {"kind": "date", "least": rule.bottom, "most": rule.top, "precision": precision}
    if rule.kind not in ("numeric", "integer"):
        if rule.recode is not None and rule.others is not None:
            new = (*rule.recode.values(), rule.others)
            return {"kind": "text", "values": tuple(dict.fromkeys(new))}
        gone = () if rule.recode is None else tuple(old for old in rule.recode if old not in rule.recode.values())
        return {"kind": "text", "gone": gone}
    edges = known_edges(rule)
    if becomes_text(rule) and (rule.bands is not None or rule.width is not None):
        if edges is not None:
            return {"kind": "text", "values": names_of(rule, edges)}
        ends = tuple(name for band in _bands_at_bounds(rule) for name in names_of(rule, band))
        wide = {"width": rule.width, "whole": rule.kind == "integer", "least": rule.bottom, "most": rule.top}
        return {"kind": "text", "values": ends or None, **wide}
    labels = tuple(label for label in (rule.bottom_label, rule.top_label) if label is not None)
    least, most = rule.bottom, rule.top
    if rule.bands_as == "middle" and edges is not None:
        middles = middles_of(rule, edges)
        least, most = min(middles), max(middles)
    said = {"kind": "number", "least": least, "most": most, "values": labels or None}
    return said if is_masked else {**said, "base": rule.round, **_middles(rule, edges)}


def _middles(rule: ColumnRule, edges: Sequence[float] | None) -> dict[str, Any]:
    """Which numbers the middles of bands are; where edges depend on the column, by their distance."""
    if rule.bands_as != "middle":
        return {}
    if edges is not None:
        return {"among": tuple(dict.fromkeys(middles_of(rule, edges)))}
    assert rule.width is not None
    ends = tuple(middle for band in _bands_at_bounds(rule) for middle in middles_of(rule, band))
    first = (rule.width - 1) // 2 if rule.kind == "integer" else rule.width / 2
    return {"base": rule.width, "offset": first, "among": ends}


def _bands_at_bounds(rule: ColumnRule) -> list[tuple[float, ...]]:
    """The bands that hold a bound, each by where it begins: these have names and middles of their own."""
    assert rule.width is not None
    bounds = [bound for bound in (rule.bottom, rule.top) if bound is not None]
    return [band for bound in bounds if (band := edges_between(float(bound), float(bound), rule.width)) is not None]


def scenarios_of(recipe: Recipe, told: Mapping[str, str]) -> tuple[Scenario, ...]:
    """The scenarios as the verifier takes them; `told` is what the release calls a column."""
    return tuple(
        Scenario(name, tuple(told[q] for q in s.quasi if q not in recipe.within), s.k)
        for name, s in recipe.promises.items()
    )
