"""All that the page knows: one file, one recipe with its history, candidates, and the last of everything that was made.

The recipe is the state. It lives as the document that `Recipe(**document)` reads, and may hold what is undecided or
wrong; what is wrong with it, the recipe itself says. No record is here: those are in the worker's process.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from ..facts.comparison import Candidate, with_frontier
from ..recipe import Recipe, RecipeError
from ..recipe.fields import UNDECIDED, Mistake
from . import steps
from .jobs import Job, Jobs
from .locations import Locations
from .steps import Document, History, Step
from .worker import Made, Opened, Opening


@dataclass
class Tried:
    """A candidate: a recipe, what it reached, and, once somebody has looked closer, all that there is to say."""

    number: int
    document: Document
    reached: Candidate
    made: Made | None = None


@dataclass
class Checked:
    """What came of checking a bundle or a file."""

    path: Path
    verdict: Any = None
    replayed: Any = None
    claimed: Mapping[str, str] = field(default_factory=dict)  # what was typed about a file, to be seen and changed


@dataclass(frozen=True)
class _Left:
    """What was done to a file that is not open now, or was kept beside it."""

    sha256: str | None
    history: History
    keeping: bool
    tried: list[Tried]


class Session:
    """One person, one file at a time; several tabs show the same."""

    def __init__(self, locations: Locations, memory: str | None = None) -> None:
        self.locations, self.memory = locations, memory
        self.lock = threading.RLock()
        self.version = 0  # grows with every change, so that tabs notice
        self.jobs = Jobs(self.changed, self.lock)
        self.opened: Opened | None = None
        self.attempt: Opening | None = None  # what was last tried to open: it may have failed
        self.history: History | None = None
        self.keeping = False
        self.notes: list[str] = []  # what is said once, on the next page
        self._left: dict[Path, _Left] = {}  # files that were open before
        self.forget()

    def forget(self) -> None:
        """Forget what was made of another file."""
        self.tried: list[Tried] = []
        self._numbers = 0
        self.assessment: tuple[Document, Any] | None = None
        self.rehearsed: tuple[Document, Made] | None = None
        self.released: tuple[Path, Document, Made] | None = None
        self.checked: Checked | None = None

    def changed(self) -> None:
        """Let every tab know."""
        self.version += 1

    # the recipe

    @property
    def step(self) -> Step:
        """Where the recipe stands."""
        if self.history is None:
            raise CoterieError("A file must be open.", "none", "open one first.")
        return self.history.now

    @property
    def document(self) -> Document:
        """The recipe as it stands."""
        return self.step.document

    def edit(self, name: str, document: Mapping[str, Any], confirmed: frozenset[str] | None = None) -> None:
        """Do a step."""
        assert self.history is not None
        if self.history.add(name, document, confirmed):
            self._after_step()

    def undo(self) -> None:
        """Take the last step back."""
        if self.history is not None and self.history.at:
            self.go(self.history.at - 1)

    def redo(self) -> None:
        """Do it again."""
        if self.history is not None and self.history.redone is not None:
            self.go(self.history.at + 1)

    def go(self, at: int) -> None:
        """To a step of the history. Where the file was read in another way then, it is read so again."""
        if self.history is None or self.opened is None:
            raise CoterieError("A file must be open.", "none", "open one first.")
        step = self.history.step(at)
        options = read_options(step.document)
        if options == dict(self.opened.opening.options):
            self._at(at)
            return

        def finish(opened: Opened) -> None:  # only now: if it can't be read so, all stays as it is
            need_fitting(step, opened)
            self.opened = opened
            self._at(at)

        self._open(self.opened.opening.path, options, finish)

    def _at(self, at: int) -> None:
        assert self.history is not None
        self.history.go(at)
        self._after_step()

    def _after_step(self) -> None:
        if self.keeping and self.opened is not None and self.history is not None:
            steps.keep(self.history, self.opened.opening.path, self.opened.opening.sha256)
        self.changed()

    @property
    def undecided(self) -> list[str]:
        """The columns that only a person can decide about."""
        columns = self.document["columns"]
        return [name for name, rule in columns.items() if UNDECIDED in (rule.get("role"), rule.get("kind"))]

    @property
    def unconfirmed(self) -> list[str]:
        """The columns that nobody has looked at yet, undecided ones among them."""
        return [name for name in self.document["columns"] if name not in self.step.confirmed]

    @property
    def mistakes(self) -> list[Mistake]:
        """What is wrong with the recipe."""
        return read(_Held(self.document))[1]

    def mistakes_at(self, *path: str) -> list[Mistake]:
        """What is wrong at a place of it, or inside that."""
        return placed(_Held(self.document)).get(path, [])

    @property
    def recipe(self) -> Recipe | None:
        """The recipe, if it is one."""
        return read(_Held(self.document))[0]

    @property
    def ready(self) -> bool:
        """Whether every column is confirmed and nothing is wrong: only then is anything made."""
        return self.history is not None and not self.unconfirmed and self.recipe is not None

    def need_ready(self) -> Recipe:
        """The recipe, or what keeps it from being one."""
        if self.unconfirmed:
            what = "Every column must be confirmed first."
            raise CoterieError(what, f"{len(self.unconfirmed):,} that are not", "the page 'Columns' has them.")
        recipe = self.recipe
        if recipe is None:
            raise RecipeError(self.mistakes)
        return recipe

    # the file

    @property
    def opening(self) -> Opening:
        """The file that is open."""
        if self.opened is None:
            raise CoterieError("A file must be open.", "none", "open one first.")
        return self.opened.opening

    def open(self, path: Path, options: Mapping[str, Any]) -> Job:
        """Open a file anew, with a draft of its recipe; or go on where its history was kept."""
        return self._open(path, options, self._drafted)

    def read_again(self, options: Mapping[str, Any]) -> Job:
        """Read the open file in another way. That is a step, and the draft is made anew."""
        path = self.opening.path

        def finish(opened: Opened) -> None:
            formulas = {n: v for n, v in self.document.get("file", {}).items() if n == "formulas"}
            self.opened = opened
            document = _draft(opened, self.document.get("seed"), formulas)
            same = frozenset(opened.names) == frozenset(self.document["columns"])
            confirmed = self.step.confirmed if same and document["columns"] == self.document["columns"] else frozenset()
            self.edit("how the file is read", document, confirmed)

        return self._open(path, options, finish)

    def _open(self, path: Path, options: Mapping[str, Any], finish: Any) -> Job:
        opening = Opening(path, dict(options), self.memory)
        job = self.jobs.start(f"Opening {path.name}", "/columns", finish, ("open", opening))
        self.attempt = opening
        return job

    def _drafted(self, opened: Opened) -> Callable[[], Any] | None:
        """Begin with a draft; or go on where the file was left, in this session or, if that was kept, in another.

        For that, it may have to be read once more, as its history says.
        """
        if self.opened is not None and self.history is not None:
            before = self.opened.opening
            self._left[before.path] = _Left(before.sha256, self.history, self.keeping, self.tried)
        path, sha256 = opened.opening.path, opened.opening.sha256
        self.opened, self.keeping = opened, False
        self.forget()
        self.history = History([Step(f"draft for {path.name}", _draft(opened))])
        left, kept = self._left.get(path), steps.kept(path)
        if left is None and kept is not None:
            left = _Left(kept[1], kept[0], True, [])
        if left is None:
            return None
        if left.sha256 != sha256:
            self.notes.append(
                f"{path.name} has changed since you worked on it. A new draft was made; "
                "a history that was kept beside it is replaced only if you ask to keep this one."
            )
            return None
        options = read_options(left.history.now.document)
        if options != dict(opened.opening.options):
            return lambda: self._open(path, options, lambda anew: self._go_on(left, anew))
        self._go_on(left, opened)
        return None

    def _go_on(self, left: _Left, opened: Opened) -> None:
        """Go on where a file was left."""
        need_fitting(left.history.now, opened)
        self.opened, self.history, self.keeping, self.tried = opened, left.history, left.keeping, left.tried
        self._numbers = max((tried.number for tried in self.tried), default=0)
        self.notes.append(f"Continuing where you left off with {opened.opening.path.name}.")

    def keep(self, wanted: bool) -> None:
        """Keep the history beside the file, or no longer."""
        path = self.opening.path
        self.keeping = wanted
        if wanted:
            self._after_step()
        else:
            steps.forget(path)
            self.changed()

    def ask_now(self, name: str, seconds: float, *asked: Any) -> Any:
        """What a short job gives, waited for. The caller holds the lock once; it is let go meanwhile."""
        answers: list[Any] = []
        job = self.jobs.start(name, "/", answers.append, asked)
        self.lock.release()
        try:
            over = job.over.wait(seconds)
        finally:
            self.lock.acquire()
        if not over:
            self.jobs.cancel(job)
            raise CoterieError("This took too long.", f"more than {seconds:g} seconds")
        if not answers:
            raise job.error or CoterieError(job.words)
        return answers[0]

    # candidates

    def add_tried(self, documents: Sequence[Document], reached: Sequence[Candidate]) -> None:
        """Take candidates over; those with the same recipe are replaced, and those that were not possible go."""
        self.tried = [t for t in self.tried if t.document not in documents and t.reached.not_possible is None]
        for document, one in zip(documents, reached, strict=True):
            self._numbers += 1
            self.tried.append(Tried(self._numbers, document, one))
        self.weigh()

    def weigh(self) -> None:
        """Say anew which candidates are on the frontier."""
        weighed = with_frontier([t.reached for t in self.tried])
        for tried, one in zip(self.tried, weighed, strict=True):
            tried.reached = one
        self.changed()

    def candidate(self, number: int) -> Tried:
        """A candidate by its number."""
        found = next((t for t in self.tried if t.number == number), None)
        if found is None:
            raise CoterieError("There must be a candidate of this number.", str(number))
        return found

    def close(self) -> None:
        """End what is under way."""
        self.jobs.close()


def read_options(document: Document) -> dict[str, Any]:
    """How a recipe says that the file is read."""
    return {name: value for name, value in document.get("file", {}).items() if name != "formulas"}


def need_fitting(step: Step, opened: Opened) -> None:
    """Refuse a step whose columns are not those of the file, as no page could show it."""
    if set(step.document["columns"]) != set(opened.names):
        raise CoterieError("The history must be that of this file.", "one with other columns", "remove it.")


def _draft(opened: Opened, seed: Any = None, formulas: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The document of a draft, with a seed: so that candidates, dry run and release are the same."""
    document = dict(opened.suggestions.document(5))
    options = {**opened.opening.options, **(formulas or {})}
    document.pop("file", None)
    return {**document, "seed": seed or secrets.randbelow(2**53), **({"file": options} if options else {})}


class _Held:
    """A document as the key of a cache: by identity, as documents are never changed."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.document is self.document

    def __hash__(self) -> int:
        return id(self.document)


@lru_cache(maxsize=64)
def read(held: _Held) -> tuple[Recipe | None, list[Mistake]]:
    """The recipe of a document, or what is wrong with it."""
    try:
        return Recipe(**held.document), []
    except RecipeError as error:
        return None, error.mistakes


@lru_cache(maxsize=4)
def placed(held: _Held) -> dict[tuple[str, ...], list[Mistake]]:
    """The mistakes by place: a page asks for each of its fields, and there may be thousands of both."""
    found: dict[tuple[str, ...], list[Mistake]] = {}
    for mistake in read(held)[1]:
        for length in range(len(mistake.path) + 1):
            found.setdefault(mistake.path[:length], []).append(mistake)
    return found
