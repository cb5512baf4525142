"""How long a search may go on: until its effort is spent, its time is over, or somebody presses Ctrl-C."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Limits:
    """Tells a search when to stop before its effort is spent, and remembers why it did.

    Attributes
    ----------
    cut_short : str or None
        "seconds" or "interrupted", once the search was stopped by one of these.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.perf_counter() + seconds
        self.cut_short: str | None = None

    def over(self) -> bool:
        """Whether to stop now. Ask between steps; what was found so far is the result."""
        if self.cut_short is None and self._end is not None and time.perf_counter() >= self._end:
            self.cut_short = "seconds"
        return self.cut_short is not None

    def left(self) -> float:
        """The seconds that are left; infinitely many where there is no limit."""
        return math.inf if self._end is None else max(0.0, self._end - time.perf_counter())

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end what is inside, and the search with it, instead of the program."""
        try:
            yield
        except KeyboardInterrupt:
            self.cut_short = "interrupted"
