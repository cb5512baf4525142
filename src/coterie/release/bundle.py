"""The bundle: a folder with the data, the recipe, the manifest, the verdict and the reports; whole, or not at all."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress as progress_
from .._version import __version__
from ..errors import CoterieError, PromiseError
from ..facts import document
from ..facts.bundle_facts import FileFacts, Manifest, SourceFacts
from ..facts.release_facts import ReleaseFacts
from ..formats import Format, content_hash, default_format
from ..formats import write as write_file
from ..formats.streams import writing
from ..verification.uniqueness import uniqueness
from .flow import planned, released
from .kept import kept_risk, warn_of_kept
from .labels import released_labels
from .manifest import as_json, sealed
from .place import check_place, into_place, staging, write_private
from .promises import claims_of, dialect_of, names_in_file
from .source import rules_of
from .spreadsheets import as_written
from .tally import Tally
from .unit_check import UnitCheck
from .writing import columns_written, piece_of

if TYPE_CHECKING:
    from ..facts.measures import KeptRisk
    from .release import Release

AUDIENCE = {"report.html": "public", "verify.json": "public"}  # and the data; the rest is internal
_VERSIONS = ("numpy", "numba", "highspy", "pyarrow", "duckdb", "narwhals")
_ON_SPARK = ("pyspark", "pyspark-client")
_SUFFIX = {"csv": ".csv", "parquet": ".parquet", "feather": ".feather"}


@dataclass(frozen=True)
class Written:
    """Data that were written beside their place, and what is known of them."""

    data: Path  # a file, or a folder of files
    kind: Format
    names: list[str]
    rows: int | None = None  # how many records were held at a time, where it was written part by part
    stage: Path | None = None  # where the other files go, if not beside the data
    parts: Sequence[str] = ()  # the files of the folder, where workers wrote them
    hashes: Mapping[str, FileFacts] = field(default_factory=dict)  # of these

    @property
    def beside(self) -> Path:
        """Where the other files go."""
        return self.stage or self.data.parent


def write_bundle(
    release: Release, folder: Path | str, force: bool, format: str | None, progress: bool, rows: int | None = None
) -> None:
    """Write the bundle beside its place, check the bytes of the data, and move it there."""
    if release.engine == "spark":
        from .cluster_bundle import write_on_cluster

        write_on_cluster(release, str(folder), force, format, progress)
        return
    folder = Path(folder)
    check_place(folder, force)
    with staging(folder) as stage:
        if release.engine == "memory":
            written = _write_whole(release, stage, format, progress)
        else:
            written = _write_parts(release, stage, format, progress, rows)
        finish(release, written, progress)
        into_place(stage, folder, force, {written.data.name, *AUDIENCE})
    if release.engine != "memory":
        release.data = folder / written.data.name


def _write_whole(release: Release, stage: Path, format: str | None, progress: bool) -> Written:
    kind, suffix = _format(release, format)
    data = stage / f"data{suffix}"
    with progress_.bar(progress, "writing"):
        table = as_written(release.data, release._source.format, kind, release.recipe)
        kind = released_labels(table, kind, release.recipe)
        write_file(table, kind, data)
    return Written(data, kind, table.column_names)


def _write_parts(release: Release, stage: Path, format: str | None, progress: bool, rows: int | None) -> Written:
    kind, suffix = _format(release, format)
    data = stage / f"data{suffix}"
    with writing(kind, data) as writer:
        rows = make_in_parts(release, writer.write, rows, progress)
    return Written(data, kind, names_in_file(release._source.names, release.recipe, kind.details), rows)


def make_in_parts(release: Release, write: Callable[[Any], None], rows: int | None, progress: bool) -> int | None:
    """Do the work part by part, and give each released piece to `write`; how many records were held at a time."""
    source, recipe = release._source, release.recipe
    engine: Any = source.engine(release.engine, rules_of(recipe), rows)
    try:
        with progress_.bar(progress, "protecting"):
            survey, plan = planned(engine, recipe)
            tally = Tally(plan, all_there=False)
            names = columns_written(source.names, recipe)
            units = UnitCheck(recipe, source.details, source.memory // 4)
            watched = () if release._watch is None else release._watch.columns
            for part in released(engine, plan, tally, watched):
                units.add(part, part.records.arrow)
                if release._watch is not None:
                    release._watch(part, part.records.arrow)
                write(piece_of(part, names, recipe, source.is_text))
            engine.check_unchanged()
        release._survey, release._tally, release._unit_checks = survey, tally, units.checks()
        for name in ("facts", "measures"):
            release.__dict__.pop(name, None)
        return int(engine.rows) if engine.rows else None
    except Exception:
        engine.check_unchanged()  # if it did, then that is why
        raise
    finally:
        engine.close()


def finish(release: Release, written: Written, progress: bool) -> None:
    """Check the bytes of the data, and write all other files beside them."""
    stage, data = written.beside, written.data
    with progress_.bar(progress, "verifying what was written"):
        release.verdict = _verified(release, written).with_checks(release._unit_checks)
        if release.engine != "memory":
            release._kept = _kept(release, written)
            warn_of_kept(release._kept)
    with progress_.bar(progress, "measuring"):
        facts = release.facts
        facts = replace(facts, verdict=release.verdict.facts, output=replace(facts.output, name=data.name))
    # what is said from now on is said of the file that was written, and of the check of its bytes
    release.__dict__["facts"] = facts
    write_private(stage / "recipe.toml", release.recipe.dumps())
    write_private(stage / "verify.json", as_json(document(release.verdict.facts)))
    _write_reports(stage, facts)
    write_private(stage / "manifest.json", sealed(_manifest(release, written, facts)))


def _format(release: Release, wanted: str | None) -> tuple[Format, str]:
    """How the data are written, and how the file's name ends."""
    own, suffix = release._source.format, release._source.suffix
    if wanted is not None and wanted not in _SUFFIX:
        raise CoterieError(f"'format' must be one of {', '.join(_SUFFIX)}.", f"'{wanted}'")
    if own is not None and (wanted is None or suffix == _SUFFIX[wanted]):
        rules, names, unit = release.recipe.columns, release.recipe.released, release.recipe.pseudonym
        own = own.keep(names)
        own = own.as_it_was(n for n, r in rules.items() if r.role != "quasi" and r.noise is None and n != unit)
        own = (own if unit is None else own.with_text(unit)).renamed(names)
        if own.kind == "sas7bdat":  # which nobody but SAS writes; its transport files keep labels and formats, too
            return Format("xport", {**own.details, "version": 8}), ".xpt"
        return own, suffix
    if own is not None:
        raise CoterieError("A file is released in the format of the input.", f"'{wanted}'", "leave the format out.")
    wanted = wanted or "parquet"
    return default_format(wanted), _SUFFIX[wanted]


