"""Originals that differ in a small count of records, and in nothing that is public: not in a byte of a public file.

If the files are the same for each of 0 to k - 1, no reader can tell which it is, whatever they know and combine.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.facts import as_json, document
from coterie.report import public

K, GROUPS = 5, 12
N = K * GROUPS
TOWNS = ["A", "B", "C", "D"]


def base():
    """Clusters of exactly k records that lie far apart, so that groups are these whatever other columns say."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(GROUPS), K)
    columns = {f"x{i}": (rng.permutation(GROUPS) * 1000.0)[cluster] + rng.random(N) for i in range(45)}
    return cluster, columns


def public_files(folder, columns, kinds, **recipe):
    """The bytes of the files that go out."""
    quasi = {name: {"role": "quasi", "kind": "numeric"} for name in columns if name.startswith("x")}
    how = {"k": K, "seed": 1, "shuffle": False, "method": "mdav", "columns": quasi | kinds} | recipe
    release = ct.protect(pa.table(columns), how)
    release.save(folder, format="csv")
    files = {name: (Path(folder) / name).read_bytes() for name in ("data.csv", "report.html", "verify.json")}
    return files | {"public": json.dumps(document(public(release.facts)))}  # as `protect --json` prints it


def each(other, values, changes):
    """A column of which so many records, each in a cluster of its own, have another value."""
    out = list(values)
    for i in range(changes):
        out[i * K] = values[i * K] + 1 if other is None else other
    return out


CHANGED = {
    "boolean": ("yes", ["no"] * N, {"kind": "boolean"}),
    "nominal": ("Z", [TOWNS[i // K % 4] for i in range(N)], {"kind": "nominal"}),
    "ordinal": (
        "D", [TOWNS[i // K % 3] for i in range(N)], {"kind": "ordinal", "order": TOWNS},
    ),
    "integer released as one value": (2, [0] * N, {"kind": "integer"}),
    "integer": (None, [i // K % 3 for i in range(N)], {"kind": "integer"}),
    "numeric, rounded": (1.0, [0.0] * N, {"kind": "numeric", "decimals": 0}),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGED)
def test_how_many_of_few_records_changed_is_in_no_public_byte(tmp_path, kind):
    other, values, rule = CHANGED[kind]
    found = []
    for changes in range(K):
        _, columns = base()
        columns["y"] = each(other, values, changes)
        found.append(public_files(tmp_path / str(changes), columns, {"y": {"role": "quasi", **rule}}))
    assert all(one["data.csv"] == found[0]["data.csv"] for one in found)  # the same release
    assert all(one == found[0] for one in found)


def test_from_k_changed_records_on_figures_are_told(tmp_path):
    other, values, rule = CHANGED["boolean"]
    found = []
    for changes in (K - 1, K):
        _, columns = base()
        columns["y"] = each(other, values, changes)
        found.append(public_files(tmp_path / str(changes), columns, {"y": {"role": "quasi", **rule}}))
    assert found[0]["data.csv"] == found[1]["data.csv"]
    assert found[0]["report.html"] != found[1]["report.html"]


def test_how_few_records_were_left_out_is_in_no_public_byte(tmp_path):
    found = []
    for few in range(K):
        _, columns = base()
        columns = {name: np.concatenate([x, x[:few]]) for name, x in columns.items()}
        columns["region"] = ["north"] * N + ["sea"] * few
        columns["note"] = [None if i % 7 == 0 else "a" for i in range(N)] + [None] * few
        columns["pay"] = [None if i % 9 == 0 else float(i) for i in range(N)] + [None] * few
        kinds = {"region": {"role": "quasi", "kind": "nominal"}, "note": "other"}
        kinds["pay"] = {"role": "confidential", "kind": "numeric"}
        strata = {"within": ["region"], "small": "suppress"}
        found.append(public_files(tmp_path / str(few), columns, kinds, strata=strata))
    assert all(one["data.csv"] == found[0]["data.csv"] for one in found)
    assert all(one == found[0] for one in found)


def test_how_few_gaps_were_filled_is_in_no_public_byte(tmp_path):
    found = []
    for few in range(K):
        cluster, columns = base()
        columns["y"] = [None if i % K == 0 and i // K < few else float(v) for i, v in enumerate(cluster)]
        kinds = {"y": {"role": "quasi", "kind": "numeric"}}
        found.append(public_files(tmp_path / str(few), columns, kinds, missing="group"))
    assert all(one["data.csv"] == found[0]["data.csv"] for one in found)
    assert all(one == found[0] for one in found)


def test_how_many_of_few_gaps_values_were_blanked_beside_is_in_no_public_byte(tmp_path):
    found = []
    for few in range(1, K):  # the others of their cluster are blanked too
        cluster, columns = base()
        columns["y"] = [None if i < few else float(v) for i, v in enumerate(cluster)]
        columns["z"] = [None if i >= N - 2 * K else float(v) for i, v in enumerate(cluster)]
        kinds = {name: {"role": "quasi", "kind": "numeric"} for name in "yz"}
        missing = {"policy": "own-value", "small": "merge"}
        found.append(public_files(tmp_path / str(few), columns, kinds, missing=missing))
    assert all(one["data.csv"] == found[0]["data.csv"] for one in found)
    assert all(one == found[0] for one in found)


def test_how_many_records_of_a_class_are_a_units_second_ones_is_in_no_public_byte(tmp_path):
    found = []
    for again in range(1, K):
        columns = {"x": [float(i) for i in range(2 * K - 1)]}  # one group
        columns["person"] = [f"P{max(i, again)}" for i in range(2 * K - 1)]
        unit = {"column": "person"}
        found.append(public_files(tmp_path / str(again), columns, {"person": "identifier"}, unit=unit))
    assert all(one == found[0] for one in found)


def test_verify_json_tells_what_the_data_file_tells(tmp_path):
    """Whoever has the file and the claims can count all of it: it says nothing of the original."""
    _, columns = base()
    columns["pay"] = [i % 3 for i in range(N)]
    kinds = {"pay": {"role": "confidential", "kind": "integer", "l": 2}}
    public_files(tmp_path / "out", columns, kinds)
    quasi = [name for name in columns if name.startswith("x")]
    again = ct.verify(tmp_path / "out" / "data.csv", quasi, K, confidential={"pay": {"kind": "integer", "l": 2}})
    assert (tmp_path / "out" / "verify.json").read_text().strip() == as_json(again.facts).strip()
