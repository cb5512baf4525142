"""Draws the pictures of the docs: python docs/pictures.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

import coterie as ct

HERE = Path(__file__).parent / "pictures"
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44")


def companies(place: Path = HERE / "companies.svg") -> None:
    """The 11 companies before and after, with k = 3."""
    data = ct.datasets.load_companies()
    r = ct.microaggregate(data.X, k=3)
    figure, (before, after) = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True, sharey=True, layout="constrained")
    names = [name.split()[0] for name in data.other["company"]]
    for (x, y), name in zip(data.X, names, strict=True):
        before.scatter(x, y, color="#555555")
        offset = (6, -10) if name == "J&J" else (6, 4)  # A&A stands right above it
        before.annotate(name, (x, y), textcoords="offset points", xytext=offset, fontsize=8)
    for (x, y), (u, v), g in zip(data.X, r.data, r.labels, strict=True):
        after.plot([x, u], [y, v], color=COLOURS[g], linewidth=0.8, alpha=0.6)
        after.scatter(x, y, color=COLOURS[g], alpha=0.25, s=18)
    for g, size in enumerate(r.sizes):
        u, v = r.data[r.labels == g][0]
        after.scatter(u, v, color=COLOURS[g], s=160, zorder=3)
        after.annotate(f"{size} companies", (u, v), textcoords="offset points", xytext=(12, -3), fontsize=9)
    before.set_title("Before: every company is unique", fontsize=11)
    after.set_title("After, k = 3: groups of at least three", fontsize=11)
    before.set_ylabel("employees")
    for axes in (before, after):
        axes.set_xlabel("surface, m²")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(0, 1080)
        axes.set_ylim(-2, 62)
    # no date and fixed ids: the same picture gives the same file
    plt.rcParams["svg.hashsalt"] = "coterie"
    figure.savefig(place, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    companies()
