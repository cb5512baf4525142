"""The history of a recipe: every step with its name, without limit; kept beside the file if asked for."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CoterieError
from ..formats.atomic import atomically

_SUFFIX = ".coterie-history.json"
_VERSION = 1
_MOST_BYTES = 64 << 20
_SECTIONS = (
    "file",
    "guard",
    "method",
    "missing",
    "output",
    "population",
    "promise",
    "strata",
    "unit",
    "weights",
)  # of a recipe
_ALONE = {"k", "centre", "seed", "shuffle"}
_LISTS = ("order", "true", "false", "quasi", "within", "names", "missing", "prefix", "suffix")
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """The recipe as it was after a step. `confirmed` are the columns that a person has looked at."""

    name: str
    document: Document
    confirmed: frozenset[str] = frozenset()


class History:
    """Steps, and the one that holds now. What is not a change is no step."""

    def __init__(self, steps: list[Step], at: int = 0) -> None:
        self.steps, self.at = steps, at

    @property
    def now(self) -> Step:
        """The step that holds."""
        return self.steps[self.at]

    @property
    def undone(self) -> str | None:
        """What undo would take back."""
        return self.now.name if self.at else None

    @property
    def redone(self) -> str | None:
        """What redo would do again."""
        return self.steps[self.at + 1].name if self.at + 1 < len(self.steps) else None

    def add(self, name: str, document: Document, confirmed: frozenset[str] | None = None) -> bool:
        """Do a step; what was undone before is gone. False if it changes nothing."""
        step = Step(name, document, self.now.confirmed if confirmed is None else confirmed)
        if (step.document, step.confirmed) == (self.now.document, self.now.confirmed):
            return False
        self.steps[self.at + 1 :] = [step]
        self.at += 1
        return True

    def go(self, at: int) -> None:
        """To any step, back or forth."""
        self.step(at)
        self.at = at

    def step(self, at: int) -> Step:
        """A step by its number."""
        if not 0 <= at < len(self.steps):
            raise CoterieError("There must be a step of this number.", str(at))
        return self.steps[at]


def place_of(file: Path) -> Path:
    """Where the history of a file is kept."""
    return file.with_name(f"{file.name}{_SUFFIX}")


def keep(history: History, file: Path, sha256: str | None) -> None:
    """Write the history beside the file, for its owner alone."""
    steps = [
        {"name": step.name, "recipe": step.document, "confirmed": sorted(step.confirmed)} for step in history.steps
    ]
    text = json.dumps({"coterie-history": _VERSION, "sha256": sha256, "at": history.at, "steps": steps})
    atomically(place_of(file), lambda path: _write(path, text), private=True)


def forget(file: Path) -> None:
    """Remove the history that was kept."""
    place_of(file).unlink(missing_ok=True)


def kept(file: Path) -> tuple[History, str | None] | None:
    """The history that lies beside a file, and the hash of the file that it belongs to. None if there is none."""
    place = place_of(file)
    if not _is_ours(place):
        return None
    try:
        if os.path.getsize(place) > _MOST_BYTES:
            raise ValueError
        document = json.loads(place.read_text(encoding="utf-8"))
        if document["coterie-history"] != _VERSION:
            raise ValueError
        steps = [_step(one) for one in document["steps"]]
        at, sha256 = document["at"], document["sha256"]
        if not steps or not isinstance(at, int) or not 0 <= at < len(steps):
            raise ValueError
        return History(steps, at), sha256 if isinstance(sha256, str) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        what = f"The history beside '{file.name}' must be one that this page has written."
        raise CoterieError(what, "another file, or a damaged one", "remove it, and begin anew.") from None


def _is_ours(place: Path) -> bool:
    """Whether there is a file that only we can have written: what somebody else says of the columns is not ours."""
    try:
        state = os.lstat(place)
    except OSError:
        return False
    if not stat.S_ISREG(state.st_mode):
        return False
    return os.name != "posix" or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


def _step(one: Any) -> Step:
    """A step, if it is of the form that pages make: anything may stand in a file."""
    name, document, confirmed = one["name"], one["recipe"], one["confirmed"]
    named = {"columns": document["columns"], "scenarios": document.get("scenarios", {})}
    sections = [document[part] for part in _SECTIONS if part in document]
    rest = {part: value for part, value in document.items() if part not in (*named, *_SECTIONS)}
    tables = [*sections, *(rule for rules in named.values() for rule in rules.values())]
    options = [pair for table in tables for pair in table.items()]
    right = isinstance(name, str) and isinstance(confirmed, list) and set(rest) <= _ALONE
    if not right or not all(map(_is_plain, rest.values())) or not all(_is_option(*pair) for pair in options):
        raise ValueError
    return Step(name, document, frozenset(str(column) for column in confirmed))


def _is_option(name: str, value: Any) -> bool:
    if name in _LISTS:
        return isinstance(value, list) and all(map(_is_plain, value))
    return _is_plain(value) or (isinstance(value, list) and all(map(_is_plain, value)))


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float))


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8", newline="\n")
