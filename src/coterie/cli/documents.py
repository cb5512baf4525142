"""docs: the documentation, which ships inside the package."""

from __future__ import annotations

import sys
import webbrowser
from typing import Annotated, Any, Optional

import typer

from .. import documentation
from ..errors import CoterieError
from .common import app, interruptible


@app.command()
@interruptible
def docs(
    page: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A page, such as recipe or howto/weights. Default: the first."),
    ] = None,
    path: Annotated[bool, typer.Option("--path", help="Print where the page is, and open nothing.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Show the page in the terminal, not in the browser.")] = False,
) -> None:
    """Open the documentation in the browser, from this machine: no network is needed.

    Where the package was installed without the built site, the page is shown in the terminal.
    """
    site = None if text else documentation.site()
    folder, ending = (documentation.markdown(), ".md") if site is None else (site, ".html")
    known = documentation.pages(folder, ending)
    place = known[_named(page or ("tutorial" if site is None else "index"), known)]
    if path:
        print(place)
    elif site is None:
        _show(place)
    elif not webbrowser.open(place.as_uri()):
        print(f"coterie: no browser was found. The page is {place}", file=sys.stderr)


def _named(page: str, known: dict[str, Any]) -> str:
    found = documentation.page_named(page, known)
    if found is None:
        import difflib

        names = {name.rsplit("/", 1)[-1]: name for name in known}
        close = difflib.get_close_matches(page, names, n=1, cutoff=0.5)
        hint = f"did you mean '{close[0]}'?" if close else "coterie docs opens the first page, which lists the others."
        raise CoterieError("The documentation must have a page of this name.", f"'{page}'", hint)
    return found


def _show(place: Any) -> None:
    """A Markdown page: set out on a terminal, as it is elsewhere."""
    text = place.read_text(encoding="utf-8")
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
