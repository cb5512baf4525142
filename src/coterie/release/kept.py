"""Columns that are not masked: how many records are unique on them, counted on what is released."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..errors import CoterieError, printable, warn_of_privacy
from ..facts.measures import KeptColumn, KeptRisk
from ..recipe import Recipe
from ..verification.uniqueness import Uniqueness
from .promises import released_names

NAMED = 10  # columns in a warning, at most


def kept_columns(recipe: Recipe) -> list[str]:
    """The columns that are not masked: confidential ones and others, unchanged but for preparing and noise."""
    return [name for name, rule in recipe.columns.items() if rule.role in ("confidential", "other")]


def kept_risk(recipe: Recipe, details: Mapping[str, Any], count: Callable[..., Uniqueness]) -> KeptRisk | None:
    """Count the records of a release that are unique on the columns that are not masked.

    None where no column is, or one holds values that DuckDB does not compare. `details` say how a text file writes
    numbers and gaps; `count` is `verification.uniqueness` on the release, wherever that is.
    """
    told, kept = released_names(recipe, details), kept_columns(recipe)
    if not kept:
        return None
    own, everything = [told[n] for n in kept], [told[n] for n in (*kept, *recipe.quasi)]
    with suppress(CoterieError):
        counted = count(own, {"kept": own, "all": everything}, missing=tuple(details.get("missing") or ()))
        columns = (KeptColumn(n, recipe.columns[n].role, *counted.columns[told[n]]) for n in kept)
        return KeptRisk(counted.records, tuple(columns), counted.unique["kept"], counted.unique["all"])
    return None


def nearly_all_differ(kept: KeptRisk | None) -> str | None:
    """What is to be said of kept columns in which nearly all values differ; None where there are none."""
    names = () if kept is None else kept.nearly_all_differ
    if not names:
        return None
    named = ", ".join(f"'{printable(name)}'" for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    they_are, them = ("it is", "it") if len(names) == 1 else ("they are", "them")
    return (
        f"Nearly all values of {named}{more} differ, and {they_are} not masked: anyone who knows a value can "
        f"find the record, whatever k is. Drop {them} (identifier), mask {them} (quasi), or round {them} first."
    )


def warn_of_kept(kept: KeptRisk | None) -> None:
    """Warn of kept columns in which nearly all values differ."""
    if (said := nearly_all_differ(kept)) is not None:
        warn_of_privacy(said)
