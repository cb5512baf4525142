"""What may stand beside earlier releases in a recipe, and where these are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .fields import Mistake

if TYPE_CHECKING:
    from .recipe import Recipe


def seen_from(folder: str | Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe whose paths of earlier releases begin at the root: a bundle keeps the recipe in another folder."""
    previous = document.get("previous")
    releases = previous.get("releases") if isinstance(previous, Mapping) else None
    if not isinstance(releases, list) or not all(isinstance(one, Mapping) for one in releases):
        return dict(document)
    whole = [
        {n: os.path.abspath(os.path.join(folder, v)) if isinstance(v, str) and v else v for n, v in one.items()}
        for one in releases
    ]
    return {**document, "previous": {**previous, "releases": whole}}  # type: ignore[dict-item]


def check_previous(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note what contradicts earlier releases, has no effect, or can't be done while groups stay together."""
    previous = recipe.previous
    if previous is None:
        return

    def wrong(key: str, what: str, got: str | None = None, hint: str | None = None) -> None:
        mistakes.append(Mistake(("previous", key), what, got, hint))

    for name in previous.by or ():
        if name not in recipe.columns:
            wrong(
                "by",
                "The recipe must contain the columns by which persons are matched.",
                f"'{name}', which it does not",
            )
    if previous.by and previous.rows:
        wrong("rows", "Match persons either by a column or by row number.", "both", "leave one of them out.")
    if previous.groups != "stable":
        if previous.small != "refuse":
            what = "'small' applies only to stable groups."
            wrong("small", what, f'groups = "{previous.groups}"', 'leave it out, or set groups = "stable".')
        return
    for what, got in _not_with_stable(recipe):
        wrong("groups", what, got, 'leave it out, or use groups = "free".')


def _not_with_stable(recipe: Recipe) -> list[tuple[str, str]]:
    """What can't be kept while those stay together who were."""
    guarded = [name for name, rule in recipe.columns.items() if rule is not None and rule.guarded]
    suppress = recipe.previous is not None and recipe.previous.small == "suppress"
    found = {
        "Stable groups follow the earlier groups, so they cannot be combined with strata.": (
            recipe.strata is not None,
            "[strata]",
        ),
        "Stable groups follow the earlier groups, so they cannot be combined with this policy for missing values.": (
            recipe.missing.policy == "own-value",
            'policy = "own-value"',
        ),
        "Stable groups need one record per person.": (recipe.unit_column is not None, "[unit]"),
        "Stable groups follow the earlier groups, so they cannot be combined with blocks.": (
            recipe.method.blocks is not None,
            "blocks",
        ),
        "Stable groups work with a single scenario: all quasi-identifiers together.": (
            bool(recipe.scenarios),
            "scenarios",
        ),
        "Stable groups are built from the earlier groups, so only the guard rule 'merge' applies.": (
            recipe.guard.rule != "merge" or recipe.guard.regroup,
            f'rule = "{recipe.guard.rule}"' if recipe.guard.rule != "merge" else "regroup",
        ),
        "Stable groups that were merged for a guard must not be split again: set [guard] split = false.": (
            bool(guarded) and recipe.guard.rule == "merge" and recipe.guard.split,
            "split = true",
        ),
        "t compares each group with the released table, which is not known yet while records may still be "
        "suppressed.": (
            suppress and any(recipe.columns[name].t is not None for name in guarded),
            't and small = "suppress"',
        ),
        "A bound covers all partitions, not only those that keep stable groups together.": (
            recipe.method.bound != "none",
            "bound",
        ),
    }
    return [(what, got) for what, (is_so, got) in found.items() if is_so]
