"""How far a long computation has come, for whoever wants to show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[int], None] | None] = ContextVar("listener", default=None)


def advance(records: int) -> None:
    """Say that so many more records have found their group."""
    listener = _listener.get()
    if listener is not None:
        listener(records)


@contextmanager
def listening(listener: Callable[[int], None] | None) -> Iterator[None]:
    """Send what `advance` says to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
