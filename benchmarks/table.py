"""The researchers' table: every method on the reference sets, k = 2 to 10. python benchmarks/table.py [--quick].

Writes docs/reference/benchmark.csv, one row for each set, k and method, and docs/benchmark.md, the page. Rows that are
there already are kept, so a run that was stopped goes on where it was; `--again` makes those that are asked for anew.

    python benchmarks/table.py                          # losses and fast bounds: some minutes
    python benchmarks/table.py --bounds tight           # tighter bounds: a minute of CPU for each set and k
    python benchmarks/table.py --exact 60               # and `exact`, at most 60 s each
    python benchmarks/table.py --methods mine --again   # your method, once it is in the registry
    python benchmarks/table.py --page                   # only the page, from the file
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np

import coterie as ct
from coterie.algorithms.registry import METHODS

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "reference" / "benchmark.csv"
PAGE = ROOT / "docs" / "benchmark.md"
CASC = ("census", "tarragona", "eia", "eia-10", "eia-600")
SIMULATED = ("simu", "simc", "scattered", "clustered", "normal-16", "clusters-5", "clusters-4")
EFFORTS = ("fast", "tight", "exact")  # a later one is not replaced by an earlier one
FIELDS = (
    "data", "n", "p", "k", "method", "loss_percent", "loss_euclidean_percent", "bound_percent", "bound_effort",
    "gap_percent", "cpu_seconds", "random_state", "version", "command",
)  # fmt: skip


def rows_of(path=FILE):
    """The rows of the file by set, k and method."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["data"], int(row["k"]), row["method"]): row for row in csv.DictReader(file)}


def write(rows):
    """Write the file whole: by set, k and method, with the bound of each set and k in all its rows."""
    names, methods = (*CASC, *SIMULATED), list(METHODS)
    order = sorted(rows, key=lambda key: (names.index(key[0]), key[1], methods.index(key[2])))
    part = FILE.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows[key] for key in order)
    os.replace(part, FILE)


def command(name, k, method, options):
    loader = ct.datasets.DATASETS[name].__name__
    given = "".join(f", {key}={value:g}" for key, value in options.items())
    return (
        f'python -c "import coterie as ct; '
        f"print(ct.microaggregate(ct.datasets.{loader}().X, k={k}, method='{method}'{given}))\""
    )


def measured(name, data, k, method, seconds):
    """One row: what a method loses, and the CPU seconds of its second call where the first was short (it compiles)."""
    options = {"seconds": seconds} if method == "exact" else {}
    for _ in range(2):
        began = time.process_time()
        r = ct.microaggregate(data.X, k=k, method=method, **options)
        took = time.process_time() - began
        if took > 5.0:
            break
    row = {
        "data": name, "n": len(data.X), "p": data.X.shape[1], "k": k, "method": method,
        "loss_percent": f"{r.loss:.6f}", "loss_euclidean_percent": f"{r.loss_euclidean:.6f}",
        "bound_percent": "", "bound_effort": "", "gap_percent": "", "cpu_seconds": f"{took:.4f}",
        "random_state": 0, "version": ct.__version__,
        "command": command(name, k, method, options),
    }  # fmt: skip
    if method == "exact":
        row["bound_percent"], row["bound_effort"] = f"{r.bound('fast').loss:.6f}", "exact"
    return row


def fits(method, k, data):
    """Whether the method is for such data."""
    return METHODS[method].only_k in (None, k) and METHODS[method].only_columns in (None, data.X.shape[1])


def best_bound(rows, name, k):
    """The largest lower bound for a set and k, and what proved it. That of a smaller k holds too: groups of at least k
    records have at least that many."""
    found = [row for (n, kk, _), row in rows.items() if n == name and kk <= k and row["bound_percent"]]
    best = max(found, key=lambda row: (float(row["bound_percent"]), EFFORTS.index(row["bound_effort"])), default=None)
    return (None, "") if best is None else (float(best["bound_percent"]), best["bound_effort"])


def settle(rows, name, k):
    """Give the best bound to every row of a set and k, and the gap to it."""
    bound, effort = best_bound(rows, name, k)
    for (n, kk, method), row in rows.items():
        if (n, kk) != (name, k) or bound is None:
            continue
        if METHODS[method].by_column:  # it groups each column separately, which the bound is not about
            row["bound_percent"], row["bound_effort"], row["gap_percent"] = "", "", ""
            continue
        row["bound_percent"], row["bound_effort"] = f"{bound:.6f}", effort
        gap = 100 * (float(row["loss_percent"]) / bound - 1) if bound > 0 else float("inf")
        row["gap_percent"] = f"{max(gap, 0.0):.4f}" if np.isfinite(gap) else ""


