"""What the tests of releases share: people, their recipe, and the classes of a released table."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

SECRET = "Zz-secret-zZ"


def classes(table, names):
    rows = list(zip(*[table.column(n).to_pylist() for n in names], strict=True))
    return Counter(rows)


def numbers(**columns):
    return pa.table({n: pa.array(v) for n, v in columns.items()})


def sixty_people():
    rng = np.random.default_rng(0)
    n = 60
    return pa.table(
        {
            "name": [f"{SECRET}{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "town": [["Reus", "Valls", "Salou"][i] for i in rng.integers(0, 3, n)],
            "income": rng.normal(30_000, 5_000, n).round(2),
            "illness": [["flu", "none", "gout", "cold"][i] for i in rng.integers(0, 4, n)],
            "note": [f"n{i:05d}" for i in range(n)],
        }
    )


ROLES = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "income": {"role": "quasi", "kind": "numeric"},
    "illness": {"role": "confidential", "kind": "nominal"},
    "note": "other",
}


def recipe(**changes):
    columns = {**ROLES, **changes.pop("columns", {})}
    return {"k": 4, "seed": 3, "method": "mdav", "columns": columns, **changes}
