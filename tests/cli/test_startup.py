"""The first second of a command: interrupts and too little memory end it with a word, and never with a traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from conftest import ROOT

PROTECT = ["protect", "examples/patients.csv", "--recipe", "examples/patients.toml", "--dry-run"]

INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {at!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["coterie", *{words!r}]
import coterie.__main__ as program
program.main()
"""


@pytest.mark.parametrize(
    "at",
    [
        "coterie.cli",
        "coterie.errors",
        "coterie.cli.custodian",
        "typer",
        "coterie.cli.common",
        "numpy",
        "coterie.release.drafting",
        "pyarrow",
    ],
)
def test_ctrl_c_while_it_starts(at):
    code = INTERRUPTED.format(at=at, words=PROTECT)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "Traceback" not in ran.stderr
    assert ran.stderr == "coterie: interrupted.\n"
    assert ran.returncode in (130, -2)  # the second where Python itself passes the signal on at its end
    assert ran.stdout == ""


def test_the_command_begins_where_interrupts_are_heard():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"coterie": "coterie.__main__:main"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't limit it")
@pytest.mark.parametrize("megabytes", [120, 200, 300])
def test_too_little_memory_is_no_bug(megabytes):
    """Libraries that cannot be loaded, seen: an ImportError called a bug."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20, {megabytes} << 20))\n"
    code = limit + f"import sys; sys.argv = ['coterie', *{PROTECT!r}]\nfrom coterie.__main__ import main\nmain()"
    few = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=few, timeout=120)
    last = ran.stderr.splitlines()[-1]
    assert ran.returncode == 2, ran.stderr
    assert "bug" not in ran.stderr
    assert last.startswith("coterie: ")
    assert "memory" in last


@pytest.mark.parametrize("module", ["numba", "pyarrow", "duckdb", "tomlkit", "jinja2"])
def test_a_library_that_does_not_load_is_named(run, monkeypatch, module, tmp_path):
    """At whatever stage it is asked for."""
    import builtins

    real = builtins.__import__

    def broken(name, *args, **kwargs):
        if name.split(".")[0] == module:
            raise ImportError("lib.so: failed to map segment from shared object", name=module)
        return real(name, *args, **kwargs)

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(builtins, "__import__", broken)
    code, _, err = run(*PROTECT[:-1], "-o", tmp_path / "out")
    assert code in (0, 2)  # 0: what is loaded already is not asked for again
    if code:
        assert f"'{module}'" in err
        assert "not enough memory" in err
