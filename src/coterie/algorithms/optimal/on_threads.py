"""Work on threads whose results come in order, and that ends soon when somebody interrupts it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def in_order(
    run: Callable[[A], B], given: Sequence[A], threads: int | None = None, stop: Callable[[], None] = lambda: None
) -> Iterator[tuple[A, B]]:
    """What is given, and what comes of it, in order. `stop` is called if that ends early, to end what is under way."""
    workers = min(threads or os.cpu_count() or 1, len(given))
    if workers <= 1:
        for each in given:
            yield each, run(each)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: list[Future[B] | None] = []
        try:
            for a, each in enumerate(given):
                while len(waiting) < min(a + 2 * workers, len(given)):
                    waiting.append(pool.submit(run, given[len(waiting)]))
                future, waiting[a] = waiting[a], None
                assert future is not None
                yield each, future.result()
        except BaseException:
            stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
