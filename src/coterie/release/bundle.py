"""The bundle: a folder with the data, the recipe, the manifest, the verdict and the reports; whole, or not at all."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress as progress_
from .._version import __version__
from ..errors import CoterieError, PromiseError
from ..facts import document
from ..facts.bundle import FileFacts, Manifest, SourceFacts
from ..facts.release import ReleaseFacts
from ..formats import Format, default_format, with_labels_in_use
from ..formats import write as write_file
from ..recipe import Recipe
from .checking import as_json, claims_of, dialect_of, sealed
from .place import check_place, into_place, staging, write_private
from .source import sha256
from .spreadsheets import as_written

if TYPE_CHECKING:
    from .release import Release

AUDIENCE = {"report.html": "public", "verify.json": "public"}  # and the data; the rest is internal
_VERSIONS = ("numpy", "numba", "highspy", "pyarrow", "duckdb", "narwhals")


def write_bundle(release: Release, folder: Path, force: bool, format: str | None, progress: bool) -> ReleaseFacts:
    """Write the bundle beside its place, check the bytes of the data, and move it there. Give what it says."""
    folder = folder.absolute()
    check_place(folder, force)
    kind, suffix = _format(release, format)
    with staging(folder) as stage:
        data = stage / f"data{suffix}"
        with progress_.bar(progress, "writing"):
            table = as_written(release.data, release._format, kind, release.recipe)
            kind = with_labels_in_use(table, kind, release.recipe.quasi)
            write_file(table, kind, data)
        written = Written(data, kind, table.column_names, release.recipe, release._story.input_sha256)
        facts = finish(written, lambda: release.facts, progress)
        into_place(stage, folder, force, {data.name, *AUDIENCE})
    return facts


@dataclass(frozen=True)
class Written:
    """Data that were written beside their place, and what is known of them."""

    data: Path
    kind: Format
    names: list[str]
    recipe: Recipe
    input_sha256: str | None
    memory: int | None = None  # the most bytes that may be taken
    streamed: int | None = None  # how many records a part had, where it was written part by part


def finish(written: Written, tell: Callable[[], ReleaseFacts], progress: bool) -> ReleaseFacts:
    """Check the bytes of the data, and write all other files beside them. Give the facts, with the verdict."""
    stage, data = written.data.parent, written.data
    with progress_.bar(progress, "verifying what was written"):
        verdict = _verified(written)
    with progress_.bar(progress, "measuring"):
        facts = tell()
        facts = replace(facts, verdict=verdict.facts, output=replace(facts.output, name=data.name))
    write_private(stage / "recipe.toml", written.recipe.dumps())
    write_private(stage / "verify.json", as_json(document(verdict.facts)))
    _write_reports(stage, facts)
    write_private(stage / "manifest.json", sealed(_manifest(written, facts)))
    return facts


_SUFFIX = {"csv": ".csv", "parquet": ".parquet", "feather": ".feather"}


def _format(release: Release, wanted: str | None) -> tuple[Format, str]:
    """How the data are written, and how the file's name ends."""
    own = release._format
    if wanted is not None and wanted not in _SUFFIX:
        raise CoterieError(f"'format' must be one of {', '.join(_SUFFIX)}.", f"'{wanted}'")
    if own is not None and (wanted is None or release._suffix == _SUFFIX[wanted]):
        rules = release.recipe.columns
        own = own.keep(n for n, rule in rules.items() if rule.role != "identifier")
        own = own.as_it_was(n for n, r in rules.items() if r.role != "quasi" and r.noise is None)
        if own.kind == "sas7bdat":  # which nobody but SAS writes; its transport files keep labels and formats, too
            return Format("xport", {**own.details, "version": 8}), ".xpt"
        return own, release._suffix
    if own is not None:
        raise CoterieError("A file is released in its own format.", f"'{wanted}'", "leave the format out.")
    wanted = wanted or "parquet"
    return default_format(wanted), _SUFFIX[wanted]


def _verified(written: Written) -> Any:
    """The verdict on the bytes that go out."""
    from ..verification import verify_claims

    claims = claims_of(written.recipe, written.kind.details)
    dialect = dialect_of(written.kind.as_dict(), written.names)
    verdict = verify_claims(written.data, claims, dialect, memory=written.memory and written.memory // 2)
    if not verdict.ok:
        hint = "this is a bug in Coterie, or in the writer of the format: please report it. Nothing was written."
        raise PromiseError("The written file must keep the promises.", str(verdict), hint)
    return verdict


def _write_reports(stage: Path, facts: ReleaseFacts) -> None:
    from ..report.html import render_internal, render_public

    write_private(stage / "report.html", render_public(facts))
    write_private(stage / "internal.html", render_internal(facts))


def _manifest(written: Written, facts: ReleaseFacts) -> dict[str, Any]:
    files = {}
    for path in sorted(written.data.parent.iterdir()):
        audience = "public" if path == written.data else AUDIENCE.get(path.name, "internal")
        files[path.name] = FileFacts(sha256(path), path.stat().st_size, audience)
    shown: dict[str, Any] = document(
        Manifest(
            coterie=__version__,
            created=facts.created,
            versions={"python": platform.python_version(), **{n: v for n in _VERSIONS if (v := package_version(n))}},
            input=SourceFacts(facts.input.name, facts.input.records, facts.input.columns, written.input_sha256),
            output=facts.output,
            names=tuple(written.names),
            format=written.kind.as_dict(),
            streamed=written.streamed,
            memory=written.memory,
            files=files,
            verified=bool(facts.verdict and facts.verdict.ok),
        )
    )
    return shown


def package_version(package: str) -> str | None:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
