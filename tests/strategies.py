"""Tables that methods stumble over: ties, duplicates, constants, offsets, tiny scales, sizes around k, 2k, 3k."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

KINDS = ("normal", "integers", "constant", "offset", "tiny", "duplicates", "skewed", "grid", "constant column", "line")


def table(kind: str, n: int, p: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if kind == "integers":
        X = rng.integers(0, 3, (n, p)).astype(float)
    elif kind == "constant":
        X = np.full((n, p), 0.1)
    elif kind == "offset":
        X = 1e9 + X
    elif kind == "tiny":
        X = X * 1e-9
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 4), n)]
    elif kind == "skewed":
        X = np.exp(4 * X)
    elif kind == "grid":
        X = rng.integers(0, 2, (n, p)) + rng.integers(0, 10, (n, p)) * 0.1
    elif kind == "constant column":
        X[:, 0] = 7.3
    elif kind == "line":
        X = rng.standard_normal((n, 1)) * np.arange(1, p + 1)
    return np.ascontiguousarray(X)


@st.composite
def problems(draw, most: int = 60):
    """A table and a k, with n from 2k up."""
    k = draw(st.integers(2, 7))
    edges = st.sampled_from([2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 3 * k + 1, 4 * k])
    n = draw(st.one_of(edges, st.integers(2 * k, most)))
    p = draw(st.one_of(st.integers(1, 4), st.integers(5, 20)))
    kind = draw(st.sampled_from(KINDS))
    return table(kind, n, p, draw(st.integers(0, 2**32 - 1))), k
