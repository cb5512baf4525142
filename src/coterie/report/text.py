"""The facts of a release in a terminal: name, value, and the value in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import printable
from ..facts.difference_facts import PreviousFacts
from ..facts.measures import ColumnLoss, KeptRisk, LossMeasures, RiskMeasures
from ..facts.population_facts import PopulationRisk
from ..facts.prepared_facts import PreparedFacts
from ..facts.release_facts import GroupingFacts, OutputFacts, ReleaseFacts
from . import guidance
from .analysis_view import analyses_line
from .population_text import about
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
        *[_prepared(one) for one in facts.prepared],
        *[_grouping(grouping) for grouping in facts.groupings],
        *_changed(loss.columns),
        ("information loss", percent(loss.loss_percent, 2), "0 %: values unchanged; 100 %: one common value for all"),
        *_by_importance(loss),
        *_worst(loss.columns),
        *[_threshold(*one) for one in guidance.thresholds(facts)],
        *_risk(facts.measures.risk),
        *_kept(facts.measures.risk.kept),
        *analyses_line(facts.analyses),
        *_previous(facts.previous),
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


def _prepared(one: PreparedFacts) -> Line:
    return "prepared", f"{one.name}: {share(one.changed_share)} of the values changed", "; then ".join(one.done)


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
    where = f"on the {counted(len(kept.columns), 'unmasked column')}"
    return [("unmasked", unique, f"{where}; with the masked columns: {counted(kept.unique_with_masked)} unique")]


def _previous(previous: PreviousFacts | None) -> list[Line]:
    """What is left of k beside earlier releases, and what it cost to keep it."""
    if previous is None:
        return []
    found = previous.difference
    words = (
        f"smallest set over {counted(len(found.releases))} releases; in an earlier one, too: {counted(found.returning)}"
    )
    lines = [("earlier releases", counted(found.smallest_set, "person"), words)]
    if previous.free_loss_percent is not None:
        free = f"variation within groups; within free groups: {percent(previous.free_loss_percent, 2)}"
        left = f"; left out: {counted(previous.left_out, 'person')}" if previous.left_out else ""
        lines.append(("stable groups", percent(previous.loss_percent, 2), free + left))
    return lines


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
        return "check", "not made", "It runs on the written file, and nothing was written."
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


def _by_importance(loss: LossMeasures) -> list[Line]:
    if loss.loss_by_importance_percent is None:
        return []
    words = "information loss weighted by importance; above, all columns have equal weight"
    return [("by importance", percent(loss.loss_by_importance_percent, 2), words)]


def _threshold(name: str, risk: float, k: int) -> Line:
    called = "threshold" if name == "all" else f"threshold ({name})"
    return called, f"{risk}", f"largest re-identification risk requested; k = {k:,} is the smallest that achieves it"


def _worst(columns: Mapping[str, ColumnLoss]) -> list[Line]:
    found = [(of.loss_percent, name) for name, of in columns.items() if of.loss_percent is not None]
    if len(found) < 2:
        return []
    (most, worst), (least, best) = max(found), min(found)
    words = f"information loss: least in {best}, most in {worst}"
    return [("by column", f"{percent(least)} to {percent(most)}", words)]


def _population(before: PopulationRisk | None, after: PopulationRisk) -> list[Line]:
    """The risk in the population that the table is a sample of."""

    def change(show: Callable[[Any], str], of: Callable[[PopulationRisk], Any]) -> str:
        return show(of(after)) if before is None else f"{show(of(before))} → {show(of(after))}"

    journalist = change(share, lambda risk: risk.journalist.largest_risk)
    expected = change(about, lambda risk: risk.individual.expected_reidentifications)
    unique = change(about, lambda risk: risk.uniques.records)
    size = about(after.population_size)
    return [
        ("population", journalist, f"largest journalist risk among {size} records; expected re-identifications "
         f"{expected} (individual risk), population uniques {unique} (estimates)"),
    ]  # fmt: skip


def _risk(risk: RiskMeasures) -> list[Line]:
    lines = []
    for scenario in risk.scenarios:
        before, after = scenario.before, scenario.after
        called = "risk" if scenario.name == "all" else f"risk ({scenario.name})"
        change = f"{share(before.largest_risk)} → {share(after.largest_risk)}"
        unique = f"{counted(before.unique)} → {counted(after.unique)} unique {after.noun}"
        lines.append((called, change, f"largest re-identification risk, before → after; {unique}"))
        if scenario.population_after is not None:
            lines += _population(scenario.population_before, scenario.population_after)
    if risk.linkage.share is not None:
        words = "of the records are re-identified by linking them to the nearest original; by guessing "
        words += share(risk.linkage.baseline_share)
        shares = [s.after.largest_unit_share for s in risk.scenarios if s.after.largest_unit_share is not None]
        if shares:
            words += f"; one unit has up to {share(max(shares))} of the records of a class"
        lines.append(("record linkage", share(risk.linkage.share), words))
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
