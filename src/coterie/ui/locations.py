"""Places below the root: what a person may open, browse and write to. All else is refused before it is touched.

A place is told by its path below the root, with slashes. What a name leads to is found without opening anything, so
that a pipe or a device, whose opening may hang or do something, is never opened.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..errors import CoterieError
from ..formats.atomic import check_name

_NOT_FOR_FILES = ("/proc", "/sys", "/dev")  # of the system, whatever the root is
_MOST_LISTED = 2_000
_MOST_IN_BUNDLE = 100  # files
_MOST_MANIFEST = 64 << 20  # bytes


@dataclass(frozen=True)
class Entry:
    """A file or folder that can be chosen."""

    name: str
    path: str  # below the root
    folder: bool
    size: int


class Locations:
    """The root, and what lies below it."""

    def __init__(self, root: str | Path) -> None:
        real = Path(os.path.realpath(root))
        if not real.is_dir():
            raise CoterieError("The root must be a folder.", f"'{root}'")
        self.root = real

    def file(self, text: str) -> Path:
        """A file that is there."""
        path = self._there(text)
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise CoterieError("This must be a file.", _shown(text), "choose a file in the folder.")
        return path

    def folder(self, text: str) -> Path:
        """A folder that is there; nothing stands for the root."""
        path = self._there(text)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise CoterieError("This must be a folder.", _shown(text))
        return path

    def either(self, text: str) -> Path:
        """A file or a folder that is there."""
        path = self._there(text)
        if not stat.S_ISREG(mode := os.lstat(path).st_mode) and not stat.S_ISDIR(mode):
            raise CoterieError("This must be a file or a folder.", _shown(text))
        return path

    def bundle(self, text: str) -> Path:
        """A folder that can be a bundle: plain files alone, none of which leads elsewhere or hangs who opens it."""
        path = self.folder(text)
        if not self.holds_files(path):
            raise CoterieError("This folder must be a bundle.", f"{_shown(text)}, which is not one")
        return path

    def holds_files(self, folder: Path) -> bool:
        """Whether only plain files lie in a folder, not more than a bundle has, the manifest of a sane size."""
        with os.scandir(folder) as listing:
            found = list(islice(listing, _MOST_IN_BUNDLE + 1))
        states = {one.name: one.stat(follow_symlinks=False) for one in found}
        plain = all(stat.S_ISREG(state.st_mode) for state in states.values())
        manifest = states.get("manifest.json")
        return plain and len(found) <= _MOST_IN_BUNDLE and (manifest is None or manifest.st_size <= _MOST_MANIFEST)

    def new(self, text: str) -> Path:
        """A place to write to, in a folder that is there. It may hold something already, but no link."""
        parts = self._parts(text)
        if not parts:
            raise CoterieError("The place to write to must have a name.", "none")
        place = self._there("/".join(parts[:-1])) / parts[-1]
        check_name(place)
        if os.path.islink(place):
            raise CoterieError("Cannot write to a link.", _shown(text))
        return place

    def below(self, path: Path) -> str:
        """How a place is told: its path below the root."""
        return "" if path == self.root else path.relative_to(self.root).as_posix()

    def entries(self, folder: Path) -> tuple[list[Entry], bool]:
        """Folders and files in a folder, without hidden ones; and whether there are more than are listed."""
        found = []
        with os.scandir(folder) as listing:
            for one in listing:
                if one.name.startswith(".") or not one.name.isprintable() or "\\" in one.name:
                    continue
                if one.is_symlink() and not self._is_inside(Path(os.path.realpath(one.path))):
                    continue
                try:
                    state = one.stat()
                except OSError:  # a link that leads to itself, or nowhere
                    continue
                if stat.S_ISDIR(state.st_mode):
                    found.append(Entry(one.name, self.below(Path(one.path)), True, 0))
                elif stat.S_ISREG(state.st_mode):
                    found.append(Entry(one.name, self.below(Path(one.path)), False, state.st_size))
                if len(found) > _MOST_LISTED:
                    break
        found.sort(key=lambda entry: (not entry.folder, entry.name.lower(), entry.name))
        return found[:_MOST_LISTED], len(found) > _MOST_LISTED

    def _parts(self, text: str) -> list[str]:
        """The names of a path, each of which can only lead down."""
        odd = not text.isprintable() or "\\" in text or text.startswith("//") or (os.name == "nt" and ":" in text)
        if odd or len(text) > 4_096:
            raise CoterieError("A path must consist of names separated by slashes.", "another text")
        rest = text
        if text.startswith("/"):
            inside = Path(text)
            if ".." in inside.parts or not inside.is_relative_to(self.root):
                raise CoterieError(
                    "The location must be inside the root folder of this page.", _shown(text), _ABOUT_ROOT
                )
            rest = inside.relative_to(self.root).as_posix()
        parts = [part for part in rest.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise CoterieError("A path cannot contain '..'.", _shown(text), _ABOUT_ROOT)
        return parts

    def _there(self, text: str) -> Path:
        """What a path leads to, links followed; it must be there and below the root."""
        real = Path(os.path.realpath(self.root.joinpath(*self._parts(text))))
        if not self._is_inside(real):
            raise CoterieError("The location must be inside the root folder of this page.", _shown(text), _ABOUT_ROOT)
        if not os.path.lexists(real):
            raise CoterieError("There must be a file or folder of this name.", _shown(text))
        return real

    def _is_inside(self, real: Path) -> bool:
        return real.is_relative_to(self.root) and not any(real.is_relative_to(place) for place in _NOT_FOR_FILES)


_ABOUT_ROOT = "coterie ui --root FOLDER chooses another root."


def _shown(text: str) -> str:
    return f"'{text}'" if len(text) <= 200 else "a long text"
