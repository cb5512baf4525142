"""Facts for tests, made by real releases of made-up patients: no fact is written by hand."""

from __future__ import annotations

import datetime
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import coterie as ct

NAMES = ["age", "income", "education", "town", "admitted"]  # those that are masked
SEED = 987654321
RARE = "Tiny Hamlet"  # a town of three, which no group shows
LEVELS = ["none", "primary", "secondary", "bachelor"]
COLUMNS: dict[str, Any] = {
    "patient": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "income": {"role": "quasi", "kind": "numeric", "decimals": 1},
    "education": {"role": "quasi", "kind": "ordinal", "order": LEVELS},
    "town": {"role": "quasi", "kind": "nominal"},
    "admitted": {"role": "quasi", "kind": "datetime"},
    "region": {"role": "quasi", "kind": "nominal"},
    "diagnosis": {"role": "confidential", "kind": "nominal"},
    "cost": {"role": "confidential", "kind": "numeric", "noise": 0.5},
    "weight": "other",
}


def patients(strays: int = 2, gaps: int = 40, records: int = 400) -> pa.Table:
    """A table with a few records in two regions of their own, and with missing incomes and ages."""
    rng = np.random.default_rng(7)
    n = records + strays
    income = [None if i < gaps else float(v) for i, v in enumerate(np.round(rng.lognormal(10, 0.5, n), 2))]
    age: list[int | None] = rng.integers(18, 88, n).tolist()
    if gaps:
        age[:3] = [None] * 3  # too few records lack both: further ages are blanked
    town = rng.choice(["Centre", "East", "North", "South"], n, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    town[-9:-6] = [RARE] * 3
    start = datetime.date(2026, 1, 1)
    return pa.table({
        "patient": [f"P{i:04}" for i in range(n)],
        "age": pa.array(age, pa.int64()),
        "income": income,
        "education": rng.choice(LEVELS, n).tolist(),
        "town": town,
        "admitted": [start + datetime.timedelta(days=int(d)) for d in rng.integers(0, 300, n)],
        "region": ["south" if i % 2 else "north" for i in range(records)] + (["abroad", "sea"] * strays)[:strays],
        "diagnosis": rng.choice(["asthma", "burn", "cold"], n, p=[0.6, 0.3, 0.1]).tolist(),
        "cost": np.round(rng.gamma(2, 500, n)).tolist(),
        "weight": rng.integers(1, 20, n).tolist(),
    })  # fmt: skip


def recipe(**changes: Any) -> dict[str, Any]:
    """What is done to them, with other sections where told so."""
    return {
        "k": 5,
        "seed": SEED,
        "method": {"name": "mdav", "bound": "fast"},
        "weights": "weight",
        "strata": {"within": ["region"], "small": "suppress"},
        "missing": {"policy": "own-value", "small": "merge"},
        "columns": COLUMNS,
    } | changes


def saved(table: pa.Table, how: dict[str, Any], name: str = "patients-2026.csv") -> Any:
    """The facts of a release, once its bundle is written."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name
        pyarrow.csv.write_csv(table, source)
        release = ct.protect(source, how)
        release.save(Path(folder) / "out")
        return release.facts


@cache
def release_facts(strays: int = 2, gaps: int = 40, k: int = 5) -> Any:
    """The facts of the patients' release."""
    return saved(patients(strays, gaps), recipe(k=k))


@cache
def two_scenarios() -> Any:
    """The facts of a release for two intruders who share no column."""
    how = {"neighbour": {"quasi": ["age", "town"], "k": 3}, "employer": {"quasi": ["income", "education"], "k": 60}}
    names = ("age", "income", "education", "town", "cost")
    table = patients(0, 0).select(names)
    columns = {name: COLUMNS[name] for name in names}
    return saved(table, {"k": 3, "seed": 1, "method": "mdav", "columns": columns, "scenarios": how})


@cache
def categories_only() -> Any:
    """The facts of a release without a number, and without confidential columns."""
    columns = {name: COLUMNS[name] for name in ("education", "town")}
    return saved(patients(0, 0).select(list(columns)), {"k": 5, "seed": 1, "method": "mdav", "columns": columns})


@cache
def amounts() -> Any:
    """The facts of a release of many-valued numbers alone, of which all is told, with a bound."""
    columns = {name: COLUMNS[name] for name in ("age", "income", "cost")}
    how = {"k": 5, "seed": 1, "method": {"name": "mdav", "bound": "fast"}, "columns": columns}
    return saved(patients(0, 0).select(list(columns)), how)


@cache
def wide(columns: int, records: int = 40) -> Any:
    """The facts of a release of many numeric columns with long names."""
    rng = np.random.default_rng(1)
    names = [f"a rather long name of a column that goes on and on {i}" for i in range(columns)]
    table = pa.table({name: rng.normal(size=records) for name in names})
    quasi = {name: {"role": "quasi", "kind": "numeric"} for name in names}
    return saved(table, {"k": 3, "seed": 1, "method": "mdav", "columns": quasi})


@cache
def candidates() -> Any:
    """The candidates of a comparison; k = 300 is not possible."""
    names = ["age", "admitted"]
    table = patients(0, 0).select(names)
    return ct.compare(table, [3, 5, 10, 500], ["mdav", "v-mdav", "path"], quasi=names).candidates
