"""What the commands share: the app, words on stderr, lists of names."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Annotated, Any, ParamSpec

import typer

from .._version import __version__
from ..errors import CoterieError, PrivacyWarning, printable

P = ParamSpec("P")

app = typer.Typer(
    name="coterie",
    help="Microaggregation: k-anonymous microdata with little information loss.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # its tracebacks show the values of variables
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"coterie {__version__}")
        raise typer.Exit


@app.callback()
def _coterie(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None: ...


@cache
def tell_interrupt() -> None:
    """Say, once, that a run was interrupted."""
    print("coterie: interrupted.", file=sys.stderr)


def interruptible(command: Callable[P, None]) -> Callable[P, None]:
    """Let Ctrl-C end a command with a word and exit code 130; typer would end it silently."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            tell_interrupt()
            raise typer.Exit(130) from None

    return run


def console() -> Any:
    """A terminal, or a text wide enough for the tables where there is none."""
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    return Console() if sys.stdout.isatty() else Console(width=int(columns) if columns.isdecimal() else 160)


def tell(what: Any) -> None:
    """Say something on stderr: set out for a terminal if it knows how, as plain lines otherwise."""
    if sys.stderr.isatty() and hasattr(what, "__rich__"):
        from rich.console import Console

        Console(stderr=True).print(what)
    else:
        print(printable(str(what), lines=True), file=sys.stderr)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print what weakens the promise as a line of its own on stderr, --quiet or not, once the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, PrivacyWarning):
            print(f"coterie: warning: {warning.message}", file=sys.stderr)


def names_of(columns: str | None, option: str = "--columns") -> list[str] | None:
    """The names in a comma-separated list; a name that holds a comma can be quoted, as in CSV."""
    if columns is None:
        return None
    import csv

    names = next(csv.reader([columns.replace("\n", " ")], skipinitialspace=True), [])
    if not all(names) or not names:
        raise CoterieError(f"{option} must be a comma-separated list of names.", "an empty name")
    return names


def blocks_of(text: str | None) -> int | str | None:
    """The most records in a block, or "auto"; what is neither, the library refuses."""
    return int(text) if text is not None and text.isdecimal() else text


def options_of(read: list[str] | None) -> dict[str, Any] | None:
    """How a file is read: NAME=VALUE, each once but those of which there may be several."""
    if not read:
        return None
    out: dict[str, Any] = {}
    for text in read:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CoterieError("--read must be NAME=VALUE.", f"'{text}'", "for example --read encoding=cp1252")
        if name == "missing":
            out.setdefault(name, [""]).append(value)
        elif name in ("prefix", "suffix"):
            out.setdefault(name, []).append(value)
        elif name in out:
            raise CoterieError("An option can be given only once.", f"'{name}' twice")
        elif name == "names":
            out[name] = names_of(value, "--read names")
        else:
            out[name] = {"true": True, "false": False}.get(value, value) if name == "header" else value
    return out
