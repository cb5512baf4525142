"""The one way in which Coterie compiles."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

F = TypeVar("F", bound=Callable[..., object])

# In kernels, arrays are copied into slices by loops: `a[:] = b` alone takes seconds to compile.
# nnan and nsz let minima and maxima run in SIMD; neither reorders an operation, so every result is, bit for bit, that
# of the plain loop. Ties decide these algorithms: reassociation and contraction stay off.
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"nnan", "nsz"}}


def kernel(function: F) -> F:
    """Compile on first use, without the GIL, cached on disk."""
    try:
        compiled = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # nowhere to write a cache (a read-only installation): every process compiles anew
        return cast(F, njit(cache=False, **OPTIONS)(function))
    _depend_on_all_kernels(compiled)
    return cast(F, compiled)


def _state() -> tuple[tuple[str, float, int], ...]:
    """Name, date and size of every kernel file."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((f.name, f.stat().st_mtime, f.stat().st_size) for f in files)


_STATE = _state()


def _depend_on_all_kernels(compiled: Any) -> None:
    """Let the cache go stale when any kernel file changes.

    Numba looks only at the file of the function itself, though it compiles in what that calls from other files: after
    an update, it would run old code.
    """
    stored: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(stored, "_source_stamp"):
        stored._source_stamp = _STATE


class _Compiling(event.Listener):  # type: ignore[misc]
    """Adds up the CPU seconds that each thread spends compiling."""

    def __init__(self) -> None:
        self.own = threading.local()

    def on_start(self, event: Any) -> None:
        """A function is being compiled, perhaps for another that is."""
        del event
        own = self.own.__dict__
        own["depth"] = own.get("depth", 0) + 1
        if own["depth"] == 1:
            own["began"] = time.thread_time()

    def on_end(self, event: Any) -> None:
        """It is done."""
        del event
        own = self.own.__dict__
        own["depth"] = own.get("depth", 1) - 1
        if own["depth"] == 0:
            own["seconds"] = own.get("seconds", 0.0) + time.thread_time() - own["began"]


_compiling = _Compiling()
event.register("numba:compile", _compiling)


def seconds_compiling() -> float:
    """The CPU seconds that this thread has spent compiling so far."""
    return float(_compiling.own.__dict__.get("seconds", 0.0))
