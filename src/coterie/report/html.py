"""The pages: self-contained HTML without scripts and without a single request."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

from ..errors import printable
from ..facts.comparison import Candidate
from ..facts.release_facts import ReleaseFacts
from . import charts
from .analysis_view import analyses_view
from .candidates import (
    COMPARABLE,
    column_losses,
    shown_percents,
    threshold_words,
    weighed_columns,
    why_best,
    with_overlap,
)
from .difference_text import notes
from .internal_view import custody, risk
from .public import public
from .public_view import public_view
from .release_view import release
from .words import NONE, fixed, plain

if TYPE_CHECKING:
    from jinja2 import Environment


def render_public(facts: ReleaseFacts) -> str:
    """The report that goes out with the data: methods, information loss, what analysts must know, limits.

    Only what `coterie.report.public.public` lets pass is used.
    """
    return _page("public.html.j2", {"view": public_view(public(facts))})


def render_internal(facts: ReleaseFacts) -> str:
    """The report for the custodian: all of the public one, risk before and after, seed, recipe and notes."""
    facts = replace(facts, notes=(*facts.notes, *notes(facts.previous)))
    views = {"view": release(facts), "risk": risk(facts), "custody": custody(facts)}
    return _page("internal.html.j2", views | {"analyses": analyses_view(facts.analyses or ())})


def render_compare(candidates: Sequence[Candidate], threshold: float | None = None) -> str:
    """The risk-utility map of several candidates, with a table; `threshold` is the risk that was asked for, if any."""
    order = sorted(candidates, key=lambda c: (c.k, inf if c.loss_percent is None else c.loss_percent, c.method))
    weighed = weighed_columns(order)
    shown = shown_percents(order)
    table = [{
        "method": c.method,
        "k": plain(c.k),
        "loss": loss or NONE,
        "risk": linked or NONE,
        "largest": largest or NONE,
        "seconds": fixed(c.seconds, 2),
        "overlap": fixed(c.least_overlap_share, 2),
        "best": c.best,
        "frontier": c.on_frontier,
        "reason": c.not_possible,
        "weights": [f"{c.importance[name]:g}" if name in c.importance else NONE for name in weighed],
        "losses": [loss.removesuffix(" %") or NONE for loss in column_losses(c, weighed)],
        "chosen": c.chosen,
        "above": c.within_risk is False,
    } for c, (loss, linked, largest) in zip(order, shown, strict=True)]  # fmt: skip
    best, frontier, failed = (sum(bool(row[name]) for row in table) for name in ("best", "frontier", "reason"))
    view = {"table": table, "best": best, "frontier": frontier, "failed": failed, "why": why_best(order)}
    view |= {"weighed": weighed, "threshold": threshold_words(order, threshold), "comparable": COMPARABLE}
    view["overlaps"] = with_overlap(order)
    return _page("compare.html.j2", view | {"picture": charts.risk_utility(order)})


def style_hashes(page: str) -> tuple[str, ...]:
    """What a content policy says to allow the <style> elements of this page and no other style: `'sha256-...'`, quoted.

    The page may be anyone's, as that of a saved bundle: the time is linear in its length, and where it is not
    well-formed a style may be left out, which a browser then ignores.
    """
    text = page.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")  # as browsers do before they hash
    return tuple(dict.fromkeys(map(_style_source, _styles(text))))


_SIGNS = re.IGNORECASE | re.ASCII
_START = re.compile(r"<!--|<style(?=[ \t\n\f/>])", _SIGNS)
_TAG_END = re.compile(r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_STYLE_END = re.compile(r"</style(?=[ \t\n\f/>])", _SIGNS)
_COMMENT_END = re.compile(r"--!?>")


def _styles(text: str) -> Iterator[str]:
    """What stands in the style elements. No sign is looked at again: a search that finds nothing is the last one."""
    place = 0
    while found := _START.search(text, place):
        if found[0] == "<!--":
            past = _COMMENT_END.search(text, found.start() + 2)  # <!--> is a whole comment
        elif past := _TAG_END.match(text, found.end()):
            start, past = past.end(), _STYLE_END.search(text, past.end())
            yield text[start : past.start() if past else len(text)]
        if not past:
            return
        place = past.end()


def _style_source(style: str) -> str:
    digest = hashlib.sha256(style.encode("utf-8", "replace")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _page(template: str, view: dict[str, Any]) -> str:
    return _environment().get_template(template).render(view)


def _shown(value: Any) -> Any:
    """A value as a page shows it: names may hold anything. (What is markup already was made so.)"""
    return printable(value) if type(value) is str else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("coterie", "report/templates"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["picture"] = Markup  # our own SVG, whose texts are escaped where it is made
    style = f"\n{environment.get_template('style.css').render().strip()}\n"
    environment.globals |= {"style": Markup(style), "style_source": Markup(_style_source(style))}
    return environment
