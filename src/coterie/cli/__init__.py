"""The command line: a thin face of the library. Results go to files, facts to stderr, JSON to stdout.

Exit codes: 0 done; 1 a published cell differs, or a bundle's data came out different; 2 wrong usage or input; 3 what
the recipe promises cannot be reached, or does not hold; 70 a bug in Coterie; 129, 130, 143 hung up, interrupted,
terminated.
"""

from __future__ import annotations

import codecs
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, NoReturn

from ..errors import CoterieError, PromiseError, UnexpectedError, told_of

__all__ = ["app", "main"]


def __getattr__(name: str) -> Any:
    """The commands, imported when they are asked for: an interrupt that comes meanwhile finds `main` ready for it."""
    if name != "app":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from . import custodian, documents, existing_release, page, researcher, warming  # noqa: F401
    from .common import app

    return app


def main() -> None:
    """Run the command line. No traceback, and no message that could hold a record's value, reaches the terminal."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="coterie.plain")  # a sign that the terminal lacks is no reason to stop
        _clean_up_when_stopped()
        sys.modules[__name__].app()
    except KeyboardInterrupt:  # while the commands were loaded
        _end("interrupted.", 130)
    except SystemExit as end:  # typer says nothing where no command has begun
        if _interrupts and end.code == 130 and "coterie.cli.common" in sys.modules:
            sys.modules["coterie.cli.common"].tell_interrupt()
        raise
    except Exception as error:
        try:
            _tell_and_end(error)
        except MemoryError:  # not even enough for words
            os.write(2, b"coterie: There is not enough memory.\n")
            raise SystemExit(2) from None


_PLAIN = {"→": "->", "←": "<-", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "×": "x", "…": "...", "\u202f": " "}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """What a terminal that lacks some signs shows instead, as in cp1252."""
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in signs), error.end


codecs.register_error("coterie.plain", _plainly)


def _tell_and_end(error: Exception) -> NoReturn:
    """Say what went wrong in one line, and end with its exit code."""
    if _interrupts and (not isinstance(error, CoterieError) or isinstance(error, UnexpectedError)):
        _end("interrupted.", 130)  # a library has made another error of it
    told = error if isinstance(error, CoterieError) else told_of(error)
    if isinstance(told, UnexpectedError):
        _end(f"a bug: {told.got}.", 70)
    _end(str(told), 3 if isinstance(told, PromiseError) else 2)


def _end(words: str, code: int) -> NoReturn:
    print(f"coterie: {words}", file=sys.stderr)
    raise SystemExit(code) from None


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

    for name in ("SIGTERM", "SIGHUP", "SIGBREAK"):  # the last: Ctrl-Break, or a window that closes, on Windows
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)
