"""Regions of a partition: groups that lie together, searched by one thread while others search elsewhere.

The cuts run through other places each time, so that no border lasts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

_OFF = 0.2  # a cut leaves between 0.5 - 0.2 and 0.5 + 0.2 of the records on one side: not always through the middle

_threads: ContextVar[int | None] = ContextVar("threads", default=None)
_helped = threading.local()


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Let a search inside use so many threads: where several parts are searched at a time, one each is enough.

    None: as many as before, or as there are cores.
    """
    token = _threads.set(threads or _threads.get())
    try:
        yield
    finally:
        _threads.reset(token)


def cut(centre: Floats, size: Floats, regions: int, rng: np.random.Generator) -> Ints:
    """The region of each group: cut again and again across a random direction, so that all have about as many records.

    Parameters
    ----------
    centre : ndarray of shape (g, p)
    size : ndarray of shape (g,)
        How many records each group has.
    """
    owner = np.zeros(len(centre), np.int64)
    stack = [(np.arange(len(centre)), 0, regions)]
    while stack:
        groups, first, parts = stack.pop()
        if parts == 1 or len(groups) < 2 * parts:
            owner[groups] = first
            continue
        left = parts // 2
        share = left / parts + _OFF * (2.0 * rng.random() - 1.0) * 2.0 * min(left, parts - left) / parts
        groups = groups[np.argsort(centre[groups] @ rng.normal(size=centre.shape[1]), kind="stable")]
        records = np.cumsum(size[groups])
        middle = min(max(1, int(np.searchsorted(records, share * records[-1]))), len(groups) - 1)
        stack += [(groups[:middle], first, left), (groups[middle:], first + left, parts - left)]
    return owner


def on_threads(run: Callable[[T, Event], int], tasks: Sequence[T]) -> Iterator[int]:
    """What `run` gives for each task, as they end. Where this is interrupted, the event tells those that still run."""
    stop = Event()
    workers = min(_threads.get() or os.cpu_count() or 1, len(tasks))
    if workers <= 1:
        for task in tasks:
            yield run(task, stop)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(_timed, run, task, stop) for task in tasks]):
                result, seconds = future.result()
                _helped.seconds = seconds_elsewhere() + seconds
                yield result
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _timed(run: Callable[[T, Event], int], task: T, stop: Event) -> tuple[int, float]:
    """What `run` gives, and the CPU seconds that it took, without those of compiling."""
    from ..kernels import seconds_compiling  # listing the methods loads no Numba

    began, compiling = time.thread_time(), seconds_compiling()
    result = run(task, stop)
    return result, time.thread_time() - began - (seconds_compiling() - compiling)


def seconds_elsewhere() -> float:
    """The CPU seconds that other threads have spent on what this one gave them."""
    return float(getattr(_helped, "seconds", 0.0))
