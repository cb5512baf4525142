"""warm-up: everything compiled beforehand."""

from __future__ import annotations

import sys
import time

from . import flags
from .common import app, interruptible, tell


@app.command("warm-up")
@interruptible
def warm_up(quiet: flags.Quiet = False) -> None:
    """Compile everything now, so that no later run waits for it: for images, and before a machine goes offline.

    Takes a few minutes. Every method and guard groups a small table of random numbers; nothing is written but the
    cache of compiled code.
    """
    from ..warm_up import warm_up as everything

    began = time.perf_counter()
    everything(shown=sys.stderr.isatty() and not quiet)
    if not quiet:
        tell(f"compiled in {time.perf_counter() - began:.0f} s")
