"""k from the largest re-identification risk that may be left: the least whole number with 1 / k at most this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..constraints import least_k
from .fields import Mistake, Path
from .sections import PromiseRule, ScenarioRule

_EITHER = "Give either k or a risk, from which k follows."


def read_k(
    k: int | None, promise: PromiseRule | None, document: Mapping[str, Any], mistakes: list[Mistake]
) -> int | None:
    """The k of a recipe: as it was given, or from the risk. Both or neither is a mistake."""
    given = [name for name in ("k", "promise") if document.get(name) is not None]
    if len(given) == 2:
        mistakes.append(Mistake(("promise", "risk"), _EITHER, "both", "leave out k or [promise]."))
    elif not given:
        mistakes.append(Mistake(("k",), "This must be given.", "nothing", "or give [promise] risk = 0.09 instead."))
    return k if promise is None else least_k(promise.risk)


def risk_alone(given: Mapping[str, Any], mistakes: list[Mistake]) -> dict[str, Any]:
    """The section [promise] as it was given; a k beside the risk is a mistake that is told as such."""
    if "k" in given and "risk" in given:
        mistakes.append(Mistake(("promise", "k"), _EITHER, "both", "leave k out, or write it without [promise]."))
        return {name: value for name, value in given.items() if name != "k"}
    return dict(given)


def k_of_risk(rule: ScenarioRule, path: Path, mistakes: list[Mistake]) -> ScenarioRule | None:
    """A scenario with its k: as it was given, or from its risk."""
    if rule.risk is not None and rule.k:
        mistakes.append(Mistake((*path, "risk"), _EITHER, "both", "leave one out."))
    elif rule.risk is not None:
        return replace(rule, k=least_k(rule.risk))
    elif not rule.k:
        mistakes.append(Mistake((*path, "k"), "This must be given.", "nothing", "or risk instead."))
    else:
        return rule
    return None


def written(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """A section as it is written: without the k that follows from its risk."""
    return {name: value for name, value in scenario.items() if name != "k" or scenario.get("risk") is None}
