"""From facts to a page: the templates, and what every page shows around its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from .._version import __version__
from ..errors import CoterieError, PromiseError, printable
from ..recipe import RecipeError
from ..recipe.fields import UNDECIDED, Mistake
from .asked import Asked
from .session import Session
from .wording import on_page

if TYPE_CHECKING:
    from jinja2 import Environment

_MOST_LISTED = 100  # mistakes
STEPS = (
    ("open", "Open"),
    ("columns", "Columns"),
    ("promise", "Promise"),
    ("candidates", "Candidates"),
    ("release", "Release"),
    ("check", "Check"),
)


_PLACES = {
    ("unit", "column"): "Whose records they are",
    ("columns",): "Columns",
    ("missing", "policy"): "Missing values",
    ("missing", "small"): "Missing values",
    ("strata", "within"): "Strata",
    ("strata", "small"): "Strata",
    ("weights", "column"): "Sampling weights",
}
_PAGES = (*(name for name, _ in STEPS), "history", "recipe", "docs", "quit")


def page(asked: Asked, template: str, **view: Any) -> Response:
    """A whole page. What is wrong with the form that was sent is shown at its head."""
    session = asked.session
    problem = asked.problem
    status = 200 if problem is None else 409 if isinstance(problem, PromiseError) else 422
    told = None if problem is None else _problem(problem)
    shown = {**_frame(session, asked.path), "back": _back(asked), "query": _query(asked), "problem": told, **view}
    return HTMLResponse(environment().get_template(template).render(shown), status)


def _back(asked: Asked) -> str:
    """Where this page is shown again: where forms alone are sent to, nothing is shown."""
    here = asked.path.strip("/").split("/")[0]
    if here not in _PAGES:
        return "/"
    return asked.path if asked.method == "GET" else f"/{here}"


def _query(asked: Asked) -> tuple[tuple[str, str], ...]:
    """What else says which page this is."""
    return asked.query.pairs if asked.method == "GET" else ()


def to(path: str) -> Response:
    """Go on at another page."""
    return RedirectResponse(path, 303)


def _frame(session: Session, path: str) -> dict[str, Any]:
    """What stands around every page: the steps, the file, undo and redo, the job."""
    history, job = session.history, session.jobs.last
    here = path.strip("/").split("/")[0]
    notes, session.notes = session.notes, []
    shown = job is not None and (job.running or job.state != "done")
    return {
        "version": __version__,
        "state": session.version,
        "here": here,
        "steps": [
            {"path": f"/{name}", "name": words, "number": i + 1, "here": name == here, "open": _may(session, name)}
            for i, (name, words) in enumerate(STEPS)
        ],
        "file": None if session.opened is None else session.opened.opening.path.name,
        "undo": None if history is None else history.undone,
        "redo": None if history is None else history.redone,
        "keeping": session.keeping,
        "job": job if shown else None,
        "notes": notes,
    }


def _may(session: Session, name: str) -> bool:
    """Whether a step can be taken yet."""
    if name in ("open", "check"):
        return True
    if name == "columns":
        return session.opened is not None
    if name == "promise":
        return session.history is not None and not session.unconfirmed
    return session.ready


def _problem(error: CoterieError) -> dict[str, Any]:
    if isinstance(error, RecipeError):
        what = "The recipe is incomplete or has mistakes."
        return {"what": what, "got": None, "hint": None, "list": listed(error.mistakes)}
    hint = None if error.hint is None else on_page(error.hint)
    return {"what": error.what, "got": error.got, "hint": hint, "list": []}


def mistake_words(mistake: Mistake) -> dict[str, str]:
    """A mistake of a recipe as a page shows it, in the recipe's words; its hint is in those of the page."""
    place = _PLACES.get(mistake.path) or ".".join(
        mistake.path[1:] if mistake.path[:1] == ("columns",) else mistake.path
    )
    if mistake.got == f"'{UNDECIDED}'":
        what = "Choose what k counts: records or persons." if mistake.path[0] == "unit" else "This is still undecided."
        return {"place": place, "what": what, "got": "", "hint": ""}
    return {"place": place, "what": mistake.what, "got": mistake.got or "", "hint": on_page(mistake.hint or "")}


def listed(mistakes: list[Mistake]) -> list[dict[str, str]]:
    """Mistakes as a page lists them: the first ones, and how many more there are."""
    words = [mistake_words(m) for m in mistakes[:_MOST_LISTED]]
    more = len(mistakes) - len(words)
    return [*words, {"place": "…", "what": f"And {more:,} more.", "got": "", "hint": ""}] if more else words


def mistakes_at(session: Session, *path: str) -> list[dict[str, str]]:
    """What is wrong at a place of the recipe, for the field that shows it."""
    return listed(session.mistakes_at(*path))


def _shown(value: Any) -> Any:
    """A value as a page shows it: names may hold anything. (What is markup already was made so.)"""
    return printable(value, lines=True) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _seconds(value: float | None) -> str:
    """A time in words that nobody has to calculate with."""
    if value is None:
        return ""
    if value < 1:
        return "less than a second"
    if value < 90:
        return f"{value:.0f} second{'s' if round(value) != 1 else ''}"
    if value < 5_400:
        return f"{value / 60:.0f} minutes"
    return f"{value / 3_600:.1f} hours"


@cache
def environment() -> Environment:
    """The templates: those of the page, and those of the reports, whose parts it shows."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=ChoiceLoader([PackageLoader("coterie", "ui/templates"), PackageLoader("coterie", "report/templates")]),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["picture"] = Markup  # our own SVG, whose texts are escaped where it is made
    made.filters["on_page"] = on_page
    made.filters["seconds"] = _seconds
    made.filters["count"] = lambda value: f"{value:,}"
    made.globals["plural"] = lambda n, one, many=None: f"{n:,} {one if n == 1 else many or one + 's'}"
    return made
