"""The process that does the work of the page, and alone holds records.

It reads a file once and keeps it for whatever is asked next. Whoever cancels kills it; a new one reads the file again.
What it sends back are facts, and errors in Coterie's own words. It writes nothing to a terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress
from ..errors import CoterieError, PrivacyWarning, told_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ..facts.comparison import Candidate
    from ..facts.release_facts import ReleaseFacts
    from ..recipe.suggested import Suggested, Suggestions
    from ..release.assess import Assessment
    from ..release.glance import Glance
    from ..release.release import Release
    from ..release.source import Source

Document = Mapping[str, Any]
_MANIFEST = ("manifest.json", "internal")  # which lists all files but itself


@dataclass(frozen=True)
class Opening:
    """Which file is meant, and how it is read; with its hash, where that is known, so that it is no other one."""

    path: Path
    options: Mapping[str, Any]
    memory: str | None
    sha256: str | None = None


@dataclass(frozen=True)
class Opened:
    """What is known of a file that was opened: no record, and no value but what a recipe would hold."""

    opening: Opening
    records: int
    kind: str
    details: Mapping[str, Any]
    engine: str
    suggestions: Suggestions
    glances: Mapping[str, Glance]
    unfit: Mapping[str, int]

    @cached_property
    def columns(self) -> dict[str, Suggested]:
        """What is suggested for each column."""
        return {one.name: one for one in self.suggestions.columns}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the file."""
        return tuple(self.columns)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each column: what addresses and forms call it by, as a name may hold anything."""
        return {name: number for number, name in enumerate(self.names)}


@dataclass(frozen=True)
class Made:
    """What is to say of a release that was made, or tried."""

    facts: ReleaseFacts
    warned: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()  # name and audience, where a bundle was written


class Work:
    """All that can be asked for. Each method is a job."""

    def __init__(self) -> None:
        self._source: tuple[Opening, tuple[int, ...], Source] | None = None
        self._release: tuple[str, Release, tuple[str, ...]] | None = None  # the last, with what it was made by

    def open(self, opening: Opening) -> Opened:
        """Read a file, and look at its columns."""
        from ..release.drafting import suggestions
        from ..release.glance import glances, unfit_counts

        with progress.bar(False, "reading the file"):
            self._source = self._release = None
            source = self._opened(opening)
        with progress.bar(False, "looking at the columns"):
            suggested = suggestions(source)
            shown = glances(source)
            unfit = unfit_counts(source)
        records = max((one.look.records for one in suggested.columns), default=0)
        known = Opening(opening.path, opening.options, opening.memory, source.sha256)
        kind = source.format.kind if source.format is not None else ""
        details = {name: value for name, value in source.details.items() if name != "variables"}
        return Opened(known, records, kind, details, source.choose(None), suggested, shown, unfit)

    def preview(self, opening: Opening, rows: int, columns: int) -> tuple[list[str], list[list[str]]]:
        """The first records as they are. They are shown and forgotten."""
        source = self._opened(opening)
        names = list(source.names)[:columns]
        place = source.engine(source.choose(None), {})
        try:
            batch = next(iter(place.scan(names)))
            cells = [batch.arrow(name).slice(0, rows).to_pylist() for name in names]
        finally:
            place.close()
        return names, [["" if value is None else str(value)[:60] for value in row] for row in zip(*cells, strict=True)]

    def categories(self, opening: Opening, name: str, most: int) -> list[str] | None:
        """The different texts of a column, sorted; None if there are more than so many. Shown and forgotten."""
        source = self._opened(opening)
        place = source.engine(source.choose(None), {})
        found: set[str] = set()
        try:
            for batch in place.scan([name]):
                found.update(str(value) for value in batch.arrow(name).unique().to_pylist() if value is not None)
                if len(found) > most:
                    return None
        finally:
            place.close()
        return sorted(found)

    def assess(self, opening: Opening, document: Document, drivers: bool = False) -> Assessment:
        """The risk of the file as it is, and what drives it; scores of single records stay here."""
        from dataclasses import replace

        from ..release.assess import assess

        return replace(assess(self._opened(opening), dict(document), drivers=drivers), _scores=None)

    def candidates(self, opening: Opening, documents: list[Document]) -> list[Candidate]:
        """What each of some recipes loses and leaves at risk; they differ in k and method alone."""
        from ..recipe import Recipe
        from ..release.compare import candidates_of
        from ..release.flow import ready

        source = self._opened(opening)
        place = source.choose(None)
        recipes = [ready(Recipe(**document), place, source.options) for document in documents]
        recipes[0].check_columns(source.names)
        with _warnings():
            return candidates_of(source, recipes, place)[0]

    def rehearse(self, opening: Opening, document: Document) -> Made:
        """Protect the file without writing anything."""
        release, warned = self._made(opening, document)
        release.rehearse()
        return Made(release.facts, warned)

    def release(self, opening: Opening, document: Document, folder: Path, force: bool) -> Made:
        """Protect the file, and write the bundle: whole, or not at all."""
        from ..release.place import check_place

        check_place(folder, force)
        release, warned = self._made(opening, document)
        with _warnings() as more:
            release.save(folder, force=force)
        written = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        files = (*((name, str(about["audience"])) for name, about in written["files"].items()), _MANIFEST)
        return Made(release.facts, tuple(dict.fromkeys((*warned, *more))), files)

    def verify(self, path: Path, claims: Mapping[str, Any]) -> Any:
        """Check a bundle or a file."""
        from ..release.check import verify

        return verify(path, **claims).facts

    def replay(self, folder: Path, file: Path) -> Any:
        """Make a bundle's data again."""
        from ..release.replay import replay

        self._release = None  # there is memory for one
        return replay(folder, file)

    def _opened(self, opening: Opening) -> Source:
        """The file; read again only where it is another one, or read in another way."""
        from ..release.source import open_source

        if self._source is not None and _same(self._source[0], opening):
            if _state(opening.path) != self._source[1]:
                raise _changed(opening.path)
            return self._source[2]
        self._source = self._release = None
        state = _state(opening.path)
        source = open_source(opening.path, opening.options, memory=opening.memory)
        if opening.sha256 is not None and source.sha256 != opening.sha256:
            raise _changed(opening.path)
        self._source = opening, state, source
        return source

    def _made(self, opening: Opening, document: Document) -> tuple[Release, tuple[str, ...]]:
        """The release that a recipe leads to; the last one is kept, so that what was tried is written as it is."""
        from ..release.flow import protect

        source = self._opened(opening)
        key = json.dumps(document, sort_keys=True, default=list)
        if self._release is not None and self._release[0] == key:
            return self._release[1:]
        self._release = None
        with _warnings() as warned:
            release = protect(source, dict(document))
        if release.engine == "memory":
            self._release = key, release, tuple(warned)
        return release, tuple(warned)


