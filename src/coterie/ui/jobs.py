"""Work that takes time: one job at a time, in a process of its own, that can be watched and cancelled."""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CoterieError, UnexpectedError
from . import worker

Finish = Callable[[Any], Callable[[], Any] | None]  # takes a result over; gives what is to be done next, if anything
RUNNING, DONE, FAILED, CANCELLED, DIED = "running", "done", "failed", "cancelled", "died"
_FIRST = 0.05  # of a stage must be done before anybody guesses how long the rest takes


@dataclass
class Job:
    """A piece of work, as it stands."""

    number: int
    name: str  # what it is, for people
    at: str  # the page that shows what came of it
    state: str = RUNNING
    stage: str = ""
    done: int = 0
    total: int = 0
    words: str = ""  # what went wrong
    error: CoterieError | None = None
    began: float = field(default_factory=time.monotonic)
    stage_began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def running(self) -> bool:
        """Whether it still is at work."""
        return self.state == RUNNING

    @property
    def percent(self) -> int | None:
        """How much of the stage is done, where that is known; more may follow what was announced."""
        return 100 * self.done // self.total if 0 <= self.done < self.total else None

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def left(self) -> float | None:
        """About how many seconds the stage still takes, by how fast it went so far."""
        share = self.done / self.total if self.total else 0.0
        passed = time.monotonic() - self.stage_began
        return passed * (1 - share) / share if _FIRST <= share < 1 and passed > 1 else None


class Worker:
    """The process, and what it says. `told` is called with every message, from a thread of its own."""

    def __init__(self, told: Callable[[Worker, str, Any], None], beside: tuple[str, ...] = ()) -> None:
        context = multiprocessing.get_context("spawn")
        self._told = told
        self._temporary = tempfile.mkdtemp(prefix="coterie-ui-")
        self._connection, theirs = context.Pipe()
        alive, self._life = context.Pipe(duplex=False)
        self._process = context.Process(
            target=worker.main, args=(theirs, alive, self._temporary, beside), name="coterie-ui-worker", daemon=True
        )
        self._process.start()
        theirs.close()
        alive.close()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, name: str, *given: Any) -> None:
        """Begin a job."""
        self._connection.send((name, given))

    def end(self) -> None:
        """End the process at once, and clear up what it kept aside."""
        self._process.kill()
        self._process.join(5)
        self._life.close()
        shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    def _listen(self) -> None:
        while True:
            try:
                what, *rest = self._connection.recv()
            except Exception:  # it is gone, or speaks so that nobody understands it
                self._told(self, "gone", None)
                return
            self._told(self, what, rest[0] if len(rest) == 1 else rest)


class Jobs:
    """One job at a time. Whoever asks while one is under way is told so.

    `changed` is called when a job begins or ends; `lock` is held while what came of a job is taken over.
    """

    def __init__(self, changed: Callable[[], None], lock: threading.RLock) -> None:
        self._changed, self._lock = changed, lock
        self._worker: Worker | None = None
        self._finish: Finish | None = None
        self._place: Path | None = None  # of a bundle that is being written
        self._number = 0
        self.last: Job | None = None
        self.beside: tuple[str, ...] = ()  # folders that the process removes too if the server is killed

    def prepare(self) -> None:
        """Start the process before it is needed."""
        with self._lock:
            self._prepared()

    def _prepared(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self._told, self.beside)
        return self._worker

    def start(self, name: str, at: str, finish: Finish, asked: tuple[Any, ...], place: Path | None = None) -> Job:
        """Begin a job: `asked` is what the process is asked for, `finish` takes what comes of it."""
        with self._lock:
            if self.last is not None and self.last.running:
                what = "Only one job can run at a time."
                raise CoterieError(what, f"'{self.last.name}' is running", "wait until it is done, or cancel it.")
            self._ask(asked)
            self._number += 1
            self.last = job = Job(self._number, name, at)
            self._finish, self._place = finish, place
            self._changed()
            return job

    def _ask(self, asked: tuple[Any, ...]) -> None:
        """Ask the process; if it was killed while it had nothing to do, a new one."""
        worker = self._prepared()
        try:
            worker.ask(*asked)
        except OSError:
            self._worker = None
            worker.end()
            self._prepared().ask(*asked)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is under way, for so long at most; whether that is so. Nobody who waits holds the lock."""
        until = time.monotonic() + seconds
        while True:
            with self._lock:
                job = self.last
                if job is None or not job.running:
                    return True
            if not job.over.wait(max(0.0, until - time.monotonic())):
                return False

    def cancel(self, job: Job | None = None) -> None:
        """End the job that is under way, or only if it is this one. Nothing of it is left."""
        with self._lock:
            if self.last is None or not self.last.running or (job is not None and job is not self.last):
                return
            self._end(CANCELLED, "Cancelled. Nothing was written.")
            self.prepare()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self.last is not None and self.last.running:
                self._end(CANCELLED, "The server was stopped.")
            elif self._worker is not None:
                worker, self._worker = self._worker, None
                worker.end()

    def _end(self, state: str, words: str) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()
        if self._place is not None:
            from ..release.place import clear_remains

            with suppress(OSError):  # if the folder is gone as a whole, so is what was in it
                clear_remains(self._place)
        self._over_with(state, words)

    def _over_with(self, state: str, words: str = "", error: CoterieError | None = None) -> None:
        assert self.last is not None
        self.last.state, self.last.words, self.last.error = state, words, error
        self.last.ended = time.monotonic()
        self._finish = self._place = None
        self._changed()
        self.last.over.set()

    def _told(self, worker: Worker, what: str, rest: Any) -> None:
        with self._lock:
            if worker is not self._worker or self.last is None or not self.last.running:
                if worker is self._worker and what == "gone":
                    self._worker = None
                    worker.end()
                return
            if what == "progress":
                self._progress(*rest)
            elif what == "result":
                self._take(rest)
            elif what == "error":
                self._over_with(FAILED, str(rest), rest if isinstance(rest, CoterieError) else None)
            elif what == "gone":
                words = "Its process ended unexpectedly; was there enough memory? Nothing was written."
                self._end(DIED, words)
                self.prepare()

    def _take(self, result: Any) -> None:
        """Take over what came of a job. Another one may follow from it, which nobody can come before."""
        assert self._finish is not None
        try:
            then = self._finish(result)
        except Exception as error:
            told = error if isinstance(error, CoterieError) else UnexpectedError.of(error)
            self._over_with(FAILED, str(told), told)
        else:
            self._over_with(DONE)
            if then is not None:
                then()

    def _progress(self, stage: str, done: int, total: int) -> None:
        assert self.last is not None
        if stage != self.last.stage:
            self.last.stage_began = time.monotonic()
        self.last.stage, self.last.done, self.last.total = stage, done, total
