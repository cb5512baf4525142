"""Times verify on a release of a million records: wall and CPU seconds, the best of several runs. It asserts no time.

Run as `python benchmarks/verify.py`. Each line is one call in a process that has imported what it needs; the last one
is a new process, imports and all.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from coterie.verification import verify

K = 5
QUASI = [f"q{j}" for j in range(5)]
CLAIMS = {
    "k": {},
    "k, l": {"c": {"kind": "numeric", "l": 2}},
    "k, t (ordered, few values)": {"d": {"kind": "integer", "t": 0.9}},
    "k, t (ordered, many values)": {"c": {"kind": "numeric", "t": 0.9}},
    "k, l, entropy, t (nominal)": {"d": {"kind": "nominal", "l": 2, "entropy": 1.2, "t": 0.99}},
}


def main():
    """Write a release in two formats, and check it in every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = release(args.records)
        paths = [Path(folder) / "release.parquet", Path(folder) / "release.csv"]
        parquet.write_table(table, paths[0])
        csv.write_csv(table, paths[1])
        print(f"{args.records:,} records, {len(QUASI)} quasi-identifiers, best of {args.repeat}")
        for path in paths:
            for name, claims in CLAIMS.items():
                wall, cpu = best(lambda path=path, claims=claims: checked(path, claims), args.repeat)
                print(f"{path.suffix[1:]:8} {name:30} {wall:6.2f} s wall {cpu:6.2f} s CPU")
        code = f"from coterie.verification import verify; verify({str(paths[0])!r}, {QUASI}, {K})"
        wall, _ = best(lambda: subprocess.run([sys.executable, "-c", code], check=True), args.repeat)
        print(f"parquet  k, in a new process            {wall:6.2f} s wall")


def release(n):
    """Groups of K records with the same floats, in any order, and two confidential columns."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.arange(n) // K % max(n // K, 1))
    centres = rng.normal(size=(n // K, len(QUASI)))[groups]
    columns = {name: centres[:, j] for j, name in enumerate(QUASI)}
    return pa.table(columns | {"c": np.round(rng.normal(size=n), 4), "d": rng.integers(0, 20, n)})


def checked(path, claims):
    verdict = verify(path, QUASI, K, confidential=claims)
    assert verdict.checks[0].ok


def best(run, repeat):
    times = []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(t[0] for t in times), min(t[1] for t in times)


if __name__ == "__main__":
    main()
