"""The facts of a release in a terminal: name, value, and the value in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import printable
from ..facts.measures import ColumnLoss, RiskMeasures
from ..facts.release_facts import GroupingFacts, OutputFacts, ReleaseFacts
from . import guidance
from .words import counted, percent, plain, share

if TYPE_CHECKING:
    from rich.table import Table

Line = tuple[str, str, str]


def terminal(facts: ReleaseFacts) -> list[Line]:
    """The lines: name, value, and what the value means."""
    output, loss = facts.output, facts.measures.loss
    lines = [
        ("released", _released(output), _left_out(output)),
        ("hides among", f"{facts.least_k} records", "at least, in every group"),
        *[_grouping(grouping) for grouping in facts.groupings],
        ("loss", percent(loss.loss_percent, 2), "of the variation in the masked columns is gone; lower is better"),
        *_worst(loss.columns),
        *_risk(facts.measures.risk),
        _check(facts),
    ]
    lines += [("note", "", note) for note in facts.notes]
    return [(printable(name), printable(value), printable(words)) for name, value, words in lines]


def as_text(facts: ReleaseFacts) -> str:
    """The lines as plain text."""
    lines = terminal(facts)
    width = max(len(name) for name, _, _ in lines)
    return "\n".join(f"{name:<{width}}  {_joined(value, words)}".rstrip() for name, value, words in lines)


def as_table(facts: ReleaseFacts) -> Table:
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


def _check(facts: ReleaseFacts) -> Line:
    if facts.verdict is None:
        return "check", "not made", "It is made on the written file, and nothing was written."
    return "check", "passed" if facts.verdict.ok else "FAILED", guidance.promise(facts)


def _released(output: OutputFacts) -> str:
    return f"{counted(output.records, 'record')} in {counted(output.columns, 'column')}"


def _left_out(output: OutputFacts) -> str:
    parts = []
    if output.suppressed:
        parts.append(f"{counted(output.suppressed, 'record')} left out")
    if output.blanked:
        parts.append(f"{counted(output.blanked, 'value')} blanked")
    return ", ".join([*parts, "rows in random order" if output.shuffled else "rows in their original order"])


def _grouping(grouping: GroupingFacts) -> Line:
    called = "groups" if grouping.name == "all" else f"groups ({grouping.name})"
    chosen = grouping.params.get("method")
    method = grouping.method + (f", which chose {chosen}" if chosen else "")
    proven = guidance.bound(grouping)
    return (
        called,
        f"{counted(grouping.groups)} by {method}",
        proven or f"{percent(grouping.loss_percent, 2)} of the variation is in the groups",
    )


def _worst(columns: Mapping[str, ColumnLoss]) -> list[Line]:
    found = [(of.loss_percent, name) for name, of in columns.items() if of.loss_percent is not None]
    if len(found) < 2:
        return []
    (most, worst), (least, best) = max(found), min(found)
    return [("by column", f"{percent(least)} to {percent(most)}", f"least in {best}, most in {worst}")]


def _risk(risk: RiskMeasures) -> list[Line]:
    lines = []
    for scenario in risk.scenarios:
        before, after = scenario.before, scenario.after
        called = "risk" if scenario.name == "all" else f"risk ({scenario.name})"
        change = f"{share(before.largest_risk)} → {share(after.largest_risk)}"
        unique = f"{counted(before.unique)} → {counted(after.unique)} unique records"
        lines.append((called, change, f"largest risk of a record, before → after; {unique}"))
    if risk.linkage.share is not None:
        words = "of the records are found by linking the release to the original; guessing finds "
        lines.append(("linkage", share(risk.linkage.share), words + share(risk.linkage.baseline_share)))
    constant = max((one.constant_classes or 0 for one in risk.confidential), default=0)
    if constant:
        lines.append(
            (
                "constant",
                plain(constant),
                "classes with one confidential value at most, at worst: they tell it of all in them",
            )
        )
    return lines
