"""protect_file: the old name of protecting a file part by part."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ..errors import boundary
from .bundle import write_bundle
from .flow import protect
from .place import check_place
from .release import Release


@boundary
def protect_file(
    path: str | Path,
    recipe: Any,
    folder: str | Path,
    *,
    memory: int,
    force: bool = False,
    progress: bool = False,
    rows: int | None = None,
) -> Release:
    """Protect a CSV or Parquet file part by part. Deprecated: `protect(path, recipe, memory=...).save(folder)`.

    Parameters
    ----------
    path, recipe, memory
        As for `protect`.
    folder : path
        Where the bundle goes.
    force, progress : bool
        Replace the folder; show a progress bar.
    rows : int, optional
        The number of records held at a time. Default: as many as fit into memory.
    """
    warnings.warn(
        "protect_file has been replaced by protect(path, recipe, memory=...).save(folder).",
        DeprecationWarning,
        stacklevel=3,
    )
    place = Path(folder).absolute()
    check_place(place, force)
    release = protect(path, recipe, engine="duckdb", memory=memory)
    write_bundle(release, place, force, None, progress, rows)
    return release
