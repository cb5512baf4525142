"""Tables in many files, and what each engine releases of them, for tests of Spark."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from coterie.errors import CoterieError
from coterie.recipe import Recipe
from coterie.release.bundle import make_in_parts
from coterie.release.cluster_bundle import Stage, make_on_cluster
from coterie.release.flow import protect

REGIONS = ["north", "south", "east", "west"]


def people(n=240, seed=5):
    """Records of several types, with an identifier and a column that is kept, which tells them apart."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": pa.array(rng.integers(18, 60, n)),
            "income": pa.array(np.round(rng.lognormal(10, 1, n), 2)),
            "region": pa.array(rng.choice(REGIONS, n).tolist()),
            "illness": pa.array(rng.choice(["a", "b", "c", "d"], n).tolist()),
            "weight": pa.array(rng.uniform(0.5, 2.0, n)),
            "person": pa.array([f"P{i}" for i in rng.integers(0, n // 2, n).tolist()]),
            "note": pa.array([f"n{i:05d}" for i in rng.permutation(n).tolist()]),
        }
    )


ROLES = {
    "age": {"role": "quasi", "kind": "integer"},
    "income": {"role": "quasi", "kind": "numeric"},
    "region": {"role": "quasi", "kind": "nominal"},
    "illness": {"role": "confidential", "kind": "nominal"},
    "weight": "other",
    "person": "identifier",
    "note": "other",
}


def recipe(columns=None, blocks=30, **more):
    """A recipe for `people`, or for other columns."""
    plain = {"k": 3, "seed": 11, "method": {"name": "mdav", "blocks": blocks}, "unit": "none"}
    return Recipe(**{**plain, "columns": {**ROLES, **columns} if columns is not None else ROLES, **more})


def laid(folder, table, files=3, row_group=40, order=None, empty=False):
    """A folder of so many files of uneven lengths, created in some order; with an empty one first, last and between."""
    folder.mkdir()
    inner = np.random.default_rng(files).integers(1, table.num_rows, files - 1).tolist()
    pieces = [table.slice(a, b - a) for a, b in pairwise([0, *sorted(inner), table.num_rows])]
    if empty:
        pieces = [table[:0], *pieces[:1], table[:0], *pieces[1:], table[:0]]
    for j in order or range(len(pieces)):
        parquet.write_table(pieces[j], folder / f"part-{j:03d}.parquet", row_group_size=row_group)
    return folder


def released(table, how, engine, rows=None, by="note", key=None):
    """The released records in the order of a column that is kept; and the release."""
    release = protect(table, how, engine=engine, memory="1GB", key=key)
    if engine == "memory":
        data = release.data
    elif engine == "spark":
        with tempfile.TemporaryDirectory() as place:
            make_on_cluster(release, Stage(Path(place), place), rows, False)
            data = parquet.read_table(f"{place}/data")
    else:
        pieces = []
        make_in_parts(release, pieces.append, rows, False)
        data = pa.concat_tables(pieces)
    return data.sort_by(by).combine_chunks(), release


def told(run):
    """What a call gives, or the type and the words of what it refuses."""
    try:
        return run()
    except CoterieError as error:
        return type(error), str(error)
