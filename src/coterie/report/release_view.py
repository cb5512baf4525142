"""What the pages show, made from facts: words, rows of tables and pictures, all ready to be set out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..algorithms.registry import METHODS
from ..facts.measures import CategoryUtility, ColumnLoss, Correlations, Matrix, NumberUtility, UtilityMeasures
from ..facts.public_facts import PublicCategory, PublicCheck, PublicColumnLoss, PublicNumber, PublicUtility
from ..facts.release_facts import ColumnFacts, GroupingFacts
from ..verification.verdict import Check
from . import charts, guidance
from .bins import rounded
from .guidance import Column, Facts, Grouping
from .words import MEASURES, NONE, SPACE, counted, date, fixed, in_percent, percent, plain, series, share

SHOWN_COLUMNS = 24  # rows of a table before the rest is folded away
SHOWN_PICTURES = 12
SHOWN_CORRELATIONS = 14
View = dict[str, Any]
Changed = NumberUtility | PublicNumber | CategoryUtility | PublicCategory
_NUMBERS, _CATEGORIES = (NumberUtility, PublicNumber), (CategoryUtility, PublicCategory)


def release(facts: Facts) -> View:
    """What the public and the internal page have in common."""
    return {
        "head": _head(facts),
        "tiles": _tiles(facts),
        "done": guidance.done(facts),
        "groupings": [_grouping(grouping) for grouping in facts.groupings],
        "columns": _columns(facts),
        "loss": _loss(facts),
        "distributions": _distributions(facts),
        "correlations": _correlations(facts.measures.utility.correlations),
        "structure": _structure(facts.measures.utility),
        "analysts": guidance.analysts(facts),
        "checks": _checks(facts),
        "limits": guidance.limits(facts),
        "measures": _used(facts),
        "below": guidance.few(facts),
        "version": facts.coterie or "",
        "shown": SHOWN_COLUMNS,
        "pictures": SHOWN_PICTURES,
    }


def _head(facts: Facts) -> View:
    output, verdict = facts.output, facts.verdict
    counts = [counted(output.records, "record"), counted(output.columns, "column")]
    parts = [output.name, *counts, date(facts.created)]
    state = "unknown" if verdict is None else "good" if verdict.ok else "bad"
    return {"parts": [p for p in parts if p], "promise": guidance.promise(facts), "state": state}


def _tiles(facts: Facts) -> list[View]:
    output, below = facts.output, guidance.few(facts)
    loss = percent(facts.measures.loss.loss_percent, 1)
    words = f"released; suppressed: {counted(output.suppressed, '', below)}."
    words = "released, none suppressed." if output.suppressed == 0 else words
    return [
        *_class_tiles(facts),
        _tile("Information loss", loss, f"0{SPACE}%: values unchanged. 100{SPACE}%: one common value for all."),
        _tile("Records", counted(output.records), words),
    ]


def _class_tiles(facts: Facts) -> list[View]:
    """The equivalence classes of the file, as they were counted in it; of groups, two may have the same values."""
    every: Sequence[Check | PublicCheck] = () if facts.verdict is None else facts.verdict.checks
    checks, units = ([c for c in every if c.what == what] for what in ("k-anonymity", "k-anonymity of units"))
    ks = _range([grouping.k for grouping in facts.groupings])
    if not checks:
        groups = _range([grouping.groups for grouping in facts.groupings])
        return [_tile("k", ks, "records at least in a group."), _tile("Groups", groups, "of records were formed.")]
    kept = all(c.found is not None and c.wanted is not None and c.found >= c.wanted for c in (*checks, *units))
    what = "different units" if units else "records"
    met = f"{what}: k = {ks} is {'met' if kept else 'NOT met'}."
    several = ", by scenario" if len(checks) > 1 else ""
    return [
        _tile("Smallest equivalence class", _range([int(c.found or 0) for c in units or checks]), met),
        _tile("Equivalence classes", _range([c.classes for c in checks]), f"of records with equal values{several}."),
    ]


def _range(values: list[int]) -> str:
    low, high = min(values, default=None), max(values, default=None)
    return counted(low) if low == high else f"{counted(low)}–{counted(high)}"


def _tile(name: str, value: str, words: str) -> View:
    return {"name": name, "value": value, "words": words}


def _grouping(grouping: Grouping) -> View:
    params, weighted, important = grouping.params, grouping.loss_weighted_percent, grouping.loss_by_importance_percent
    method, chosen = METHODS.get(grouping.method or ""), METHODS.get(params.get("method", ""))
    own = [f"{name} = {_shown(value)}" for name, value in params.items() if name not in ("method", "tried")]
    return {
        "name": grouping.name or "all",
        "k": plain(grouping.k),
        "quasi": grouping.quasi,
        "method": grouping.method or "not named",
        "what": method.what if method else "",
        "paper": method.paper if method else "",
        "chosen": f"It chose {chosen.name}: {chosen.what} ({chosen.paper})." if chosen else "",
        "params": ", ".join(own),
        "groups": counted(grouping.groups, "group"),
        "loss": "" if grouping.loss_percent is None else percent(grouping.loss_percent, 2),
        "weighted": "" if weighted is None else percent(weighted, 2),
        "by_importance": "" if important is None else percent(important, 2),
        "bound": guidance.bound(grouping),
        "sums": _sums(grouping) if isinstance(grouping, GroupingFacts) and grouping.sse else "",
        "picture": charts.group_sizes({str(size): n for size, n in sorted(grouping.sizes.items())}),
    }


def _sums(grouping: GroupingFacts) -> str:
    return f"SSE {plain(grouping.sse, 6)} of SST {plain(grouping.sst, 6)}."


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(v) for v in value)
    return value if isinstance(value, str) else plain(value)


def _columns(facts: Facts) -> list[View]:
    loss = facts.measures.loss.columns
    out = []
    for column in facts.columns:
        gone = column.released == "dropped"
        below = guidance.few(facts)
        hidden = column.missing_before is None and below is not None and not gone
        out.append({
            "name": _called(column),
            "kind": column.kind or NONE,
            "role": guidance.ROLES.get(column.role or "", column.role) or NONE,
            "released": _released(column, facts.settings.rules.get(column.name, {}).get("decimals")),
            "gone": gone,
            "missing_before": _hidden_gaps(column, below) if hidden else counted(column.missing_before),
            "missing_after": counted(column.missing_after),
            "loss": percent(loss[column.name].loss_percent if column.name in loss and not gone else None, 1),
        })  # fmt: skip
    return out


def _called(column: Column) -> str:
    """The name of a column, and the one that it has in the release; the public report knows the latter alone."""
    if isinstance(column, ColumnFacts) and column.renamed is not None:
        return f"{column.name} → {column.renamed}"
    return column.name


def _hidden_gaps(column: Column, below: int | None) -> str:
    """A count may be hidden for its difference to the released one: then it need not be below k."""
    return f"fewer than {below}" if column.missing_after == 0 else "not shown"


def _released(column: Column, decimals: float | None) -> str:
    words = guidance.RELEASED.get(column.released or "", column.released or NONE)
    if decimals is not None and column.released == "mean":
        words += f", to {counted(int(decimals), 'decimal')}"
    return words


def _loss(facts: Facts) -> View:
    loss, utility = facts.measures.loss, facts.measures.utility.columns
    order = _in_order(facts, loss.columns)
    table = [_column_loss(name, loss.columns[name], utility[name]) for name in order]
    shares = ("loss", loss.loss_percent), ("loss_euclidean", loss.loss_euclidean_percent)
    weighed = ("loss_weighted", loss.loss_weighted_percent), ("loss_by_importance", loss.loss_by_importance_percent)
    totals = [_total(key, percent(value, 2)) for key, value in (*shares, *weighed) if value is not None]
    if loss.il1s_mean is not None:
        totals.append(_total("il1s", fixed(loss.il1s_mean, 3)))
    bars = [(name, loss.columns[name].loss_percent) for name in order]
    return {
        "totals": totals,
        "table": table,
        "picture": charts.loss_bars(bars) if any(v is not None for _, v in bars) else "",
        "numeric": any(row["variance"] != NONE or row["il1s"] != NONE for row in table),
        "codes": any(row["mismatch"] != NONE or row["distance"] != NONE for row in table),
    }


def _column_loss(name: str, of: ColumnLoss | PublicColumnLoss, changed: Changed) -> View:
    row = {"name": name, "loss": in_percent(of.loss_percent, 1), "il1s": fixed(of.il1s, 3)}
    row |= dict.fromkeys(("mismatch", "mean", "variance", "quantile", "distance"), NONE)
    if isinstance(changed, _CATEGORIES):
        mismatch = None if of.mismatch_share is None else 100 * of.mismatch_share
        return row | {"mismatch": in_percent(mismatch, 1), "distance": fixed(changed.total_variation, 3)}
    return row | {
        "mean": fixed(changed.mean_change_sd, 2, sign=True),
        "variance": fixed(changed.variance_ratio, 2),
        "quantile": fixed(changed.largest_quantile_change_sd, 1),
    }


def _total(key: str, value: str) -> View:
    return {"value": value, **MEASURES[key]._asdict()}


def _in_order(facts: Facts, some: Iterable[str]) -> list[str]:
    """Column names in the order of the table, each once: that of a dropped column may be another one's now."""
    wanted = dict.fromkeys(some)
    return [column.name for column in facts.columns if column.name in wanted and column.released != "dropped"]


