"""A real cluster of Spark for tests: a master and two workers of one core each, on the loopback interface.

Drivers are processes of their own, so that nothing that happens to them disturbs the session of the tests.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

import coterie

HERE = os.pathsep.join([str(Path(coterie.__file__).parents[1]), str(Path(__file__).parent)])
WAIT = 120  # seconds for what should take a few


def environment(**more):
    """That of a driver and of workers, which find the package where the tests do."""
    out = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    out |= {"PYTHONPATH": HERE, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return out | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1", **more}


def check_spark():
    """Skip where there is no Spark."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    if not hasattr(os, "killpg"):
        pytest.skip("processes are killed by their group")


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def until(ready, what, seconds=WAIT):
    """Wait for something, and give what it is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := ready():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds} seconds")


def started(command, log, env):
    """A process with a group of its own, and so with all that it starts."""
    with open(log, "ab") as out:
        return subprocess.Popen(command, stdout=out, stderr=out, env=env, start_new_session=True)


def stopped(process):
    """End a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(WAIT)


class Cluster:
    """A master, its workers, and the folder with all that they write."""

    def __init__(self, folder, url, processes):
        self.folder, self.url, self.processes = folder, url, processes


class Process(NamedTuple):
    """A process, as the system knows it."""

    pid: int
    parent: int
    command: str
    busy: float  # seconds that it has had a core


def below(roots):
    """All processes that some have started, and what these have."""
    every = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            plain = command.replace(b"\0", b" ").decode(errors="replace")
            numbers = stat.rpartition(")")[2].split()
            spent = (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
            every.append(Process(int(entry.name), int(numbers[1]), plain, spent))
    found, out = set(roots), []
    while more := [one for one in every if one.parent in found and one.pid not in found]:
        found |= {one.pid for one in more}
        out += more
    return out


def executors(roots):
    return [one.pid for one in below(roots) if "CoarseGrainedExecutorBackend" in one.command]


def python_workers(roots):
    """Python processes that a daemon of pyspark has forked, under its own name."""
    daemons = [one for one in below(roots) if "pyspark.daemon" in one.command]
    return [one.pid for one in daemons if one.parent in {other.pid for other in daemons}]


def at_work(roots):
    """How long these Python processes have had a core, together."""
    workers = set(python_workers(roots))
    return sum(one.busy for one in below(roots) if one.pid in workers)


@contextmanager
def cluster(folder, **env):
    """A cluster, whose processes are gone afterwards, whatever happens."""
    check_spark()
    import pyspark

    spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    port, processes = free_port(), []
    own = environment(SPARK_DAEMON_MEMORY="256m", SPARK_HOME=str(Path(pyspark.__file__).parent), **env)
    deploy, log = "org.apache.spark.deploy", folder / "daemons.log"
    url = f"spark://127.0.0.1:{port}"
    try:
        master = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        processes.append(started([spark_class, *master], log, own))
        until(lambda: _answers(port), "a master")
        for number in range(2):
            worker = [f"{deploy}.worker.Worker", url, "--host", "127.0.0.1", "--cores", "1", "--memory", "1g"]
            worker += ["--webui-port", "0", "--work-dir", str(folder / f"work-{number}")]
            processes.append(started([spark_class, *worker], log, own))
        until(lambda: log.read_text().count("Successfully registered with master") == 2, "two workers")
        yield Cluster(folder, url, processes)
    finally:
        left = below([process.pid for process in processes])
        for process in reversed(processes):
            stopped(process)
        for one in left:  # executors and daemons of Python may have groups of their own
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)


def _answers(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


START = """
import sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from pyspark.sql import SparkSession
import coterie as ct
from spark_releases import *
"""

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
}


def session(master, **more):
    """The lines of a driver that start its session."""
    settings = {**SETTINGS, **more}
    lines = "".join(f".config({name!r}, {value!r})" for name, value in settings.items())
    return f"{START}\nspark = SparkSession.builder.master({master!r}){lines}.getOrCreate()\n"


_LOOP = """
import json
for line in sys.stdin:
    try:
        exec(json.loads(line))
        said = ["done"]
    except Exception as error:
        said = [type(error).__name__, str(error), isinstance(error, ct.CoterieError)]
    Path(sys.argv[1]).write_text(json.dumps(said))
"""


class Driver:
    """A driver that does one thing after the other, as it is told, in one session."""

    def __init__(self, start, folder, name, **env):
        self.log, self._answer = folder / f"{name}.log", folder / f"{name}.answer"
        command = [sys.executable, "-c", start + _LOOP, str(self._answer)]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=out, stderr=out, env=environment(**env), start_new_session=True
            )

    def tell(self, code):
        """Have something done, without waiting for it."""
        self._answer.unlink(missing_ok=True)
        self.process.stdin.write(f"{json.dumps(code)}\n".encode())
        self.process.stdin.flush()

    def answer(self):
        """What became of it: done, or an error by its type, its words, and whether it is one of Coterie's."""

        def said():
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            return self._answer.exists() and self._answer.read_text()

        return json.loads(until(said, "an answer"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        left = below([self.process.pid])
        stopped(self.process)
        self.process.stdin.close()
        for one in left:
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
