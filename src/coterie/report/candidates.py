"""The candidates of a comparison as a table, for a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ..errors import printable
from ..facts.comparison import MOST_BEST, Candidate
from .words import in_percent

if TYPE_CHECKING:
    from rich.table import Table

HEAD = ("method", "k", "information loss", "linked", "largest risk", "seconds", "")
MEANING = (
    "information loss: 0 %, values unchanged, to 100 %, one value for all; linked: records re-identified by linking "
    "each to the nearest original; largest risk: 1 / smallest equivalence class; seconds: CPU time. On the frontier "
    "(not dominated): no other candidate has less loss and no more links, or fewer links and no more loss. Best: "
)
WHY = "for each k, the candidate on the frontier that loses least"
WHY_SOME = (
    "of the candidates on the frontier that lose least for their k, the one that loses least, the one with the fewest "
    "links, and the three nearest to the corner where both are least"
)
_WIDTHS = (14, 5, 18, 12, 14, 9)


def why_best(candidates: Sequence[Candidate]) -> str:
    """By what rule the best of these were chosen."""
    ks = {c.k for c in candidates if c.on_frontier}
    return WHY if len(ks) <= MOST_BEST else WHY_SOME


def as_text(candidates: Sequence[Candidate]) -> str:
    """The table as plain text, with what its columns mean."""
    lines = [_line(HEAD)]
    shown = shown_percents(candidates)
    for candidate, percents in zip(candidates, shown, strict=True):
        if candidate.not_possible is None:
            lines.append(_line(_cells(candidate, percents)))
        else:
            lines.append(f"{candidate.method:<14}{candidate.k:>5}  not possible: {printable(candidate.not_possible)}")
    return "\n".join([*lines, *wrap(f"{MEANING}{why_best(candidates)}.", 120)])


def as_table(candidates: Sequence[Candidate]) -> Table:
    """The table for a terminal: what is best stands out."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, caption=Text(f"{MEANING}{why_best(candidates)}."), caption_justify="left", pad_edge=False)
    for j, name in enumerate(HEAD):
        table.add_column(name, justify="left" if j in (0, len(HEAD) - 1) else "right", no_wrap=j < len(HEAD) - 1)
    for candidate, percents in zip(candidates, shown_percents(candidates), strict=True):
        style = "bold" if candidate.best else "dim" if candidate.not_possible is not None else ""
        table.add_row(*(Text(cell, style=style) for cell in _cells(candidate, percents)))
    return table


Percents = tuple[str, str, str]


def shown_percents(candidates: Sequence[Candidate]) -> list[Percents]:
    """Loss, links and largest risk of each: to as many decimals as tell apart those that differ, at most six."""
    columns = []
    for of in ("loss_percent", "linked_percent", "largest_risk_percent"):
        values = [getattr(c, of) for c in candidates]
        known = {round(v, 6) for v in values if v is not None}
        for decimals in range(2, 7):
            if len({in_percent(v, decimals) for v in known}) == len(known):
                break
        columns.append(["" if v is None else in_percent(v, decimals) for v in values])
    return list(zip(*columns, strict=True)) if candidates else []


def _cells(candidate: Candidate, percents: Percents) -> tuple[str, ...]:
    """What the table says of a candidate. The reason of one that is not possible is a text: it may look like markup."""
    name, k = candidate.method, str(candidate.k)
    if candidate.not_possible is not None:
        return name, k, "", "", "", "", f"not possible: {printable(candidate.not_possible)}"
    seconds = "" if candidate.seconds is None else f"{candidate.seconds:.2f}"
    last = f"best for k = {k}" if candidate.best else "on the frontier" if candidate.on_frontier else ""
    return name, k, *(f"{shown} %" if shown else "" for shown in percents), seconds, last


def _line(cells: Sequence[str]) -> str:
    name, *numbers, last = cells
    aligned = (f"{cell:>{width}}" for cell, width in zip(numbers, _WIDTHS[1:], strict=True))
    return f"{name:<{_WIDTHS[0]}}{''.join(aligned)}  {last}".rstrip()
