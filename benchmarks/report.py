"""Targets beside what was measured, and the tables."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

# method, n, p, kinds of data: CPU seconds at most
_BOTH, _EIA = ("normal", "eia-like"), ("eia-like",)
_GRID_TARGETS = {
    ("mdav", 10_000, 8, _BOTH): 0.05,
    ("mdav", 100_000, 13, _BOTH): 5.0,
    ("mdav+", 100_000, 5, _BOTH): 1.5,
    ("mdav", 100_000, 5, _EIA): 0.5,
    ("mdav", 1_000_000, 5, _EIA): 12.0,
    ("mdav+", 1_000_000, 5, _EIA): 6.0,
    ("v-mdav", 1_000_000, 5, _EIA): 8.0,
    ("mdav*", 1_000_000, 5, _EIA): 20.0,
    ("mdav", 1_000_000, 13, _EIA): 35.0,
    ("mdav", 1_000_000, 5, ("blurred",)): 9.0,
    ("v-mdav", 100_000, 13, ("normal",)): 5.0,
    ("mdav*", 100_000, 13, ("normal",)): 5.0,
    ("mu-approx", 100_000, 13, ("normal",)): 7.5,
    ("m-d", 100_000, 13, ("normal",)): 9.0,
}
_STAR_TARGET = 4.0  # mdav* takes at most so many times what mdav+ does
# wall seconds at most
_PROCESS_TARGETS = {"import coterie": 0.3, "coterie --help": 0.6, "first mdav": 10.0, "second mdav": 1.5}


def environment():
    """When and on what this ran."""
    versions = {name: version(name) for name in ("numpy", "numba", "coterie")}
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu_model(),
        "versions": {"python": platform.python_version(), **versions},
    }


def _cpu_model():
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), platform.processor())


def star_ratios(grid):
    """Mdav* against mdav+, for every cell that has both."""
    seconds = {(c["method"], c["data"], c["n"], c["p"]): c["seconds"] for c in grid}
    return [
        {"data": data, "n": n, "p": p, "ratio": star / seconds["mdav+", data, n, p]}
        for (method, data, n, p), star in seconds.items()
        if method == "mdav*" and ("mdav+", data, n, p) in seconds
    ]


def targets(results):
    """Every target with the value measured (None: not in this run) and whether it is met."""
    rows = [*_grid_targets(results["grid"]), _star_target(results["star_ratios"])]
    rows += [
        {"what": f"{name}, s wall", "target": limit, "measured": results["processes"][name]["wall"]}
        for name, limit in _PROCESS_TARGETS.items()
    ]
    for row in rows:
        measured = row["measured"]
        row["mark"] = "not measured" if measured is None else "ok" if measured <= row["target"] else "misses"
    return rows


def _grid_targets(grid):
    for (method, n, p, kinds), limit in _GRID_TARGETS.items():
        what = f"{method}, {n:,} x {p}"
        cells = [c for c in grid if (c["method"], c["n"], c["p"]) == (method, n, p) and c["data"] in kinds]
        for c in cells:
            yield {"what": f"{what}, {c['data']}, s CPU", "target": limit, "measured": c["seconds"]}
        if not cells:
            yield {"what": f"{what}, s CPU", "target": limit, "measured": None}


def _star_target(ratios):
    worst = max((r for r in ratios if r["n"] >= 10_000), key=lambda r: r["ratio"], default=None)
    where = f" ({worst['data']}, {worst['n']:,} x {worst['p']})" if worst else ""
    measured = worst["ratio"] if worst else None
    return {"what": f"mdav* / mdav+, worst from n = 10,000{where}", "target": _STAR_TARGET, "measured": measured}


def show(results):
    """Print all tables."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    for kind, what in results["data"].items():
        console.print(f"{kind}: {what}")
        console.print(_grid_table(results, kind))
    console.print(_star_table(results["star_ratios"]))
    console.print(_ratio_table(results["twins"], "Against the literal twins (same groups checked)", "twin"))
    console.print(_ratio_table(results["numpy_mdav"], "Against MDAV in NumPy (same groups checked)", "NumPy"))
    console.print(_others_table(results["others"]))
    console.print(_process_table(results["processes"]))
    console.print(_target_table(results["targets"]))


def _grid_table(results, kind):
    cells = {(c["method"], c["n"], c["p"]): c["seconds"] for c in results["grid"] if c["data"] == kind}
    methods = dict.fromkeys(method for method, _, _ in cells)
    table = _table(f"{kind}, k = {results['k']}: CPU seconds, best of repeats", ("n", "p"), tuple(methods))
    for n, p in dict.fromkeys((n, p) for _, n, p in cells):
        table.add_row(f"{n:,}", str(p), *(_number(cells.get((method, n, p))) for method in methods))
    return table


def _star_table(ratios):
    kinds = tuple(dict.fromkeys(r["data"] for r in ratios))
    cells = {(r["data"], r["n"], r["p"]): r["ratio"] for r in ratios}
    table = _table("mdav* / mdav+", ("n", "p"), kinds)
    for n, p in dict.fromkeys((r["n"], r["p"]) for r in ratios):
        table.add_row(f"{n:,}", str(p), *(_number(cells.get((kind, n, p))) for kind in kinds))
    return table


def _ratio_table(comparisons, title, other):
    table = _table(title, ("method", "data", "n", "p"), ("coterie, s CPU", f"{other}, s CPU", "times as fast"))
    for c in comparisons:
        ratio = f"{c['other'] / c['seconds']:.1f}"
        method = f"{c['method']} ({c['by']})" if "by" in c else c["method"]
        table.add_row(method, c["data"], f"{c['n']:,}", str(c["p"]), _number(c["seconds"]), _number(c["other"]), ratio)
    return table


def _others_table(others):
    numbers = ("seconds", "other_seconds", "times_as_fast", "sse", "other_sse")
    table = _table("Beside others", ("other", "data", "n", "p", "skipped"), numbers)
    for c in others:
        table.add_row(
            c["other"], c["data"], f"{c['n']:,}", str(c["p"]), c["skipped"], *(_number(c[k]) for k in numbers)
        )
    return table


def _process_table(processes):
    table = _table("New processes, best of repeats", ("process",), ("s wall", "s CPU"))
    for name, cost in processes.items():
        if isinstance(cost, dict):
            table.add_row(name, _number(cost["wall"]), _number(cost["cpu"]))
        else:
            table.add_row(f"{name}, above its input", f"{cost / 2**20:.1f} MiB", "")
    return table


def _target_table(rows):
    table = _table("Targets", ("what",), ("target", "measured", "mark"))
    for row in rows:
        table.add_row(row["what"], f"{row['target']:g}", _number(row["measured"]), row["mark"])
    return table


def _table(title, keys, numbers):
    table = Table(title=title, title_justify="left")
    for name in keys:
        table.add_column(name)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _number(value):
    return "" if value is None else f"{value:.4f}" if value < 0.1 else f"{value:.2f}"