def _same(one: Opening, other: Opening) -> bool:
    return (one.path, dict(one.options), one.memory) == (other.path, dict(other.options), other.memory)


def _state(path: Path) -> tuple[int, ...]:
    """What tells that a file was written to."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def _changed(path: Path) -> CoterieError:
    return CoterieError(
        "The file must not change while you work on it.", f"'{path.name}', which changed", "open it again."
    )


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What weakens the promise, as texts."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
    told += dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, PrivacyWarning))


class _Listener:
    """Tells how far the work is, some times a second."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, threading.Lock()
        self._text, self._total, self._done, self._sent = "", 0, 0, 0.0

    def more(self, records: int) -> None:
        with self._lock:
            self._total += records

    def done(self, records: int) -> None:
        with self._lock:
            self._done += records
            if time.monotonic() - self._sent > 0.1:
                self._send()

    def state(self, sse: float | None, bound: float | None) -> None:
        """Sums of squares mean nothing to whoever waits."""

    def stage(self, text: str) -> None:
        with self._lock:
            self._text, self._total, self._done = text, 0, 0
            self._send()

    def compiling(self, begun: bool) -> None:
        """Say what takes so long."""
        with self._lock:
            self._sent = time.monotonic()
            text = progress.COMPILING if begun else self._text
            self._connection.send(("progress", text, self._done, self._total))

    def send(self, message: tuple[Any, ...]) -> None:
        """Say something that is not to be mixed up with how far the work is."""
        with self._lock:
            self._connection.send(message)

    def _send(self) -> None:
        self._sent = time.monotonic()
        self._connection.send(("progress", self._text, self._done, self._total))


def main(connection: Connection, alive: Connection, temporary: str, beside: tuple[str, ...] = ()) -> None:
    """Do one job after the other, until the server goes."""
    _ignore_signals()
    _say_nothing()
    os.environ["TMPDIR"] = tempfile.tempdir = temporary  # where the server clears up after this process
    watch = threading.Thread(target=_end_with, args=(alive, (temporary, *beside)), daemon=True)
    watch.start()
    work, listener = Work(), _Listener(connection)
    _load()
    while True:
        try:
            name, given = connection.recv()
            listener.send(_answer(work, listener, name, given))
        except (EOFError, OSError):
            watch.join()  # the server is gone; this process ends when it has cleared up


def _answer(work: Work, listener: _Listener, name: str, given: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        with progress.listening(listener):
            return "result", getattr(work, name)(*given)
    except Exception as error:
        told = error if isinstance(error, CoterieError) else told_of(error)
        told.__cause__ = told.__context__ = told.__traceback__ = None
        return "error", told


def _load() -> None:
    """Load what the first job will need, while nobody waits for it yet."""
    from ..release import compare, drafting, flow, glance  # noqa: F401


def _ignore_signals() -> None:
    """Ctrl-C, a terminal that closes, and a system that shuts down are for the server, which ends this process.

    They come to both at once. If this process went with them, nobody would clear up after a server that was killed.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_IGN)


def _say_nothing() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _end_with(alive: Connection, folders: tuple[str, ...]) -> None:
    """End at once when the server is gone, however it went, and leave nothing."""
    with suppress(EOFError, OSError):
        alive.recv()
    from ..release.place import abandon

    for _ in range(3):  # while it clears up, work may still go on and write
        abandon()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
