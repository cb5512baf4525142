"""What is done to the built pages: no inline script, nothing that asks another host, nothing that isn't needed."""

from __future__ import annotations

import hashlib
import json
import re
from html import escape
from pathlib import Path

from docutils import nodes

_INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
_OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "benchmarks/README.md": "measurements.md"}
_UNUSED = (
    "*.map",
    "objects.inv",
    ".buildinfo",
    "fa-brands-400.*",
    "fa-regular-400.*",
    "fa-v4compatibility.*",
    "webpack-macros.html",
)
# What no style asks for, and what pages hold by the thousand.
_SHORTER = (
    (re.compile(r'<span class="pre">([^<]*)</span>'), r"\1"),
    (re.compile(r'<code class="docutils (literal) notranslate">([^<]{1,28})</code>'), r'<code class="\1">\2</code>'),
    (re.compile(r'<code class="docutils (literal) notranslate">'), r'<code class="\1 long">'),
    (re.compile(r'<(tr|td|th) class="(?:row-even|row-odd|head|text-left|stub|head stub)">'), r"<\1>"),
    (re.compile(r'<a class="reference internal" '), "<a "),
    (re.compile(r"<t([dh])><p>([^\n]*?)</p>\s*</t\1>"), r"<t\1>\2</t\1>"),
)
_KEPT = re.compile(r"(<(?:pre|textarea)\b.*?</(?:pre|textarea)>)", re.DOTALL)


def inline_math(translator, node):
    """A formula as it is written: the pages have no library that sets formulas."""
    translator.body.append(f'<span class="formula">{escape(node.astext())}</span>')
    raise nodes.SkipNode


def block_math(translator, node):
    """The same on a line of its own."""
    translator.body.append(f'<p class="formula">{escape(node.astext())}</p>')
    raise nodes.SkipNode


def settle_links(app, docname, source) -> None:  # noqa: ARG001, sphinx calls it so
    """Links out of the folder: two texts are pages here, source code is named and not linked."""
    up = "../" * docname.count("/")
    for outside, inside in _OUTSIDE.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(outside)}", f"]({up}reference/generated/{inside}", source[0])
    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)+(?:src|benchmarks|tests)/[^)]*\)", _code, source[0])


def _code(found: re.Match[str]) -> str:
    text = found.group(1).replace("\\", "")
    return text if "`" in text or " " in text else f"`{text}`"


def describe_tables(app, doctree) -> None:  # noqa: ARG001, sphinx calls it so
    """Tables without widths of columns: these would be inline styles, and the browser knows better."""
    for table in doctree.findall(nodes.table):
        table["classes"] = [c for c in table["classes"] if c != "colwidths-given"] + ["colwidths-auto"]


def finish(app, error) -> None:
    """Clean the site once it is built."""
    if error is not None or app.builder.name != "html":
        return
    root = Path(app.outdir)
    for pattern in _UNUSED:
        for path in root.rglob(pattern):
            path.unlink()
    for schema in root.glob("_downloads/*/*.json"):
        schema.write_text(
            json.dumps(json.loads(schema.read_text(encoding="utf-8")), ensure_ascii=False), encoding="utf-8"
        )
    for page in root.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        clean = _without_inline(text, page, root)
        if clean != text:
            page.write_text(clean, encoding="utf-8")


def _without_inline(text: str, page: Path, root: Path) -> str:
    """Scripts in files of their own, so that a strict policy lets them run; the same text is the same file."""
    up = "../" * len(page.relative_to(root).parts[:-1])

    def moved(found: re.Match[str]) -> str:
        body = found.group(1).strip()
        if not body or re.match(r"DOCUMENTATION_OPTIONS\.(pagename|theme|show_version)", body):
            return ""  # for a switch between versions, which a site inside a package doesn't have
        name = f"inline-{hashlib.sha256(body.encode()).hexdigest()[:12]}.js"
        (root / "_static" / name).write_text(body + "\n", encoding="utf-8")
        return f'<script src="{up}_static/{name}"></script>'

    text = _INLINE.sub(moved, text)
    text = "".join(part if i % 2 else re.sub(r"\n\s+", "\n", part) for i, part in enumerate(_KEPT.split(text)))
    for pattern, short in _SHORTER:
        text = pattern.sub(short, text)
    return re.sub(r'(<(?:col|table|th|td|p|div|span|a|img)\b[^>]*?) style="[^"]*"', r"\1", text)
