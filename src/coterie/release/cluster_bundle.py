"""The bundle of a release that Spark's workers write: the same files, with a folder `data` of many Parquet files.

| place | how it is there whole, or not at all |
|---|---|
| this machine, or a folder that it shares | made in a private folder beside its place, and renamed |
| hdfs:// | likewise |
| object stores (s3:// and others) | written in place, the manifest last: without it, it is no bundle |
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress as progress_
from ..engines.spark import SparkEngine
from ..errors import CoterieError
from ..formats.base import attempt
from ..formats.parquet_folder import file_system, is_uri
from ..protection.plan import surveyed_columns
from ..verification.reading import private_folder
from .bundle import AUDIENCE, Written, finish
from .cluster_source import ClusterSource, remove_others
from .flow import planned
from .on_workers import PartFile, Target, solve_on_workers
from .place import check_place, into_place, staging
from .promises import names_in_file
from .source import rules_of
from .writing import columns_written

if TYPE_CHECKING:
    from .release import Release

_RENAMED = ("hdfs", "viewfs", "file")  # file systems that rename a folder in one step


@dataclass(frozen=True)
class Stage:
    """Where a bundle is made: a private folder of this machine for small files, and where workers write."""

    small: Path
    place: str  # of what the workers write: data, and the records of a DataFrame

    @property
    def data(self) -> str:
        """Where the released files are written."""
        return f"{self.place}/data"

    @property
    def input(self) -> str:
        """Where the records of a DataFrame are laid down."""
        return f"{self.place}/_input"


def write_on_cluster(release: Release, folder: str, force: bool, format: str | None, progress: bool) -> None:
    """Write the bundle beside its place, check the bytes of the data, and move it there."""
    if format not in (None, "parquet"):
        raise CoterieError("On Spark, a release is always written as Parquet.", f"'{format}'", "leave the format out.")
    source = release._source
    assert isinstance(source, ClusterSource)
    session = source.session
    with (_remote if is_uri(folder) else _local)(folder, force) as stage:
        parts, rows = make_on_cluster(release, stage, None, progress)
        names = names_in_file(source.names, release.recipe, source.format.details)
        uris = [f"{stage.data}/{part.name}" for part in parts]
        facts = {f"data/{part.name}": part.facts for part in parts}
        written = Written(Path("data"), source.format, names, rows, stage.small, uris, facts)
        finish(release, written, progress)
    release.data = _read(session, f"{folder.rstrip('/')}/data")


def _read(session: Any, place: str) -> Any:
    """The released records as a DataFrame; where Spark itself can't read that place, its name, as for a file.

    The workers write through pyarrow, which knows object stores that Spark knows with further jars, or under other
    names. The bundle is there by now, and nothing has failed.
    """
    plain = f"file:///{Path(place).absolute().as_posix().lstrip('/')}" if not is_uri(place) else place
    found, reason = attempt(session.read.parquet, re.sub(r"([\\*?\[\]{}])", r"\\\1", plain))  # taken for patterns
    return place if reason is not None else found


def make_on_cluster(
    release: Release, stage: Stage | None, rows: int | None, progress: bool
) -> tuple[list[PartFile], int | None]:
    """Do the work on Spark: the files that were written, under their names, and the most records of one.

    Without a stage, nothing is written.
    """
    source, recipe = release._source, release.recipe
    assert isinstance(source, ClusterSource)
    names = tuple(columns_written(source.names, recipe))
    target = Target(None if stage is None else stage.data, names, source.format.details["compression"])
    if source.frame is not None:
        if stage is None:
            what = "A dry run needs files: a DataFrame is first written next to the bundle."
            raise CoterieError(what, "a Spark DataFrame", "call save(path).")
        with progress_.bar(progress, "writing the records to files"):
            make_folder(stage.input)
            source.lay_down(stage.input, str(recipe.file.key), [*surveyed_columns(recipe), *names])
    try:
        with progress_.bar(progress, "protecting"):
            engine: Any = source.engine("spark", rules_of(recipe), rows)
            assert isinstance(engine, SparkEngine)
            survey, plan = planned(engine, recipe)
            if stage is not None:
                make_folder(stage.data)
            tally, units, parts = solve_on_workers(engine, plan, source.details, target)
            engine.check_unchanged()
    finally:
        if source.frame is not None and stage is not None:
            remove_folder(stage.input)
            source.forget()
    release._survey, release._tally, release._unit_checks = survey, tally, units.checks()
    for name in ("facts", "measures"):
        release.__dict__.pop(name, None)
    return ([] if stage is None else _named(stage.data, parts)), engine.rows


def make_folder(place: str) -> None:
    """Make a folder for workers to write to; on this machine, nobody else may look into it."""
    if not is_uri(place):
        os.mkdir(place, 0o700)
        return
    system, path = file_system(place)
    _, reason = attempt(system.create_dir, path)
    if reason is not None:
        raise CoterieError(f"'{place}' cannot be written to.", reason or None)


def remove_folder(place: str) -> None:
    """Remove a folder with all that is in it."""
    if not is_uri(place):
        shutil.rmtree(place, ignore_errors=True)
        return
    system, path = file_system(place)
    attempt(system.delete_dir, path)


def _named(folder: str, parts: Sequence[PartFile]) -> list[PartFile]:
    """The files that count, under plain names; what other attempts at the same chunks have left is removed."""
    remove_others(folder, {part.name for part in parts})
    if is_uri(folder) and not _renames(folder):
        return list(parts)  # an object store would copy them
    system, root = file_system(folder)
    out = []
    for number, part in enumerate(parts):
        name = f"part-{number:05d}.parquet"
        system.move(f"{root}/{part.name}", f"{root}/{name}")
        if not is_uri(folder):
            os.chmod(f"{root}/{name}", 0o600)
        out.append(PartFile(name, part.records, part.facts))
    return out


def _renames(place: str) -> bool:
    return place.split("://", 1)[0].lower() in _RENAMED


@contextmanager
def _local(folder: str, force: bool) -> Iterator[Stage]:
    """A private folder beside the place, as for every bundle."""
    place = Path(folder).absolute()
    check_place(place, force)
    with staging(place) as stage:
        yield Stage(stage, str(stage))
        into_place(stage, place, force, {"data", *AUDIENCE})


@contextmanager
def _remote(folder: str, force: bool) -> Iterator[Stage]:
    """A folder of another file system. What fails leaves nothing; what was killed has no manifest, or another name."""
    check_remote(folder, force)
    base = folder.rstrip("/")
    parent, _, name = base.rpartition("/")
    place = f"{parent}/.{name}.{uuid.uuid4().hex[:8]}.part" if _renames(base) else base
    done = False
    try:
        make_folder(place)
        with private_folder() as private:
            yield Stage(Path(private), place)
            _upload(Path(private), place)
        if place != base:
            system, path = file_system(place)
            _, reason = attempt(system.move, path, file_system(base)[1])
            if reason is not None:
                raise CoterieError(f"The bundle '{base}' cannot be moved into its place.", reason or None)
        done = True
    finally:
        if not done:
            remove_folder(place)


def check_remote(folder: str, force: bool) -> None:
    """Refuse a place where something is already."""
    from pyarrow import fs

    if force:
        what = "A bundle on another file system cannot be replaced in one step."
        raise CoterieError(what, "--force", "remove the old one first, or choose another name.")
    if not re.fullmatch(r"[^?#]+", folder):
        raise CoterieError("The location of a bundle must be a plain URI.", "one with ? or #")
    system, path = file_system(folder)
    info, reason = attempt(system.get_file_info, path)
    if reason is not None:
        raise CoterieError(f"'{folder}' cannot be reached.", reason or None)
    if info.type != fs.FileType.NotFound:
        raise CoterieError("The folder of the bundle exists already.", f"'{folder}'", "choose another name.")


def _upload(private: Path, place: str) -> None:
    """Bring the small files there, the manifest last: a bundle without one is none."""
    system, root = file_system(place)
    for path in sorted(private.iterdir(), key=lambda path: (path.name == "manifest.json", path.name)):
        _, reason = attempt(_copy, system, path, f"{root}/{path.name}")
        if reason is not None:
            raise CoterieError(f"'{path.name}' cannot be written to '{place}'.", reason or None)


def _copy(system: Any, path: Path, to: str) -> None:
    with system.open_output_stream(to) as stream:
        stream.write(path.read_bytes())
