"""Small work without compilation: the same kernels, run by Python, while no compiled version is at hand.

A kernel takes a second or more to compile, and Python itself groups ten records in less. The results are the same, bit
for bit: the kernels in these modules use nothing that Python and NumPy do in another way, and tests compare the two.
(The logarithm is `math.log`, the compiled one; NumPy's own differs in the last bit now and then, and so does x**2.) The
longest loops are written for NumPy, in `_in_numpy`, so this goes for a thousand records, too.
"""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

# The modules or kernels, and how many values may be in all arrays together, so that a call takes half a second or so
_FEW = {
    "exact_sum": 20_000,
    "scan": 40_000,
    "growth": 6_000,
    "nearby": 40_000,
    "search": 6_000,
    "small_parts.mdav1": 20_000,
}
_PATIENCE = 0.3  # seconds that a kernel may take in all, before it is compiled
_LONGEST = 3.0  # seconds that are not worth compiling for, where it is known beforehand how many there are
_AGAIN = 0.2  # seconds between two looks at the disk, where another process may have compiled it

_patience = contextvars.ContextVar("patience", default=_PATIENCE)


@contextmanager
def by_hand(seconds: float) -> Iterator[None]:
    """For work that takes so many seconds where nothing is compiled: up to a few, it is done so."""
    token = _patience.set(2 * seconds if seconds <= _LONGEST else 0.0)
    try:
        yield
    finally:
        _patience.reset(token)


def at_hand(compiled: Any) -> bool:
    """Whether a kernel has been compiled, by this process or another, or is to be, whatever the work is."""
    return bool(compiled.signatures) or _patience.get() == 0.0 or compiled._cache.holds_any()


def let_interpret(compiled: Any) -> None:
    """Let a dispatcher call the function as it is where a call is small and would have to be compiled."""
    module = compiled.py_func.__module__.rpartition(".")[2]
    most = _FEW.get(f"{module}.{compiled.py_func.__name__}", _FEW.get(module, 0))
    compile_for, spent = compiled._compile_for_args, [0.0]
    looked: dict[Any, float] = {}

    def missing(args: Any) -> bool:
        key = tuple(compiled.typeof_pyval(a) for a in args)
        now = time.monotonic()
        if key not in looked or now - looked[key] > _AGAIN:
            looked[key] = now
            if compiled._cache.holds(key, compiled.targetctx):
                del looked[key]
                return False
        return True

    def _compile_for_args(*args: Any, **kws: Any) -> Any:
        few = 0 if kws or spent[0] >= _patience.get() else most
        if not few or _values(args) > few or not missing(args):
            return compile_for(*args, **kws)  # a compiled function, which Numba's dispatcher calls
        return lambda *args: _timed(plain(compiled), args, spent)

    compiled._compile_for_args = _compile_for_args


def _values(args: Any) -> int:
    """How many values the arrays among some arguments hold."""
    return sum(a.size if isinstance(a, np.ndarray) else _values(a) if isinstance(a, tuple) else 0 for a in args)


def _timed(function: Callable[..., Any], args: Any, spent: list[float]) -> Any:
    """Call a function under Numba's rules: numbers wrap around and become infinite silently."""
    began = time.thread_time()
    try:
        with np.errstate(all="ignore"):
            return _native(function(*args))
    finally:
        spent[0] += time.thread_time() - began


def _native(value: Any) -> Any:
    """Numbers as a compiled kernel gives them: Python's."""
    if isinstance(value, tuple):
        numbers = [_native(v) for v in value]
        return type(value)(*numbers) if hasattr(value, "_fields") else tuple(numbers)
    return value.item() if isinstance(value, np.generic) else value


_scopes: dict[str, dict[str, Any]] = {}


def plain(compiled: Any) -> Any:
    """A kernel as a Python function that calls other kernels as Python functions."""
    return _scope(compiled.py_func)[compiled.py_func.__name__]


def _scope(function: Any) -> dict[str, Any]:
    """The names of a function's module, with plain functions in the place of kernels."""
    names = _scopes.get(function.__module__)
    if names is None:
        names = _scopes[function.__module__] = {}
        for name, value in list(function.__globals__.items()):
            names[name] = _plain_value(value, names, function.__module__)
    return names


def _plain_value(value: Any, names: dict[str, Any], module: str) -> Any:
    from ._in_numpy import IN_NUMPY  # it needs some kernels' constants

    if hasattr(value, "py_func"):
        name = f"{value.py_func.__module__.rpartition('.')[2]}.{value.py_func.__name__}"
        if name in IN_NUMPY:
            return IN_NUMPY[name]
        if value.py_func.__module__ == module:
            function = value.py_func
            return FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        return plain(value)
    if isinstance(value, ModuleType) and value.__name__.startswith(f"{__package__}."):
        kernels = {n: plain(v) if hasattr(v, "py_func") else v for n, v in vars(value).items()}
        return SimpleNamespace(**kernels)
    return value
