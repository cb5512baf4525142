"""Microaggregation: microdata in which every record hides in a group of at least k, with the least information lost.

Names are imported on first use, so that importing the package, or asking for help, costs nothing.
"""

from __future__ import annotations

from ._version import __version__

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from . import datasets
    from .errors import CoterieError, PrivacyWarning, PromiseError, UnexpectedError
    from .facts.comparison import Candidate
    from .microaggregation.api import methods, microaggregate, refine
    from .microaggregation.bound import Bound
    from .microaggregation.estimator import Microaggregator
    from .microaggregation.result import Result
    from .recipe import Recipe, RecipeError
    from .release.analyse import AnalysisReport, analyse
    from .release.assess import Assessment, assess
    from .release.check import verify
    from .release.compare import Comparison, compare
    from .release.difference import Difference, difference
    from .release.drafting import draft_recipe
    from .release.flow import protect
    from .release.protect_file import protect_file
    from .release.release import Release
    from .release.replay import Replayed, replay
    from .release.source import Source, open_source
    from .verification import Check, Verdict

_HOME = {
    "AnalysisReport": "release.analyse",
    "Assessment": "release.assess",
    "Bound": "microaggregation.bound",
    "Candidate": "facts.comparison",
    "Check": "verification",
    "Comparison": "release.compare",
    "CoterieError": "errors",
    "Difference": "release.difference",
    "Microaggregator": "microaggregation.estimator",
    "PrivacyWarning": "errors",
    "PromiseError": "errors",
    "Recipe": "recipe",
    "RecipeError": "recipe",
    "Release": "release.release",
    "Replayed": "release.replay",
    "Result": "microaggregation.result",
    "Source": "release.source",
    "UnexpectedError": "errors",
    "Verdict": "verification",
    "analyse": "release.analyse",
    "assess": "release.assess",
    "compare": "release.compare",
    "difference": "release.difference",
    "draft_recipe": "release.drafting",
    "methods": "microaggregation.api",
    "microaggregate": "microaggregation.api",
    "open_source": "release.source",
    "protect": "release.flow",
    "protect_file": "release.protect_file",
    "refine": "microaggregation.api",
    "replay": "release.replay",
    "verify": "release.check",
}

__all__ = [
    "AnalysisReport",
    "Assessment",
    "Bound",
    "Candidate",
    "Check",
    "Comparison",
    "CoterieError",
    "Difference",
    "Microaggregator",
    "PrivacyWarning",
    "PromiseError",
    "Recipe",
    "RecipeError",
    "Release",
    "Replayed",
    "Result",
    "Source",
    "UnexpectedError",
    "Verdict",
    "__version__",
    "analyse",
    "assess",
    "compare",
    "datasets",
    "difference",
    "draft_recipe",
    "methods",
    "microaggregate",
    "open_source",
    "protect",
    "protect_file",
    "refine",
    "replay",
    "verify",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "datasets":
        return import_module(".datasets", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
