"""The facts of a release in a terminal: name, value, and the value in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import printable
from ..facts.measures import ColumnLoss, KeptRisk, RiskMeasures
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
        *_classes(facts),
        *[_grouping(grouping) for grouping in facts.groupings],
        *_changed(loss.columns),
        ("information loss", percent(loss.loss_percent, 2), "0 %: values unchanged; 100 %: one common value for all"),
        *_worst(loss.columns),
        *_risk(facts.measures.risk),
        *_kept(facts.measures.risk.kept),
        _check(facts),
    ]
    lines += [("note", "", note) for note in facts.notes]
    return [(printable(name), printable(value), printable(words)) for name, value, words in lines]


def _classes(facts: ReleaseFacts) -> list[Line]:
    """The smallest equivalence class of each scenario, as it was counted in the file."""
    told = {"k-anonymity": ("smallest class", "record"), "k-anonymity of units": ("fewest units", "unit")}
    checks = [] if facts.verdict is None else [c for c in facts.verdict.checks if c.what in told]
    if not checks:
        return [("smallest class", f"at least {facts.least_k} records", "equivalence class; not counted in a file")]
    lines = []
    for check in checks:
        called, what = told[check.what]
        called = called if check.scenario == "all" else f"{called} ({check.scenario})"
        met = "met" if check.ok else "NOT met"
        words = f"of {counted(check.classes, 'equivalence class')}; k = {plain(check.wanted)} is {met}"
        lines.append((called, counted(int(check.found), what), words))
    return lines


def _changed(columns: Mapping[str, ColumnLoss]) -> list[Line]:
    """The columns of categories that changed most."""
    found = [(of.mismatch_share, name) for name, of in columns.items() if of.mismatch_share is not None]
    if not found:
        return []
    found.sort(key=lambda one: -one[0])
    shown = ", ".join(f"{name} {share(part)}" for part, name in found[:3])
    more = f" and {len(found) - 3} columns less" if len(found) > 3 else ""
    return [("changed", shown + more, "records whose category changed")]


def _kept(kept: KeptRisk | None) -> list[Line]:
    if kept is None:
        return []
    unique = f"{counted(kept.unique)} of {counted(kept.records, 'record')} unique"
    where = f"on the {counted(len(kept.columns), 'column')} released unchanged"
    return [("unchanged", unique, f"{where}; with the masked columns: {counted(kept.unique_with_masked)} unique")]


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
        parts.append(f"{counted(output.suppressed, 'record')} suppressed")
    if output.blanked:
        parts.append(f"{counted(output.blanked, 'value')} set to missing (local suppression)")
    return ", ".join([*parts, "rows in random order" if output.shuffled else "rows in their original order"])


def _grouping(grouping: GroupingFacts) -> Line:
    called = "groups" if grouping.name == "all" else f"groups ({grouping.name})"
    chosen = grouping.params.get("method")
    method = grouping.method + (f", which chose {chosen}" if chosen else "")
    proven = guidance.bound(grouping)
    return (
        called,
        f"{counted(grouping.groups)} by {method}",
        proven or f"{percent(grouping.loss_percent, 2)} of the variation is within them",
    )


def _worst(columns: Mapping[str, ColumnLoss]) -> list[Line]:
    found = [(of.loss_percent, name) for name, of in columns.items() if of.loss_percent is not None]
    if len(found) < 2:
        return []
    (most, worst), (least, best) = max(found), min(found)
    words = f"information loss: least in {best}, most in {worst}"
    return [("by column", f"{percent(least)} to {percent(most)}", words)]


def _risk(risk: RiskMeasures) -> list[Line]:
    lines = []
    for scenario in risk.scenarios:
        before, after = scenario.before, scenario.after
        called = "risk" if scenario.name == "all" else f"risk ({scenario.name})"
        change = f"{share(before.largest_risk)} → {share(after.largest_risk)}"
        unique = f"{counted(before.unique)} → {counted(after.unique)} unique {after.noun}"
        lines.append((called, change, f"largest re-identification risk, before → after; {unique}"))
    if risk.linkage.share is not None:
        words = "of the records are re-identified by linking them to the nearest original; by guessing "
        lines.append(("record linkage", share(risk.linkage.share), words + share(risk.linkage.baseline_share)))
    constant = max((one.constant_classes or 0 for one in risk.confidential), default=0)
    if constant:
        lines.append(
            (
                "constant",
                plain(constant),
                "equivalence classes with a single confidential value, at worst: it is known for every member",
            )
        )
    return lines
