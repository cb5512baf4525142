"""replay: a bundle's data once more from its recipe, byte for byte."""

from __future__ import annotations

import platform
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import PrivacyWarning, boundary
from ..formats import content_hash
from ..formats import write as write_file
from ..formats.streams import writing
from ..recipe import Recipe
from ..verification import Check
from ..verification.reading import private_folder
from .manifest import DATA, data_name, format_of, read_manifest
from .spreadsheets import as_written

if TYPE_CHECKING:
    from .watching import Watcher

OTHER_INPUT, OTHER_RECIPE = "the input is a different file", "the recipe was changed"


@dataclass(frozen=True)
class Replayed:
    """Whether the data are the same again, and what differs."""

    same: bool
    differs: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return asdict(self)

    def __str__(self) -> str:
        """In plain words."""
        if self.same:
            more = f" ({'; '.join(self.differs)})" if self.differs else ""
            return f"The data are the same, byte for byte{more}."
        if self.differs[0] in (OTHER_INPUT, OTHER_RECIPE):
            return "The data were not repeated: " + "; ".join(self.differs) + "."
        return "The data differ: " + "; ".join(self.differs) + "."


@boundary
def replay(folder: str | Path, table: Any, *, progress: bool = False) -> Replayed:
    """Repeat a bundle's release and compare the bytes of the data.

    Parameters
    ----------
    folder : path
        The bundle.
    table : path or table
        What it was made from.
    progress : bool
        Show a progress bar.
    """
    return replayed(Path(folder), table, progress)[0]


def replayed(
    folder: Path, table: Any, progress: bool = False, watch: Watcher | None = None
) -> tuple[Replayed, tuple[Check, ...]]:
    """A bundle's data once more, and the check of units that was made on the way, if they are not released.

    `watch` is shown what is released; not on Spark.
    """
    from .bundle import make_in_parts
    from .flow import opened

    manifest = read_manifest(folder)
    name = data_name(manifest)
    differs = _versions(manifest)
    if name == DATA:
        from .cluster_replay import replayed_on_spark

        return replayed_on_spark(folder, manifest, table, differs, progress)
    wanted = manifest["input"].get("sha256")
    if isinstance(table, (str, Path)) and wanted is not None and content_hash(Path(table)) != wanted:
        return Replayed(False, (OTHER_INPUT, *differs)), ()
    if content_hash(folder / "recipe.toml") != manifest["files"]["recipe.toml"]["sha256"]:
        return Replayed(False, (OTHER_RECIPE, *differs)), ()
    recipe, form = _for_the_data(Recipe.load(folder / "recipe.toml")), format_of(manifest)
    with private_folder() as private:
        engine = "duckdb" if manifest.get("streamed") else "memory"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # they were told when the bundle was made
            release = opened(table, recipe, engine=engine, memory=manifest.get("memory"))
            release._watch = watch
            if engine == "memory":
                release.make(progress)
        written = Path(private) / name
        if engine == "memory":
            write_file(as_written(release.data, release._source.format, form, release.recipe), form, written)
        else:
            with writing(form, written) as writer:
                make_in_parts(release, writer.write, manifest["streamed"], progress)
        same = content_hash(written) == manifest["files"][name]["sha256"]
    if content_hash(folder / name) != manifest["files"][name]["sha256"]:
        return Replayed(False, ("the data file was changed since it was written", *differs)), ()
    return Replayed(same, differs if same else ("the bytes of the data", *differs)), release._unit_checks


def _for_the_data(recipe: Recipe) -> Recipe:
    """The recipe without analyses, on which no byte of the data depends."""
    return Recipe(**{name: value for name, value in recipe.as_dict().items() if name != "analysis"})


def _versions(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Versions that are not those of the bundle."""
    from .bundle import package_version

    was = {"coterie": manifest.get("coterie"), **manifest.get("versions", {})}
    now = {"coterie": __version__, "python": platform.python_version()}
    out = []
    for name, old in was.items():
        new = now.get(name) or package_version(name)
        if new != old:
            out.append(f"{name} was {old}, is {new}")
    return tuple(out)