def run(given):
    rows = rows_of()
    for name in given.data:
        if name in CASC and not ct.datasets.casc_available():
            print(f"{name}: there are no CASC files (COTERIE_CASC_DIR)")
            continue
        data = ct.datasets.DATASETS[name]()
        for k in given.k:
            if len(data.X) < 2 * k:
                continue
            for method in given.methods:
                key = (name, k, method)
                small = len(data.X) <= 20  # exact is quick there
                if not fits(method, k, data) or (key in rows and not given.again):
                    continue
                if method == "exact" and not (small or given.exact):
                    continue
                rows[key] = measured(name, data, k, method, given.exact or 20.0)
                settle(rows, name, k)
                write(rows)
                print(*key, rows[key]["loss_percent"], rows[key]["cpu_seconds"], flush=True)
            _bound(rows, name, data, k, given)


def _bound(rows, name, data, k, given):
    effort = best_bound(rows, name, k)[1]
    if given.bounds == "none" or (effort and not given.again and EFFORTS.index(effort) >= EFFORTS.index(given.bounds)):
        return
    first = next((key for key in rows if key[:2] == (name, k) and not METHODS[key[2]].by_column), None)
    if first is None:
        return
    seconds = given.bound_seconds if given.bounds == "tight" else None
    bound = ct.microaggregate(data.X, k=k, method="mdav").bound(given.bounds, seconds=seconds)
    before = best_bound(rows, name, k)[0] or 0.0
    if bound.loss >= before:
        for key in rows:
            if key[:2] == (name, k):
                rows[key]["bound_percent"], rows[key]["bound_effort"] = "", ""
        rows[first]["bound_percent"], rows[first]["bound_effort"] = f"{bound.loss:.6f}", given.bounds
    settle(rows, name, k)
    write(rows)
    print(name, k, "bound", given.bounds, f"{bound.loss:.6f}", flush=True)


# the page


def page(rows):
    """The page in Markdown: a table for each set, method by k, the least loss of every k in bold."""
    parts = [(ROOT / "benchmarks" / "table_head.md").read_text(encoding="utf-8").rstrip(), ""]
    for title, names in (("CASC reference sets", CASC), ("Simulated sets", SIMULATED)):
        parts += [f"## {title}", ""]
        for name in names:
            found = {(k, m): row for (n, k, m), row in rows.items() if n == name}
            if found:
                parts += _table(name, found)
    return "\n".join(parts).rstrip() + "\n"


def _table(name, found):
    some = next(iter(found.values()))
    ks = sorted({k for k, _ in found})
    methods = [m for m in METHODS if any(m == method for _, method in found)]
    together = [m for m in methods if not METHODS[m].by_column]
    least = {k: min(float(found[k, m]["loss_percent"]) for m in together if (k, m) in found) for k in ks}
    lines = [f"### {name}", "", f"{int(some['n']):,} records, {some['p']} columns. Loss in %.", ""]
    lines += ["| method | " + " | ".join(f"k = {k}" for k in ks) + " | CPU s, k = 5 |", "|---" * (len(ks) + 2) + "|"]
    for m in methods:
        cells = []
        for k in ks:
            row = found.get((k, m))
            loss = "" if row is None else _digits(float(row["loss_percent"]))
            best = row is not None and m in together and float(row["loss_percent"]) <= least[k] * (1 + 1e-9)
            cells.append(f"**{loss}**" if best else loss)
        took = found.get((5, m))
        lines.append(f"| `{m}` | " + " | ".join(cells) + f" | {'' if took is None else took['cpu_seconds']} |")
    bounds = [best_bound({(name, k, m): row for (k, m), row in found.items()}, name, k) for k in ks]
    lines.append("| proven bound | " + " | ".join("" if b is None else _digits(b) for b, _ in bounds) + " | |")
    lines.append("| shown by | " + " | ".join(effort for _, effort in bounds) + " | |")
    gaps = ["" if not b else f"{max(0.0, 100 * (least[k] / b - 1)):.2f}" for k, (b, _) in zip(ks, bounds, strict=True)]
    lines += ["| optimality gap of the best, % | " + " | ".join(gaps) + " | |", ""]
    return lines


def _digits(value):
    return f"{value:.3f}" if value < 10 else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = {"type": lambda text: text.split(",")}
    parser.add_argument("--data", **listed, default=[*CASC, *SIMULATED])
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=list(range(2, 11)))
    parser.add_argument("--methods", **listed, default=list(METHODS))
    parser.add_argument("--bounds", choices=["none", "fast", "tight"], default="fast")
    parser.add_argument("--bound-seconds", type=float, default=60.0, help="at most, for each tight bound")
    parser.add_argument(
        "--exact", type=float, help="seconds for `exact` on more than 20 records; it is left out without"
    )
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--page", action="store_true", help="only write the page, from the file")
    given = parser.parse_args()
    if not given.page:
        run(given)
    rows = rows_of()
    for name, k in sorted({key[:2] for key in rows}):  # by k: a bound passes on to larger ones
        settle(rows, name, k)
    write(rows)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
