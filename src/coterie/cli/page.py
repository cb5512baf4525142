"""ui: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ..errors import CoterieError
from . import flags
from .common import app, interruptible


@app.command()
@interruptible
def ui(
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="A file to open at the start, inside the root folder."),
    ] = None,
    root: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--root", help="Files can be opened and written only inside this folder. Default: the working folder."
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="The port to listen on. Default: a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link without opening a browser.")] = False,
    memory: flags.Memory = None,
) -> None:
    """Protect files on a page in the browser: on this machine only, for the person who starts it.

    The link on stderr works once. Ctrl-C stops the page.
    """
    try:
        from ..ui.server import serve
    except ImportError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in ("starlette", "uvicorn", "markdown_it", "anyio", "h11"):
            raise
        raise CoterieError(
            "The page needs additional packages.", f"no '{missing}'", "pip install 'coterie[ui]'"
        ) from None
    serve(file, root=root, port=port, browser=not no_browser, memory=memory)
