"""What a new process costs: importing, asking for help, the first and the second run, memory."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# arguments: method, data, n, p
_PEAK = """
import resource, sys
import numpy as np
import bench, samples
from coterie.kernels import by_hand

def peak():
    try:  # on Linux, ru_maxrss starts out as that of the process that started this one
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

method, kind, n, p = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
function = bench.method(method)
with by_hand(np.inf):  # else 6,000 records would be scanned while nothing is compiled for tiles
    for few in (200, 6_000):
        function(samples.sample("normal", few, p))
X = np.random.default_rng(0).standard_normal((n, p)) if kind == "normal" else samples.sample(kind, n, p)
try:  # what the making of the input took is not the method's
    open("/proc/self/clear_refs", "w").write("5")
except OSError:
    pass
before = peak()
function(X)
print(peak() - before)
"""


def peak(method, kind, n, p):
    """The memory in bytes that a method takes above what the process took before, its input included.

    Where there is no Linux, what the making of the input left free is used first: a lower bound.
    """
    command = (sys.executable, "-c", _PEAK, method, kind, str(n), str(p))
    return int(_run(command, os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}))


def measure(progress, repeat, with_memory):
    """Wall and CPU seconds of each kind of process, and the peak memory of mdav in bytes."""
    python = (sys.executable, "-c")
    out = {}
    for name, command in {
        "python": (*python, "pass"),
        "import coterie": (*python, "import coterie"),
        "coterie --help": (sys.executable, "-m", "coterie", "--help"),
    }.items():
        progress(name)
        out[name] = _best(command, repeat)
    with tempfile.TemporaryDirectory() as folder:
        out |= _first_and_second(Path(folder), progress, repeat)
    if with_memory:
        progress("memory of mdav, 100,000 x 13")
        out["peak memory of mdav, 100000 x 13"] = peak("mdav", "normal", 100_000, 13)
    return out


def _first_and_second(folder, progress, repeat):
    """The same job in two processes: the first finds an empty cache of compiled code, the second a full one."""
    table = folder / "small.csv"
    np.savetxt(table, np.random.default_rng(0).normal(size=(200, 4)), delimiter=",", header="a,b,c,d", comments="")
    command = [sys.executable, "-m", "coterie", "microaggregate", str(table), "-k", "5", "--method", "mdav"]
    command += ["-o", str(folder / "out.csv"), "--force", "--quiet"]
    places = _with_cache(folder / "cache", _uncompiled(folder / "package"))
    out = {}
    for name, times in (("first mdav", 1), ("second mdav", repeat)):
        progress(f"{name} of a small file")
        out[name] = _best(command, times, places)
    return out


# What the first user of a new installation does, and how many seconds each may take on two idle cores; each on its own,
# with an empty cache, or after the one before
FIRST = {
    "auto, 11 records": (11, 2, (), 4.0, True),
    "auto, 60 records": (60, 3, (), 6.0, True),
    "auto, 1000 records": (1_000, 4, (), 6.0, True),
    "auto, 10000 records": (10_000, 5, (), 10.0, True),
    "protect, 10000 records": (10_000, 5, ("-k", "5"), 10.0, False),
    "protect with l, 10000 records": (10_000, 5, ("-k", "5", "--set", "columns.e.l=2"), 5.0, False),
}


def first_runs(progress):
    """Wall and CPU seconds of first runs, beside what they may take; without the CPU of what compiles ahead."""
    out = {}
    with tempfile.TemporaryDirectory() as made:
        package = _uncompiled(Path(made, "package"))
        for i, (name, (n, p, options, target, empty)) in enumerate(FIRST.items()):
            progress(name)
            folder = Path(made, str(i) if empty else "after")
            folder.mkdir(exist_ok=True)
            places = _with_cache(Path(made, str(i) if empty else "3", "cache"), package)
            out[name] = _best(_first_command(folder, n, p, options), 1, places) | {"target": target}
            _wait_for_an_end(Path(made))  # a second process goes on to compile, and would be in the way of the next run
    return out


def _uncompiled(folder):
    """A copy of the package without what Numba has compiled: it is read from beside the kernels, too."""
    import coterie

    ignored = shutil.ignore_patterns("*.nbi", "*.nbc")
    shutil.copytree(Path(coterie.__file__).parent, folder / "coterie", ignore=ignored)
    return folder


def _first_command(folder, n, p, options):
    table, names = folder / "table.csv", "abcde"[:p]
    values = np.random.default_rng(0).normal(size=(n, p))
    if options:  # the last column is confidential
        values[:, -1] = np.random.default_rng(1).integers(8, size=n)
    np.savetxt(table, values.round(3), delimiter=",", header=",".join(names), comments="")
    command = [sys.executable, "-m", "coterie", "protect" if options else "microaggregate", str(table), "--force"]
    command += (
        [*("--quasi", ",".join(names[:-1]), "--confidential", names[-1], "--kind", f"{names[-1]}=nominal")]
        if options
        else ["-k", "3"]
    )
    return [*command, *options, "--quiet", "-o", str(folder / ("bundle" if options else "out.csv"))]


def _wait_for_an_end(folder):
    """Until no file has been added for five seconds."""
    count, since = -1, time.monotonic()
    while time.monotonic() - since < 5.0:
        now = len(list(folder.rglob("*")))
        if now != count:
            count, since = now, time.monotonic()
        time.sleep(0.2)


def _with_cache(folder, package):
    """An environment in which this package is used, and compiled code is read and written in this folder alone."""
    return os.environ | {"NUMBA_CACHE_DIR": str(folder), "XDG_CACHE_HOME": str(folder), "PYTHONPATH": str(package)}


def _best(command, repeat, env=None):
    """The least wall and the least CPU seconds of some runs."""
    runs = [_timed(command, env) for _ in range(repeat)]
    return {"wall": min(wall for wall, _ in runs), "cpu": min(cpu for _, cpu in runs), "runs": repeat}


def _timed(command, env):
    cpu, wall = _cpu_of_children(), time.perf_counter()
    _run(command, env)
    return time.perf_counter() - wall, _cpu_of_children() - cpu


def _run(command, env):
    return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


def _cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":  # python benchmarks/fresh.py: on a machine that does nothing else
    for run, seconds in first_runs(lambda name: print(f"{name} ...", file=sys.stderr)).items():
        print(f"{run:32s} {seconds['wall']:6.1f} s  (target {seconds['target']:.0f}; CPU {seconds['cpu']:.1f})")
