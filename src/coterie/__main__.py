"""python -m coterie, and the command coterie: from here on, Ctrl-C ends a run with a word, and without a traceback."""

from __future__ import annotations

import os


def _interrupted(*_: object) -> None:
    os.write(2, b"coterie: interrupted.\n")
    os._exit(130)  # nothing has begun yet


# Only whoever runs the program imports this module. The commands, which have more to clean up, bring a handler of their
# own once they are there.
try:
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
except KeyboardInterrupt:
    _interrupted()


def main() -> None:
    """Run the command line."""
    from .cli import main as run

    if signal.getsignal(signal.SIGINT) is _interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
