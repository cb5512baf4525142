"""Compiling on another core what will be needed soon, in a process of its own.

Numba compiles on one core. While a first run compiles or works, a second process compiles what comes last, from the
last to the first. Locks see to it that nothing is compiled twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

SWITCH = "COTERIE_COMPILE_AHEAD"  # 0: no process of that kind

_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from coterie.warm_up import rehearse; rehearse(*sys.argv[2:])"
)
_begun: set[str] = set()
_processes: list[Any] = []  # kept, so that none is reported as forgotten


def compile_ahead(*rehearsals: str, needs: Any) -> None:
    """Begin to compile for the named rehearsals of `coterie.warm_up`, unless the kernel `needs` has been compiled.

    The process goes on to the end where this one ends before: the next run finds all of it.
    """
    new = [name for name in rehearsals if name not in _begun]
    if not new or needs.signatures or _cores() < 2 or os.environ.get(SWITCH, "1") == "0" or not sys.executable:
        return
    _begun.update(new)
    if needs._cache.cache_path is None or needs._cache.holds_any():
        return
    command = [sys.executable, "-c", _CODE, json.dumps([os.path.abspath(p) for p in sys.path]), *new]
    silent: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        process = subprocess.Popen(command, **silent, start_new_session=True, env=os.environ | {SWITCH: "0"})
    except OSError:  # no memory, or no program to start: it is compiled here, when it is needed
        return
    process.returncode = 0  # nobody waits for it
    _processes.append(process)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
