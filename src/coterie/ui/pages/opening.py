"""Open: a file below the root, and how it is read."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from starlette.responses import Response

from ...errors import CoterieError
from ...formats import kind_of
from ...formats.base import NAMES, SUFFIXES
from ..asked import Asked, Form
from ..render import page, to
from ..session import Session
from ..worker import Opened

_READ = {
    "csv": ("delimiter", "decimal", "encoding", "quote", "header", "names", "missing", "thousands", "prefix", "suffix"),
    "excel": ("sheet", "header", "names", "missing", "thousands", "prefix", "suffix"),
    "spss": ("encoding",),
    "stata": ("encoding",),
    "sas7bdat": ("encoding",),
    "xport": ("encoding",),
}  # what can be said of each kind of file
_LISTS = ("names", "missing", "prefix", "suffix")
_SHOWN = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar |", ".": "point", " ": "blank", "": "none"}
_PACKED = (".csv.gz", ".zip")
_TROUBLED = 12  # columns that are named


def show(asked: Asked) -> Response:
    """The folder to choose from, and what was recognized in the file that is open."""
    session = asked.session
    folder = session.locations.root
    problem = asked.problem
    try:
        folder = session.locations.folder(asked.query.text("in"))
    except CoterieError as error:
        problem = problem or error
    asked.problem = problem
    entries, more = session.locations.entries(folder)
    attempt = session.attempt
    return page(
        asked,
        "open.html.j2",
        folder=session.locations.below(folder),
        up=None if folder == session.locations.root else session.locations.below(folder.parent),
        root=session.locations.root.name or "/",
        entries=[{"entry": e, "file": _is_table(e.name), "size": _size(e.size)} for e in entries],
        more=more,
        reading=None if attempt is None else _reading(session),
        recognized=None if session.opened is None else _recognized(session.opened),
        typed=asked.form.text("path"),
    )


def _is_table(name: str) -> bool:
    low = name.lower()
    return PurePosixPath(low).suffix in SUFFIXES or low.endswith(_PACKED)


def _size(size: int) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1_000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit in ("B", "KB") else f"{size:,.1f} {unit}"
        size = size // 100 / 10 if unit != "B" else size / 1_000  # type: ignore[assignment]
    return ""


def open_file(asked: Asked) -> Response:
    """Open a file."""
    session = asked.session
    path = session.locations.file(asked.form.text("path"))
    kind_of(path)  # of a kind that can be read: else there is nothing that could be said about how
    session.open(path, {})
    return to("/open#read")


def read_again(asked: Asked) -> Response:
    """Read the file in another way."""
    session, attempt = asked.session, asked.session.attempt
    if attempt is None:
        raise CoterieError("A file must be open.", "none")
    options = _options(asked.form, kind_of(attempt.path))
    if session.opened is not None and session.opened.opening.path == attempt.path:
        session.read_again(options)
    else:
        session.open(attempt.path, options)
    return to("/open#read")


def _options(form: Form, kind: str) -> dict[str, Any]:
    """What was said about how the file is read; what was left open is recognized."""
    options: dict[str, Any] = {}
    for name in _READ.get(kind, ()):
        if name in _LISTS:
            if lines := form.lines(name):
                options[name] = ["", *lines] if name == "missing" else lines
        elif name == "header":
            if (said := form.text(name)) in ("true", "false"):
                options[name] = said == "true"
        elif name in ("delimiter", "thousands"):
            if value := form.raw(name):
                options[name] = {"tab": "\t", "blank": " "}.get(value, value)
        elif name == "quote":
            if value := form.raw(name):
                options[name] = "" if value == "none" else value
        elif value := form.text(name):
            options[name] = value
    return options


def _reading(session: Session) -> dict[str, Any]:
    """How the file is read: what was said, and what was recognized."""
    assert session.attempt is not None
    attempt, opened = session.attempt, session.opened
    kind = kind_of(attempt.path)
    current = opened is not None and opened.opening.path == attempt.path
    details = dict(opened.details) if current and opened is not None else {}
    fields = {}
    for name in _READ.get(kind, ()):
        said = attempt.options.get(name)
        value = details.get(name)
        fields[name] = {"said": _said(name, said), "seen": _seen(value)}
    return {
        "name": attempt.path.name,
        "kind": NAMES[kind],
        "fields": fields,
        "failed": not current,
    }


def _said(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "\n".join(str(one) for one in value if str(one))
    return {"\t": "tab", " ": "blank"}.get(value, "none" if name == "quote" and value == "" else str(value))


def _seen(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join("an empty field" if one == "" else f"“{one}”" for one in value)
    return _SHOWN.get(value, str(value))


def _recognized(opened: Opened) -> dict[str, Any]:
    """What reading it so leads to, in counts."""
    columns = opened.columns
    kinds: dict[str, int] = {}
    for one in columns.values():
        kinds[one.look.kind] = kinds.get(one.look.kind, 0) + 1
    gaps = [(name, one.look.missing) for name, one in columns.items() if one.look.missing]
    return {
        "name": opened.opening.path.name,
        "records": opened.records,
        "columns": len(columns),
        "kinds": sorted(kinds.items(), key=lambda pair: -pair[1]),
        "unfit": list(opened.unfit.items())[:_TROUBLED],
        "more_unfit": max(0, len(opened.unfit) - _TROUBLED),
        "gaps": sorted(gaps, key=lambda pair: -pair[1])[:_TROUBLED],
        "more_gaps": max(0, len(gaps) - _TROUBLED),
        "parts": opened.engine != "memory",
    }