def _distributions(facts: Facts) -> list[View]:
    columns, loss = facts.measures.utility.columns, facts.measures.loss.columns
    ordered = sorted(_in_order(facts, columns), key=lambda name: isinstance(columns[name], _CATEGORIES))  # side by side
    shown = [(name, columns[name], _picture(name, columns[name], guidance.few(facts))) for name in ordered]
    return [
        {"name": name, "kind": of.kind or "", "picture": picture, "words": _in_words(of, loss[name].mismatch_share)}
        for name, of, picture in shown
        if picture
    ]


def _picture(name: str, of: Changed, below: int | None) -> str:
    if isinstance(of, _CATEGORIES):
        shown = of.categories
        return charts.categories(name, shown.names, shown.before, shown.after, below) if shown.names else ""
    if of.histogram is None:
        return ""
    if isinstance(of, PublicNumber):  # its edges are round, and its bins are wider than a round step
        return charts.histogram(name, of.histogram.edges, of.histogram.before, of.histogram.after, of.kind)
    at_round = rounded(of.histogram.edges, of.histogram.before, of.histogram.after, of.kind)
    return charts.histogram(name, at_round.edges, at_round.before, at_round.after, of.kind) if at_round else ""


def _in_words(of: Changed, changed: float | None) -> str:
    if isinstance(of, _CATEGORIES):
        parts = [] if changed is None else [f"{share(changed)} of the records changed category"]
        far = of.total_variation
        return "; ".join(parts if far is None else [*parts, f"the shares of all categories differ by {share(far)}"])
    parts = []
    if of.variance_ratio is not None:
        parts.append(f"keeps {share(of.variance_ratio, 0)} of its variance")
    if (mean := of.mean_change_sd) is not None:
        small = abs(mean) < 0.005
        parts.append(f"the mean moves by {'at most 0.005' if small else fixed(mean, 2, sign=True)} sd")
    return "; ".join(parts)


