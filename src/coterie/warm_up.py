"""Everything compiled beforehand: small runs of all that needs compiled code.

For images and for machines where a first run must not wait. Each rehearsal is one small piece of work, of a size at
which the kernels that it is about are used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from . import progress
from .algorithms.limits import Limits
from .algorithms.refine import _Search, refine
from .algorithms.registry import METHODS, find
from .algorithms.run import Task, run
from .errors import CoterieError, PrivacyWarning
from .kernels import by_hand, compile_for_kernels, search

_FEW, _MANY = 60, 6_000  # records: scans are for up to 5,500 or so, trees for more
_LARGE = 300  # k of which the search has a way of its own

_slow = {"exact", "2-mu-approx"}  # beyond some hundred records these take longer than compiling


def _table(n: int) -> Any:
    return np.random.default_rng(0).normal(size=(n, 3))


def _grouped(n: int, method: str, k: int = 3, **options: Any) -> None:
    named = find(method)
    with suppress(CoterieError):  # a method that wants another k
        run(_table(n), Task(k, named, named.check({}), limits=Limits(), **options), np.random.default_rng(0))


def _of_methods() -> dict[str, Callable[[], None]]:
    rehearsals: dict[str, Callable[[], None]] = {}
    for method in METHODS:
        name = method if isinstance(method, str) else method.name
        k = 2 if name == "2-mu-approx" else 3
        rehearsals[f"{name}, few"] = lambda name=name, k=k: _grouped(_FEW, name, k)  # type: ignore[misc]
        if name not in _slow | {"auto"}:
            rehearsals[f"{name}, many"] = lambda name=name, k=k: _grouped(_MANY, name, k)  # type: ignore[misc]
    return rehearsals


def _search() -> None:
    """The search, beginning with the parts that a run compiles last: it is at work on the first ones meanwhile."""
    X, labels, rng = _table(_FEW), np.arange(_FEW) // 3, np.random.default_rng(0)
    partition = _Search(X, labels, 3)
    with by_hand(1.0):  # not compiled for this
        partition.prepare(rng, Limits())
    part, pool = partition._part, partition._pool()
    compile_for_kernels(search.keep, part, pool, 1, 1, 1)
    compile_for_kernels(search.descend, pool, 1, 1, 1, 1.0)
    compile_for_kernels(search._rebuild, pool, 1, 1, 1, np.zeros(1, np.uint64))
    compile_for_kernels(search.add_up, pool, 1, 1)
    refine(X, labels, 3, effort="quick", rng=rng, limits=Limits())


def _bound() -> None:
    from .microaggregation.api import microaggregate

    result = microaggregate(_table(_FEW), k=3, method="mdav")
    for effort in ("fast", "tight"):
        result.bound(effort)


def _guards(n: int) -> None:
    """What keeps guards, beginning with the part that a run compiles last."""
    from .algorithms.confidential.guards import Condition, watch_of
    from .algorithms.confidential.k_first import k_first
    from .algorithms.confidential.merge import merge

    X, codes, k = _table(n), np.random.default_rng(0).integers(0, 8, n), 5
    watch = watch_of([Condition(ordered=False, l=3)], [codes], [None])
    merge(X, k, np.arange(len(X)) // k, watch)
    k_first(X, k, watch)


def _protected(**guards: Any) -> None:
    """A table with all kinds of columns, one of them confidential."""
    import pyarrow as pa

    from .release.flow import protect

    n, rng = 600, np.random.default_rng(0)
    table = pa.table(
        {
            "size": rng.normal(size=n).round(3),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "diagnosis": rng.choice(list("abcdefgh"), n),
            "costs": rng.gamma(2.0, size=n).round(3),
        }
    )
    columns = {"size": "numeric", "age": "integer", "sex": "nominal"}
    recipe: dict[str, Any] = {"k": 5, "columns": {c: {"role": "quasi", "kind": kind} for c, kind in columns.items()}}
    for name, kind in {"diagnosis": "nominal", "costs": "numeric"}.items():
        recipe["columns"][name] = {"role": "confidential", "kind": kind} | guards.get(name, {})
    protect(table, recipe)


REHEARSALS: dict[str, Callable[[], None]] = {
    "search": _search,
    **_of_methods(),
    "search, large groups": lambda: _grouped(4 * _LARGE, "mdav", _LARGE, refine="quick"),
    "bounds": _bound,
    "guards": lambda: _guards(600),
    "guards, many": lambda: _guards(_MANY),
    "protect": _protected,
    "protect, l": lambda: _protected(diagnosis={"l": 2}),
    "protect, entropy": lambda: _protected(diagnosis={"entropy": 2.0}),
    "protect, t": lambda: _protected(diagnosis={"t": 0.3}, costs={"t": 0.3}),
}


def rehearse(*names: str) -> None:
    """Do some of the rehearsals."""
    with by_hand(np.inf):
        for name in names:
            REHEARSALS[name]()


def warm_up(*, shown: bool = False) -> None:
    """Compile everything, with a progress bar if wanted."""
    with progress.bar(shown, "compiling"), by_hand(np.inf), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the table is made up
        progress.more(len(REHEARSALS))
        for rehearsal in REHEARSALS.values():
            _alone(rehearsal)
            progress.done(1)


def _alone(rehearsal: Callable[[], None]) -> None:
    """Its steps are not the bar's."""
    with progress.listening(None):
        rehearsal()
