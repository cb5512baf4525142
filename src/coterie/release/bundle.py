"""The bundle: a folder with the data, the recipe, the manifest, the verdict and the reports; whole, or not at all."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress as progress_
from .._version import __version__
from ..errors import CoterieError, PromiseError
from ..formats import Format, default_format
from ..formats import write as write_file
from ..frames import as_arrow
from .checking import claims_of, dialect_of
from .sources import sha256

if TYPE_CHECKING:
    from .release import Release

AUDIENCE = {"report.html": "public", "verify.json": "public"}  # and the data; the rest is internal
_VERSIONS = ("numpy", "numba", "highspy", "pyarrow", "duckdb", "narwhals")


def write_bundle(release: Release, folder: Path, force: bool, format: str | None, progress: bool) -> Path:
    """Write the bundle beside its place, check the bytes of the data, and move it there."""
    folder = folder.absolute()
    check_place(folder, force)
    kind, suffix = _format(release, format)
    with _staging(folder) as stage:
        data = stage / f"data{suffix}"
        with progress_.bar(progress, "writing"):
            table = as_arrow(release.data)
            write_file(table, kind, data)
        with progress_.bar(progress, "verifying what was written"):
            verdict = _verified(data, kind, table.column_names, release)
        with progress_.bar(progress, "measuring"):
            facts = {**release.facts, "verdict": verdict.facts()}
            facts["output"] = {**facts["output"], "name": data.name}
        _write(stage / "recipe.toml", release.recipe.dumps())
        _write(stage / "verify.json", _json(verdict.facts()))
        _write_reports(stage, facts)
        _write(stage / "manifest.json", _json(_manifest(release, stage, data, kind, facts, table.column_names)))
        _into_place(stage, folder, force)
    return folder


_SUFFIX = {"csv": ".csv", "parquet": ".parquet", "feather": ".feather"}


def _format(release: Release, wanted: str | None) -> tuple[Format, str]:
    """How the data are written, and how the file's name ends."""
    own = release._format
    if wanted is not None and wanted not in _SUFFIX:
        raise CoterieError(f"'format' must be one of {', '.join(_SUFFIX)}.", f"'{wanted}'")
    if own is not None and (wanted is None or release._suffix == _SUFFIX[wanted]):
        return own.keep(n for n, rule in release.recipe.columns.items() if rule.role != "identifier"), release._suffix
    if own is not None:
        raise CoterieError("A file is released in its own format.", f"'{wanted}'", "leave the format out.")
    wanted = wanted or "parquet"
    return default_format(wanted), _SUFFIX[wanted]


def _verified(data: Path, kind: Format, names: list[str], release: Release) -> Any:
    """The verdict on the bytes that go out."""
    from ..verification import verify_claims

    verdict = verify_claims(data, claims_of(release.recipe, kind.details), dialect_of(kind.as_dict(), names))
    if not verdict.ok:
        hint = "this is a bug in Coterie, or in the writer of the format: please report it. Nothing was written."
        raise PromiseError("The written file must keep the promises.", str(verdict), hint)
    return verdict


def _write_reports(stage: Path, facts: dict[str, Any]) -> None:
    from ..report.html import render_internal, render_public

    _write(stage / "report.html", render_public(facts))
    _write(stage / "internal.html", render_internal(facts))


def _manifest(
    release: Release, stage: Path, data: Path, kind: Format, facts: dict[str, Any], names: list[str]
) -> dict[str, Any]:
    files = {}
    for path in sorted(stage.iterdir()):
        audience = "public" if path == data else AUDIENCE.get(path.name, "internal")
        files[path.name] = {"sha256": sha256(path), "bytes": path.stat().st_size, "audience": audience}
    return {
        "coterie": __version__,
        "created": facts["created"],
        "versions": {"python": platform.python_version(), **{n: v for n in _VERSIONS if (v := package_version(n))}},
        "input": {**facts["input"], "sha256": release._story.input_sha256},
        "output": facts["output"],
        "names": names,
        "format": kind.as_dict(),
        "files": files,
        "verified": facts["verdict"]["ok"],
    }


def package_version(package: str) -> str | None:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_place(folder: Path, force: bool) -> None:
    """Refuse, before any work is done, a place where the bundle cannot or should not go."""
    folder = folder.absolute()
    if not folder.parent.is_dir():
        raise CoterieError("The place of the bundle must exist.", f"'{folder.parent}'", "create that folder first.")
    if not os.access(folder.parent, os.W_OK):
        raise CoterieError("The place of the bundle must be writable.", f"'{folder.parent}'")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CoterieError("The bundle is a folder.", f"'{folder}', which is something else")
    if folder.exists() and not force:
        raise CoterieError("The folder of the bundle exists already.", f"'{folder}'", "--force replaces it.")
    if folder.exists() and any(folder.iterdir()) and not (folder / "manifest.json").is_file():
        raise CoterieError("Only a bundle is replaced.", f"'{folder}', which holds other files")


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A private folder beside the place; what fails leaves nothing, and what was killed is cleared by the next run."""
    failure = None
    stage = None
    try:
        clear_remains(folder)
        stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
        with _locked(stage):
            yield stage
    except OSError as error:
        failure = os.strerror(error.errno) if error.errno else type(error).__name__
    finally:
        if stage is not None and stage.exists():
            shutil.rmtree(stage, ignore_errors=True)
    if failure is not None:
        raise CoterieError(f"The bundle '{folder}' cannot be written.", failure)


def clear_remains(folder: Path) -> None:
    """Remove what runs that were killed have left: folders for the same place that nobody holds any more."""
    for pattern in (f".{glob_escape(folder.name)}.*.part", f".{glob_escape(folder.name)}.*.old"):
        for left in folder.parent.glob(pattern):
            if left.is_dir() and not left.is_symlink() and not _held(left):
                shutil.rmtree(left, ignore_errors=True)


def glob_escape(name: str) -> str:
    """A name that a glob takes literally."""
    from glob import escape

    return escape(name)


@contextmanager
def _locked(stage: Path) -> Iterator[None]:
    """Hold a lock on a folder, so that another run doesn't take it for a remain."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(stage, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _held(folder: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _into_place(stage: Path, folder: Path, force: bool) -> None:
    """Make the public files readable as any new file, bring all to the disk, and rename the folder."""
    umask = os.umask(0)
    os.umask(umask)
    for path in stage.iterdir():
        public = path.stem == "data" or path.name in AUDIENCE
        os.chmod(path, (0o666 if public else 0o600) & ~umask)
        _sync(path)
    os.chmod(stage, 0o777 & ~umask)
    _sync(stage)
    if folder.exists():
        check_place(folder, force)
        old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".old", dir=folder.parent))
        os.replace(folder, old / "bundle")
        os.rename(stage, folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(stage, folder)
    _sync(folder.parent)


def _sync(path: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _json(facts: Any) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
