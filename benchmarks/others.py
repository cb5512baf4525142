"""Other implementations, where they are installed, beside ours on the same data: CPU seconds and the SSE."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import samples
from coterie.algorithms.mdav import mdav
from coterie.algorithms.univariate import univariate
from coterie.measures import loss

K = 5

_R = """
suppressMessages(library(sdcMicro))
X <- read.csv("{table}", header = FALSE)
t <- system.time(m <- microaggregation(X, method = "mdav", aggr = {k}))
write.table(m$mx, "{out}", row.names = FALSE, col.names = FALSE, sep = ",")
cat(t[["user.self"]] + t[["sys.self"]])
"""


SDCMICRO_SIZES = (5_000, 10_000, 20_000, 50_000, 100_000)  # it is quadratic: the last takes two minutes


def measure(progress, quick):
    """Microagg1d, k-means-constrained and R's sdcMicro; a row that says why where one of them cannot run."""
    n = 1_000 if quick else 10_000
    cells = [
        ("microagg1d", "normal", n, 1, _microagg1d, lambda X, k: univariate(X, k, cost="sse").labels),
        ("k-means-constrained", "normal", 1_000, 4, _k_means_constrained, mdav),
    ]
    for size in SDCMICRO_SIZES[:1] if quick else SDCMICRO_SIZES:
        cells.append(("sdcMicro (mdav)", "blurred", size, 5, _sdcmicro, mdav))
    missing = set()
    for name, kind, n, p, other, ours in cells:
        if name in missing:
            continue
        progress(f"{name}, {kind}, {n:,} x {p}, if installed")
        X = samples.sample(kind, n, p)
        cell = {"other": name, "data": kind, "n": n, "p": p, "skipped": ""}
        numbers = dict.fromkeys(("seconds", "other_seconds", "times_as_fast", "sse", "other_sse"))
        try:
            seconds, sse = other(X)
        except (ImportError, OSError) as reason:
            missing.add(name)
            cell["skipped"] = str(reason)
        else:
            numbers = _beside(ours, X, seconds, sse)
        yield cell | numbers


def _beside(ours, X, other_seconds, other_sse):
    """What we take for the same: the best of three runs, after one that compiles."""
    ours(X, K)
    runs = [_timed(lambda: ours(X, K), X) for _ in range(3)]
    seconds, sse = min(runs)
    found = {"seconds": seconds, "other_seconds": other_seconds, "times_as_fast": other_seconds / seconds}
    return found | {"sse": sse, "other_sse": other_sse}


def _timed(function, X):
    began = time.process_time()
    labels = function()
    return time.process_time() - began, loss.distortion(X, np.asarray(labels, np.int64))


def _microagg1d(X):
    from microagg1d import univariate_microaggregation

    univariate_microaggregation(X[:100, 0].copy(), K)
    return _timed(lambda: univariate_microaggregation(X[:, 0].copy(), K), X)


def _k_means_constrained(X):
    from k_means_constrained import KMeansConstrained

    model = KMeansConstrained(len(X) // K, size_min=K, size_max=2 * K - 1, n_init=1, random_state=0)
    return _timed(lambda: model.fit_predict(X), X)


def _sdcmicro(X):
    if shutil.which("Rscript") is None:
        raise OSError("no Rscript")
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "in.csv"), Path(folder, "out.csv")
        np.savetxt(table, X, delimiter=",", fmt="%.17g")
        script = _R.format(table=table.as_posix(), out=out.as_posix(), k=K)
        ran = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
        if ran.returncode:
            raise OSError("Rscript cannot load sdcMicro" if "there is no package" in ran.stderr else "Rscript failed")
        released = np.loadtxt(out, delimiter=",")
    return float(ran.stdout.split()[-1]), float(((X - released) ** 2).sum())
