"""The pages: self-contained HTML without scripts and without a single request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from . import charts
from .facts import public
from .reading import Facts, count, number, text
from .risks import custody, risk
from .views import release
from .words import NONE, fixed, plain, share

if TYPE_CHECKING:
    from jinja2 import Environment


def render_public(facts: Facts) -> str:
    """The report that goes out with the data: methods, information loss, what analysts must know, limits.

    Parameters
    ----------
    facts : mapping
        All facts of a release, or the public ones: only what `coterie.report.facts.public` lets pass is used.
    """
    return _page("public.html.j2", {"view": release(public(facts))})


def render_internal(facts: Facts) -> str:
    """The report for the custodian: all of the public one, risk before and after, seed, recipe and notes."""
    return _page("internal.html.j2", {"view": release(facts), "risk": risk(facts), "custody": custody(facts)})


def render_compare(candidates: Sequence[Mapping[str, Any]]) -> str:
    """The risk-utility map of several candidates, with a table.

    Parameters
    ----------
    candidates : sequence of mappings
        Each with method, k, loss (percent), risk (expected share of records found by linkage), largest_risk, seconds
        and on_frontier (no other candidate has both less loss and less risk); or with not_possible, a reason.
    """
    some = [c for c in candidates if isinstance(c, Mapping)]
    order = sorted(some, key=lambda c: (count(c.get("k")) or 0, _or_last(c.get("loss")), text(c.get("method")) or ""))
    table = [{
        "method": text(c.get("method")) or NONE,
        "k": plain(c.get("k")),
        "loss": fixed(c.get("loss"), 2),
        "risk": share(c.get("risk"), 2).removesuffix("%").strip(),
        "largest": share(c.get("largest_risk"), 2).removesuffix("%").strip(),
        "seconds": fixed(c.get("seconds"), 2),
        "best": c.get("on_frontier") is True,
        "reason": text(c.get("not_possible")),
    } for c in order]  # fmt: skip
    best, failed = (sum(bool(row[name]) for row in table) for name in ("best", "reason"))
    view = {"table": table, "best": best, "failed": failed, "picture": charts.risk_utility(order)}
    return _page("compare.html.j2", view)


def _or_last(value: Any) -> float:
    found = number(value)
    return float("inf") if found is None else found


def _page(template: str, view: dict[str, Any]) -> str:
    return _environment().get_template(template).render(view)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("coterie", "report/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["picture"] = Markup  # our own SVG, whose texts are escaped where it is made
    return environment
