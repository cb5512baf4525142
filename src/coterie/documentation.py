"""Where the documentation is: the Markdown, always; the site made of it, if the package was built with one."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

_PARTS = re.compile(r"[A-Za-z0-9_.+-]+")


@cache
def markdown() -> Any:
    """The folder of the Markdown files: in the package, or, in a clone, beside it."""
    inside = files("coterie").joinpath("docs")
    return inside if inside.is_dir() else Path(__file__).parents[2] / "docs"


def site() -> Any | None:
    """The folder of the site: in the package, or, in a clone, where `make docs` puts it; None without one."""
    inside = files("coterie").joinpath("site")
    for folder in (inside, Path(__file__).parents[2] / "build" / "site"):
        if folder.joinpath("index.html").is_file():
            return folder
    return None


def site_file(path: str) -> Any | None:
    """A file of the site; None if there is none of this name."""
    folder, parts = site(), path.split("/")
    if folder is None or not all(_PARTS.fullmatch(part) and part.strip(".") for part in parts):
        return None
    place = folder.joinpath(*parts)
    return place if place.is_file() else None


def pages(folder: Any, ending: str, inside: str = "") -> dict[str, Any]:
    """The pages below a folder by their names without the ending, such as "howto/weights"."""
    found: dict[str, Any] = {}
    for place in sorted(folder.iterdir(), key=lambda one: str(one.name)):
        if place.is_dir() and not place.name.startswith(("_", ".")):
            found |= pages(place, ending, f"{inside}{place.name}/")
        elif place.name.endswith(ending):
            found[inside + place.name.removesuffix(ending)] = place
    return found


def page_named(name: str, known: dict[str, Any]) -> str | None:
    """The page of this name, with or without its folder; those nearest to the root come first."""
    name = name.removesuffix(".md").removesuffix(".html").strip("/")
    ends = sorted((path for path in known if path == name or path.endswith(f"/{name}")), key=lambda p: p.count("/"))
    return ends[0] if ends else None
