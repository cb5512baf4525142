"""Candidates: methods and k side by side, what each loses and what risk it leaves."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ...algorithms.registry import METHODS
from ...errors import CoterieError
from ...facts.comparison import with_threshold
from ...recipe import Recipe
from ...report.analysis_view import analyses_view
from ...report.candidates import shown_percents, threshold_words, why_best, with_overlap
from ...report.frontier import risk_utility
from ...report.internal_view import risk
from ...report.release_view import release
from ...report.words import NONE, fixed
from .. import edits
from ..asked import Asked
from ..render import listed, page, to
from ..session import Session, Tried
from ..wording import on_page
from ..worker import Made

_DEFAULT = ("mdav", "mdav*", "auto")
_FOR_UNITS = ("mdav", "auto")
_SLOW = ("exact",)  # proves optimality; for hundreds of records
_MOST = 60


def show(asked: Asked) -> Response:
    """The map, the table, and what to try next."""
    session = asked.session
    if not session.ready:
        return not_yet(asked)
    recipe = session.need_ready()
    order = sorted(session.tried, key=lambda t: (t.reached.k, _loss(t), t.reached.method))
    reached = [t.reached for t in order]
    risk = None if recipe.promise is None else recipe.promise.risk
    marked = with_threshold(reached, recipe.k) if risk is not None else reached
    now = next((i for i, t in enumerate(order) if _is_chosen(session, t)), None)
    first, other = _two(order, now)
    return page(
        asked,
        "candidates.html.j2",
        rows=[
            _row(session, t, shown) | {"least": c.chosen, "above": c.within_risk is False}
            for t, c, shown in zip(order, marked, shown_percents(reached), strict=True)
        ],
        threshold=threshold_words(marked, risk) if order else "",
        picture=risk_utility(reached, [f"/candidates/{t.number}" for t in order], now) if order else "",
        why=why_best(reached),
        overlaps=with_overlap(reached),
        methods=_methods(recipe),
        ks=_ks(recipe),
        scenarios=bool(recipe.scenarios),
        recipe=recipe,
        chosen=now is not None and reached[now].not_possible is None,
        possible=any(one.not_possible is None for one in reached),
        first=first,
        other=other,
    )


def _two(order: list[Tried], chosen: int | None) -> tuple[int, int]:
    """Two to compare: the chosen one, or the first, and the next best."""
    possible = [t for t in order if t.reached.not_possible is None]
    if len(possible) < 2:
        return 0, 0
    first = order[chosen] if chosen is not None and order[chosen] in possible else possible[0]
    others = [t for t in possible if t is not first]
    return first.number, next((t for t in others if t.reached.best), others[0]).number


def not_yet(asked: Asked) -> Response:
    """What must be done before this page means something."""
    session = asked.session
    if session.opened is None or session.history is None:
        return to("/open")
    mistakes = [] if session.unconfirmed else listed(session.mistakes)
    return page(asked, "not_yet.html.j2", unconfirmed=len(session.unconfirmed), mistakes=mistakes)


def _loss(tried: Tried) -> float:
    return float("inf") if tried.reached.loss_percent is None else tried.reached.loss_percent


def _is_chosen(session: Session, tried: Tried) -> bool:
    return tried.document == session.document


def _row(session: Session, tried: Tried, shown: tuple[str, str, str]) -> dict[str, Any]:
    reached = tried.reached
    here = edits.with_method(session.document, reached.k, reached.method)
    return {
        "number": tried.number,
        "method": reached.method,
        "k": reached.k,
        "loss": shown[0] or NONE,
        "linked": shown[1] or NONE,
        "largest": shown[2] or NONE,
        "seconds": fixed(reached.seconds, 2),
        "overlap": fixed(reached.least_overlap_share, 2),
        "best": reached.best,
        "frontier": reached.on_frontier,
        "reason": None if reached.not_possible is None else on_page(reached.not_possible),
        "chosen": _is_chosen(session, tried),
        "differs": [] if here == tried.document else edits.differing(here, tried.document),
        "looked": tried.made is not None,
    }


def _methods(recipe: Recipe) -> list[dict[str, Any]]:
    """The methods that can group the records of this recipe."""
    usual = _FOR_UNITS if recipe.unit_column else _DEFAULT
    fitting = []
    for name, method in METHODS.items():
        no = method.by_column or method.only_k is not None or method.only_columns is not None
        if no or name in _SLOW or (recipe.unit_column and name not in _FOR_UNITS):
            continue
        fitting.append({"name": name, "what": method.what, "paper": method.paper, "usual": name in usual})
    return fitting


def _ks(recipe: Recipe) -> str:
    usual = dict.fromkeys(sorted({3, 5, 10, recipe.k}))
    return ", ".join(str(k) for k in usual)


def try_some(asked: Asked) -> Response:
    """Try methods and k: a job."""
    session, form = asked.session, asked.form
    recipe = session.need_ready()
    ks = [recipe.k] if recipe.scenarios else _numbers(form.text("k"))
    methods = [name for name in form.texts("method") if name in METHODS]
    if not ks or not methods:
        raise CoterieError("Give at least one k and one method.", f"{len(ks)} and {len(methods)}")
    if len(ks) * len(methods) > _MOST:
        raise CoterieError(f"At most {_MOST} candidates are tried at once.", f"{len(ks) * len(methods)}")
    documents = [edits.with_method(session.document, k, method) for k in ks for method in methods]
    documents = [document for document in documents if _reads(document)]
    words = f"Trying {len(documents)} candidate{'s' if len(documents) != 1 else ''}"

    def finish(reached: Any) -> None:
        session.add_tried(documents, reached)

    session.jobs.start(words, "/candidates", finish, ("candidates", session.opening, documents))
    return to("/candidates")


def _reads(document: Any) -> bool:
    """Whether it is a recipe; if not, its mistakes are raised."""
    return Recipe(**document) is not None


def _numbers(text: str) -> list[int]:
    pieces = [piece for piece in text.replace(",", " ").replace(";", " ").split() if piece]
    if not all(piece.isascii() and piece.isdigit() and len(piece) < 9 for piece in pieces):
        raise CoterieError("k must be a comma-separated list of whole numbers.", "another text")
    return list(dict.fromkeys(int(piece) for piece in pieces))


def choose(asked: Asked) -> Response:
    """Take a candidate's recipe."""
    session = asked.session
    tried = session.candidate(asked.form.number("number"))
    if tried.reached.not_possible is not None:
        raise CoterieError("The candidate must be possible.", "one that is not")
    session.edit(f"candidate {tried.reached.method}, k = {tried.reached.k}", tried.document)
    return to("/release" if "on" in asked.form else "/candidates")


