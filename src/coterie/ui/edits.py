"""Changes of a recipe's document: pure functions that give a new one. Nothing is checked here: the recipe does that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from ..constraints import least_k
from ..errors import CoterieError
from ..recipe.fields import UNDECIDED
from .steps import Document

_MOST_SIGNS = 40  # of a number


def with_columns(document: Document, rules: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Other rules for some columns. What else names a column that may no longer be named so stays, and is told."""
    return {**document, "columns": {**document["columns"], **rules}}


def with_option(rule: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """A rule with an option, or, for nothing, without it."""
    return with_section(rule, name, value)


def with_section(document: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """A document with a section or an option; None, an empty text or an empty list or mapping removes it."""
    rest = {key: one for key, one in document.items() if key != name}
    return rest if value is None or value in ("", [], {}, ()) else {**rest, name: value}


def with_method(document: Document, k: int, method: str) -> dict[str, Any]:
    """Another k and method. A method's own parameters go with it; blocks, search and bound are for any."""
    section = document.get("method", {})
    section = {"name": section} if isinstance(section, str) else dict(section)
    if section.get("name", "auto") != method:
        section = {key: value for key, value in section.items() if key in ("blocks", "refine", "bound")}
    plain = {**section, "name": method} if method != "auto" else {k: v for k, v in section.items() if k != "name"}
    return with_section(with_k(document, k), "method", plain)


def with_k(document: Document, k: int) -> dict[str, Any]:
    """Another k; the risk that it follows from stays, if it still does."""
    risk = risk_of(document)
    if isinstance(risk, float) and 0.0 < risk <= 0.5 and least_k(risk) == k:
        return dict(document)
    return {**with_section(document, "promise", None), "k": k}


def risk_of(document: Document) -> Any:
    """The largest risk that stands in place of k; None if k does."""
    section = document.get("promise", {})
    return section.get("risk") if isinstance(section, Mapping) else section


def with_promise(document: Document, k: Any, risk: Any) -> dict[str, Any]:
    """k, or the risk that it follows from. Both, and neither, is for the recipe to refuse."""
    out = with_section(document, "promise", None if risk is None else {"risk": risk})
    return with_section(out, "k", k) if risk is not None else {**out, "k": "" if k is None else k}


def with_unit(document: Document, column: str, pseudonym: bool) -> dict[str, str]:
    """The section of a unit; what is said of its pseudonyms stays with the column."""
    said = document.get("unit", {})
    key = {"key": said["key"]} if isinstance(said, Mapping) and said.get("column") == column and "key" in said else {}
    return {"column": column, **({"release": "pseudonym", **key} if pseudonym else {})}


def differing(before: Document, after: Document) -> list[str]:
    """The parts of a recipe that differ, by name."""
    parts = [name for name in {**before, **after} if name != "columns" and before.get(name) != after.get(name)]
    old, new = before.get("columns", {}), after.get("columns", {})
    return parts + [name for name in {**old, **new} if old.get(name) != new.get(name)]


def number_or_text(text: str) -> Any:
    """A number where the text is one; else the text, which the recipe refuses in its own words."""
    if len(text) > _MOST_SIGNS:
        raise CoterieError("A number must be short.", f"a text of {len(text):,} signs")
    for read in (int, float):
        try:
            value = read(text)
        except ValueError:
            continue
        if text.isascii() and "_" not in text and isfinite(value):
            return value
    return text or None


def decided(rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether nothing is left open."""
    return all(UNDECIDED not in (rule.get("role"), rule.get("kind")) for rule in rules)
