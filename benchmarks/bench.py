"""Times every method, beside its literal twin and beside MDAV in plain NumPy. It reports and asserts no time.

Run as `python benchmarks/bench.py`; README.md says what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

# CPU seconds are to be those of one thread. Read when NumPy is loaded, so set before
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy as np

import fresh
import others
import page
import report
import samples
import structures
from coterie.algorithms.registry import METHODS
from coterie.kernels import by_hand
from numpy_mdav import ByColumn, ByProduct, numpy_mdav

HERE = Path(__file__).resolve().parent
K = 5
GAMMA = 0.2
NAMES = ("md", "mdav", "mdav1", "mdav+", "v-mdav", "mdav*", "mu-approx", "m-d")
SIZES = (1_000, 10_000, 50_000, 100_000)
COLUMNS = (2, 5, 8, 13)
QUICK = 10_000  # the largest n of a quick run
# With --million
MILLION = (
    *(("eia-like", name, 5) for name in ("mdav", "mdav+", "v-mdav", "mdav*")),
    ("eia-like", "mdav", 13),
    ("blurred", "mdav", 5),
    ("blurred", "mdav+", 5),
)
TWINS = NAMES[:6]  # the others' twins are compared by the tests
COMPARED_P = 8
TWIN_SIZES = (300, 1_000)
NUMPY_SIZES = (1_000, 10_000)


def main():
    """Measure, show, write."""
    args = _arguments()
    results = report.environment() | {
        "k": K,
        "gamma": GAMMA,
        "repeat": args.repeat,
        "data": {kind: samples.describe(kind) for kind in args.data},
    }
    results["processes"] = fresh.measure(_progress, args.repeat, with_memory=not args.quick)
    _warm_up(args.methods)
    results["twins"] = list(_against_twins(args))
    results["numpy_mdav"] = list(_against_numpy(args.repeat)) if "mdav" in args.methods else []
    results["grid"] = list(_grid(args))
    if args.million:
        results["grid"] += list(_million())
    results["structures"] = list(structures.measure(_race, method, (*args.n, *structures.SIZES[1:3])))
    results["memory"] = list(_memory(args)) if not args.quick else []
    results["others"] = list(others.measure(_progress, args.quick))
    results["exponents"] = page.exponents(results["grid"])
    results["cliffs"] = page.cliffs(results["grid"])
    results["star_ratios"] = report.star_ratios(results["grid"])
    results["targets"] = report.targets(results)
    _progress("")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    report.show(results)
    print(f"The page: {page.write(results, args.page or args.out.with_suffix('.md'))}")


def _arguments():
    parser = argparse.ArgumentParser(description="Time Coterie's methods. Lists have commas between.")
    parser.add_argument("--quick", action="store_true", help="n <= 10,000 (md 1,000), small twins, no memory")
    parser.add_argument("--methods", type=_list_of(NAMES), help=f"of {','.join(NAMES)}; all")
    parser.add_argument("--n", type=_integers, help="numbers of records")
    parser.add_argument("--million", action="store_true", help="1,000,000 records as well, eia-like and blurred")
    parser.add_argument("--p", type=_integers, default=COLUMNS, help="numbers of columns")
    parser.add_argument("--data", type=_list_of(samples.KINDS), default=samples.KINDS, help=",".join(samples.KINDS))
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts; long ones: fewer")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "bench.json", help="the numbers, as JSON")
    parser.add_argument("--page", type=Path, help="the page in Markdown; else beside the JSON file")
    args = parser.parse_args()
    largest = 1_000 if args.quick else 10_000
    args.largest_md = None if args.methods and "md" in args.methods else largest  # who asks for md gets it
    args.methods = args.methods or NAMES
    args.n = args.n or tuple(n for n in SIZES if n <= QUICK or not args.quick)
    return args


def _list_of(allowed):
    def parse(text):
        names = tuple(text.split(","))
        if unknown := set(names) - set(allowed):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not one of {', '.join(allowed)}")
        return names

    return parse


def _integers(text):
    return tuple(int(part) for part in text.split(","))


def _progress(text):
    """One line that changes, in a terminal; else a line each."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def _warm_up(methods):
    """Compile, or load what was compiled, before any clock runs."""
    with by_hand(np.inf):  # else 6,000 records would be scanned while nothing is compiled for tiles
        for name in methods:
            _progress(f"compiling {name}")
            for n in (200, 6_000) if name != "md" else (200,):  # some methods have kernels for large data alone
                method(name)(samples.sample("normal", n, 3))


def method(name):
    """The method of this name as a function of the data alone that gives labels."""
    function = METHODS[name].load()
    if name == "v-mdav":
        return lambda X: function(X, K, gamma=GAMMA, loss=None).labels
    if name == "mu-approx":
        own = METHODS[name].check({}) | {"loss": lambda _: 0.0}
        return lambda X: function(X, K, rng=np.random.default_rng(0), **own).labels
    return lambda X: function(X, K)


