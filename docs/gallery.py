"""Draws the gallery: python docs/gallery.py [--measure]. Seeded; the same data give the same pictures.

--measure times the methods anew (a minute or two) and keeps the times in docs/pictures/gallery/times.csv. The losses
are those of docs/reference/benchmark.csv, which benchmarks/table.py writes.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from pictures import companies

import coterie as ct

HERE = Path(__file__).parent
FOLDER = HERE / "pictures" / "gallery"
TIMES = FOLDER / "times.csv"
COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#aa8800", "#66ccee", "#aa3377", "#777777", "#004488", "#bb5566", "#117733",
    "#000000",
)  # fmt: skip
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", ".")
SIX = ("mdav", "mdav+", "v-mdav", "mdav*", "m-d", "auto")
LINES = ("mdav", "mdav1", "mdav+", "v-mdav", "mdav*", "md", "m-d", "mu-approx", "path", "auto", "exact")
TIMED = {"mdav": {}, "mdav+": {}, "v-mdav": {"gamma": 0.2}, "mdav*": {}, "m-d": {}, "mu-approx": {}}


def plain(axes):
    """No frame but the two axes."""
    for one in np.atleast_1d(axes).ravel():
        one.spines[["top", "right"]].set_visible(False)


def keep(figure, name):
    """Write a picture without a date and with fixed ids."""
    plt.rcParams["svg.hashsalt"] = "coterie"
    meta = {"Date": None} if name.endswith(".svg") else {"Software": None}
    figure.savefig(FOLDER / name, metadata=meta, dpi=110)
    plt.close(figure)
    if name.endswith(".png"):
        from PIL import Image  # matplotlib brings it

        Image.open(FOLDER / name).convert("RGB").quantize(64).save(FOLDER / name, optimize=True)


def groups():
    """The groups of six methods in two columns."""
    rng = np.random.default_rng(3)
    centres = rng.uniform(0, 10, (14, 2))
    X = np.vstack([centres[rng.integers(0, 14, 96)] + rng.normal(0, 0.35, (96, 2)), rng.uniform(0, 10, (24, 2))])
    figure, axes = plt.subplots(2, 3, figsize=(9, 6.2), sharex=True, sharey=True, layout="constrained")
    for panel, method in zip(axes.ravel(), SIX, strict=True):
        r = ct.microaggregate(X, k=5, method=method)
        for g in range(len(r.sizes)):
            members, centre = X[r.labels == g], r.data[r.labels == g][0]
            colour = COLOURS[g % 10]
            for x, y in members:
                panel.plot([x, centre[0]], [y, centre[1]], color=colour, linewidth=0.7, alpha=0.7)
            panel.scatter(*members.T, color=colour, s=9)
            panel.scatter(*centre, color=colour, s=46, marker="D", edgecolor="white", linewidth=0.8, zorder=3)
        panel.set_title(f"{method}: {len(r.sizes)} groups, loss {r.loss:.2f} %", fontsize=10)
        panel.set_xticks([])
        panel.set_yticks([])
    keep(figure, "groups.png")


def rows():
    """The benchmark."""
    with (HERE / "reference" / "benchmark.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def loss_by_k():
    """Loss against k on the CASC sets, over the proven bound."""
    table = rows()
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained")
    for panel, name in zip(axes, ("census", "tarragona", "eia"), strict=True):
        here = [row for row in table if row["data"] == name]
        for method, colour, mark in zip(LINES, COLOURS, MARKS, strict=True):
            points = sorted((int(r["k"]), float(r["loss_percent"])) for r in here if r["method"] == method)
            if points:
                width = 2.2 if method == "auto" else 1.0
                panel.plot(
                    *zip(*points, strict=True), color=colour, marker=mark, markersize=4, label=method, linewidth=width
                )
        bound = sorted({(int(r["k"]), float(r["bound_percent"])) for r in here if r["bound_percent"]})
        if bound:
            k, least = zip(*bound, strict=True)
            panel.fill_between(k, 0, least, color="#dddddd", label="impossible (proven)")
        panel.set_title(name.upper() if name == "eia" else name.capitalize(), fontsize=11)
        panel.set_xlabel("k")
        panel.set_ylim(0, None)
    axes[0].set_ylabel("information loss, %")
    plain(axes)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    keep(figure, "loss.svg")


def measure():
    """CPU seconds of the methods for growing n."""
    rng = np.random.default_rng(0)
    with TIMES.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["method", "n", "cpu_seconds"])
        for n in (1_000, 3_000, 10_000, 30_000, 100_000):
            X = rng.normal(size=(n, 5))
            for method, params in TIMED.items():
                took = []
                for _ in range(2):
                    began = time.process_time()
                    ct.microaggregate(X, k=5, method=method, **params)
                    took.append(time.process_time() - began)
                out.writerow([method, n, f"{min(took):.4f}"])


def time_by_n():
    """CPU seconds against the number of records."""
    with TIMES.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for method, colour, mark in zip(TIMED, COLOURS, MARKS, strict=False):
        points = [(int(r["n"]), float(r["cpu_seconds"])) for r in table if r["method"] == method]
        axes.loglog(*zip(*points, strict=True), color=colour, marker=mark, markersize=5, label=method)
    axes.set_xlabel("records, in 5 normal columns")
    axes.set_ylabel("CPU seconds, k = 5")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    plain(axes)
    keep(figure, "time.svg")


def patients():
    """The patients of the examples, and how they may be released."""
    return HERE.parent / "examples" / "patients.csv", ct.Recipe.load(HERE.parent / "examples" / "patients.toml")


def risk_utility_map():
    """Loss and linked records of candidates."""
    path, recipe = patients()
    compared = ct.compare(path, [2, 3, 5, 8, 12], ["mdav", "mdav*", "auto"], recipe=recipe)
    figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for method, colour, mark in zip(("mdav", "mdav*", "auto"), COLOURS, MARKS, strict=False):
        here = [c for c in compared.candidates if c.method == method]
        axes.plot(
            [c.loss_percent for c in here], [100 * c.linked_share for c in here],
            color=colour, marker=mark, linestyle=":", linewidth=1, label=method,
        )  # fmt: skip
        for c in here if method == "auto" else ():
            place = (c.loss_percent, 100 * c.linked_share)
            axes.annotate(f"k={c.k}", place, textcoords="offset points", xytext=(5, 4), fontsize=8)
    axes.set_xlabel("information loss, %  (left is better)")
    axes.set_ylabel("records re-identified by linkage, %  (down is better)")
    axes.legend(frameon=False)
    plain(axes)
    keep(figure, "map.svg")


def three_risks():
    """Singling out, linkability and inference, before and after, for growing k."""
    path, recipe = patients()
    ks = (2, 3, 5, 8, 12)
    document = recipe.as_dict()
    risks, last = [], None
    for k in ks:
        last = ct.protect(path, ct.Recipe(**{**document, "k": k}))
        risks.append(last.measures.risk)
    n = last.data.num_rows
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained", sharey=True)
    shown = (
        ("Singling out\nunique records", [100 * r.singling_out.records_after / n for r in risks],
         100 * risks[0].singling_out.records_before / n),
        ("Linkability\nrecords that are linked", [100 * r.linkability.share_after for r in risks],
         100 * risks[0].linkability.share_before),
        ("Inference\nright guesses of the diagnosis", [100 * r.inference.columns["diagnosis"].share for r in risks],
         None),
    )  # fmt: skip
    for panel, (title, after, before) in zip(axes, shown, strict=True):
        panel.plot(ks, after, color=COLOURS[0], marker="o", label="after")
        if before is not None:
            panel.axhline(before, color=COLOURS[1], linestyle="--", label="before")
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("k")
        panel.set_ylim(-3, 103)
    base = 100 * risks[0].inference.columns["diagnosis"].baseline_share
    axes[2].axhline(base, color=COLOURS[2], linestyle=":", label="by the most frequent one")
    axes[0].set_ylabel("% of the records")
    for panel in (axes[0], axes[2]):
        panel.legend(frameon=False, fontsize=9)
    plain(axes)
    keep(figure, "risks.svg")


def main():
    """Draw all of it."""
    FOLDER.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    plt.rcParams["svg.fonttype"] = "none"  # letters as letters: smaller, and found by a search
    if "--measure" in sys.argv or not TIMES.exists():
        measure()
    companies(FOLDER / "companies.svg")
    for draw in (groups, loss_by_k, time_by_n, risk_utility_map, three_risks):
        draw()


if __name__ == "__main__":
    main()
