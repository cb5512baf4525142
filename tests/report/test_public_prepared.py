"""What the public report tells of prepared columns, attacked: no count below k of values that stood there already."""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.facts import document
from coterie.report import public
from coterie.report.html import render_internal, render_public
from public_attack import Found, Reader, prepared_share, stood_already


def release_of(rng, n, k):
    """A kept column with a few values at its top already, one whose rare categories join one that is there."""
    beyond, there = rng.integers(0, 4 * k), rng.integers(0, 3 * k)
    pay = np.concatenate([np.full(there, 90), rng.integers(91, 99, beyond), rng.integers(0, 90, n - beyond - there)])
    town = np.concatenate([np.repeat("o", rng.integers(0, 3 * k)), np.repeat("x", rng.integers(0, 3 * k))])
    town = np.concatenate([town, np.repeat("big", n - len(town))])
    table = pa.table({"q": rng.normal(size=n), "pay": rng.permutation(pay), "town": rng.permutation(town).tolist()})
    columns = {
        "q": {"role": "quasi", "kind": "numeric"},
        "pay": {"role": "confidential", "kind": "integer", "top": 90},
        "town": {"role": "other", "kind": "nominal", "recode": {"x": "o"}},
    }
    release = ct.protect(table, {"k": k, "seed": 1, "columns": columns})
    truth = {"pay": table["pay"].to_pylist().count(90), "town": table["town"].to_pylist().count("o")}
    at = {"pay": release.data["pay"].to_pylist().count(90), "town": release.data["town"].to_pylist().count("o")}
    return release, truth, at


@functools.cache
def releases():
    """Some of them, each with its records and k."""
    rng, out = np.random.default_rng(4), []
    for _ in range(24):
        n, k = int(rng.integers(60, 140)), int(rng.integers(3, 7))
        out.append((n, k, *release_of(rng, n, k)))
    return out


def attacked(facts, at, n, **rule):
    """Which small counts are told, by whoever reads the public facts."""
    reader = Reader(facts, {})
    found = Found(reader.k)
    for name, landed in at.items():
        found.add(name, stood_already(reader, name, landed, n, **rule))
    return found


@pytest.mark.filterwarnings("ignore:No record has any of the categories")
def test_nothing_tells_how_many_values_stood_there_already():
    shown, small = 0, 0
    for n, k, release, truth, at in releases():
        facts = document(public(release.facts))
        found = attacked(facts, at, n)
        assert not [name for name in found.recovered(truth) if at[name] > 1]
        for name, landed in at.items():  # all that the file itself leaves open stays so
            if 0 < truth[name] < k:
                small += 1
                assert found.open[name] == list(range(1, min(k - 1, landed) + 1))
        shown += sum(one["changed_share"] is not None for one in facts["prepared"])
    assert shown > 5
    assert small > 5


def exactly(k, changed, _, values):
    """A rule that looks at the changed values alone, as for columns that the file does not show."""
    first = changed // k * k
    return None if changed < k or first + k - 1 > values - k else round((first + (k - 1) / 2) / values, 3)


@pytest.mark.filterwarnings("ignore:No record has any of the categories")
def test_the_attack_would_find_a_leak():
    """Under a rule that hides few changes, but not few values beside them, counts are recovered."""
    recovered = 0
    for n, k, release, truth, at in releases():
        facts = document(public(release.facts))
        changed = {one.name: one.changed for one in release.facts.prepared}
        for one in facts["prepared"]:
            one["changed_share"] = exactly(k, changed[one["name"]], at[one["name"]], n)
        found = attacked(facts, at, n, prints=exactly)
        recovered += len([name for name in found.recovered(truth) if at[name] > 1])
    assert recovered > 0


def test_the_printed_share_is_that_of_the_rule():
    release, _, at = release_of(np.random.default_rng(1), 120, 4)
    told = {one.name: one for one in public(release.facts).prepared}
    for one in release.facts.prepared:
        assert one.landed == at[one.name]
        assert told[one.name].changed_share == prepared_share(4, one.changed, one.landed, one.values)


def test_bands_replace_all_values_whatever_they_were():
    table = pa.table({"q": np.arange(40.0), "age": np.arange(40) % 3})
    columns = {"q": {"role": "quasi", "kind": "numeric"}, "age": {"role": "other", "kind": "integer", "bands": [0, 2]}}
    (told,) = public(ct.protect(table, {"k": 5, "columns": columns}).facts).prepared
    assert told.changed_share == 1.0


def test_both_reports_say_what_was_done():
    release, _, _ = release_of(np.random.default_rng(1), 120, 4)
    changed = {one.name: one.changed for one in release.facts.prepared}
    inside, outside = render_internal(release.facts), render_public(release.facts)
    for page in (inside, outside):
        assert "Prepared first: pay (values above 90 set to 90)" in page
        assert "town (categories recoded)" in page
    assert f"{changed['pay']} of 120 values" in inside
    assert f"{changed['pay']} of 120 values" not in outside
    assert "of the values changed" in str(release)
