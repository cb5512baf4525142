"""Scans, tiles bounded all at once, or a tree over them: the choice that is made, beside the best there was."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import product

import numpy as np

import samples
from coterie.algorithms import free

SIZES = (1_000, 2_500, 5_000, 10_000, 50_000)
COLUMNS = (2, 5, 13)
NAMES = ("mdav", "mdav+", "v-mdav", "mdav*")
_SCANNED = 10_000  # records at most: beyond, scans only take time
_ALWAYS, _NEVER = 10**18, -1.0
HOW = {"chosen": {}, "scans": {"FEW": _ALWAYS}, "tiles": {"FEW": 0, "LOOSE": _NEVER}, "tree": {"FEW": 0, "LOOSE": 2.0}}
LIMIT = 1.3


def measure(race, method, sizes):
    """For each cell the seconds of each way, and those of the choice over the least."""
    for kind, n, p, name in product(("normal", "eia-like"), [n for n in SIZES if n in sizes], COLUMNS, NAMES):
        ways = [way for way in HOW if way != "scans" or n <= _SCANNED]
        functions = [_by(way, method(name)) for way in ways]
        found = race(functions, samples.sample(kind, n, p), 3, f"{name}, {kind}, {n:,} x {p}, by scans, tiles and tree")
        if any(not np.array_equal(t.labels, found[0].labels) for t in found):
            raise SystemExit(f"{name}, {kind}, {n:,} x {p}: not the same groups by scans, tiles and tree.")
        seconds = dict.fromkeys(HOW) | {way: t.best for way, t in zip(ways, found, strict=True)}
        yield {
            "method": name,
            "data": kind,
            "n": n,
            "p": p,
            **seconds,
            "ratio": found[0].best / min(t.best for t in found),
        }


def _by(way, function):
    def run(X):
        with _set(HOW[way]):
            return function(X)

    return run


@contextmanager
def _set(values):
    """Let the choice fall so, for a while."""
    before = {name: getattr(free, name) for name in values}
    for name, value in values.items():
        setattr(free, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(free, name, value)
