"""What the tests of bundles share: people and their recipe, runs that are killed, bundles that are forged."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import coterie as ct

FILES = ["data.csv", "internal.html", "manifest.json", "recipe.toml", "report.html", "verify.json"]
PUBLIC = {"data.csv", "report.html", "verify.json"}
ROLES = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "illness": {"role": "confidential", "kind": "nominal"},
    "note": "other",
}
RECIPE = {"k": 3, "seed": 1, "method": "mdav", "columns": ROLES}


def people(n=40):
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "name": [f"n{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "town": [["Reus", "Valls"][i] for i in rng.integers(0, 2, n)],
            "illness": [["flu", "none", "gout"][i] for i in rng.integers(0, 3, n)],
            "note": [f"{i:05d}" for i in range(n)],
        }
    )


def written_people(folder):
    """The people as a CSV file, with their recipe beside it."""
    path = folder / "people.csv"
    pa.csv.write_csv(people(), path, pa.csv.WriteOptions(quoting_style="none"))
    ct.Recipe(**RECIPE).save(path.with_suffix(".toml"))
    return path


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def coterie(*args, **kwargs):
    return subprocess.run([sys.executable, "-m", "coterie", *map(str, args)], capture_output=True, text=True, **kwargs)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


RUN = """
import sys
import coterie as ct
source, folder, force = sys.argv[1:]
print("started", flush=True)
release = ct.protect(source, source[:-4] + ".toml")
print("protected", flush=True)
release.save(folder, force=force == "force")
print("done", flush=True)
"""


def killed(source, folder, force, after=None, delay=0.0):
    """Run, and kill it so many seconds after it said so. Give what it said, and the seconds after "protected"."""
    words, began = [], 0.0
    command = [sys.executable, "-c", RUN, str(source), str(folder), "force" if force else "plain"]
    env = {**os.environ, "TMPDIR": str(source.parent)}  # what kills leave there goes with the tests
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as run:
        for line in run.stdout:
            words.append(line.strip())
            if words[-1] == "protected":
                began = time.perf_counter()
            if words[-1] == after:
                time.sleep(delay)
                run.kill()
    return words, time.perf_counter() - began


def forged(folder, **changes):
    """The manifest with true hashes and a good seal, as a forger would make it."""
    from coterie.release.manifest import sealed

    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        manifest["files"][name]["sha256"] = sha256(folder / name)
    manifest = {n: v for n, v in {**manifest, **changes}.items() if n != "seal"}
    (folder / "manifest.json").write_text(sealed(manifest))


MAKERS = {
    ".csv": lambda table, path: pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="none")),
    ".parquet": pa.parquet.write_table,
    ".feather": pa.feather.write_feather,
    ".sav": lambda table, path: pytest.importorskip("pyreadstat").write_sav(table.to_pandas(), str(path)),
    ".dta": lambda table, path: pytest.importorskip("pyreadstat").write_dta(table.to_pandas(), str(path)),
    ".xpt": lambda table, path: pytest.importorskip("pyreadstat").write_xport(table.to_pandas(), str(path)),
}
