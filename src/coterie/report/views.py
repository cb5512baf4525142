"""What the pages show, made from facts: words, rows of tables and pictures, all ready to be set out."""

from __future__ import annotations

from typing import Any

from ..algorithms.registry import METHODS
from . import charts, guidance
from .bins import rounded
from .reading import Facts, count, items, least_k, names, number, numbers, part, rows, sizes, text
from .words import MEASURES, NONE, counted, date, fixed, percent, plain, series, share

SHOWN_COLUMNS = 24  # rows of a table before the rest is folded away
SHOWN_PICTURES = 12
SHOWN_CORRELATIONS = 14
View = dict[str, Any]


def release(facts: Facts) -> View:
    """What the public and the internal page have in common."""
    return {
        "head": _head(facts),
        "tiles": _tiles(facts),
        "done": guidance.done(facts),
        "groupings": [_grouping(row) for row in rows(facts, "groupings")],
        "columns": _columns(facts),
        "loss": _loss(facts),
        "distributions": _distributions(facts),
        "correlations": _correlations(part(facts, "measures", "utility")),
        "structure": _structure(part(facts, "measures", "utility")),
        "analysts": guidance.analysts(facts),
        "checks": _checks(facts),
        "limits": guidance.limits(facts),
        "measures": _used(facts),
        "below": guidance.few(facts),
        "version": text(facts.get("coterie")) or "",
        "shown": SHOWN_COLUMNS,
        "pictures": SHOWN_PICTURES,
    }


def _head(facts: Facts) -> View:
    output = part(facts, "output")
    counts = [counted(output.get(f"{what}s"), what) for what in ("record", "column") if count(output.get(f"{what}s"))]
    parts = [text(output.get("name")), *counts, date(facts.get("created"))]
    ok = part(facts, "verdict").get("ok")
    state = {True: "good", False: "bad"}.get(ok if isinstance(ok, bool) else None, "unknown")  # type: ignore[arg-type]
    return {"parts": [p for p in parts if p], "promise": guidance.promise(facts), "state": state}


def _tiles(facts: Facts) -> list[View]:
    loss, output, k = part(facts, "measures", "loss"), part(facts, "output"), least_k(facts)
    groups = [n for row in rows(facts, "groupings") if (n := count(row.get("groups")))]
    below = guidance.few(facts)
    left_out = output.get("suppressed")
    ks = [n for row in rows(facts, "groupings") if (n := count(row.get("k")))] or ([k] if k else [])
    where = "in every group" if len(set(ks)) < 2 else "by scenario"
    some = [_tile("Hides among", _range(ks), f"records at least, {where}. Larger hides better and loses more.")]
    some.append(_tile("Information loss", percent(loss.get("loss"), 1),
                      "of the variation in the masked columns is gone. Lower is better."))  # fmt: skip
    some.append(
        _tile("Groups", _range(groups), f"of records that look alike{', by scenario' if len(groups) > 1 else ''}.")
    )
    words = "released, none left out." if left_out == 0 else f"released; left out: {counted(left_out, '', below)}."
    some.append(_tile("Records", counted(output.get("records")), words))
    return some


def _range(values: list[int]) -> str:
    low, high = min(values, default=None), max(values, default=None)
    return counted(low) if low == high else f"{counted(low)}–{counted(high)}"


def _tile(name: str, value: str, words: str) -> View:
    return {"name": name, "value": value, "words": words}


def _grouping(row: Facts) -> View:
    method = METHODS.get(text(row.get("method")) or "")
    params = part(row, "params")
    chosen = METHODS.get(text(params.get("method")) or "")
    own = [f"{name} = {_shown(value)}" for name, value in params.items() if name not in ("method", "tried")]
    found = sizes(row.get("sizes"))
    return {
        "name": text(row.get("name")) or "all",
        "k": plain(row.get("k")),
        "quasi": names(row.get("quasi")),
        "method": text(row.get("method")) or "not named",
        "what": method.what if method else "",
        "paper": method.paper if method else "",
        "chosen": f"It chose {chosen.name}: {chosen.what} ({chosen.paper})." if chosen else "",
        "params": ", ".join(own),
        "groups": counted(row.get("groups"), "group"),
        "loss": percent(row.get("loss"), 2),
        "weighted": percent(row.get("loss_weighted"), 2) if number(row.get("loss_weighted")) is not None else "",
        "bound": guidance.bound(row),
        "sums": f"SSE {plain(row.get('sse'), 6)} of SST {plain(row.get('sst'), 6)}." if number(row.get("sse")) else "",
        "picture": charts.group_sizes(found) if found else "",
    }


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(v) for v in value)
    return value if isinstance(value, str) else plain(value)


