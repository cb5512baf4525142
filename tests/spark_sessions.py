"""A Spark session for tests: two cores of this machine, and workers that find the package where the tests do."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

_SET = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH")  # in the environment, which workers inherit


def made_session():
    """A session, or a skip where Spark or Java is missing."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    import coterie

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    here = str(Path(coterie.__file__).parents[1]), str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([*here, *filter(None, [os.environ.get("PYTHONPATH")])])
    builder = sql.SparkSession.builder.master("local[2]").appName("coterie tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def spark():
    """One session for all tests of a process."""
    before = {name: os.environ.get(name) for name in _SET}
    session = made_session()
    yield session
    session.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
