"""Release: where to write, a dry run, the bundle, its check and its reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, Response

from ...errors import CoterieError, in_shell
from ...report.html import style_hashes
from ...report.release_view import release as release_view
from ...report.text import terminal
from ..asked import Asked
from ..render import page, to
from ..session import Session
from ..worker import Made
from .candidates import not_yet

REPORTS = {"public": "report.html", "internal": "internal.html"}
_MOST_REPORT = 64 << 20
_MOST_STYLES = 4  # a report has one


def show(asked: Asked) -> Response:
    """Where to write; and what was written."""
    session = asked.session
    if not session.ready:
        return not_yet(asked)
    recipe = session.need_ready()
    assert session.opened is not None
    tried = session.rehearsed if session.rehearsed and session.rehearsed[0] == session.document else None
    done = session.released
    return page(
        asked,
        "release.html.j2",
        folder=asked.form.text("folder") or _suggested(session),
        replace="replace" in asked.form,
        recipe=recipe,
        toml=recipe.dumps(),
        command=_command(session, asked.form.text("folder") or _suggested(session)),
        tried=None if tried is None else _made(tried[1]),
        done=None if done is None else _done(session, *done),
        columns={role: len(recipe.of_role(role)) for role in ("quasi", "confidential", "other", "identifier")},
        records=session.opened.records,
    )


def _suggested(session: Session) -> str:
    """A folder beside the file that is not there yet."""
    file = session.opening.path
    stem = file.name.split(".")[0] or "data"
    for number in range(1, 1_000):
        name = f"{stem}-release" if number == 1 else f"{stem}-release-{number}"
        if not (file.parent / name).exists():
            return session.locations.below(file.parent / name)
    return ""


def _command(session: Session, folder: str) -> str:
    """The same on the command line, in the root's folder."""
    file = session.locations.below(session.opening.path)
    memory = f" {in_shell('--memory', session.memory)}" if session.memory else ""
    return f"{in_shell('coterie protect', file)} --recipe recipe.toml{memory} {in_shell('-o', folder)}"


def _made(made: Made) -> dict[str, Any]:
    view = release_view(made.facts)
    return {"head": view["head"], "tiles": view["tiles"], "lines": _lines(made), "warned": made.warned}


def _lines(made: Made) -> list[tuple[str, str, str]]:
    """The facts as the command line tells them, without notes that are shown as warnings."""
    return [line for line in terminal(made.facts) if line[2] not in made.warned]


def _done(session: Session, folder: Path, document: Any, made: Made) -> dict[str, Any]:
    return {
        **_made(made),
        "folder": session.locations.below(folder),
        "hand_out": [name for name, audience in made.files if audience == "public"],
        "keep": [name for name, audience in made.files if audience != "public"],
        "stale": document != session.document,
        "there": (folder / "report.html").is_file(),
        "replay": f"{in_shell('coterie replay', session.locations.below(folder))} "
        f"{in_shell('--input', session.locations.below(session.opening.path))}",
        "again": f"{in_shell('coterie protect', session.locations.below(session.opening.path))} "
        f"{in_shell('--recipe', session.locations.below(folder) + '/recipe.toml')} -o FOLDER",
    }


def rehearse(asked: Asked) -> Response:
    """Do everything but write."""
    session = asked.session
    session.need_ready()
    document = session.document

    def finish(made: Made) -> None:
        session.rehearsed = document, made

    session.jobs.start("Dry run", "/release", finish, ("rehearse", session.opening, document))
    return to("/release#tried")


def release(asked: Asked) -> Response:
    """Make the release, and write the bundle."""
    from ...release.place import check_place

    session, form = asked.session, asked.form
    session.need_ready()
    folder = session.locations.new(form.text("folder"))
    force = "replace" in form
    if folder.is_dir() and not force:
        what, got = "The folder of the bundle exists already.", f"'{session.locations.below(folder)}'"
        raise CoterieError(what, got, "give another name, or tick the box to replace it.")
    if force and folder.is_dir():  # what is replaced is read first
        session.locations.bundle(form.text("folder"))
    check_place(folder, force)
    document = session.document

    def finish(made: Made) -> None:
        session.released = folder, document, made

    session.jobs.start(
        f"Releasing into {folder.name}",
        "/release",
        finish,
        ("release", session.opening, document, folder, force),
        place=folder,
    )
    return to("/release#done")


def report(asked: Asked) -> Response:
    """A report of the bundle that was written."""
    if asked.session.released is None:
        raise CoterieError("There must be a release.", "none")
    return framed_report(asked.session.released[0], asked.parts["which"])


def framed_report(folder: Path, which: str) -> Response:
    """A report as it lies in a bundle, without any right: framed by the page alone, with no style but its own."""
    name = REPORTS.get(which)
    place = folder / (name or "")
    if name is None or place.is_symlink() or not place.is_file() or place.stat().st_size > _MOST_REPORT:
        raise CoterieError("There must be a report.", "none")
    text = place.read_text(encoding="utf-8", errors="replace")
    hashes = style_hashes(text)
    styles = " ".join(hashes) if 0 < len(hashes) <= _MOST_STYLES else "'none'"
    policy = (
        f"sandbox; default-src 'none'; style-src {styles}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    return HTMLResponse(text, headers={"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"})
