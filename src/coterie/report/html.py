"""The pages: self-contained HTML without scripts and without a single request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

from ..errors import printable
from ..facts.comparison import Candidate
from ..facts.release_facts import ReleaseFacts
from . import charts
from .candidates import shown_percents, why_best
from .internal_view import custody, risk
from .public import public
from .release_view import release
from .words import NONE, fixed, plain

if TYPE_CHECKING:
    from jinja2 import Environment


def render_public(facts: ReleaseFacts) -> str:
    """The report that goes out with the data: methods, information loss, what analysts must know, limits.

    Only what `coterie.report.public.public` lets pass is used.
    """
    return _page("public.html.j2", {"view": release(public(facts))})


def render_internal(facts: ReleaseFacts) -> str:
    """The report for the custodian: all of the public one, risk before and after, seed, recipe and notes."""
    return _page("internal.html.j2", {"view": release(facts), "risk": risk(facts), "custody": custody(facts)})


def render_compare(candidates: Sequence[Candidate]) -> str:
    """The risk-utility map of several candidates, with a table."""
    order = sorted(candidates, key=lambda c: (c.k, inf if c.loss_percent is None else c.loss_percent, c.method))
    shown = shown_percents(order)
    table = [{
        "method": c.method,
        "k": plain(c.k),
        "loss": loss or NONE,
        "risk": linked or NONE,
        "largest": largest or NONE,
        "seconds": fixed(c.seconds, 2),
        "best": c.best,
        "frontier": c.on_frontier,
        "reason": c.not_possible,
    } for c, (loss, linked, largest) in zip(order, shown, strict=True)]  # fmt: skip
    best, frontier, failed = (sum(bool(row[name]) for row in table) for name in ("best", "frontier", "reason"))
    view = {"table": table, "best": best, "frontier": frontier, "failed": failed, "why": why_best(order)}
    return _page("compare.html.j2", view | {"picture": charts.risk_utility(order)})


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
    return environment
