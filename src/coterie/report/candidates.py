"""The candidates of a comparison as a table, for a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import printable
from ..facts.comparison import Candidate

if TYPE_CHECKING:
    from rich.table import Table

HEAD = ("method", "k", "loss", "linked", "largest risk", "seconds", "")
MEANING = """\
loss: share of the variation in the quasi-identifiers that is lost; linked: records whose nearest original is their own;
largest risk: 1 / smallest equivalence class; seconds: CPU time. On the frontier: no other candidate has less loss and
no more links, or fewer links and no more loss."""
_WIDTHS = (14, 5, 10, 10, 14, 9)


def as_text(candidates: Sequence[Candidate]) -> str:
    """The table as plain text, with what its columns mean."""
    lines = [_line(HEAD)]
    for candidate in candidates:
        if candidate.not_possible is None:
            lines.append(_line(_cells(candidate)))
        else:
            lines.append(f"{candidate.method:<14}{candidate.k:>5}  not possible: {printable(candidate.not_possible)}")
    return "\n".join([*lines, MEANING])


def as_table(candidates: Sequence[Candidate]) -> Table:
    """The table for a terminal: what is on the frontier stands out."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, caption=Text(MEANING.replace("\n", " ")), caption_justify="left", pad_edge=False)
    for j, name in enumerate(HEAD):
        table.add_column(name, justify="left" if j in (0, len(HEAD) - 1) else "right", no_wrap=j < len(HEAD) - 1)
    for candidate in candidates:
        style = "bold" if candidate.on_frontier else "dim" if candidate.not_possible is not None else ""
        table.add_row(*(Text(cell, style=style) for cell in _cells(candidate)))
    return table


def _cells(candidate: Candidate) -> tuple[str, ...]:
    """What the table says of a candidate. The reason of one that is not possible is a text: it may look like markup."""
    name, k = candidate.method, str(candidate.k)
    if candidate.not_possible is not None:
        return name, k, "", "", "", "", f"not possible: {printable(candidate.not_possible)}"
    shares = (candidate.loss_percent, candidate.linked_percent, candidate.largest_risk_percent)
    seconds = "" if candidate.seconds is None else f"{candidate.seconds:.2f}"
    return name, k, *(_percent(share) for share in shares), seconds, "on the frontier" if candidate.on_frontier else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.3g} %"


def _line(cells: Sequence[str]) -> str:
    name, *numbers, last = cells
    aligned = (f"{cell:>{width}}" for cell, width in zip(numbers, _WIDTHS[1:], strict=True))
    return f"{name:<{_WIDTHS[0]}}{''.join(aligned)}  {last}".rstrip()
