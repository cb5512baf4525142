"""Check: any bundle or file, verified and made again, with its reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.responses import Response

from ...errors import CoterieError, in_shell
from ...release.manifest import is_bundle
from ...report.words import series
from ..asked import Asked, Form
from ..edits import number_or_text
from ..render import page, to
from ..session import Checked, Session
from .releasing import REPORTS, framed_report

_CLAIMS = ("k", "quasi", "strata", "confidential", "unit", "recipe")


def show(asked: Asked) -> Response:
    """What to check; and what came of it."""
    session, checked = asked.session, asked.session.checked
    typed = asked.form.text("path")
    if not typed and checked is not None:
        typed = session.locations.below(checked.path)
    elif not typed and session.released is not None:
        typed = session.locations.below(session.released[0])
    claimed = {} if checked is None or asked.form.text("path") else checked.claimed
    return page(
        asked,
        "check.html.j2",
        typed=typed,
        form={name: asked.form.text(name) or claimed.get(name, "") for name in (*_CLAIMS, "input")},
        input=asked.form.text("input")
        or ("" if session.opened is None else session.locations.below(session.opening.path)),
        done=None if checked is None else _done(session, checked),
    )


def _done(session: Session, checked: Checked) -> dict[str, Any]:
    path, verdict = checked.path, checked.verdict
    bundle = path.is_dir()
    return {
        "path": session.locations.below(path),
        "bundle": bundle,
        "verdict": verdict,
        "ok": verdict is not None and verdict.ok,
        "checks": [] if verdict is None else [_check(c) for c in verdict.checks],
        "replayed": checked.replayed,
        "replayed_words": "" if checked.replayed is None else str(checked.replayed),
        "reports": [which for which, name in REPORTS.items() if bundle and (path / name).is_file()],
        "command": " ".join([in_shell("coterie verify", session.locations.below(path)), *_options(checked.claimed)]),
    }


def _options(claimed: Mapping[str, str]) -> list[str]:
    """What was claimed of a file, as the command line takes it."""
    options = []
    for name, text in claimed.items():
        if text:
            listed = ",".join(line.strip() for line in text.split("\n") if line.strip())
            options.append(in_shell("-k" if name == "k" else f"--{name}", listed))
    return options


def _check(check: Any) -> dict[str, Any]:
    promised = check.wanted is not None
    return {
        "what": check.what,
        "scenario": check.scenario or "",
        "columns": series(check.columns, 8),
        "wanted": _number(check.wanted),
        "found": _number(check.found),
        "classes": check.classes,
        "bad": check.offending_classes,
        "of_values": check.what in ("prepared values", "record numbers"),
        "records": check.offending_records,
        "state": ("good" if promised else "none") if check.offending_classes == 0 else "bad" if promised else "told",
    }


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.6g}"


def verify(asked: Asked) -> Response:
    """Check a bundle, or what is claimed of a file: a job."""
    session, form = asked.session, asked.form
    path = session.locations.either(form.text("path"))
    if path.is_dir():
        path = session.locations.bundle(form.text("path"))
    claims = _claims(session, form, path)
    claimed = {} if path.is_dir() else {name: form.text(name) for name in _CLAIMS}
    if claimed.get("recipe"):
        claimed = {"recipe": claimed["recipe"]}

    def finish(verdict: Any) -> None:
        before = session.checked
        replayed = before.replayed if before is not None and before.path == path else None
        session.checked = Checked(path, verdict, replayed, claimed)

    session.jobs.start(f"Checking {path.name}", "/check", finish, ("verify", path, claims))
    return to("/check#verdict")


def _claims(session: Session, form: Form, path: Path) -> dict[str, Any]:
    """What is claimed: of a bundle, what it says itself."""
    given: dict[str, Any] = {}
    if path.is_dir():
        if not is_bundle(path):
            raise CoterieError("This folder must be a bundle.", f"'{path.name}', which is not one")
        if text := form.text("input-for-units"):
            given["input"] = session.locations.file(text)
        return given
    if text := form.text("recipe"):
        return {"recipe": session.locations.file(text)}
    k, quasi = number_or_text(form.text("k")), form.lines("quasi")
    if k is None or not quasi:
        what = "For a file, give the claims to check: k and the quasi-identifiers, or a recipe."
        raise CoterieError(what, "one of them or none")
    if not isinstance(k, int):
        raise CoterieError("k must be a whole number of at least 2.", "another text")
    given = {"k": k, "quasi": quasi}
    if strata := form.lines("strata"):
        given["within"] = strata
    if confidential := form.lines("confidential"):
        given["confidential"] = {name: {"kind": "nominal"} for name in confidential}
    if unit := form.text("unit"):
        given["unit"] = unit
    return given


def replay(asked: Asked) -> Response:
    """Make a bundle's data again from the original, and compare the bytes: a job."""
    session, form = asked.session, asked.form
    folder = session.locations.bundle(form.text("path"))
    if not is_bundle(folder):
        raise CoterieError("This folder must be a bundle.", f"'{folder.name}', which is not one")
    file = session.locations.file(form.text("input"))

    def finish(replayed: Any) -> None:
        before = session.checked
        verdict = before.verdict if before is not None and before.path == folder else None
        session.checked = Checked(folder, verdict, replayed)

    session.jobs.start(f"Making {folder.name} again", "/check", finish, ("replay", folder, file))
    return to("/check#replay")


def report(asked: Asked) -> Response:
    """A report of the bundle that was checked."""
    if asked.session.checked is None:
        raise CoterieError("There must be a bundle.", "none")
    return framed_report(asked.session.checked.path, asked.parts["which"])
