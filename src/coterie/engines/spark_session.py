"""The Spark session that an engine works in: the one that is there, or a new one.

Only DataFrames are used, so a session of Spark Connect does as well as one in this process.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError

LEAST = (4, 0)  # of pyspark: applyInArrow, and DataFrames of both sorts alike
LEAST_JAVA = 17
_INSTALL = "pip install 'coterie[spark]'"
# A session of our own shows no page, and listens to this machine alone where the workers are here
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


def is_frame(table: Any) -> bool:
    """Whether a table is a Spark DataFrame, of a session in this process or of Spark Connect."""
    module = type(table).__module__
    return module.startswith("pyspark.sql") and all(hasattr(table, name) for name in ("mapInArrow", "sparkSession"))


def start(master: str | None = None, conf: Mapping[str, str] | None = None) -> Any:
    """The active session, or a new one: on `master`, which is all cores of this machine unless said.

    Parameters
    ----------
    master : str, optional
        Such as local[4], spark://host:7077 or yarn; sc://host:15002 for Spark Connect.
    conf : mapping, optional
        Settings of a new session.
    """
    check_pyspark()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark's, about other libraries
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None and not master and not conf:
            return active
        if active is not None:
            what = "A running Spark session keeps its master and settings."
            raise CoterieError(what, "other settings for a new session", "stop it first, or leave them out.")
        return _started(SparkSession.builder, master or "local[*]", dict(conf or {}))


def _started(builder: Any, master: str, conf: Mapping[str, str]) -> Any:
    builder = builder.appName("coterie")
    if master.startswith("sc://"):
        builder = builder.remote(master)
        settings = dict(conf)
    else:
        _check_java()
        here = {"spark.driver.host": "127.0.0.1"} if master.startswith("local") else {}
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder, settings = builder.master(master), {**_QUIET, **here, **conf}
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        kind = type(error).__name__
    raise CoterieError(
        f"Spark could not start on '{master}'.", kind, "is it running there, and are its settings right?"
    )


def check_pyspark() -> None:
    """Refuse a missing or an old pyspark."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("pyspark")
    except PackageNotFoundError:
        found = ""
        for name in ("pyspark-client", "pyspark-connect"):
            try:
                found = version(name)
                break
            except PackageNotFoundError:
                continue
    if not found:
        raise CoterieError("The engine spark needs pyspark.", "no such package", _INSTALL)
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:2])
    if numbers < LEAST:
        what = f"pyspark must be of version {LEAST[0]}.{LEAST[1]} or newer."
        raise CoterieError(what, found, _INSTALL)
    import pyarrow

    if int(pyarrow.__version__.split(".")[0]) < 18:
        raise CoterieError("Spark needs pyarrow 18 or newer.", pyarrow.__version__, _INSTALL)


def _check_java() -> None:
    """Refuse a missing or an old Java, which Spark would only complain about in many lines."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = f"install a JDK or JRE of version {LEAST_JAVA} or newer, and set JAVA_HOME or PATH."
    if java is None or not os.access(java, os.X_OK):
        raise CoterieError(f"Spark needs Java {LEAST_JAVA} or newer.", "no java", hint)
    ran = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    told = re.search(r'version "(?:1\.)?(\d+)', ran.stderr + ran.stdout)
    if told is None or int(told[1]) < LEAST_JAVA:
        found = "another program" if told is None else f"version {told[1]}"
        raise CoterieError(f"Spark needs Java {LEAST_JAVA} or newer.", found, hint)
