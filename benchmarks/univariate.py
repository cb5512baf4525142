"""The optimal line beside microagg1d, in one run: CPU seconds, sorting included, and the SSE of each.

    pip install microagg1d
    python benchmarks/univariate.py [--repeat 3] [--small]

microagg1d runs with all its methods and degrees of stability. SSEs are computed by one function, in extended precision.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from coterie.algorithms.univariate import _optimal

try:
    import microagg1d
except ImportError:
    microagg1d = None

METHODS = ("auto", "simple", "wilber", "galil_park", "staggered")


def data(kind, n):
    x = np.random.default_rng(0).standard_normal(n)
    if kind == "1e9 + normal":
        x += 1e9
    elif kind == "far clusters":
        x = 1e-3 * x + 1e9 * np.random.default_rng(1).integers(0, 4, n)
    elif kind == "all equal":
        x[:] = 0.1
    return x


def sse(x, labels):
    """In extended precision, each group about its own mean."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    y = x[order].astype(np.longdouble)
    sizes = np.diff(np.append(starts, len(y)))
    centred = y - np.repeat(y[starts], sizes)
    centred -= np.repeat(np.add.reduceat(centred, starts) / sizes, sizes)
    return float((centred**2).sum())


def timed(repeat, function, *args, **own):
    best, out = np.inf, None
    for _ in range(repeat):
        began = time.process_time()
        try:
            out = function(*args, **own)
        except Exception as error:
            return None, type(error).__name__
        best = min(best, time.process_time() - began)
    return best, out


def row(name, x, k, seconds, labels, least):
    if seconds is None:
        return f"| {name} | – | {labels} |"
    if np.bincount(labels).min() < k:
        return f"| {name} | {seconds:.3f} | a group below k |"
    value = sse(x, labels)
    if value <= least * (1 + 1e-9):
        return f"| {name} | {seconds:.3f} | {value:.9g}, least |"
    return f"| {name} | {seconds:.3f} | {value:.9g}, {100 * (value / least - 1) if least else np.inf:.2g} % above |"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--small", action="store_true", help="a tenth of the records")
    options = arguments.parse_args()
    scale = 10 if options.small else 1
    grid = [("normal", 10**6, k) for k in (5, 20, 100, 1000)] + [("normal", 10**7, 5)]
    grid += [(kind, 10**6, 5) for kind in ("1e9 + normal", "far clusters", "all equal")]
    _optimal(data("normal", 1000), 5, "sse")  # compile
    for kind, n, k in grid:
        n //= scale
        x = data(kind, n)
        seconds, labels = timed(options.repeat, _optimal, x, k, "sse")
        least = sse(x, labels)
        print(f"\n{kind}, n = {n:,}, k = {k}\n\n| | CPU seconds | SSE |\n|---|---|---|")
        print(row("coterie", x, k, seconds, labels, least))
        for method in METHODS if microagg1d and n <= 10**6 else ():
            for stable in (0, 1, 2):
                other, own = microagg1d.univariate_microaggregation, {"k": k, "method": method, "stable": stable}
                if timed(1, other, x[:2000], **own)[0] is not None:  # compile
                    name = f"microagg1d {method}, stable={stable}"
                    print(row(name, x, k, *timed(options.repeat, other, x, **own), least))
                sys.stdout.flush()
    if microagg1d is None:
        print("\nmicroagg1d is not installed: only our own figures.")


if __name__ == "__main__":
    main()
