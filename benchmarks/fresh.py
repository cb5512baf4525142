"""What a new process costs: importing, asking for help, the first and the second run, memory.

Measured before the benchmark itself has grown: on Linux, a process starts out with its parent's `ru_maxrss`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_PEAK = """
import resource, sys
import numpy as np
from coterie.algorithms.mdav import mdav

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

rng = np.random.default_rng(0)
mdav(rng.standard_normal((200, 13)), 5)
X = rng.standard_normal((100_000, 13))
before = peak()
mdav(X, 5)
print(peak() - before)
"""


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
            out["peak memory of mdav, 100000 x 13"] = int(_run((*python, _PEAK), _with_cache(folder)))
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
