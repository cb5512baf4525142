"""The page of a benchmark run: Markdown with log-log plots of time and memory against n, and a fitted exponent each."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np

import samples
import structures

_FROM = 10_000  # below, fixed costs hide the growth
_CLIFF = 3.0


def exponents(grid):
    """For each method, kind of data and p with two sizes or more: b in seconds = a n^b, fitted to the logarithms."""

    def curve(c):
        return c["method"], c["data"], c["p"]

    out = []
    for (method, data, p), cells in groupby(sorted(grid, key=curve), key=curve):
        points = [(c["n"], c["seconds"]) for c in cells if c["n"] >= _FROM and c["seconds"] > 0]
        if len({n for n, _ in points}) >= 2:
            n, seconds = np.log(np.array(points)).T
            out.append({"method": method, "data": data, "p": p, "exponent": float(np.polyfit(n, seconds, 1)[0])})
    return out


def cliffs(grid):
    """Each cell of adversarial data against normal data of the same size."""
    usual = {(c["method"], c["n"], c["p"]): c["seconds"] for c in grid if c["data"] == "normal"}
    return [
        {k: c[k] for k in ("method", "data", "n", "p")} | {"ratio": c["seconds"] / usual[c["method"], c["n"], c["p"]]}
        for c in grid
        if c["data"] in samples.ADVERSARIAL and (c["method"], c["n"], c["p"]) in usual
    ]


def write(results, out):
    """Write the page, and its plots beside it; give its path."""
    out = Path(out)
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    lines = [f"# Benchmark of {results['date'][:10]}", "", f"{results['cpu']}; {versions}. Written by `bench.py`."]
    lines += [
        "",
        f"k = {results['k']}, gamma = {results['gamma']}. CPU seconds of one thread, compilation excluded.",
        "",
    ]
    if (cells := [c for c in results["grid"] if c["data"] in samples.USUAL]) and (
        name := _plot(cells, "seconds", "CPU seconds", out)
    ):
        lines += [f"![time against n]({name})", ""]
    if (cells := results["memory"]) and (name := _plot(cells, "bytes", "bytes above the input", out)):
        lines += [f"![memory against n]({name})", ""]
    lines += _targets(results["targets"])
    for data in dict.fromkeys(c["data"] for c in results["grid"]):
        lines += _times(data, [c for c in results["grid"] if c["data"] == data])
    lines += _section("Growth: seconds as n^b", results["exponents"], ("method", "data", "p"), ("exponent",))
    lines += _section(f"Adversarial data against normal data (at most {_CLIFF:g} times is no cliff)", results["cliffs"],
                      ("method", "data", "n", "p"), ("ratio",))  # fmt: skip
    lines += _section(f"The structure that was chosen, over the best of them (at most {structures.LIMIT:g})",
                      results["structures"], ("method", "data", "n", "p"), (*structures.HOW, "ratio"))  # fmt: skip
    lines += _section("Peak memory above the input", results["memory"], ("method", "data", "n", "p"), ("bytes",))
    lines += _section("Others", results["others"], ("other", "data", "n", "p", "skipped"),
                      ("seconds", "other_seconds", "times_as_fast", "sse", "other_sse"))  # fmt: skip
    out.write_text("\n".join(lines))
    return out


def _times(data, cells):
    """A row for each method and p, a column for each n."""
    sizes = sorted({c["n"] for c in cells})
    seconds = {(c["method"], c["p"], c["n"]): c["seconds"] for c in cells}
    lines = [f"## Seconds, {data}", "", "| method | p | " + " | ".join(f"{n:,}" for n in sizes) + " |"]
    lines.append("|---" * (2 + len(sizes)) + "|")
    for method, p in dict.fromkeys((c["method"], c["p"]) for c in cells):
        row = [seconds.get((method, p, n)) for n in sizes]
        lines.append(f"| {method} | {p} | " + " | ".join("" if s is None else f"{s:.3g}" for s in row) + " |")
    return [*lines, ""]


def _targets(rows):
    return _section("Targets", rows, ("what", "mark"), ("target", "measured"))


def _section(title, rows, keys, numbers):
    if not rows:
        return []
    lines = [f"## {title}", "", "| " + " | ".join((*keys, *numbers)) + " |", "|---" * len((*keys, *numbers)) + "|"]
    for row in rows:
        shown = [f"{row[k]:,}" if isinstance(row[k], int) else str(row[k]) for k in keys]
        shown += ["–" if row[k] is None else f"{row[k]:,.3g}" if row[k] < 1e6 else f"{row[k]:,.0f}" for k in numbers]
        lines.append("| " + " | ".join(shown) + " |")
    return [*lines, ""]


def _plot(cells, value, label, out):
    """A panel for each kind of data and p with two sizes or more; a line for each method. The file's name, or None."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.fonttype"] = "none"  # texts stay texts
    plt.rcParams["svg.hashsalt"] = "coterie"
    panels = {}
    for c in cells:
        panels.setdefault((c["data"], c["p"]), {}).setdefault(c["method"], []).append((c["n"], c[value]))
    panels = {k: v for k, v in panels.items() if any(len(points) > 1 for points in v.values())}
    if not panels:
        return None
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.4 * columns, 3.0 * rows), squeeze=False, sharey=True)
    for axis, ((data, p), methods) in zip(axes.flat, panels.items(), strict=False):
        for method, points in methods.items():
            axis.loglog(*zip(*sorted(points), strict=True), marker="o", markersize=3, linewidth=1, label=method)
        axis.set_title(f"{data}, p = {p}", fontsize=9)
        axis.set_xlabel("n")
        axis.legend(fontsize=6)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(label)
    figure.tight_layout()
    name = f"{out.stem}-{value}.svg"
    figure.savefig(out.with_name(name), metadata={"Date": None})
    plt.close(figure)
    return name
