"""The custodian's flow beside another checkout of Coterie, in one run: ratios, because machines are noisy.

    python benchmarks/flow.py                          # this checkout alone
    python benchmarks/flow.py --beside ../before/src   # and another one, taking turns; the least of each counts
    python benchmarks/flow.py --cases protect,compare --turns 3

Cases: mdav (CPU seconds of `microaggregate` at 1,000, 10,000 and 100,000 records), protect (240, 10,000 and 100,000
records of mixed columns), verify (a Parquet file of 1,000,000 x 5), parts (5,000,000 x 5 part by part, within 2 GB),
compare (nine candidates on a CSV file of 100,000 records; wall seconds too), memory (the peak of `protect` at 1,000,000
records, as a multiple of the table's size in Arrow). Every case runs in a process of its own, after a first call.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

HERE = Path(__file__).resolve().parent.parent / "src"


def mixed(n):
    """4 numeric, 2 integer and 2 nominal quasi-identifiers, 2 confidential columns, and their rules."""
    rng = np.random.default_rng(0)
    columns = {f"q{j}": rng.lognormal(0, 1, n) for j in range(4)}
    columns |= {f"i{j}": rng.integers(0, 100, n) for j in range(2)}
    columns |= {f"n{j}": pa.array(rng.choice(list("abcdefgh"), n)) for j in range(2)}
    columns |= {f"c{j}": rng.normal(0, 1, n) for j in range(2)}
    kinds = {"q": ("quasi", "numeric"), "i": ("quasi", "integer"), "n": ("quasi", "nominal")}
    kinds["c"] = ("confidential", "numeric")
    rules = {name: dict(zip(("role", "kind"), kinds[name[0]], strict=True)) for name in columns}
    return pa.table(columns), rules


def least(run, times):
    """The least CPU seconds of some runs."""
    spent = []
    for _ in range(times):
        began = time.process_time()
        run()
        spent.append(time.process_time() - began)
    return min(spent)


def case_mdav(ct, folder):
    del folder
    out = {}
    for n, p, times in ((1_000, 8, 60), (10_000, 8, 12), (100_000, 5, 4)):
        X = np.random.default_rng(1).lognormal(0, 1, (n, p))
        ct.microaggregate(X, 5, "mdav")
        out[f"mdav {n:,} x {p}"] = least(lambda X=X: ct.microaggregate(X, 5, "mdav"), times)
    return out


def case_protect(ct, folder):
    del folder
    out = {}
    for n, times in ((240, 15), (10_000, 5), (100_000, 2)):
        table, rules = mixed(n)
        recipe = ct.Recipe(k=5, seed=1, method="mdav", columns=rules)
        ct.protect(table, recipe)
        out[f"protect {n:,}"] = least(lambda table=table, recipe=recipe: ct.protect(table, recipe), times)
    return out


def numbers(folder, n):
    path = folder / f"numbers-{n}.parquet"
    if not path.exists():
        rng = np.random.default_rng(0)
        pa.parquet.write_table(pa.table({f"q{j}": rng.lognormal(0, 1, n) for j in range(5)}), path)
    return path, {"k": 5, "seed": 1, "method": "mdav", "columns": {f"q{j}": _NUMBER for j in range(5)}}


_NUMBER = {"role": "quasi", "kind": "numeric"}


def case_verify(ct, folder):
    path, recipe = numbers(folder, 1_000_000)
    bundle = folder / "-".join(["verified", *Path(ct.__file__).parts[-4:-2]])  # each checks its own
    if not bundle.exists():
        ct.protect(path, {**recipe, "method": {"name": "mdav+", "blocks": "auto"}}).save(bundle)
    return {"verify 1,000,000 x 5": least(lambda: ct.verify(bundle), 3)}


def case_parts(ct, folder):
    path, recipe = numbers(folder, 5_000_000)
    with tempfile.TemporaryDirectory(dir=folder) as out:
        began, wall = time.process_time(), time.time()
        if hasattr(ct, "open_source"):
            ct.protect(path, recipe, engine="duckdb", memory="2GB").save(f"{out}/bundle")
        else:  # before there was one flow
            ct.protect_file(path, recipe, f"{out}/bundle", memory=2_000_000_000)
        return {"parts 5,000,000 x 5": time.process_time() - began, "parts, wall": time.time() - wall}


def case_compare(ct, folder):
    n, path = 100_000, folder / "compare.csv"
    quasi = [f"q{j}" for j in range(4)]
    if not path.exists():
        rng = np.random.default_rng(0)
        columns = {name: np.round(rng.lognormal(0, 1, n), 4) for name in quasi} | {"c": rng.integers(0, 100, n)}
        pa.csv.write_csv(pa.table(columns), path)
    methods = ["mdav", "mdav*", "auto"]
    ct.compare(path, [3], methods, quasi=quasi, confidential=["c"])
    began, wall = time.process_time(), time.time()
    ct.compare(path, [3, 5, 10], methods, quasi=quasi, confidential=["c"])
    return {"compare 100,000": time.process_time() - began, "compare, wall": time.time() - wall}


def case_memory(ct, folder):
    del folder
    method = {"name": "mdav+", "blocks": "auto"}
    table, rules = mixed(1_000_000)
    small, _ = mixed(3_000)
    ct.protect(small, ct.Recipe(k=5, seed=1, method=method, columns=rules))
    before = resident()
    peak, over = [before], threading.Event()

    def watch():
        while not over.wait(0.005):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    ct.protect(table, ct.Recipe(k=5, seed=1, method=method, columns=rules))
    over.set()
    watcher.join()
    return {"memory 1,000,000, times the table": (peak[0] - before) / table.nbytes}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


CASES = {name.removeprefix("case_"): run for name, run in list(globals().items()) if name.startswith("case_")}


def measured(case, source, folder):
    """A case in a new process, with the package of a source tree."""
    code = f"import json, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    code += "import flow, coterie\nfrom pathlib import Path\n"
    code += f"print(json.dumps(flow.CASES[{case!r}](coterie, Path({str(folder)!r}))))"
    env = {**os.environ, "PYTHONPATH": str(source)}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, help="the src folder of another checkout")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--turns", type=int, default=2)
    given = parser.parse_args()
    sources = {"here": HERE} | ({"there": given.beside.resolve()} if given.beside else {})
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases.split(","):
            best = {}
            for _ in range(given.turns):
                for who, source in sources.items():
                    for what, value in measured(case, source, Path(folder)).items():
                        best[what, who] = min(value, best.get((what, who), float("inf")))
            for what in dict.fromkeys(what for what, _ in best):
                line = f"{what:36} {best[what, 'here']:10.4f}"
                if given.beside:
                    line += (
                        f"   there {best[what, 'there']:10.4f}   ratio {best[what, 'here'] / best[what, 'there']:.3f}"
                    )
                print(line, flush=True)


if __name__ == "__main__":
    main()
