"""Analyses before and after, as text and for the internal page. Nothing of it is public."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import printable
from ..facts.analysis_facts import AnalysisEstimate, AnalysisFacts, AnalysisPair
from .words import NONE, counted, fixed, plain

MOST_ROWS = 40  # of an analysis that are shown
LITTLE = 0.5  # an overlap below it stands out
_UNDEFINED = re.compile(r"\b(?:log|sqrt|I)\s*\(|/|\*\*")  # what a formula may calculate that is not defined everywhere

_KINDS = {
    "table": "Table",
    "mean": "Mean",
    "total": "Total",
    "quantiles": "Quantiles",
    "linear": "Linear model",
    "logistic": "Logistic model",
}
MEANING = (
    "overlap: share of the 95 % confidence intervals that overlaps, averaged over both; 1 = identical, 0 = "
    "disjoint. difference: (after - before) / standard error before. Internal: small counts and values of records may "
    "show."
)


def analyses_line(analyses: Sequence[AnalysisFacts] | None) -> list[tuple[str, str, str]]:
    """One line for a terminal: how many were made, and where they agree least. No category is named."""
    if not analyses:
        return []
    known = [(one.least_overlap_share, one.name) for one in analyses if one.least_overlap_share is not None]
    words = ["least overlap of confidence intervals: not defined"]
    if known:
        least, name = min(known, key=lambda pair: pair[0])
        words = [f"least overlap of confidence intervals {fixed(least, 2)}, in {name}"]
    signs = sum(one.signs_changed for one in analyses)
    tests = sum(one.significance_changed or 0 for one in analyses)
    if any(_is_comparable(one) for one in analyses):
        words.append(f"{counted(signs, 'sign')} and the significance of {counted(tests, 'coefficient')} changed")
    if failed := sum(bool(one.problems) for one in analyses):
        words.append(f"{failed} could not be completed")
    value = "1 before and after" if len(analyses) == 1 else f"{counted(len(analyses))} before and after"
    return [("analyses", value, "; ".join(words))]


def as_text(analyses: Sequence[AnalysisFacts]) -> str:
    """All analyses as plain tables."""
    lines: list[str] = []
    for one in analyses:
        lines += [*_text(one), ""]
    return printable("\n".join([*lines, *_wrapped(MEANING)]), lines=True)


def _text(one: AnalysisFacts) -> list[str]:
    lines = [f"{_KINDS[one.kind].lower()}: {printable(one.asked)}" + (", weighted" if one.weighted else "")]
    if one.name != one.asked and not one.name.startswith(f"{one.kind} "):  # the command line names them so
        lines[0] = f"{printable(one.name)}: {lines[0]}"
    lines.append(f"  {_records(one)}")
    lines += [f"  {printable(problem)}" for problem in one.problems]
    shown = _shown(one)
    if shown:
        lines += _aligned(
            [("", "before", "se", "after", "se", "overlap", "difference", "")] + [_cells(p) for p in shown]
        )
    if len(shown) < len(one.estimates):
        lines.append(f"  those with the least overlap are shown; {len(one.estimates) - len(shown):,} more with --json")
    overlap = _overlap(one)
    lines.append(f"  {overlap[:1].lower()}{overlap[1:]} {_changed(one)}".rstrip() if overlap else f"  {_changed(one)}")
    return lines


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, 120)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    out = []
    for row in rows:
        first, *numbers, last = (
            f"{cell:<{w}}" if j in (0, len(row) - 1) else f"{cell:>{w}}"
            for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        out.append(f"  {'  '.join([first, *numbers, last])}".rstrip())
    return out


def _cells(pair: AnalysisPair) -> tuple[str, ...]:
    before, after = pair.before, pair.after
    return (
        printable(pair.name),
        _value(before),
        _error(before),
        _value(after),
        _error(after),
        fixed(pair.overlap_share, 2),
        fixed(pair.standardized_difference, 2, sign=True),
        _what_changed(pair),
    )


def _value(one: AnalysisEstimate | None) -> str:
    return plain(None if one is None else one.estimate, 5)


def _error(one: AnalysisEstimate | None) -> str:
    return plain(None if one is None else one.standard_error, 3)


def _interval(one: AnalysisEstimate | None) -> str:
    if one is None or one.low is None or one.high is None:
        return NONE
    return f"{plain(one.low, 4)} to {plain(one.high, 4)}"


def _what_changed(pair: AnalysisPair) -> str:
    parts = ["sign"] if pair.sign_changed else []
    parts += ["significance"] if pair.significance_changed else []
    parts += ["gone"] if pair.before is not None and pair.after is None else []
    parts += ["new"] if pair.before is None and pair.after is not None else []
    return ", ".join(parts)


def _shown(one: AnalysisFacts) -> list[AnalysisPair]:
    """All estimates in their order, or those with the least overlap."""
    if len(one.estimates) <= MOST_ROWS:
        return list(one.estimates)
    worst = sorted(
        range(len(one.estimates)),
        key=lambda i: (2.0 if (share := one.estimates[i].overlap_share) is None else share, i),
    )
    return [one.estimates[i] for i in sorted(worst[:MOST_ROWS])]


def _records(one: AnalysisFacts) -> str:
    sides = ((one.records_before, one.missing_before, "before"), (one.records_after, one.missing_after, "after"))
    is_model = one.kind in ("linear", "logistic")
    why = "missing or not defined" if is_model and _UNDEFINED.search(one.asked) else "missing"
    parts = []
    for records, missing, when in sides:
        left = f" ({counted(missing)} left out: a value is {why})" if missing else ""
        parts.append(f"{counted(records, 'record')} {when}{left}")
    return f"{', '.join(parts)}."


def _is_comparable(one: AnalysisFacts) -> bool:
    return any(pair.before is not None and pair.after is not None for pair in one.estimates)


def _overlap(one: AnalysisFacts) -> str:
    if not one.estimates:
        return ""
    return f"Least overlap {fixed(one.least_overlap_share, 2)}, mean {fixed(one.mean_overlap_share, 2)}."


def _changed(one: AnalysisFacts) -> str:
    """What changed; or that there is nothing to compare."""
    if not one.estimates:
        return "It could not be computed."
    for when in ("before", "after"):
        if all(getattr(pair, when) is None for pair in one.estimates):
            return f"It could not be computed {when}."
    if not _is_comparable(one):
        return ""
    parts = [f"{counted(one.signs_changed, 'sign')} changed"] if one.signs_changed else []
    if one.significance_changed:
        parts.append(f"the significance (at 5 %) of {counted(one.significance_changed, 'coefficient')} changed")
    if one.significance_changed is not None and not parts:
        return "No sign changed, and no significance at 5 %."
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def analyses_view(analyses: Sequence[AnalysisFacts]) -> list[dict[str, Any]]:
    """What the internal page shows."""
    return [
        {
            "name": one.name,
            "kind": _KINDS[one.kind] + (", weighted" if one.weighted else ""),
            "asked": one.asked,
            "records": _records(one),
            "overlap": _overlap(one),
            "changed": _changed(one),
            "errors": one.standard_errors,
            "problems": one.problems,
            "table": [_row(pair) for pair in _shown(one)],
            "left_out": len(one.estimates) - len(_shown(one)),
        }
        for one in analyses
    ]


def _row(pair: AnalysisPair) -> dict[str, Any]:
    return {
        "name": pair.name,
        "before": _value(pair.before),
        "before_error": _error(pair.before),
        "after": _value(pair.after),
        "after_error": _error(pair.after),
        "before_interval": _interval(pair.before),
        "after_interval": _interval(pair.after),
        "overlap": fixed(pair.overlap_share, 2),
        "warn": pair.overlap_share is not None and pair.overlap_share < LITTLE,
        "difference": fixed(pair.standardized_difference, 2, sign=True),
        "changed": _what_changed(pair),
    }