def _correlations(given: Correlations) -> View | None:
    n = len(given.names)
    if n < 2:
        return None
    keep = _most_changed(given.before, given.after, SHOWN_CORRELATIONS) if n > SHOWN_CORRELATIONS else list(range(n))
    before, after = ([[side[i][j] for j in keep] for i in keep] for side in (given.before, given.after))
    return {
        "picture": charts.correlation_change([given.names[i] for i in keep], before, after),
        "mean": fixed(given.mean_change),
        "largest": fixed(given.largest_change),
        "left_out": n - len(keep),
        **MEASURES["correlations"]._asdict(),
    }


def _most_changed(before: Matrix, after: Matrix, most: int) -> list[int]:
    def largest(i: int) -> float:
        pairs = zip(before[i], after[i], strict=True)
        return max([abs(b - a) for a, b in pairs if a is not None and b is not None] + [0.0])

    return sorted(sorted(range(len(before)), key=lambda i: (-largest(i), i))[:most])


def _structure(utility: UtilityMeasures | PublicUtility) -> list[View]:
    """Measures of the table as a whole."""
    values = ("propensity", utility.propensity.ratio), ("eigenvalues", utility.eigenvalues.change)
    return [_total(key, fixed(value, 2)) for key, value in values if value is not None]


def _checks(facts: Facts) -> list[View]:
    return [] if facts.verdict is None else [_check(check, guidance.few(facts)) for check in facts.verdict.checks]


def _check(check: Check | PublicCheck, below: int | None) -> View:
    bad, promised = check.offending_classes, check.wanted is not None  # the rest is counted, and no failure
    of_values = check.what in ("prepared values", "record numbers")
    words = f"{counted(check.classes, 'value' if of_values else 'equivalence class')} checked"
    words += f", none of them {'short of it' if promised else 'so'}." if bad == 0 else "."
    if bad != 0:
        which = "Short of it" if promised else "Attribute disclosure, in such classes"
        words += f" {which}: {counted(check.offending_records, 'record', below)}."
    return {
        "what": check.what,
        "scenario": check.scenario or "",
        "columns": series(check.columns, 8),
        "wanted": _limit(check.wanted),
        "found": _limit(check.found),
        "state": "good" if bad == 0 else "bad" if promised else "told",
        "words": words,
    }


def _limit(value: float | None) -> str:
    return f"{value:.3f}" if value is not None and value != int(value) else plain(value)


def _used(facts: Facts) -> list[View]:
    """The definitions of the measures that the page shows."""
    loss, utility = facts.measures.loss, facts.measures.utility
    numbers = any(isinstance(of, _NUMBERS) for of in utility.columns.values())
    categories = any(isinstance(of, _CATEGORIES) for of in utility.columns.values())
    there = {
        "loss": loss.loss_percent is not None,
        "loss_euclidean": loss.loss_euclidean_percent is not None,
        "loss_weighted": loss.loss_weighted_percent is not None,
        "loss_by_importance": loss.loss_by_importance_percent is not None,
        "il1s": bool(loss.columns),
        **dict.fromkeys(("mean_change", "variance_ratio", "quantiles"), numbers),
        **dict.fromkeys(("mismatch", "total_variation"), categories),
        "correlations": len(utility.correlations.names) > 1,
        "eigenvalues": utility.eigenvalues.change is not None,
        "propensity": utility.propensity.ratio is not None,
    }
    return [MEASURES[key]._asdict() for key in MEASURES if there[key]]
