"""The command line: a thin face of the library. Results go to files, facts to stderr, JSON to stdout.

Exit codes: 0 done; 1 a published cell differs, or a bundle's data came out different; 2 wrong usage or input; 3 what
the recipe promises cannot be reached, or does not hold; 70 a bug in Coterie; 129, 130, 143 hung up, interrupted,
terminated.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from io import TextIOWrapper
from pathlib import Path

from ..errors import CoterieError, PromiseError
from . import custodian, researcher
from .common import app

__all__ = ["app", "custodian", "main", "researcher"]


def main() -> None:
    """Run the command line. No traceback, and no message that could hold a record's value, reaches the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that the terminal lacks is no reason to stop
    _clean_up_when_stopped()
    try:
        app()
    except CoterieError as error:
        print(f"coterie: {error}", file=sys.stderr)
        raise SystemExit(3 if isinstance(error, PromiseError) else 2) from None
    except MemoryError:
        print("coterie: There is not enough memory.", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        print(f"coterie: The system refuses to read or write: {reason}.", file=sys.stderr)
        raise SystemExit(2) from None
    except Exception as error:
        if _interrupts:  # a library has made another error of it
            print("coterie: interrupted.", file=sys.stderr)
            raise SystemExit(130) from None
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        print(f"coterie: a bug: {type(error).__name__} at {place}.", file=sys.stderr)
        raise SystemExit(70) from None


_interrupts: list[int] = []


def _clean_up_when_stopped() -> None:
    """Let a terminal that closes, or a system that shuts down, end a run as any error does: with nothing left."""

    def interrupt(number: int, _: object) -> None:
        _interrupts.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)
