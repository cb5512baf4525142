"""The Spark engine beside DuckDB's, on the cores of this machine: time, memory, and who spends it.

    python benchmarks/spark.py                        # 20 and 50 million records of 5 columns
    python benchmarks/spark.py --records 2 --data normal,skewed,mixed
    python benchmarks/spark.py --master local[4]

A folder of Parquet files is protected by both engines, one after the other, each in processes of its own, from nothing
running to a checked bundle. Told are wall seconds, CPU seconds of Spark's Python workers and of its JVM, the share of
the first, and the largest memory of a worker, of the JVM, and of DuckDB's process (resident: shared pages count).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

STEP = 1_000_000
TICK = os.sysconf("SC_CLK_TCK")
KINDS = ("driver", "worker", "java")
PAGE = os.sysconf("SC_PAGE_SIZE")


def columns(kind, rng, n):
    """Five columns of one sort."""
    if kind == "normal":
        X = rng.normal(size=(n, 5))
        X[:, 1] += 0.5 * X[:, 0]
    elif kind == "skewed":
        X = np.round(rng.lognormal(3, 1.2, size=(n, 5)), 1)
    else:
        X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 100, n), rng.integers(0, 12, n)])
    made = {f"x{j}": X[:, j] for j in range(5)}
    if kind == "mixed":
        made["x3"] = X[:, 3].astype(np.int16)
        made["x4"] = pa.array([f"t{i}" for i in range(12)]).take(pa.array(X[:, 4].astype(np.int8)))
    return pa.table(made)


def rules(kind):
    kinds = ["numeric"] * 5 if kind != "mixed" else ["numeric"] * 3 + ["integer", "nominal"]
    return {f"x{j}": {"role": "quasi", "kind": k} for j, k in enumerate(kinds)}


def make(folder, kind, millions):
    folder.mkdir()
    rng = np.random.default_rng(1)
    for i in range(millions):
        pa.parquet.write_table(columns(kind, rng, STEP), folder / f"part-{i:04d}.parquet", row_group_size=STEP // 4)


def run(engine, source, out, kind, master):
    """What one process does."""
    import coterie as ct

    warnings.simplefilter("ignore")
    recipe = ct.Recipe(k=5, seed=3, unit="none", method={"name": "mdav", "blocks": "auto"}, columns=rules(kind))
    if engine == "spark":
        from coterie.engines.spark_session import start

        start(master, {"spark.driver.memory": "3g"})
    limit = {"memory": "4GB"} if engine == "duckdb" else {}
    release = ct.protect(source, recipe, engine=engine, **limit)
    release.save(out)
    (grouping,) = release.facts.groupings
    print(json.dumps({"loss": grouping.loss_percent, "groups": grouping.groups}))


def processes(root):
    """All processes below one: what they are, CPU seconds, resident bytes."""
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        kind = "java" if b"java" in line.split(b"\0")[0] else "worker" if b"pyspark" in line else "driver"
        found[int(entry.name)] = (kind, (int(fields[11]) + int(fields[12])) / TICK, int(fields[21]) * PAGE)
    mine = {root}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return {pid: found[pid] for pid in mine if pid in found}


def measured(engine, source, kind, master):
    """One run in a process of its own, watched."""
    out = source.parent / f"out-{engine}"
    command = [sys.executable, __file__, "--run", engine, str(source), str(out), kind, master]
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    seen = {}
    while child.poll() is None:
        for pid, (what, cpu, memory) in processes(child.pid).items():
            seen[pid] = (what, cpu, max(memory, seen.get(pid, (0, 0, 0))[2]))
        time.sleep(0.2)
    wall = time.perf_counter() - began
    told = json.loads(child.stdout.read())
    written = sum(path.stat().st_size for path in out.rglob("*.parquet"))
    shutil.rmtree(out)
    cpu = {what: sum(c for w, c, _ in seen.values() if w == what) for what in KINDS}
    peak = {what: max((m for w, _, m in seen.values() if w == what), default=0) for what in KINDS}
    return {"engine": engine, "wall": wall, "cpu": cpu, "peak": peak, "written": written, **told}


def table(results):
    spent, held = "CPU s: driver, workers, JVM", "peak: driver, a worker, JVM"
    lines = [f"| data | engine | wall s | times DuckDB | {spent} | in Python | {held} |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, runs in results.items():
        base = min(run["wall"] for run in runs if run["engine"] == "duckdb")
        for run in runs:
            cpu, peak = run["cpu"], run["peak"]
            share = (cpu["driver"] + cpu["worker"]) / max(1e-9, sum(cpu.values()))
            spent = ", ".join(f"{cpu[w]:.0f}" for w in KINDS)
            held = ", ".join(f"{peak[w] / 1e9:.1f}" for w in KINDS)
            told = f"{run['wall']:.0f} | {run['wall'] / base:.2f} | {spent} | {share:.0%} | {held} GB"
            lines.append(f"| {name} | {run['engine']} | {told} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", default="20,50", help="millions")
    parser.add_argument("--data", default="normal", help="of normal, skewed, mixed")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--run", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        engine, source, out, kind, master = args.run
        run(engine, source, out, kind, master)
        return
    results = {}
    for millions in map(int, args.records.split(",")):
        for kind in args.data.split(","):
            with tempfile.TemporaryDirectory() as place:
                source = Path(place) / "in"
                make(source, kind, millions)
                name = f"{millions}M x 5 {kind}"
                results[name] = [measured(engine, source, kind, args.master) for engine in ("duckdb", "spark")]
                one, other = results[name]
                assert (one["groups"], round(one["loss"], 9)) == (other["groups"], round(other["loss"], 9))
            print(table(results), flush=True)


if __name__ == "__main__":
    main()
