"""How far a long computation has come, for whoever wants to show it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Listener(Protocol):
    """What is told of the progress."""

    def more(self, records: int) -> None:
        """So many records more are to be grouped."""

    def done(self, records: int) -> None:
        """So many records more have found their group."""

    def state(self, sse: float | None, bound: float | None) -> None:
        """A search has found a partition of this SSE, or proven that none has less than this bound."""

    def stage(self, text: str) -> None:
        """Another stage of the work begins, such as "grouping"; what was counted before belongs to the last one."""


COMPILING = "compiling (first run only)"

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def more(records: int) -> None:
    """Say that there is more work than it seemed: another run over so many records."""
    if (listener := _listener.get()) is not None:
        listener.more(records)


def done(records: int) -> None:
    """Say that so many more records have found their group."""
    if (listener := _listener.get()) is not None:
        listener.done(records)


def state(sse: float | None = None, bound: float | None = None) -> None:
    """Say how far a search has come: the least SSE found, the largest lower bound proven."""
    if (listener := _listener.get()) is not None:
        listener.state(sse, bound)


def compiling(begun: bool) -> None:
    """Say that a kernel is being compiled, or that this is over."""
    told = getattr(_listener.get(), "compiling", None)  # one that counts records alone need not know
    if told is not None:
        told(begun)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send what `more` and `done` say to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def bar(shown: bool, text: str = "grouping") -> Iterator[None]:
    """Show a progress bar on stderr, in a terminal or a notebook, that goes away when the work is done.

    Whoever listens already, instead of a bar, is told which stage it is.
    """
    if not shown:
        told = getattr(_listener.get(), "stage", None)  # one that counts records alone need not know stages
        if told is not None:
            told(text)
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    times = (TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    drawn = Progress(*columns, *times, console=Console(stderr=True), transient=True)
    with drawn, listening(_Bar(drawn, text)):
        yield


class _Bar:
    """Draws at most a few hundred times, however small the steps are."""

    def __init__(self, progress: object, text: str) -> None:
        self._progress, self._total, self._done, self._drawn = progress, 0, 0, 0
        self._text = text
        self._sse: float | None = None
        self._bound: float | None = None
        self._task = progress.add_task(text, total=None)  # type: ignore[attr-defined]

    def more(self, records: int) -> None:
        self._total += records

    def state(self, sse: float | None, bound: float | None) -> None:
        """Show the least SSE found, the bound proven, and the gap between them."""
        self._sse, self._bound = sse or self._sse, bound or self._bound
        shown = [self._text]
        if self._sse is not None:
            shown.append(f"SSE {self._sse:.6g}")
        if self._bound is not None:
            shown.append(f"bound {self._bound:.6g}")
        if self._sse is not None and self._bound:
            shown.append(f"gap {100 * max(0.0, self._sse / self._bound - 1):.2g} %")
        self._progress.update(self._task, description=", ".join(shown))  # type: ignore[attr-defined]

    def stage(self, text: str) -> None:
        """A bar is of one stage."""

    def compiling(self, begun: bool) -> None:
        """Say what takes so long."""
        self._progress.update(self._task, description=COMPILING if begun else self._text)  # type: ignore[attr-defined]

    def done(self, records: int) -> None:
        self._done += records
        if self._done - self._drawn >= self._total / 300:
            self._drawn = self._done
            self._progress.update(self._task, completed=self._done, total=self._total)  # type: ignore[attr-defined]
