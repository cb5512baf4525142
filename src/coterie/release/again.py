"""A bundle made again from its input, to know the class of each of its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..errors import CoterieError, PromiseError
from ..formats import content_hash
from ..recipe import Recipe
from .check import check_files, check_manifest
from .manifest import DATA, data_name, read_manifest
from .watching import Watched, Watcher

_known: ContextVar[dict[Any, Watched | None] | None] = ContextVar("made_again", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Make each release again once: the earlier releases of earlier releases are often the same."""
    if _known.get() is not None:
        yield
        return
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def checked_pairs(pairs: Sequence[tuple[Any, Any]], hint: str | None = None) -> list[tuple[Path, Any]]:
    """Bundles and their inputs, refused before any work where they are not there, or not what was released."""
    out = []
    for folder, table in pairs:
        if not isinstance(folder, (str, Path)):
            what = "A release must be given as a bundle's folder."
            raise CoterieError(what, f"an object of type {type(folder).__name__}", "save it first.")
        folder = Path(folder)
        if not folder.is_dir():
            raise CoterieError("A release must be a bundle's folder.", f"'{folder}', which is not one", hint)
        manifest = read_manifest(folder)
        if data_name(manifest) == DATA:
            what = "A release made on Spark cannot be repeated in memory, record by record."
            raise CoterieError(what, f"'{folder}'", "protect the file on one machine, if it fits into memory.")
        _check_whole(folder, manifest)
        wanted = manifest["input"].get("sha256")
        if isinstance(table, (str, Path)):
            if not Path(table).exists():
                raise CoterieError("The input of a release must exist.", f"'{table}', which does not exist", hint)
            if wanted is not None and content_hash(Path(table)) != wanted:
                got = f"'{table}', which is not the file that '{folder}' was made from"
                raise CoterieError("The input must be the file that the release was made from.", got, hint)
        out.append((folder, table))
    return out


def _check_whole(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a bundle whose manifest, recipe or data are not as they were written.

    This breaks no promise of the release that is looked at, so it is no `PromiseError`.
    """
    try:
        check_manifest(folder, manifest)
        needed = {name: manifest["files"][name] for name in ("recipe.toml", data_name(manifest))}
        hashes = {name: content_hash(folder / name) for name in needed if (folder / name).is_file()}
        check_files(folder.name, {"files": needed}, hashes, ())
    except PromiseError as error:
        raise CoterieError(error.what, f"in '{folder}', {error.got}", error.hint) from None


def recipe_of(folder: Path) -> Recipe:
    """The recipe of a bundle."""
    return Recipe.load(folder / "recipe.toml")


def again(folder: Path, table: Any, ids: Sequence[str], progress: bool = False) -> Watched:
    """Make a bundle's data again, and give what was seen on the way; refused if they don't come out the same."""
    from .replay import replayed

    manifest, known = read_manifest(folder), _known.get()
    is_file = isinstance(table, (str, Path))
    key = (folder.resolve(), manifest.get("seal"), str(Path(table).resolve()) if is_file else id(table), tuple(ids))
    if known is not None and key in known:
        if (found_before := known[key]) is None:
            raise CoterieError("A release cannot be its own predecessor.", f"'{folder}', which lists itself")
        return found_before
    if known is not None:
        known[key] = None  # while it is made
    sha256 = manifest["input"].get("sha256")
    watcher = Watcher(folder.name, recipe_of(folder), ids, str(sha256) if sha256 else None)
    found = replayed(folder, table, progress, watcher)[0]
    if not found.same:
        what = "An earlier release can be examined only if repeating it gives the same data."
        hint = "use the same input, and the versions of Coterie and its libraries with which it was made."
        raise CoterieError(what, f"'{folder.name}': {found}", hint)
    watched = watcher.done(int(manifest["input"]["records"]))
    if known is not None:
        known[key] = watched
    return watched
