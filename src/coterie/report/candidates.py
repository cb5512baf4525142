"""The candidates of a comparison as a table, for a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ..errors import printable
from ..facts.comparison import MOST_BEST, Candidate
from .words import fixed, in_percent

if TYPE_CHECKING:
    from rich.table import Table

HEAD = ("method", "k", "information loss", "linked", "largest risk", "seconds", "")
MEANING = (
    "information loss: 0 %, values unchanged, to 100 %, one value for all; linked: records re-identified by linking "
    "each to the nearest original; largest risk: 1 / smallest equivalence class, or 1 / fewest units of one, where a "
    "unit with several records of a class may be linked more often; seconds: CPU time. On the frontier "
    "(not dominated): no other candidate has less loss and no more links, or fewer links and no more loss. Best: "
)
WHY = "for each k, the candidate on the frontier that loses least"
WHY_SOME = (
    "of the candidates on the frontier that lose least for their k, the one that loses least, the one with the fewest "
    "links, and the three nearest to the corner where both are least"
)
COMPARABLE = (
    "The information loss gives all columns equal weight, whatever their importance, so that candidates "
    "can be compared."
)
_WIDTHS = (14, 5, 18, 12, 14, 9)
OVERLAP = "least overlap"  # a column of its own, before the last, where there are analyses
OVERLAP_MEANING = (
    " Least overlap: of the confidence intervals of the recipe's analyses, before and after; from 1, the same, to 0, "
    "disjoint."
)


def weighed_columns(candidates: Sequence[Candidate]) -> list[str]:
    """The columns whose importance differs between candidates, or might."""
    return list(dict.fromkeys(name for candidate in candidates for name in candidate.importance))


def in_words(candidate: Candidate) -> str:
    """What a candidate is, beside its k: its method, and the importances that were varied."""
    return ", ".join([candidate.method, *(f"{name} {weight:g}" for name, weight in candidate.importance.items())])


def threshold_words(candidates: Sequence[Candidate], risk: float | None) -> str:
    """Which candidate loses least of those that keep the risk that was asked for; nothing if none was."""
    if risk is None:
        return ""
    one = next((candidate for candidate in candidates if candidate.chosen), None)
    if one is None:
        return f"No candidate has a largest re-identification risk of at most {risk}."
    lost = "" if one.loss_percent is None else f", information loss {in_percent(one.loss_percent, 2)} %"
    return f"Least loss with a largest re-identification risk of at most {risk}: {in_words(one)}, k = {one.k}{lost}."


def why_best(candidates: Sequence[Candidate]) -> str:
    """By what rule the best of these were chosen."""
    ks = {c.k for c in candidates if c.on_frontier}
    return WHY if len(ks) <= MOST_BEST else WHY_SOME


def as_text(candidates: Sequence[Candidate], risk: float | None = None) -> str:
    """The table as plain text, with what its columns mean."""
    weighed, told = weighed_columns(candidates), with_overlap(candidates)
    heads, widths = _heads(weighed, told), _widths(weighed, told)
    lines = [_line(heads, widths)]
    shown = shown_percents(candidates)
    for candidate, percents in zip(candidates, shown, strict=True):
        cells = _cells(candidate, percents, weighed, told)
        if candidate.not_possible is None:
            lines.append(_line(cells, widths))
        else:
            first = 2 + len(weighed)
            lines.append(f"{_line((*cells[:first], ''), widths)}  {cells[-1]}")
    chosen = [printable(words) for words in (threshold_words(candidates, risk),) if words]
    return "\n".join([*lines, *chosen, *wrap(_caption(candidates, weighed), 120)])


def _caption(candidates: Sequence[Candidate], weighed: Sequence[str]) -> str:
    overlaps = OVERLAP_MEANING if with_overlap(candidates) else ""
    return f"{MEANING}{why_best(candidates)}." + (f" {COMPARABLE}" if weighed else "") + overlaps


def with_overlap(candidates: Sequence[Candidate]) -> bool:
    """Whether any candidate was held against analyses."""
    return any(candidate.least_overlap_share is not None for candidate in candidates)


def as_table(candidates: Sequence[Candidate], risk: float | None = None) -> Table:
    """The table for a terminal: what is best stands out."""
    from rich.table import Table
    from rich.text import Text

    weighed, told = weighed_columns(candidates), with_overlap(candidates)
    heads = _heads(weighed, told)
    words = " ".join(part for part in (threshold_words(candidates, risk), _caption(candidates, weighed)) if part)
    table = Table(box=None, caption=Text(printable(words)), caption_justify="left", pad_edge=False)
    for j, name in enumerate(heads):
        table.add_column(name, justify="left" if j in (0, len(heads) - 1) else "right", no_wrap=j < len(heads) - 1)
    for candidate, percents in zip(candidates, shown_percents(candidates), strict=True):
        dim = candidate.not_possible is not None
        style = "bold" if candidate.chosen or (risk is None and candidate.best) else "dim" if dim else ""
        table.add_row(*(Text(cell, style=style) for cell in _cells(candidate, percents, weighed, told)))
    return table


def _heads(weighed: Sequence[str], told: bool) -> tuple[str, ...]:
    names = [printable(name) for name in weighed]
    more = (*(f"importance of {name}" for name in names), HEAD[2], *(f"loss of {name}" for name in names))
    return (*HEAD[:2], *more, *HEAD[3:-1], *([OVERLAP] if told else []), HEAD[-1])


def _widths(weighed: Sequence[str], told: bool) -> tuple[int, ...]:
    long = [max(4, len(printable(name))) for name in weighed]
    more = [len(OVERLAP) + 2] if told else []
    return (*_WIDTHS[:2], *(n + 16 for n in long), _WIDTHS[2], *(n + 10 for n in long), *_WIDTHS[3:], *more)


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


def _cells(candidate: Candidate, percents: Percents, weighed: Sequence[str], told: bool) -> tuple[str, ...]:
    """What the table says of a candidate. The reason of one that is not possible is a text: it may look like markup."""
    name, k = candidate.method, str(candidate.k)
    weights = [f"{candidate.importance[n]:g}" if n in candidate.importance else "" for n in weighed]
    if candidate.not_possible is not None:
        reason = f"not possible: {printable(candidate.not_possible)}"
        return name, k, *weights, *[""] * (4 + len(weighed) + told), reason
    seconds = "" if candidate.seconds is None else f"{candidate.seconds:.2f}"
    loss, *risks = (f"{shown} %" if shown else "" for shown in percents)
    reached = [loss, *column_losses(candidate, weighed), *risks, seconds]
    overlap = [fixed(candidate.least_overlap_share, 2)] if told else []
    return name, k, *weights, *reached, *overlap, result_words(candidate)


def column_losses(candidate: Candidate, weighed: Sequence[str]) -> list[str]:
    """What each of the columns lost whose importance was varied."""
    losses = (candidate.column_losses_percent.get(name) for name in weighed)
    return ["" if loss is None else f"{in_percent(loss, 2)} %" for loss in losses]


def result_words(candidate: Candidate) -> str:
    """How a candidate came out, in a few words."""
    place = f"best for k = {candidate.k}" if candidate.best else "on the frontier" if candidate.on_frontier else ""
    risk = (
        "least loss within the risk" if candidate.chosen else "above the risk" if candidate.within_risk is False else ""
    )
    return "; ".join(words for words in (risk, place) if words)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers, last = cells
    aligned = (f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=False))
    return f"{name:<{widths[0]}}{''.join(aligned)}  {last}".rstrip()
