"""How a column is prepared, on its page: which options are asked for, and what was said of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...recipe.fields import UNDECIDED
from ...recipe.sections import PREPARING
from ...recipe.suggested import Suggested
from .. import edits
from ..asked import Form

_FIELDS = {
    "numbers": ("bottom", "bottom_label", "top", "top_label", "round", "bands", "width", "bands_as"),
    "dates": ("bottom", "top", "precision"),
    "categories": ("recode", "rare", "others"),
}
_SORTS = {
    "numeric": "numbers", "integer": "numbers", "datetime": "dates", "nominal": "categories", "ordinal": "categories",
}  # fmt: skip
_TEXTS = ("precision", "others", "top_label", "bottom_label", "bands_as")
_TURNS_INTO = "="  # between an old name and the new one


def sort_of(rule: Mapping[str, Any], suggested: Suggested) -> str:
    """Whether a column is prepared as numbers, dates or categories; nothing, if it is not."""
    if rule.get("role") not in ("quasi", "confidential", "other"):
        return ""
    return _SORTS.get(str(_kind(rule, suggested).get("kind")), "")


def _kind(rule: Mapping[str, Any], suggested: Suggested) -> dict[str, Any]:
    """The kind of a column, and its format; of one that is kept as it is, what it looks like."""
    if rule.get("role") != "other" or rule.get("kind"):
        return {key: rule[key] for key in ("kind", "format") if key in rule}
    looks = suggested.rule_for("confidential").rule
    kind = looks.get("kind")
    if kind in (None, UNDECIDED, "ordinal", "boolean"):
        return {"kind": "nominal"}
    return {"kind": kind, **({"format": looks["format"]} if looks.get("format", UNDECIDED) != UNDECIDED else {})}


def shown(rule: Mapping[str, Any]) -> dict[str, str]:
    """The options as they stand in the fields."""
    return {key: _text(rule[key]) for key in PREPARING if key in rule}


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{old} {_TURNS_INTO} {new}" for old, new in value.items())
    return ", ".join(f"{edge}" for edge in value) if isinstance(value, (list, tuple)) else f"{value}"


def said(rule: Mapping[str, Any], form: Form, suggested: Suggested) -> dict[str, Any]:
    """The rule with what the form says of preparing. A kept column has a kind as long as it is prepared."""
    kind = _kind(rule, suggested)
    out = dict(rule)
    for key in (key for keys in _FIELDS.values() for key in keys):
        if key == "recode" and form.text(key).split("\n") == _text(rule.get(key, "")).strip().split("\n"):
            continue  # as it was: names may hold the sign, or blanks around them
        if key in form:
            out = edits.with_option(out, key, _value(key, form.text(key)))
    if out.get("role") != "other":
        return out
    plain = {key: value for key, value in out.items() if key not in ("kind", "format")}
    return {**plain, **kind} if any(key in out for key in PREPARING) else plain


def _value(key: str, text: str) -> Any:
    if key in _TEXTS:
        return text
    if key == "recode":
        return _recoding(text)
    if key == "bands":
        return [edits.number_or_text(part) for part in re.split(r"[,;\s]+", text) if part]
    return edits.number_or_text(text)


def _recoding(text: str) -> Any:
    """Old and new names, a pair in each line. Where one is no such pair: the text, which the recipe refuses."""
    pairs = [[name.strip() for name in line.split(_TURNS_INTO)] for line in text.split("\n") if line.strip()]
    if any(len(pair) != 2 for pair in pairs) or len({old for old, _ in pairs}) < len(pairs):
        return text
    return dict(pairs)
