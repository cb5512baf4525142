"""The one way in which Coterie compiles.

A kernel has up to two compiled versions. The one that Python calls takes its arguments out of Python objects. The one
that other kernels call cannot do that, and takes less time to compile.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core import event

from .. import progress
from . import _interpreted
from ._cache import cached

F = TypeVar("F", bound=Callable[..., object])

# In kernels, arrays are copied into slices by loops: `a[:] = b` alone takes seconds to compile.
# nnan and nsz let minima and maxima run in SIMD; neither reorders an operation, so every result is, bit for bit, that
# of the plain loop. Ties decide these algorithms: reassociation and contraction stay off.
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"nnan", "nsz"}, "no_cfunc_wrapper": True}

# Whoever makes no array need not count who holds one: less to compile. In these modules, what a first run needs, it is
# left out of kernels that use none of the names that make arrays, and call no kernel that gives one.
_LEAN = {"exact_sum", "growth", "mdav_loops", "nearby", "scan", "search", "tiles", "tree"}
_MAKES_ARRAYS = {"empty", "zeros", "ones", "full", "sort", "argsort", "ascontiguousarray", "copy", "T"}
_SCALAR = r"(None|int|float|bool|np\.\w+|Turn)"
_NO_ARRAY = re.compile(rf"{_SCALAR}|tuple\[{_SCALAR}(, {_SCALAR})*\]")
_give_arrays: set[object] = set()

# Kernels that become part of those that call them. LLVM decides for itself otherwise, and a call passes every array as
# seven numbers on the stack: where the work takes some ten nanoseconds, that doubles it. Names, or whole modules:
# pricing takes 0.7 to 0.8 of the time so, and no more to compile.
_INLINE = {"tiles._by_shadow", "tiles.within", "tiles.beyond", "tiles.around", "price_search", "price_balls"}


def kernel(function: F) -> F:
    """Compile on first use, without the GIL, cached on disk."""
    module = function.__module__.rpartition(".")[2]
    inline = not _INLINE.isdisjoint({module, f"{module}.{function.__name__}"})
    options = OPTIONS | {"_nrt": _holds_arrays(function), "forceinline": inline}
    compiled: Any = njit(**options)(function)
    if not _NO_ARRAY.fullmatch(str(function.__annotations__.get("return", ""))):
        _give_arrays.add(compiled)
    cached(compiled, "")
    _let_kernels_call(compiled, options)
    _interpreted.let_interpret(compiled)
    return cast(F, compiled)


def _holds_arrays(function: Any) -> bool:
    """Whether a kernel makes arrays, or calls one that gives some, as far as names tell."""
    names = function.__code__.co_names
    if function.__module__.rpartition(".")[2] not in _LEAN:
        return True
    if _MAKES_ARRAYS.intersection(names) or not _NO_ARRAY.fullmatch(str(function.__annotations__.get("return", ""))):
        return True
    known = [function.__globals__.get(name) for name in names]
    modules = [m for m in known if getattr(m, "__name__", "").startswith(__package__ + ".")]
    called = [*known, *(getattr(m, name, None) for m in modules for name in names)]
    return any(hasattr(c, "py_func") and c in _give_arrays for c in called)


def _let_kernels_call(compiled: Any, options: dict[str, Any]) -> None:
    """Give other kernels a version of their own, made when the first of them is compiled.

    One version for all integers: Numba would compile one more for every constant among the arguments.
    """
    versions: list[Any] = []

    def inner() -> Any:
        if not versions:
            versions.append(njit(**options, no_cpython_wrapper=True)(compiled.py_func))
            cached(versions[0], "inner-")
        return versions[0]

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = [types.unliteral(a) for a in args]
        return inner().get_call_template(plain, {name: types.unliteral(a) for name, a in kws.items()})

    compiled.compile_inner = lambda *args: inner().compile(tuple(compiled.typeof_pyval(a) for a in args))
    compiled.get_call_template = get_call_template
    compiled.get_overload = lambda sig: inner().get_overload(sig)


def compile_for_kernels(kernel: Any, *args: object) -> None:
    """Compile the version that other kernels call, for arguments such as these."""
    kernel.compile_inner(*args)


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
            progress.compiling(True)

    def on_end(self, event: Any) -> None:
        """It is done."""
        del event
        own = self.own.__dict__
        own["depth"] = own.get("depth", 1) - 1
        if own["depth"] == 0:
            own["seconds"] = own.get("seconds", 0.0) + time.thread_time() - own["began"]
            progress.compiling(False)


_compiling = _Compiling()
event.register("numba:compile", _compiling)


def seconds_compiling() -> float:
    """The CPU seconds that this thread has spent compiling so far."""
    return float(_compiling.own.__dict__.get("seconds", 0.0))
