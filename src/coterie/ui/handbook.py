"""The documentation, which ships inside the package, as pages: Markdown, rendered without any markup of its own."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from itertools import pairwise
from typing import Any

from .. import documentation
from ..errors import CoterieError

CONTENTS = (
    ("ui.md", "The page"),
    ("tutorial.md", "Tutorial"),
    ("recipe.md", "The recipe"),
    ("units.md", "Units"),
    ("confidential.md", "Confidential columns"),
    ("bundle.md", "The bundle"),
    ("verify.md", "Verify"),
    ("measures/README.md", "Measures"),
    ("population-risk.md", "Risk in the population"),
    ("limits.md", "What Coterie does not promise"),
    ("methods.md", "Methods"),
    ("least-loss.md", "Least loss and proof"),
    ("guarantees.md", "Guarantees"),
    ("large.md", "Large tables"),
    ("command-line.md", "The command line"),
    ("glossary.md", "Glossary"),
    ("how-it-works.md", "How it works"),
)
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
_SITE = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".csv": "text/csv",
    ".woff2": "font/woff2",
    **_PICTURES,
}


def _found(path: str) -> Any:
    """A file of the documentation; None if there is none of this name."""
    if not re.fullmatch(r"[a-z0-9-]+(/[A-Za-z0-9-]+)?\.(md|png|svg)", path):
        return None
    place = documentation.markdown().joinpath(*path.split("/"))
    return place if place.is_file() else None


def picture(path: str) -> tuple[bytes, str] | None:
    """A picture of the documentation, and its type."""
    kind = _PICTURES.get(posixpath.splitext(path)[1])
    found = None if kind is None else _found(path)
    return None if found is None or kind is None else (found.read_bytes(), kind)


def of_site(path: str) -> tuple[bytes, str]:
    """A file of the site that is made of the documentation, and its type."""
    found = documentation.site_file(path)
    if found is None:
        raise CoterieError("There must be a page of the documentation at this address.", "none")
    return found.read_bytes(), _SITE.get(posixpath.splitext(path)[1], "text/plain")


@cache
def page(path: str) -> tuple[str, str]:
    """The title of a page, and the page as HTML."""
    from markdown_it import MarkdownIt

    found = _found(path)
    if found is None:
        raise CoterieError("There must be a page of the documentation at this address.", "none")
    text = found.read_text(encoding="utf-8")
    title = next((line.removeprefix("# ").strip() for line in text.splitlines() if line.startswith("# ")), path)
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = renderer.parse(text)
    for token in tokens:
        _settle(token, posixpath.dirname(path))
    _name_headings(tokens)
    return title, _reachable(renderer.renderer.render(tokens, renderer.options, {}))


def _reachable(html: str) -> str:
    """What may be wider than the screen is scrolled by the keyboard too. Tags in texts are escaped: these are ours."""
    frame = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>'
    html = html.replace("<table>", frame).replace("</table>", "</table></div>")
    return html.replace("<pre>", '<pre tabindex="0">')


def _settle(token: Any, folder: str) -> None:
    """Links between pages as they are here; those to elsewhere are told, not followed; no inline style."""
    for child in token.children or ():
        _settle(child, folder)
    if "style" in token.attrs:  # of tables, which align their columns so
        side = re.sub(r"[^a-z]", "", str(token.attrs.pop("style")).removeprefix("text-align"))
        token.attrs["class"] = f"to-{side}"
    if token.type == "image":
        token.attrs["src"] = "/docs/" + posixpath.normpath(posixpath.join(folder, str(token.attrs.get("src", ""))))
    if token.type == "link_open":
        token.attrs["href"] = _href(str(token.attrs.get("href", "")), folder)


def _href(href: str, folder: str) -> str:
    target, _, part = href.partition("#")
    if href.startswith("#"):
        return href
    inside = posixpath.normpath(posixpath.join(folder, target))
    if target.endswith(".md") and _found(inside) is not None:
        return f"/docs/{inside}" + (f"#{part}" if part else "")
    return href if href.startswith("https://") else "#"


def _name_headings(tokens: list[Any]) -> None:
    """Names to link to, as those who wrote the links expect them."""
    for token, text in pairwise(tokens):
        if token.type == "heading_open":
            plain = re.sub(r"[^\w\- ]", "", text.content.lower()).strip()
            token.attrs["id"] = plain.replace(" ", "-")