def _columns(facts: Facts) -> list[View]:
    below, loss = guidance.few(facts), part(facts, "measures", "loss", "columns")
    rules = part(facts, "recipe", "columns")
    out = []
    for row in rows(facts, "columns"):
        name = text(row.get("name")) or "?"
        released = guidance.RELEASED.get(text(row.get("released")) or "", text(row.get("released")) or NONE)
        decimals = count(part(rules, name).get("decimals"))
        if decimals is not None and row.get("released") == "mean":
            released += f", to {counted(decimals, 'decimal')}"
        role = text(row.get("role")) or ""
        gone, gaps = row.get("released") == "dropped", count(row.get("missing_before"))
        # a count may be hidden for its difference to the released one: then it is not below k
        hidden = gaps is None and below is not None and not gone
        out.append({
            "name": name,
            "kind": text(row.get("kind")) or NONE,
            "role": guidance.ROLES.get(role, role) or NONE,
            "released": released,
            "gone": gone,
            "missing_before": "not shown" if hidden else counted(gaps),
            "missing_after": counted(row.get("missing_after")),
            "loss": percent(part(loss, name).get("loss"), 1),
        })  # fmt: skip
    return out


def _loss(facts: Facts) -> View:
    loss, utility = part(facts, "measures", "loss"), part(facts, "measures", "utility", "columns")
    of = part(loss, "columns")
    order = _in_order(facts, [*of, *utility])
    table = [{
        "name": name,
        "loss": fixed(part(of, name).get("loss"), 1),
        "il1s": fixed(part(of, name).get("il1s"), 3),
        "mismatch": _hundredfold(part(of, name).get("mismatch")),
        "mean": fixed(part(utility, name).get("mean_change"), 2, sign=True),
        "variance": fixed(part(utility, name).get("variance_ratio"), 2),
        "quantile": fixed(_quantile(part(utility, name)), 1),
        "distance": fixed(part(utility, name).get("total_variation"), 3),
    } for name in order]  # fmt: skip
    bars = [(name, v if (v := number(part(of, name).get("loss"))) is not None else None) for name in order]
    totals = [_total(key, percent(loss.get(key), 2)) for key in ("loss", "loss_euclidean", "loss_weighted")
              if number(loss.get(key)) is not None]  # fmt: skip
    if number(loss.get("il1s_mean")) is not None:
        totals.append(_total("il1s", fixed(loss.get("il1s_mean"), 3)))
    return {
        "totals": totals,
        "table": table,
        "picture": charts.loss_bars(bars) if any(v is not None for _, v in bars) else "",
        "numeric": any(row["variance"] != NONE or row["il1s"] != NONE for row in table),
        "codes": any(row["mismatch"] != NONE or row["distance"] != NONE for row in table),
    }


def _hundredfold(value: Any) -> str:
    found = number(value)
    return NONE if found is None else fixed(100 * found, 1)


def _quantile(of: Facts) -> float | None:
    if "largest_quantile_change" in of:
        return number(of["largest_quantile_change"])
    changes = [abs(v) for v in numbers(part(of, "quantile_changes").get("change")) if v is not None]
    return max(changes, default=None)


def _total(key: str, value: str) -> View:
    return {"value": value, **MEASURES[key]._asdict()}


def _in_order(facts: Facts, some: list[str]) -> list[str]:
    """Column names in the order of the table, each once."""
    wanted = dict.fromkeys(some)
    known = [name for row in rows(facts, "columns") if (name := text(row.get("name"))) in wanted]
    return list(dict.fromkeys([*known, *wanted]))


def _distributions(facts: Facts) -> list[View]:
    utility, below = part(facts, "measures", "utility", "columns"), guidance.few(facts)
    out = []
    for name in _in_order(facts, list(utility)):
        of = part(utility, name)
        picture = _histogram(name, of) or _category_bars(name, of, below)
        if picture:
            out.append({"name": name, "kind": text(of.get("kind")) or "", "picture": picture, "words": _in_words(of)})
    return sorted(out, key=lambda d: "categories" in part(utility, d["name"]))  # alike pictures side by side


def _histogram(name: str, of: Facts) -> str:
    given = part(of, "histogram")
    edges = [edge for edge in numbers(given.get("edges")) if edge is not None]
    kind = text(of.get("kind"))
    shown = rounded(edges, numbers(given.get("before")), numbers(given.get("after")), kind)
    return charts.histogram(name, shown.edges, shown.before, shown.after, kind) if shown else ""


def _category_bars(name: str, of: Facts, below: int | None) -> str:
    given = part(of, "categories")
    called = [c if isinstance(c, str) else NONE for c in items(given, "names")]
    before, after = numbers(given.get("before")), numbers(given.get("after"))
    if not called or not len(called) == len(before) == len(after):
        return ""
    return charts.categories(name, called, before, after, below)


