"""analyse: analyses of an input and of its release, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.comparing import least_overlap
from ..errors import CoterieError, boundary
from ..facts import document
from ..facts.analysis_facts import AnalysisFacts
from ..formats import content_hash, harmless, kind_of
from ..recipe import Recipe
from .analysing import Analyses, check_analyses
from .check import check_files, check_manifest
from .manifest import DATA, data_name, format_of, others_in, read_manifest
from .preparation import prepared
from .promises import names_in_file, released_names
from .release import Release
from .source import Source, open_source, rules_of


@dataclass(frozen=True, repr=False)
class AnalysisReport:
    """Analyses before and after. Internal: small counts and values of records may show."""

    analyses: tuple[AnalysisFacts, ...]

    @property
    def least_overlap_share(self) -> float | None:
        """The least overlap of confidence intervals."""
        return least_overlap(self.analyses)

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        shown: dict[str, Any] = document(self)
        return shown

    def __str__(self) -> str:
        """As tables of plain text."""
        from ..report.analysis_view import as_text

        return as_text(self.analyses)

    __repr__ = __str__


@boundary
def analyse(
    release: Any,
    input: Any = None,
    analyses: Mapping[str, Any] | None = None,
    *,
    recipe: Any = None,
    memory: int | str | None = None,
) -> AnalysisReport:
    """Make analyses on an input and on its release, and say how far they agree.

    Whole tables are compared, not records: rows may be in any order, and records may have been suppressed.

    Parameters
    ----------
    release : path, table or Release
        A bundle's folder, a released file or table, or a Release from `protect`.
    input : path or table
        The original table. Not needed for a Release.
    analyses : mapping of mappings, optional
        Analyses by name, with the settings of `[analysis.NAME]` in a recipe. Default: those of the recipe.
    recipe : Recipe, path or mapping, optional
        The roles of the columns: needed for a file or a table. For a bundle or a Release, only its analyses are used.
    memory : int or str, optional
        Approximate memory limit, such as "2GB". Both tables must fit.

    Raises
    ------
    CoterieError
        If a table cannot be read, or an analysis uses a column that is not released. No message contains a record's
        value.
    """
    from .flow import as_recipe

    other = None if recipe is None else as_recipe(recipe)
    if isinstance(release, Release):
        return _of_release(release, input, analyses, other)
    if isinstance(release, (str, Path)) and not Path(release).exists():
        what = "The release must be a bundle's folder, a file or a table."
        raise CoterieError(what, f"'{release}', which does not exist")
    folder = Path(release) if isinstance(release, (str, Path)) and Path(release).is_dir() else None
    if input is None:
        raise CoterieError("The input must be given: the file that the release was made from.", "none")
    if folder is not None and (folder / "manifest.json").exists():
        return _of_bundle(folder, input, analyses, other, memory)
    if other is None:
        hint = "give the recipe, or the folder of the bundle."
        raise CoterieError("For a file or a table, a recipe must give the roles of its columns.", "none", hint)
    asked = _asking(other, analyses, None)
    before = _opened(input, asked.file.options, memory)
    options = _options(asked) if _is_text(release) else {}
    return _compared(before, _opened(release, options, memory), asked)


def _is_text(release: Any) -> bool:
    return isinstance(release, (str, Path)) and not Path(release).is_dir() and kind_of(Path(release)) == "csv"


def _asking(own: Recipe, analyses: Mapping[str, Any] | None, other: Recipe | None) -> Recipe:
    """The recipe with the analyses that are asked for, which are checked by its columns."""
    if analyses is None:
        analyses = (own if other is None else other).analysis
    such = 'such as {"wages": {"model": "income ~ age"}}.'
    if not isinstance(analyses, Mapping):
        what = "Analyses must be a mapping from names to settings."
        raise CoterieError(what, f"an object of type {type(analyses).__name__}", such)
    if not analyses:
        raise CoterieError(
            "There must be at least one analysis.", "no analysis", f"[analysis.NAME] in the recipe, or {such}"
        )
    if odd := {type(name).__name__ for name in analyses if not isinstance(name, str)}:
        raise CoterieError("The name of an analysis must be a string.", f"one of type {min(odd)}", such)
    recipe = Recipe(**{**own.as_dict(), "analysis": dict(analyses)})
    check_analyses(recipe, "memory")
    return recipe


def _opened(table: Any, options: Mapping[str, Any], memory: int | str | None) -> Source:
    source = open_source(table, options if isinstance(table, (str, Path)) else None, memory=memory)
    if type(source) is not Source:
        raise CoterieError("Analyses need the whole table in memory.", "a table on Spark")
    if not source.fits:
        what = f"Analyses need the whole table in memory, and the limit is {source.memory >> 20:,} MiB."
        raise CoterieError(what, f"'{source.name}', which needs more", "raise the memory limit.")
    return source


def _options(recipe: Recipe) -> dict[str, Any]:
    """How a released CSV file is read by what the recipe says of the input."""
    options = {name: value for name, value in recipe.file.options.items() if name != "sheet"}  # a release is no sheet
    if "names" in options:
        options["names"] = names_in_file(options["names"], recipe, {"delimiter": ","})
    return options


def _of_release(
    release: Release, input: Any, analyses: Mapping[str, Any] | None, other: Recipe | None
) -> AnalysisReport:
    if input is not None:
        raise CoterieError("A Release object already knows its input.", "another one", "leave it out.")
    if release.engine != "memory":
        hint = "save it, and analyse the bundle with the input, if both fit into memory."
        raise CoterieError("Analyses need the whole table in memory.", f"engine {release.engine}", hint)
    recipe, source = _asking(release.recipe, analyses, other), release._source
    told = Source(release.data, {})
    told.__dict__["_read"] = (told.table, source.format, None)  # a file's texts are read as they were
    return _compared(source, told, recipe)


def _of_bundle(
    folder: Path, input: Any, analyses: Mapping[str, Any] | None, other: Recipe | None, memory: int | str | None
) -> AnalysisReport:
    """The analyses of a bundle, whose files must be as they were written, and of the input that it was made from."""
    manifest = read_manifest(folder)
    check_manifest(folder, manifest)
    hashes = {name: content_hash(folder / name) for name in manifest["files"] if (folder / name).is_file()}
    check_files(str(folder), manifest, hashes, others_in(folder, manifest))
    recipe = _asking(Recipe.load(folder / "recipe.toml"), analyses, other)
    before = _opened(input, recipe.file.options, memory)
    wanted = manifest["input"].get("sha256")
    if wanted is not None and before.sha256 is not None and before.sha256 != wanted:
        raise CoterieError("The input must be the file that the bundle was made from.", "another file")
    form, name = format_of(manifest), data_name(manifest)
    options: dict[str, Any] = {}
    if form.kind == "csv":
        known = ("delimiter", "quote", "encoding", "decimal", "thousands", "prefix", "suffix", "missing", "header")
        options = {key: form.details[key] for key in known if form.details.get(key) not in (None, [], "")}
        options["quote"] = form.details.get("quote") or ""
        if not form.details["header"]:
            options["names"] = manifest["names"]
    return _compared(before, _opened(folder / (DATA if name == DATA else name), options, memory), recipe)


def _compared(before: Source, after: Source, recipe: Recipe) -> AnalysisReport:
    recipe.check_columns(before.names)
    engine = before.engine("memory", rules_of(recipe))
    asked = Analyses(before, engine, recipe, prepared(engine, recipe))
    names = released_names(recipe, after.details)
    neutral = recipe.file.formulas == "neutralize" and "delimiter" in after.details
    texts = sorted(asked.texts()) if neutral else []
    return AnalysisReport(asked.of_file(after, names, dict(zip(harmless(texts), texts, strict=True))))