def _twin(name):
    twin = _twins()[name]
    return lambda X: twin(X, K, GAMMA) if name == "v-mdav" else twin(X, K)


@cache
def _twins():
    sys.path.append(str(HERE.parent / "tests"))
    from reference import TWINS

    return TWINS


def _grid(args):
    cells = [c for c in product(args.data, args.n, args.p) if c[0] not in samples.ADVERSARIAL or _asked_of(*c)]
    for i, (kind, n, p) in enumerate(cells, 1):
        asked = [m for m in args.methods if m != "md" or args.largest_md is None or n <= args.largest_md]
        functions = [method(m) for m in asked]
        timings = _race(functions, samples.sample(kind, n, p), args.repeat, f"{i} of {len(cells)}: {kind}, {n:,} x {p}")
        for name, timing in zip(asked, timings, strict=True):
            yield {"method": name, "data": kind, "n": n, "p": p, "seconds": timing.best, "runs": timing.runs}


def _asked_of(_, n, p):
    """Adversarial data: enough to see a cliff."""
    return n >= QUICK and p in (5, 13)


def _million():
    for kind, name, p in MILLION:
        X = samples.sample(kind, 1_000_000, p)
        timing = _race([method(name)], X, 1, f"{name}, {kind}, 1,000,000 x {p}")[0]
        yield {"method": name, "data": kind, "n": len(X), "p": p, "seconds": timing.best, "runs": timing.runs}


def _memory(args):
    """Peaks of new processes, on normal data in the most columns asked for."""
    sizes = [n for n in args.n if n >= QUICK] + [1_000_000] * args.million
    for name, n in product([m for m in args.methods if m in ("mdav", "mdav+", "mdav*")], sizes):
        p = max(args.p)
        if n >= 1_000_000 and name != "mdav":
            continue
        kind = "eia-like" if n >= 1_000_000 else "normal"
        _progress(f"memory of {name}, {kind}, {n:,} x {p}")
        yield {"method": name, "data": kind, "n": n, "p": p, "bytes": fresh.peak(name, kind, n, p)}


def _against_twins(args):
    """Each method beside its twin, where the twin takes about a second at most."""
    sizes = TWIN_SIZES[:1] if args.quick else TWIN_SIZES
    for kind, n, name in product(args.data, sizes, [m for m in args.methods if m in TWINS]):
        if name == "md" and n > TWIN_SIZES[0]:
            continue
        X = samples.sample(kind, n, COMPARED_P)
        yield _compared(name, kind, X, _twin(name), args.repeat)


def _against_numpy(repeat):
    """Only on normal data: NumPy's version does not promise Coterie's order of equal distances."""
    for n, store in product(NUMPY_SIZES, (ByColumn, ByProduct)):
        X = samples.sample("normal", n, COMPARED_P)
        found = _compared("mdav", "normal", X, lambda X, store=store: numpy_mdav(X, K, store), repeat)
        yield found | {"by": store.name}


def _compared(name, kind, X, other, repeat):
    """Time two functions on the same data; stop everything if they do not find the same groups."""
    n, p = X.shape
    what = f"{name}, {kind}, {n:,} x {p}"
    fast, slow = _race([method(name), other], X, repeat, f"{what}, against a slow version")
    if not np.array_equal(_renumbered(fast.labels), _renumbered(slow.labels)):
        raise SystemExit(f"{what}: the groups are not those of the slow version.")
    return {"method": name, "data": kind, "n": n, "p": p, "seconds": fast.best, "other": slow.best}


def _renumbered(labels):
    """Each record's group, named by its first record: equal for equal partitions, however they are numbered."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


class _Timing(NamedTuple):
    best: float  # CPU seconds
    runs: int
    labels: Any


def _race(functions, X, repeat, what):
    """Run functions in turn, round after round, so that other work on the machine hits them alike."""
    _progress(what)
    first = [_seconds(function, X) for function in functions]
    best = [seconds for seconds, _ in first]
    runs = [_runs(seconds, repeat) for seconds in best]
    for turn in range(1, max(runs, default=0)):
        for i, function in enumerate(functions):
            if turn < runs[i]:
                best[i] = min(best[i], _seconds(function, X)[0])
    return [_Timing(b, r, labels) for b, r, (_, labels) in zip(best, runs, first, strict=True)]


def _runs(first, repeat):
    """Short runs are noisy and cheap, long ones are neither."""
    if first > 2.0:
        return min(repeat, 2) if first <= 10.0 else 1
    return min(max(repeat, int(0.3 / first)), 3 * repeat)


def _seconds(function, X):
    began = time.process_time()
    labels = function(X)
    return time.process_time() - began, labels


if __name__ == "__main__":
    main()
