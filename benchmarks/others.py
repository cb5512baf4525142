"""Other implementations, where they are installed, beside ours on the same normal data: CPU seconds and the SSE."""

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


def measure(progress, quick):
    """What is installed of microagg1d, k-means-constrained and R's sdcMicro."""
    n = 1_000 if quick else 10_000
    for name, p, other, ours in (
        ("microagg1d", 1, _microagg1d, lambda X, k: univariate(X, k, cost="sse").labels),
        ("k-means-constrained", 4, _k_means_constrained, mdav),
        ("sdcMicro (mdav)", 8, _sdcmicro, mdav),
    ):
        X = samples.sample("normal", 1_000 if name.startswith("k-means") else n, p)
        progress(f"{name}, if installed")
        found = other(X)
        if found is not None:
            ours(X, K)  # compile
            began = time.process_time()
            labels = ours(X, K)
            seconds = time.process_time() - began
            cell = {"other": name, "n": len(X), "p": p, "seconds": seconds, "other_seconds": found[0]}
            yield cell | {"sse": loss.distortion(X, labels), "other_sse": found[1]}


def _timed(function, X):
    began = time.process_time()
    labels = function()
    return time.process_time() - began, loss.distortion(X, np.asarray(labels, np.int64))


def _microagg1d(X):
    try:
        from microagg1d import univariate_microaggregation
    except ImportError:
        return None
    univariate_microaggregation(X[:100, 0].copy(), K)
    return _timed(lambda: univariate_microaggregation(X[:, 0].copy(), K), X)


def _k_means_constrained(X):
    try:
        from k_means_constrained import KMeansConstrained
    except ImportError:
        return None
    model = KMeansConstrained(len(X) // K, size_min=K, size_max=2 * K - 1, n_init=1, random_state=0)
    return _timed(lambda: model.fit_predict(X), X)


def _sdcmicro(X):
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "in.csv"), Path(folder, "out.csv")
        np.savetxt(table, X, delimiter=",", fmt="%.17g")
        script = _R.format(table=table.as_posix(), out=out.as_posix(), k=K)
        ran = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
        if ran.returncode:
            return None
        released = np.loadtxt(out, delimiter=",")
    return float(ran.stdout.split()[-1]), float(((X - released) ** 2).sum())
