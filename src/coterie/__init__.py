"""Microaggregation: microdata in which every record hides in a group of at least k, with the least information lost.

Names are imported on first use, so that importing the package, or asking for help, costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import datasets
    from .bound import Bound
    from .errors import CoterieError, PrivacyWarning
    from .estimator import Microaggregator
    from .partition import methods, microaggregate, refine
    from .result import Result

_HOME = {
    "Bound": "bound",
    "CoterieError": "errors",
    "Microaggregator": "estimator",
    "PrivacyWarning": "errors",
    "Result": "result",
    "methods": "partition",
    "microaggregate": "partition",
    "refine": "partition",
}

__all__ = [
    "Bound",
    "CoterieError",
    "Microaggregator",
    "PrivacyWarning",
    "Result",
    "__version__",
    "datasets",
    "methods",
    "microaggregate",
    "refine",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module(".datasets", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
