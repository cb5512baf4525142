"""What a release promises, as the verifier is told it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formats import harmless
from ..recipe import Recipe
from ..tables.identities import NO_NAMES
from ..verification import Claims, Guard, Scenario, Unit


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
    """What the columns that are released are called in the file."""
    released = [n for n, rule in recipe.columns.items() if rule.role != "identifier"]
    return dict(zip(released, harmless(released) if _is_neutralized(recipe, details) else released, strict=True))


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
    return Claims(scenarios_of(recipe, told), tuple(told[w] for w in within), guards, tuple(told.values()), unit)


def scenarios_of(recipe: Recipe, told: Mapping[str, str]) -> tuple[Scenario, ...]:
    """The scenarios as the verifier takes them; `told` is what the release calls a column."""
    return tuple(
        Scenario(name, tuple(told[q] for q in s.quasi if q not in recipe.within), s.k)
        for name, s in recipe.promises.items()
    )
