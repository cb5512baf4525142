"""Set-up shared by all tests."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# A kernel's disk cache does not notice that a kernel it calls, in another file, has changed: a folder for each state
# of the kernels does. Workers and child processes share it.
_SOURCES = sorted((ROOT / "src" / "coterie" / "kernels").glob("*.py"))
_STATE = hashlib.sha256(b"".join(f.read_bytes() for f in _SOURCES)).hexdigest()[:16]
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".cache" / f"numba-{_STATE}")

if "COTERIE_CASC_DIR" not in os.environ and (ROOT / ".." / "shared" / "data").is_dir():
    os.environ["COTERIE_CASC_DIR"] = str((ROOT / ".." / "shared" / "data").resolve())

settings.register_profile("coterie", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("coterie")


@pytest.fixture
def companies():
    from coterie import datasets

    return datasets.load_companies()


def casc_missing() -> bool:
    from coterie import datasets

    return not datasets.casc_available()


needs_casc = pytest.mark.skipif(
    casc_missing(), reason="the CASC files were not found: COTERIE_CASC_DIR names no folder that holds them"
)
