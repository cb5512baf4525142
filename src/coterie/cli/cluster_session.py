"""The Spark session of a command: started as its options say, and stopped when it ends."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Optional

import typer

from ..engines.spark_session import start
from ..errors import CoterieError
from ..formats.parquet_folder import is_uri

Master = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--spark-master",
        metavar="URL",
        help="Spark master, such as spark://host:7077, yarn or sc://host:15002. Default: local[*]. Only with "
        "--engine spark.",
    ),
]
Conf = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--spark-conf", metavar="KEY=VALUE", help="A Spark setting, KEY=VALUE; repeatable. Only with --engine spark."
    ),
]


@contextmanager
def spark(wanted: bool, master: str | None, conf: list[str] | None) -> Iterator[None]:
    """A session while a command runs, if it is to run on Spark; its options are refused where it is not."""
    if not wanted:
        if master or conf:
            given = "--spark-master" if master else "--spark-conf"
            raise CoterieError(f"{given} is for --engine spark.", "another engine", "leave it out.")
        yield
        return
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")  # we hand it none
    session = start(master, settings(conf))
    try:
        yield
    finally:
        session.stop()


def settings(conf: list[str] | None) -> dict[str, str]:
    """KEY=VALUE, as many as there are."""
    out: dict[str, str] = {}
    for text in conf or ():
        name, sign, value = text.partition("=")
        if not sign or not name.startswith("spark."):
            raise CoterieError("--spark-conf must be KEY=VALUE, where KEY is a Spark setting.", f"'{name}'")
        if name in out:
            raise CoterieError("A setting can be given only once.", f"'{name}' twice")
        out[name] = value
    return out


def place(text: str) -> Path | str:
    """A path of this machine, or a URI as it is."""
    return text if is_uri(text) else Path(text)
