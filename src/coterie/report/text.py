"""The facts of a release in a terminal: name, value, and the value in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import guidance
from .reading import Facts, count, items, least_k, names, number, part, rows, text
from .words import NONE, counted, percent, plain, share

if TYPE_CHECKING:
    from rich.table import Table

Line = tuple[str, str, str]


def terminal(facts: Facts) -> list[Line]:
    """The lines: name, value, and what the value means."""
    output, loss = part(facts, "output"), part(facts, "measures", "loss")
    k, verdict = least_k(facts), part(facts, "verdict").get("ok")
    lines = [
        ("released", _released(output), _left_out(output)),
        ("hides among", f"{k or NONE} records", "at least, in every group"),
        *[_grouping(row) for row in rows(facts, "groupings")],
        ("loss", percent(loss.get("loss"), 2), "of the variation in the masked columns is gone; lower is better"),
        *_worst(part(loss, "columns")),
        *_risk(part(facts, "measures", "risk")),
        (
            "check",
            "passed" if verdict is True else "FAILED" if verdict is False else "not made",
            guidance.promise(facts),
        ),
    ]
    return [*lines, *(("note", "", note) for note in names(items(facts, "notes")))]


def as_text(facts: Facts) -> str:
    """The lines as plain text."""
    lines = terminal(facts)
    width = max(len(name) for name, _, _ in lines)
    return "\n".join(f"{name:<{width}}  {_joined(value, words)}".rstrip() for name, value, words in lines)


def as_table(facts: Facts) -> Table:
    """The lines for a terminal, with the plain words set back."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for name, value, words in terminal(facts):
        bad = value == "FAILED"
        style = "bold red" if bad else "green" if value == "passed" else ""
        table.add_row(Text(name, style="bold"), Text(value, style=style), Text(words, style="" if bad else "dim"))
    return table


def _joined(value: str, words: str) -> str:
    if value and words:
        return f"{value}  ({words.rstrip('.')})"
    return value or words


def _released(output: Facts) -> str:
    return f"{counted(output.get('records'), 'record')} in {counted(output.get('columns'), 'column')}"


def _left_out(output: Facts) -> str:
    parts = []
    if count(output.get("suppressed")):
        parts.append(f"{counted(output.get('suppressed'), 'record')} left out")
    if count(output.get("blanked")):
        parts.append(f"{counted(output.get('blanked'), 'value')} blanked")
    if isinstance(output.get("shuffled"), bool):
        parts.append("rows in random order" if output["shuffled"] else "rows in their original order")
    return ", ".join(parts)


def _grouping(row: Facts) -> Line:
    name = text(row.get("name"))
    called = "groups" if name in (None, "all") else f"groups ({name})"
    chosen = text(part(row, "params").get("method"))
    method = (text(row.get("method")) or NONE) + (f", which chose {chosen}" if chosen else "")
    proven = guidance.bound(row)
    return (
        called,
        f"{counted(row.get('groups'))} by {method}",
        proven or f"{percent(row.get('loss'), 2)} of the variation is in the groups",
    )


def _worst(columns: Facts) -> list[Line]:
    found = [(v, name) for name, of in columns.items() if (v := number(part(of).get("loss"))) is not None]
    if len(found) < 2:
        return []
    (most, worst), (least, best) = max(found), min(found)
    return [("by column", f"{percent(least)} to {percent(most)}", f"least in {best}, most in {worst}")]


def _risk(risk: Facts) -> list[Line]:
    lines = []
    for row in rows(risk, "scenarios"):
        before, after = part(row, "before"), part(row, "after")
        name = text(row.get("name"))
        called = "risk" if name in (None, "all") else f"risk ({name})"
        change = f"{share(before.get('largest_risk'))} → {share(after.get('largest_risk'))}"
        unique = f"{counted(before.get('unique'))} → {counted(after.get('unique'))} unique records"
        lines.append((called, change, f"largest risk of a record, before → after; {unique}"))
    linkage = part(risk, "linkage")
    if number(linkage.get("share")) is not None:
        guess = number(linkage.get("baseline"))
        words = "of the records are found by linking the release to the original"
        lines.append(
            ("linkage", share(linkage["share"]), words + (f"; guessing finds {share(guess)}" if guess else ""))
        )
    constant = max((count(row.get("constant_classes")) or 0 for row in rows(risk, "confidential")), default=0)
    if constant:
        lines.append(
            (
                "constant",
                plain(constant),
                "classes with one confidential value at most, at worst: they tell it of all in them",
            )
        )
    return lines
