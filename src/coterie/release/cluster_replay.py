"""replay on Spark: the files of a bundle once more, byte for byte."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import PrivacyWarning
from ..formats import content_hash
from ..recipe import Recipe
from ..verification import Check
from .cluster_bundle import Stage, make_folder, make_on_cluster
from .manifest import parts_of
from .place import staging
from .replay import OTHER_INPUT, OTHER_RECIPE, Replayed


def replayed_on_spark(
    folder: Path, manifest: Mapping[str, Any], table: Any, differs: tuple[str, ...], progress: bool
) -> tuple[Replayed, tuple[Check, ...]]:
    """A bundle's files once more, beside it, where the workers can write; they are removed in the end."""
    from .cluster_source import ClusterSource
    from .flow import protect

    if content_hash(folder / "recipe.toml") != manifest["files"]["recipe.toml"]["sha256"]:
        return Replayed(False, (OTHER_RECIPE, *differs)), ()
    recipe = Recipe.load(folder / "recipe.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # they were told when the bundle was made
        release = protect(table, recipe, engine="spark")
    source = release._source
    assert isinstance(source, ClusterSource)
    wanted = manifest["input"].get("sha256")
    if source.files is not None and wanted is not None and source.hash() != wanted:
        return Replayed(False, (OTHER_INPUT, *differs)), ()
    names = parts_of(manifest)
    with staging(folder.absolute().with_name(f"{folder.absolute().name}-replay")) as stage:
        make_folder(str(stage / "again"))
        parts, _ = make_on_cluster(release, Stage(stage, str(stage / "again")), manifest["streamed"], progress)
        same = [part.facts.sha256 for part in parts] == [manifest["files"][name]["sha256"] for name in names]
    if any(content_hash(folder / name) != manifest["files"][name]["sha256"] for name in names):
        return Replayed(False, ("the data files were changed since they were written", *differs)), ()
    return Replayed(same, differs if same else ("the bytes of the data", *differs)), release._unit_checks
