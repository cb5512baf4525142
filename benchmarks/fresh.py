"""What a new process costs: importing, asking for help, the first and the second run, memory."""

from __future__ import annotations

import os
import resource
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

def peak():
    try:  # on Linux, ru_maxrss starts out as that of the process that started this one
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

method, kind, n, p = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
function = bench.method(method)
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
    out = {}
    for name, times in (("first mdav", 1), ("second mdav", repeat)):
        progress(f"{name} of a small file")
        out[name] = _best(command, times, _with_cache(folder))
    return out


def _with_cache(folder):
    return os.environ | {"NUMBA_CACHE_DIR": str(Path(folder, "cache"))}


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
