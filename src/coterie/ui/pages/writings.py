"""What is not a step of its own: the recipe as text, its history, the job, the documentation, the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

from ... import documentation
from ...errors import CoterieError, printable_toml
from ...formats.atomic import atomically
from ...recipe import Recipe
from .. import handbook
from ..asked import Asked
from ..guard import POLICY
from ..render import listed, page, to
from ..session import Session


def start(asked: Asked) -> Response:
    """Where the person is: at the first step that is not done."""
    session = asked.session
    if session.opened is None:
        return to("/open")
    return to("/columns" if session.unconfirmed else "/promise")


def _back(asked: Asked) -> str:
    """The page that a form was on; one of this server, whatever the form says."""
    path = asked.form.text("back")
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and len(path) < 200
    return path if plain else "/"


def undo(asked: Asked) -> Response:
    """Take the last step back."""
    asked.session.undo()
    return to(_back(asked))


def redo(asked: Asked) -> Response:
    """Do it again."""
    asked.session.redo()
    return to(_back(asked))


def history(asked: Asked) -> Response:
    """All steps."""
    session = asked.session
    if session.history is None:
        return to("/open")
    found = session.history
    steps = [{"number": i, "name": step.name, "now": i == found.at, "undone": i > found.at}
             for i, step in enumerate(found.steps)]  # fmt: skip
    return page(asked, "history.html.j2", list=steps[::-1], place=f"{session.opening.path.name}.coterie-history.json")


def go(asked: Asked) -> Response:
    """To a step."""
    asked.session.go(asked.form.number("number", -1))
    return to("/history")


def keep(asked: Asked) -> Response:
    """Keep the history beside the file, or no longer."""
    asked.session.keep("keep" in asked.form)
    return to("/history")


def cancel(asked: Asked) -> Response:
    """End the job."""
    asked.session.jobs.cancel()
    return to(_back(asked))


def recipe(asked: Asked) -> Response:
    """The recipe as text: to read, to copy, to change."""
    session = asked.session
    if session.history is None:
        return to("/open")
    text = asked.form.text("text") if asked.problem is not None and "text" in asked.form else _toml(session)
    whole = session.recipe
    return page(
        asked,
        "recipe.html.j2",
        text=text,
        complete=whole is not None and not session.unconfirmed,
        mistakes=listed(session.mistakes),
        unconfirmed=len(session.unconfirmed),
        place=(asked.form.text("file") if asked.path == "/recipe/save" else "") or _beside(session),
    )


def _toml(session: Session) -> str:
    import tomlkit

    if session.recipe is not None:
        return session.recipe.dumps()
    return printable_toml(tomlkit.dumps(dict(session.document)))


def _beside(session: Session) -> str:
    file = session.opening.path
    return session.locations.below(file.with_name(f"{file.name.split('.')[0] or 'data'}-recipe.toml"))


def edit_recipe(asked: Asked) -> Response:
    """Take the text for the recipe."""
    opened = asked.session.opened
    folder = None if opened is None else opened.opening.path.parent
    _take(asked.session, asked.form.text("text"), "the text", "recipe as text", folder)
    return to("/recipe")


def _take(session: Session, text: str, where: str, name: str, folder: Path | None) -> None:
    """A recipe that somebody wrote: it must be whole and fit the file, and says itself how that is read.

    Paths of earlier releases begin at the folder, and must lie below the root.
    """
    read = Recipe.loads(text, where, folder)
    opened = session.opened
    if opened is None:
        raise CoterieError("A file must be open.", "none", "open one first.")
    document = read.as_dict()
    for one in document.get("previous", {}).get("releases", ()):
        session.locations.bundle(one["bundle"])
        session.locations.either(one["input"])
    document.setdefault("seed", session.document["seed"])
    options = {n: v for n, v in document.get("file", {}).items() if n != "formulas"}
    if options == dict(opened.opening.options):
        read.check_columns(opened.names)
        session.edit(name, document, frozenset(opened.names))
        return

    def finish(anew: Any) -> None:
        read.check_columns(anew.names)  # before anything changes: the file and its recipe must fit
        session.opened = anew
        session.edit(name, document, frozenset(anew.names))

    session._open(opened.opening.path, options, finish)


def load_recipe(asked: Asked) -> Response:
    """Take a recipe from a file."""
    path = asked.session.locations.file(asked.form.text("file"))
    if path.stat().st_size > 4 << 20:
        raise CoterieError("A recipe must be a small file.", f"'{path.name}'")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CoterieError("A recipe must be a text in UTF-8.", f"'{path.name}'") from None
    _take(asked.session, text, f"'{path.name}'", f"recipe from {path.name}", path.parent)
    return to("/recipe")


def save_recipe(asked: Asked) -> Response:
    """Write the recipe to a file."""
    session = asked.session
    whole = session.need_ready()
    place = session.locations.new(asked.form.text("file"))
    if place.suffix.lower() != ".toml":
        raise CoterieError("The name of a recipe must end in .toml.", f"'{place.name}'")
    if place.exists() and "replace" not in asked.form:
        raise CoterieError("The file exists already.", f"'{place.name}'", "tick the box to replace it.")
    atomically(place, lambda path: _write(path, whole.dumps()), private=True)
    session.notes.append(f"The recipe was written to {session.locations.below(place)}. It holds the seed: keep it.")
    return to("/recipe")


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def docs(asked: Asked) -> Response:
    """A page of the documentation, which is part of the package."""
    path = asked.parts["path"]
    if (picture := handbook.picture(path)) is not None:
        return Response(picture[0], media_type=picture[1])
    title, html = handbook.page(path)
    return page(
        asked, "docs.html.j2", title=title, html=html, contents=handbook.CONTENTS, at=path, site=documentation.site()
    )


def site(asked: Asked) -> Response:
    """A file of the documentation's site: its styles hold pictures, and nothing in it runs but its own scripts."""
    content, kind = handbook.of_site(asked.parts["path"])
    policy = POLICY.replace("img-src 'self'", "img-src 'self' data:")
    return Response(content, media_type=kind, headers={"content-security-policy": policy})


def about_quitting(asked: Asked) -> Response:
    """What ends with the page."""
    session = asked.session
    running = session.jobs.last is not None and session.jobs.last.running
    return page(asked, "quit.html.j2", running=running, stopped=False)


def quit_(asked: Asked) -> Response:
    """Stop the server."""
    answer = page(asked, "quit.html.j2", running=False, stopped=True, file=None, job=None, steps=[])
    if callable(asked.stop):
        asked.stop()
    return answer