def _verified(release: Release, written: Written) -> Any:
    """The verdict on the bytes that go out."""
    from ..verification import verify_claims

    claims = claims_of(release.recipe, written.kind.details)
    if release.engine == "spark":
        from ..verification.cluster import verify_claims_on_spark

        verdict = verify_claims_on_spark(release._source.session, written.parts, claims)
    else:
        memory = release._source.memory // 2 if release.engine != "memory" else None
        dialect = dialect_of(written.kind.as_dict(), written.names)
        verdict = verify_claims(written.data, claims, dialect, memory=memory)
    if not verdict.ok:
        hint = "this is a bug in Coterie, or in the writer of the format: please report it. Nothing was written."
        raise PromiseError("The written file must meet the promises.", " ".join(str(verdict).split()), hint)
    return verdict


def _kept(release: Release, written: Written) -> KeptRisk | None:
    """How many records are unique on the columns that are released unchanged, where the data are not in memory."""
    if release.engine == "spark":
        from ..verification.cluster import uniqueness_on_spark

        return kept_risk(release.recipe, {}, partial(uniqueness_on_spark, release._source.session, written.parts))
    dialect, memory = dialect_of(written.kind.as_dict(), written.names), release._source.memory // 2
    count = partial(uniqueness, written.data, dialect=dialect, memory=memory)
    return kept_risk(release.recipe, written.kind.details, count)


def _write_reports(stage: Path, facts: ReleaseFacts) -> None:
    from ..report.html import render_internal, render_public

    write_private(stage / "report.html", render_public(facts))
    write_private(stage / "internal.html", render_internal(facts))


def _manifest(release: Release, written: Written, facts: ReleaseFacts) -> dict[str, Any]:
    files = dict(written.hashes)
    for path in sorted(written.beside.iterdir()):
        if path.is_dir():  # the data, each of whose files whoever wrote it has hashed
            continue
        audience = "public" if path == written.data else AUDIENCE.get(path.name, "internal")
        files[path.name] = FileFacts(content_hash(path), path.stat().st_size, audience)
    source = release._source
    shown: dict[str, Any] = document(
        Manifest(
            coterie=__version__,
            created=facts.created,
            versions=_versions(release.engine),
            input=SourceFacts(facts.input.name, facts.input.records, facts.input.columns, source.sha256),
            output=facts.output,
            names=tuple(written.names),
            format=written.kind.as_dict(),
            engine=release.engine,
            streamed=written.rows,
            memory=source.memory if release.engine != "memory" else None,
            files=files,
            verified=bool(facts.verdict is not None and facts.verdict.ok),
        )
    )
    return shown


def _versions(engine: str) -> dict[str, str]:
    """Python, and the packages that a release depends on."""
    packages = (*_VERSIONS, *(_ON_SPARK if engine == "spark" else ()))
    return {"python": platform.python_version(), **{n: v for n in packages if (v := package_version(n))}}


def package_version(package: str) -> str | None:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
