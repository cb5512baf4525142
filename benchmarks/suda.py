"""How long the search for minimal sample uniques takes: 100,000 records, 12 quasi-identifiers, all sizes. It asserts nothing.

Run as `python benchmarks/suda.py [--records N] [--threads N]`. Six kinds of data, all seeded:

- census-like: skewed columns with 2 to 100 values, some of which follow from others (age, schooling, work, region);
- skewed: independent columns with 2 to 100 values, most records in a few of them;
- uniform: the same numbers of values, all as frequent;
- correlated: one hidden number behind all columns;
- coarse: 4 values each, so that records are unique by 8 or 9 columns: the search goes deep;
- fine: 1,000 values each.

For each: wall and CPU seconds, with everything compiled before; minimal sample uniques; the most memory beyond what was
there before, in MiB; and the seconds of `assess` with drivers, with the columns halved and left out.
"""  # noqa: E501

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
import pyarrow as pa

import coterie as ct
from coterie.measures.suda import minimal_uniques

VALUES = (2, 2, 3, 4, 5, 6, 8, 10, 16, 30, 60, 100)


def _zipf(rng, n, most):
    """Values whose frequencies fall as 1, 1/2, 1/3 ..."""
    weights = 1 / np.arange(1, most + 1)
    return rng.choice(most, n, p=weights / weights.sum())


def census(rng, n):
    """Persons: age and what depends on it, region and what depends on that."""
    age = np.clip(rng.gamma(5, 8, n), 0, 99).astype(int)
    school = np.clip(rng.poisson(2 + 2 * (age > 25), n), 0, 7)
    work = np.where((age < 16) | (age > 68), 0, 1 + _zipf(rng, n, 29))
    region = _zipf(rng, n, 60)
    return [
        age, school, work, region,
        (rng.random(n) < 0.51).astype(int),
        np.where(age < 18, 0, np.clip(rng.poisson(1.2, n), 0, 4)),  # marital status
        np.clip(rng.poisson(1.6, n), 0, 9),  # children
        np.where(rng.random(n) < 0.85, region % 3, _zipf(rng, n, 16)),  # birthplace
        (region % 4 + (rng.random(n) < 0.2)).astype(int),  # dwelling
        np.clip(rng.normal(school + work / 10, 2, n), 0, 15).astype(int),  # income band
        _zipf(rng, n, 6),
        (rng.random(n) < 0.04).astype(int),
    ]  # fmt: skip


def kinds(n):
    """Names and columns."""
    rng = np.random.default_rng(0)
    yield "census-like", census(rng, n)
    yield "skewed", [_zipf(rng, n, m) for m in VALUES]
    yield "uniform", [rng.integers(0, m, n) for m in VALUES]
    hidden = rng.normal(size=n)
    yield "correlated", [np.clip((hidden + 0.2 * rng.normal(size=n)) * m / 6, -m, m).astype(int) for m in VALUES]
    yield "coarse", [rng.integers(0, 4, n) for _ in VALUES]
    yield "fine", [rng.integers(0, 1000, n) for _ in VALUES]


def main():
    """Print a row for each kind of data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--threads", type=int)
    asked = parser.parse_args()
    minimal_uniques([np.arange(9) % m for m in (2, 3)], 2)
    print("data | wall s | CPU s | MiB | minimal sample uniques | records | assess with drivers, wall s | CPU s")
    for name, columns in kinds(asked.records):
        numbers = [np.unique(c, return_inverse=True)[1].astype(np.int64) for c in columns]
        tracemalloc.start()
        minimal_uniques(numbers, len(numbers), threads=asked.threads)
        memory = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        wall, cpu = time.perf_counter(), time.process_time()
        found = minimal_uniques(numbers, len(numbers), threads=asked.threads)
        own = time.perf_counter() - wall, time.process_time() - cpu
        names = [f"c{j}" for j in range(len(columns))]
        table = pa.table(dict(zip(names, columns, strict=True)))
        wall, cpu = time.perf_counter(), time.process_time()
        ct.assess(table, quasi=names, kind=dict.fromkeys(names, "integer"), drivers=True)
        whole = time.perf_counter() - wall, time.process_time() - cpu
        counts = f"{found.by_record.sum():,} | {np.count_nonzero(found.by_record.any(axis=1)):,}"
        print(
            f"{name} | {own[0]:.1f} | {own[1]:.1f} | {memory:.0f} | {counts} | {whole[0]:.1f} | {whole[1]:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
