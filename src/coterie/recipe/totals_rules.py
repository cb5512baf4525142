"""Which columns can keep their totals by controlled rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import Mistake

if TYPE_CHECKING:
    from .recipe import Recipe


def check_totals(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note where `totals` would have no effect, or could not do what it says."""
    for name, rule in recipe.columns.items():
        if rule is None or not rule.totals:
            continue

        def wrong(what: str, got: str, hint: str, name: str = name) -> None:
            mistakes.append(Mistake(("columns", name, "totals"), what, got, hint))

        kind = "none" if rule.kind is None else f'"{rule.kind}"'
        if rule.role != "quasi" or rule.kind not in ("integer", "numeric"):
            what = "totals needs rounded means: an integer quasi-identifier, or a numeric one with decimals."
            wrong(what, f'role = "{rule.role}", kind = {kind}', "leave it out.")
        elif rule.kind == "numeric" and rule.decimals is None:
            what = "Means that are not rounded keep the total anyway."
            wrong(what, "no decimals", "leave it out, or give decimals.")
        elif name in recipe.within:
            what = "A stratum column is released unchanged, so nothing is rounded."
            wrong(what, "a stratum column", "leave it out.")
        elif recipe.centre == "medoid":
            what = "A medoid is an observed record, so nothing is rounded and no total is kept."
            wrong(what, 'centre = "medoid"', 'use centre = "mean", or leave it out.')
        elif recipe.missing.policy == "group":
            what = "Filled-in missing values add to the total, so it cannot be kept."
            wrong(what, 'policy = "group"', 'use policy = "own-value", or leave it out.')
