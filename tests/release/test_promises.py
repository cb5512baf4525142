"""Every release keeps its promise, whatever the table and the recipe, or it is said that none can."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie.errors import PromiseError
from coterie.release.flow import protect
from release_tables import classes

kinds = st.sampled_from(["numeric", "integer", "ordinal", "nominal", "datetime", "boolean"])


def column_of(draw, kind, n, gaps):
    values = {
        "numeric": st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
        "integer": st.integers(-1000, 1000),
        "ordinal": st.sampled_from(["a", "b", "c"]),
        "nominal": st.sampled_from(["x", "y", "z", 'ü, "q"']),
        "datetime": st.datetimes(),
        "boolean": st.booleans(),
    }[kind]
    if gaps:
        values = st.one_of(values, values, st.none())
    types = {"numeric": pa.float64(), "integer": pa.int32(), "datetime": pa.timestamp("us"), "boolean": pa.bool_()}
    return pa.array(draw(st.lists(values, min_size=n, max_size=n)), types.get(kind, pa.string()))


@st.composite
def tables_and_recipes(draw):
    n, k = draw(st.integers(4, 40)), draw(st.integers(2, 4))
    gaps = draw(st.booleans())
    table, columns = {}, {}
    for j in range(draw(st.integers(1, 4))):
        kind = draw(kinds)
        table[f"q{j}"] = column_of(draw, kind, n, gaps)
        columns[f"q{j}"] = {"role": "quasi", "kind": kind}
        if kind == "ordinal":
            columns[f"q{j}"]["order"] = ["a", "b", "c"]
    table["c"] = column_of(draw, "nominal", n, gaps)
    columns["c"] = {"role": "confidential", "kind": "nominal"}
    document = {
        "k": k,
        "seed": draw(st.integers(0, 5)),
        "columns": columns,
        "method": draw(st.sampled_from(["mdav", "mdav+"])),
    }
    if draw(st.booleans()):
        columns["c"]["l"] = 2
    if draw(st.booleans()):
        table["w"] = pa.array(draw(st.lists(st.floats(0.5, 4), min_size=n, max_size=n)))
        columns["w"] = {"role": "other"}
        document["weights"] = "w"
    if gaps:
        small = draw(st.sampled_from(["merge", "suppress"]))
        document["missing"] = draw(st.sampled_from(["group", {"policy": "own-value", "small": small}]))
    if draw(st.booleans()):
        table["s"] = column_of(draw, "nominal", n, gaps)
        columns["s"] = {"role": "quasi", "kind": "nominal"}
        document["strata"] = {"within": ["s"], "small": draw(st.sampled_from(["merge", "suppress"]))}
    return pa.table(table), document


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables_and_recipes())
def test_every_release_keeps_its_promise(case):
    """Checked by counting here, beside the verdict; a promise that cannot be kept is said so."""
    table, document = case
    try:
        release = protect(table, document)
    except PromiseError:
        return
    names = [n for n, rule in document["columns"].items() if rule["role"] == "quasi"]
    found = classes(release.data, names)
    assert min(found.values()) >= document["k"]
    assert release.verdict.ok
    if document["columns"]["c"].get("l"):
        held = {}
        for row in release.data.to_pylist():
            held.setdefault(tuple(row[n] for n in names), set()).add(row["c"])
        assert all(len(values - {None}) >= 2 for values in held.values())
    assert all(0 <= c.missing_after <= release.data.num_rows for c in release.facts.columns if c.kind)
