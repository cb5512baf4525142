"""Set-up shared by all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# Workers and child processes share what they compile, and leave the user's cache alone.
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".cache" / "numba")
os.environ["COTERIE_COMPILE_AHEAD"] = "0"  # the tests use all cores themselves

if "COTERIE_CASC_DIR" not in os.environ and (ROOT / ".." / "shared" / "data").is_dir():
    os.environ["COTERIE_CASC_DIR"] = str((ROOT / ".." / "shared" / "data").resolve())

settings.register_profile("coterie", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("coterie")


@pytest.fixture
def companies():
    from coterie import datasets

    return datasets.load_companies()


@pytest.fixture
def run(monkeypatch, capsys):
    """A command as `coterie` runs it, in this process: its exit code and what it says."""
    from coterie import cli

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["coterie", *map(str, args)])
        code = 0
        try:
            cli.main()
        except SystemExit as done:
            code = done.code or 0
        out, err = capsys.readouterr()
        assert code != 70, err
        assert "Traceback" not in err
        return code, out, err

    return call


def casc_missing() -> bool:
    from coterie import datasets

    return not datasets.casc_available()


needs_casc = pytest.mark.skipif(
    casc_missing(), reason="the CASC files were not found: COTERIE_CASC_DIR names no folder that holds them"
)
