"""What the options of `microaggregate`, `refine` and `Result.bound` must be: one table, read by one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..algorithms.registry import Method
from ..constraints import Must, WrongError, check_all, number, one_of, optional, whole
from ..errors import CoterieError

P = ParamSpec("P")
T = TypeVar("T")


def _flag(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise WrongError
    return bool(value)


def _generator(value: Any) -> np.random.Generator:
    try:
        if isinstance(value, (bool, float)):
            raise TypeError
        return np.random.default_rng(value)
    except (TypeError, ValueError):
        raise WrongError from None


def _rounding(value: Any) -> str | int | None:
    return value if value is None or (isinstance(value, str) and value == "integers") else int(_DECIMALS.read(value))


_DECIMALS = whole(-300, 300)  # a double has no digits beyond
_FLAG = Must("True or False", _flag)

CONSTRAINTS: Mapping[str, Must] = {
    "k": whole(2, hint="a group of one protects nobody."),
    "refine": one_of("none", "quick", "thorough"),
    "effort": one_of("quick", "thorough"),
    "bound": one_of("fast", "tight"),
    "seconds": optional(number("a number above 0", lambda value: value > 0)),
    "standardize": _FLAG,
    "centre": one_of("mean", "median"),
    "distortion": one_of("squared", "euclidean"),
    "diversity": one_of("centre", "pairwise"),
    "rounding": Must("None, 'integers' or a number of decimals", _rounding),
    "random_state": Must("an integer >= 0, a numpy Generator or None", _generator),
    "progress": _FLAG,
}
MODEL = ("standardize", "centre", "distortion", "diversity", "rounding")  # what a result names as its options
SPELLINGS = {"center": "centre", "seed": "random_state"}


def check(**given: Any) -> dict[str, Any]:
    """The options as they are kept; `random_state` as a generator."""
    return check_all(CONSTRAINTS, given)


def check_search(options: Mapping[str, Any], method: Method) -> None:
    """Refuse what would have no effect, and what refining can't do."""
    refining = options["refine"] != "none"
    if refining and (options["centre"], options["distortion"]) != ("mean", "squared"):
        got = f"centre='{options['centre']}', distortion='{options['distortion']}'"
        raise CoterieError("refine works only with squared distances to means.", got, "use refine='none'.")
    if refining and method.by_column:
        raise CoterieError(
            "refine needs groups of whole records.", f"{method.name}, which groups each column separately"
        )
    if options["seconds"] is not None and not refining and not method.limited:
        what = "'seconds' applies only to refine and to the methods auto and exact."
        raise CoterieError(
            what, f"method='{method.name}', refine='none'", "leave it out: other methods run to the end."
        )


def check_enough(n: int, k: int) -> None:
    """Refuse fewer than k records."""
    if n < k:
        raise CoterieError(
            "There must be at least k records.",
            f"{n} sample{'s' if n > 1 else ''} (n_samples={n}) and k = {k}",
            "use a smaller k, or do not release these records.",
        )


def one_spelling(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function take an option by either of its names, but not by both; inside, there is one."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for other, name in SPELLINGS.items():
            if other in kwargs:
                if name in kwargs:
                    what = f"'{name}' and '{other}' are the same option."
                    raise CoterieError(what, "both", "leave one of them out.")
                kwargs[name] = kwargs.pop(other)
        return function(*args, **kwargs)

    return run