def drop(asked: Asked) -> Response:
    """Forget a candidate, or all."""
    session = asked.session
    if "all" in asked.form:
        session.tried = []
    else:
        gone = session.candidate(asked.form.number("number"))
        session.tried = [t for t in session.tried if t is not gone]
    session.weigh()
    return to("/candidates")


def look(asked: Asked) -> Response:
    """Make a candidate as it would be released, without writing it, to see all that there is to see."""
    tried = asked.session.candidate(asked.number("number"))
    _look(asked.session, tried, f"/candidates/{tried.number}")
    return to(f"/candidates/{tried.number}")


def _look(session: Session, tried: Tried, at: str) -> None:
    def finish(made: Made) -> None:
        tried.made = made

    words = f"Looking closer at {tried.reached.method}, k = {tried.reached.k}"
    session.jobs.start(words, at, finish, ("rehearse", session.opening, tried.document))


def one(asked: Asked) -> Response:
    """A candidate: per column, for analysts, risk before and after."""
    session = asked.session
    tried = session.candidate(asked.number("number"))
    (shown,) = shown_percents([tried.reached])
    made = tried.made
    return page(
        asked,
        "candidate.html.j2",
        row=_row(session, tried, shown),
        view=None if made is None else release(made.facts),
        risk=None if made is None else risk(made.facts),
        analyses=() if made is None else analyses_view(made.facts.analyses or ()),
        warned=() if made is None else made.warned,
    )


def pair(asked: Asked) -> Response:
    """Two candidates beside each other."""
    session = asked.session
    two = [session.candidate(asked.query.number(name, -1)) for name in ("a", "b")]
    shown = shown_percents([t.reached for t in two])
    rows = [_row(session, t, s) for t, s in zip(two, shown, strict=True)]
    made = [t.made for t in two]
    views = [release(m.facts) for m in made if m is not None]
    both = len(views) == 2
    return page(
        asked,
        "pair.html.j2",
        rows=rows,
        both=both,
        views=views,
        columns=_beside(views) if both else [],
        risks=[risk(m.facts) for m in made if m is not None] if both else [],
    )


def look_at_pair(asked: Asked) -> Response:
    """Make the one of the two that was not looked at yet."""
    session, form = asked.session, asked.form
    numbers = [form.number(name, -1) for name in ("a", "b")]
    at = f"/candidates/pair?a={numbers[0]}&b={numbers[1]}"
    missing = [t for t in map(session.candidate, numbers) if t.made is None]
    if missing and "look" in form:
        _look(session, missing[0], at)
    return to(at)


def _beside(views: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns of two candidates: loss of each, and distributions."""
    pictures = [{d["name"]: d for d in view["distributions"]} for view in views]
    names = [c["name"] for c in views[0]["columns"] if c["loss"] != NONE]
    losses = [{c["name"]: c["loss"] for c in view["columns"]} for view in views]
    return [
        {"name": name, "losses": [of.get(name, NONE) for of in losses],
         "pictures": [of[name]["picture"] if name in of else "" for of in pictures]}
        for name in names
    ]  # fmt: skip