def _in_words(of: Facts) -> str:
    parts = []
    if (ratio := number(of.get("variance_ratio"))) is not None:
        parts.append(f"keeps {share(ratio, 0)} of its variance")
    if (mean := number(of.get("mean_change"))) is not None:
        still = abs(mean) < 0.005
        parts.append("the mean stays" if still else f"the mean moves by {fixed(mean, 2, sign=True)} sd")
    if (far := number(of.get("total_variation"))) is not None:
        parts.append(f"the shares differ by {share(far)} in all")
    return "; ".join(parts)


def _correlations(utility: Facts) -> View | None:
    given = part(utility, "correlations")
    called = [name if isinstance(name, str) else "?" for name in items(given, "names")]
    before, after = ([numbers(row) for row in items(given, side)] for side in ("before", "after"))
    n = len(called)
    if n < 2 or any(len(m) != n or any(len(row) != n for row in m) for m in (before, after)):
        return None
    keep = _most_changed(before, after, SHOWN_CORRELATIONS) if n > SHOWN_CORRELATIONS else list(range(n))
    picture = charts.correlation_change(
        [called[i] for i in keep],
        [[before[i][j] for j in keep] for i in keep],
        [[after[i][j] for j in keep] for i in keep],
    )
    mean, largest = number(given.get("mean_change")), number(given.get("largest_change"))
    return {
        "picture": picture,
        "mean": fixed(mean) if mean is None else fixed(abs(mean)),
        "largest": fixed(largest) if largest is None else fixed(abs(largest)),
        "left_out": n - len(keep),
        **MEASURES["correlations"]._asdict(),
    }


def _most_changed(before: list[list[float | None]], after: list[list[float | None]], most: int) -> list[int]:
    def largest(i: int) -> float:
        pairs = zip(before[i], after[i], strict=True)
        return max([abs(b - a) for a, b in pairs if a is not None and b is not None] + [0.0])

    return sorted(sorted(range(len(before)), key=lambda i: (-largest(i), i))[:most])


def _structure(utility: Facts) -> list[View]:
    """Measures of the table as a whole."""
    out = []
    if number(part(utility, "propensity").get("ratio")) is not None:
        out.append(_total("propensity", fixed(part(utility, "propensity")["ratio"], 2)))
    if number(part(utility, "eigenvalues").get("change")) is not None:
        out.append(_total("eigenvalues", fixed(part(utility, "eigenvalues")["change"], 2)))
    return out


def _checks(facts: Facts) -> list[View]:
    below = guidance.few(facts)
    out = []
    for check in rows(facts, "verdict", "checks"):
        n, bad = count(check.get("classes")), check.get("offending_classes")
        promised = number(check.get("wanted")) is not None  # the rest is counted, and no failure
        words = f"{counted(n)} {'class' if n == 1 else 'classes'} checked"
        words += f", none of them {'short of it' if promised else 'so'}." if bad == 0 else "."
        if bad != 0:
            which = "Short of it" if promised else "In such classes"
            words += f" {which}: {counted(check.get('offending_records'), 'record', below)}."
        out.append({
            "what": text(check.get("what")) or NONE,
            "scenario": text(check.get("scenario")) or "",
            "columns": series(names(check.get("columns")), 8),
            "wanted": _limit(check, "wanted"),
            "found": _limit(check, "found"),
            "state": "good" if bad == 0 else "bad" if promised else "told",
            "words": words,
        })  # fmt: skip
    return out


def _limit(check: Facts, key: str) -> str:
    value = number(check.get(key))
    if value is None:
        return NONE
    return plain(value) if value == int(value) else f"{value:.3f}"


def _used(facts: Facts) -> list[View]:
    """The definitions of the measures that the page shows."""
    loss, utility = part(facts, "measures", "loss"), part(facts, "measures", "utility")
    in_loss = {key for of in part(loss, "columns").values() for key in part(of)}
    in_utility = {key for of in part(utility, "columns").values() for key in part(of)}
    there = {
        **{key: number(loss.get(key)) is not None for key in ("loss", "loss_euclidean", "loss_weighted")},
        "il1s": "il1s" in in_loss,
        "mismatch": "mismatch" in in_loss,
        "mean_change": "mean_change" in in_utility,
        "variance_ratio": "variance_ratio" in in_utility,
        "quantiles": bool(in_utility & {"quantile_changes", "largest_quantile_change"}),
        "total_variation": "total_variation" in in_utility,
        "correlations": len(items(utility, "correlations", "names")) > 1,
        "eigenvalues": number(part(utility, "eigenvalues").get("change")) is not None,
        "propensity": number(part(utility, "propensity").get("ratio")) is not None,
    }
    return [MEASURES[key]._asdict() for key in MEASURES if there.get(key)]
