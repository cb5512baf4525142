"""A recipe to begin with: what each column looks like, said beside it, for a person to decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from .sections import ColumnRule

_NAMES = {
    "identifier": (
        r"(^|_)(id|ids|name|surname|first_?name|last_?name|e_?mail|phone|tel|ssn|nhs|iban|passport|address|street|url|ip"
        r"|uuid|key|licen[cs]e)(_|$)"
    ),
    "other": r"(^|_)(weight|weights|wgt|wt)(_|$)",
    "confidential": (
        r"(diagnos|disease|icd|income|salary|wage|earn|religio|politic|party|debt|credit|hiv|sexual|crime|convict|cost"
        r"|profit|turnover|score|grade)"
    ),
}
_FEW = 20  # categories that a person can look at
_MANY = 50  # records: of fewer, ages or sizes may all differ as well
_GAPS = frozenset({"na", "n/a", "nan", "null", "none", ".", "-", "?", "unknown", "missing"})


class Look(NamedTuple):
    """What a column looks like; `but_for` is the kind it would have without texts that often mean a gap."""

    kind: str
    records: int
    different: int
    missing: int
    order: tuple[str, ...] = ()
    but_for: str | None = None


def look(array: Any, decimal: str = ".") -> Look:
    """The kind that a column's type or texts suggest, and how many different and missing values it has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    values = array.dictionary if pa.types.is_dictionary(kind) else pc.unique(array).drop_null()
    if pa.types.is_floating(kind):
        values = values.filter(pc.invert(pc.is_nan(values)))
    missing = int(array.null_count)
    different = len(pc.unique(array.indices).drop_null()) if pa.types.is_dictionary(kind) else len(values)
    if pa.types.is_floating(kind):
        missing += int(pc.sum(pc.fill_null(pc.is_nan(array), False)).as_py() or 0)
    ordered = pa.types.is_dictionary(kind) and kind.ordered and pa.types.is_string(values.type)
    if ordered:
        return Look("ordinal", len(array), different, missing, tuple(values.to_pylist()))
    return Look(_kind(kind, values, decimal), len(array), different, missing, (), _but_for(values, decimal))


def _kind(kind: Any, values: Any, decimal: str) -> str:
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numeric"
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return "datetime"
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return _kind_of_texts(values.to_pylist(), decimal)
    return "nominal"


def _but_for(values: Any, decimal: str) -> str | None:
    import pyarrow as pa

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return None
    texts = values.to_pylist()
    plain = [t for t in texts if t.strip().lower() not in _GAPS]
    kind = _kind_of_texts(plain, decimal)
    return kind if plain and len(plain) < len(texts) and kind != _kind_of_texts(texts, decimal) else None


def _kind_of_texts(texts: Sequence[str], decimal: str) -> str:
    mark = re.escape(decimal)
    if not texts:
        return "nominal"
    if len(texts) == 2 and {t.strip().lower() for t in texts} in _PAIRS:
        return "boolean"
    if all(re.fullmatch(r"\s*[+-]?(0|[1-9]\d*)\s*", t) for t in texts):  # 00123 is no number
        return "integer"
    if all(re.fullmatch(rf"\s*[+-]?(0|[1-9]\d*)?({mark}\d+)?([eE][+-]?\d+)?\s*", t) and t.strip() for t in texts):
        return "numeric"
    return "datetime" if all(_is_date(t) for t in texts) else "nominal"


_PAIRS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"})


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return "-" in text


def suggest(name: str, seen: Look) -> tuple[str, str]:
    """A role, and why."""
    for role, words in _NAMES.items():
        if re.search(words, name.lower()):
            return role, "by its name"
    alone = seen.different == seen.records - seen.missing and seen.records > 1
    if alone and (seen.kind == "nominal" or (seen.kind == "integer" and seen.records >= _MANY)):
        return "identifier", "every value differs"
    if seen.different <= 1:
        return "other", "all values are the same"
    return "quasi", "an intruder might know it"


def draft(looks: Mapping[str, Look], k: int, options: Mapping[str, Any] | None = None) -> str:
    """The text of a recipe, with what was seen as comments."""
    import tomlkit

    lines = [
        "draft = true  # every line below is a suggestion: look at each, change it, and remove this line",
        f"k = {k}",
        "# seed = …            # a number nobody can guess; else one is drawn, and kept in the release's recipe",
        '# centre = "medoid"   # release an observed record of each group instead of its mean',
        "",
        "[missing]",
        'policy = "refuse"     # or "own-value": gaps in all records of a group or in none; "group": gaps are filled',
        "",
        "# [strata]",
        '# within = ["region"]  # quasi-identifiers that no group mixes',
        '# small = "refuse"     # or "merge", "suppress", where a stratum has fewer than k records',
        "",
        "# [weights]",
        '# column = "weight"    # sampling weights: means are weighted; its role is "other" or "identifier"',
        "",
        "# [scenarios.neighbour]  # what one intruder knows; every quasi-identifier is in a scenario then",
        '# quasi = ["age"]',
        "# k = 5",
        "",
    ]
    if options:
        lines += [tomlkit.dumps({"file": dict(options)}).rstrip(), ""]
    for name, seen in looks.items():
        role, why = suggest(name, seen)
        rule: dict[str, Any] = {"role": role}
        if role in ("quasi", "confidential"):
            rule["kind"] = seen.kind
            if seen.order:
                rule["order"] = list(seen.order)
        gaps = f", {seen.missing:,} missing" if seen.missing else ""
        lines.append(f"# {seen.different:,} different values in {seen.records:,} records{gaps}; {role}: {why}")
        lines += [
            tomlkit.dumps({"columns": {name: rule}}).strip().removeprefix("[columns]").strip(),
            *_more(role, seen),
            "",
        ]
    return "\n".join(lines)


def _more(role: str, seen: Look) -> list[str]:
    """Options that fit, as comments."""
    if seen.but_for is not None:
        return [f'# {seen.but_for}, but for texts that often mean a gap: name these in [file] missing = ["", …]']
    if role == "quasi" and seen.kind == "nominal" and seen.different <= _FEW:
        return ['# kind = "ordinal"  # if its categories have an order; then also: order = ["lowest", …, "highest"]']
    if role == "confidential":
        return [
            "# l = 2  # at least so many different values in every group",
            "# t = 0.3  # or: distributions close to the whole",
        ]
    return []


def rules_for(roles: Mapping[str, str], looks: Mapping[str, Look]) -> dict[str, ColumnRule]:
    """Rules for columns whose roles were said, with the kinds that they look like."""
    rules = {}
    for name, role in roles.items():
        seen = looks.get(name)
        kind = seen.kind if seen is not None and role in ("quasi", "confidential") else None
        rules[name] = ColumnRule(role, kind, seen.order if seen is not None and seen.order and kind else None)
    return rules
