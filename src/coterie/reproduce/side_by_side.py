"""Recomputed cells as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from .published import Cell

SIGNS = {"exact": "=", "close": "≈", "range": "∈", "variant": "~", "off": "≠", "no data": ""}
STYLES = {"exact": "green", "close": "cyan", "range": "cyan", "variant": "yellow", "off": "bold red"}
LEGEND = (
    "Each cell: published, ours, mark.  = exact, to the printed digit   ≈ close, within 1 %   ∈ range, in that of "
    "repeated draws (ours is their mean)   ~ variant, the paper ran another   ≠ off   – not computed"
)


def failed(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that must be exact and were computed otherwise."""
    return [c for c in cells if c.match == "exact" and c.mark == "off"]


def summary(cells: Sequence[Cell]) -> str:
    """The line that counts: N of M cells exact, and what the others are."""
    must = [c for c in cells if c.match == "exact" and c.ours is not None]
    exact = sum(c.mark == "exact" for c in must)
    rest = Counter(c.mark for c in cells if c not in must)
    words = {
        "exact": "exact too",
        "close": "close",
        "range": "in range",
        "variant": "of another variant",
        "off": "off",
        "no data": "without data",
    }
    others = ", ".join(f"{rest[mark]} {word}" for mark, word in words.items() if rest[mark])
    return f"{exact} of {len(must)} cells exact that must be" + (
        f"; of the other {rest.total()}: {others}" if others else ""
    )


def as_json(cells: Sequence[Cell]) -> dict[str, Any]:
    """Everything, for programs."""
    return {"summary": summary(cells), "failed": len(failed(cells)), "cells": [asdict(c) for c in cells]}


def show(cells: Sequence[Cell], console: Any) -> None:
    """Print every table, published and ours side by side."""
    from rich import box
    from rich.table import Table

    narrow = console.width < 140  # there, ours stands below the published number
    for name, group in groupby(cells, key=lambda c: f"{c.paper}, {c.table}"):
        inside = list(group)
        ks = sorted({c.k for c in inside})
        table = Table(title=name, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
        for heading in ("data", "measure", "method", *(f"k = {k}" for k in ks)):
            table.add_column(heading, no_wrap=heading.startswith("k = "), overflow="fold")
        rows: dict[tuple[str, ...], dict[int, Cell]] = {}
        for c in inside:
            method = c.method + (f" ({c.params})" if c.params else "")
            rows.setdefault((c.dataset, c.measure, method), {})[c.k] = c
        for row, by_k in rows.items():
            table.add_row(*row, *(_cell(by_k[k], narrow) if k in by_k else "" for k in ks))
        console.print(table)
    console.print(LEGEND, style="dim")
    if any(c.mark == "no data" and c.match != "unpublished" for c in cells):
        console.print(
            "The CASC data were not found: name their folder with --data or COTERIE_CASC_DIR.", style="yellow"
        )
    console.print(summary(cells), style="bold")


def _cell(c: Cell, narrow: bool) -> str:
    between = "\n" if narrow else " "
    if c.ours is None:
        return f"{c.published}{between}[dim]–{'' if narrow else f' {c.mark}'}[/dim]"
    style = STYLES[c.mark]
    return f"{c.published}{between}{c.ours:.{c.digits}f} [{style}]{SIGNS[c.mark]}[/{style}]"
