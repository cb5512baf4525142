"""What the public may see: no small count, nothing of risk, and no secret of the internal facts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.facts import document, schema
from coterie.facts.public_facts import PublicFacts
from coterie.facts.settings import Settings
from coterie.report import public, render_internal, render_public
from release_facts import NAMES, RARE, SEED, patients, release_facts, two_scenarios
from report_pages import Page, put


def test_public_facts_hold_no_small_count_and_nothing_of_risk():
    facts = release_facts()
    assert (facts.input.records, facts.output.suppressed, facts.output.blanked) == (402, 2, 7)
    shown = public(facts)
    assert (shown.input.records, shown.input.columns) == (None, 10)
    assert (shown.output.suppressed, shown.output.blanked) == (None, None)
    assert str(SEED) not in json.dumps(document(shown))
    assert set(shown.measures.utility.columns) == set(NAMES)  # not of columns that are mostly as they were
    for of in shown.measures.utility.columns.values():
        counts = getattr(of, "histogram", None) or getattr(of, "categories", None)
        if counts is not None:
            most = counts.after.index(max(counts.after))  # it has what the others leave
            assert all(n is None or (n >= 5 and n % 5 == 2) for i, n in enumerate(counts.before) if i != most)


def test_the_public_type_has_no_place_for_what_is_not_public():
    def names(part):
        if isinstance(part, dict):
            yield from part.get("properties", ())
            for inside in part.values():
                yield from names(inside)

    found = set(names(schema(PublicFacts)))
    assert {"settings", "suppressed_below", "gap_percent"} < found
    hidden = {
        "seed", "recipe", "risk", "notes", "sentence", "sha256", "engine", "file", "order",  # not for the public
        "sse", "sst", "il1s_sum", "expected", "pmse",  # n would follow
        "quantile_changes", "constant_records",  # values, or counts, of few records would follow
    }  # fmt: skip
    assert not found & hidden


def test_categories_that_the_release_lacks_are_others():
    town = public(release_facts()).measures.utility.columns["town"].categories
    assert RARE in set(patients()["town"].to_pylist())
    assert town.names == ("Centre", "East", "North", "South", "others")
    assert town.after[-1] == 0
    assert RARE not in render_public(release_facts())


def test_records_left_out_are_told_if_they_are_many():
    facts = release_facts(strays=7)
    shown = public(facts)
    assert (facts.output.suppressed, facts.input.records) == (7, 407)
    assert (shown.output.suppressed, shown.input.records) == (7, 407)


def test_no_missing_count_follows_from_a_difference():
    facts = release_facts()
    counts = zip(facts.columns, (3, 50, 50, 0), (0, 48, 40, 0), strict=False)
    columns = tuple(replace(c, missing_before=before, missing_after=after) for c, before, after in counts)
    facts = replace(facts, columns=columns + facts.columns[4:])
    assert [c.missing_before for c in public(facts).columns[:4]] == [None, None, 50, None]  # none looks like few


def test_hidden_missing_counts_are_not_said_to_be_small():
    facts = release_facts()
    counts = zip(facts.columns, (None, 50, 3, 50), (None, 48, 3, 40), strict=False)
    columns = tuple(replace(c, missing_before=before, missing_after=after) for c, before, after in counts)
    facts = replace(facts, columns=columns + facts.columns[4:])
    found = re.findall(r'data-is="Missing before" class="n">([^<]*)<', render_public(facts))
    assert found[:5] == ["–", "not shown", "not shown", "50", "fewer than 5"]  # of the first, nobody counted
    found = re.findall(r'data-is="Missing before" class="n">([^<]*)<', render_internal(facts))
    assert found[:5] == ["–", "50", "3", "50", "0"]


def test_small_shares_are_hidden():
    for changed, share in (
        (0, None),
        (3, None),
        (5, 0.018),
        (9, 0.018),
        (10, 0.03),
        (390, 0.98),
        (391, 0.98),
        (396, None),
    ):
        facts = put(release_facts(), ("measures", "loss", "columns", "town", "changed"), changed)
        assert public(facts).measures.loss.columns["town"].mismatch_share == share, changed


def test_counts_are_hidden_below_the_largest_k():
    facts = two_scenarios()
    assert [grouping.k for grouping in facts.groupings] == [3, 60]
    assert public(facts).suppressed_below == 60
    assert public(replace(facts, output=replace(facts.output, blanked=59))).output.blanked is None


MARK = "zqMARKERqz"
# What of the facts of the internal report may be seen by the public, if it is a string
SEEN = (
    r"columns/\d+/name", r"groupings/\d+/(name|quasi/\d+)", r"output/name", r"verdict/checks/\d+/(what|scenario)",
    r"measures/utility/columns/\w+/categories/names/\d+", r"measures/utility/correlations/names/\d+",
)  # fmt: skip


def leaves(value, path=()):
    """Every value of the facts that holds no other, with its path."""
    if is_dataclass(value):
        inside = [(field.name, getattr(value, field.name)) for field in fields(value)]
    elif isinstance(value, Mapping):
        inside = list(value.items())
    elif isinstance(value, (tuple, list)):
        inside = list(enumerate(value))
    else:
        yield path, value
        return
    for name, part in inside:
        yield from leaves(part, (*path, name))


def shown_to_the_public(facts):
    return json.dumps(document(public(facts))) + render_public(facts)


def test_no_secret_reaches_the_public_page():
    """Put a mark in place of every string of the facts, one after another, and look for it."""
    facts, tried = release_facts(), 0
    for path, value in leaves(facts):
        if isinstance(value, str) and not any(re.fullmatch(p, "/".join(map(str, path))) for p in SEEN):
            tried += 1
            assert MARK not in json.dumps(document(public(put(facts, path, MARK)))), path
    assert tried > 80
    for path in (("recipe", "seed"), ("recipe", "file", "names"), ("recipe", "columns", "age", "order"), ("notes", 0)):
        assert MARK not in shown_to_the_public(put(facts, path, MARK)), path


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["recipe", "params", "loss", "utility", "rule"]), min_size=1, max_size=5), st.data())
def test_unknown_keys_do_not_pass_anywhere(places, data):
    """Where the facts have keys of their own: only those that are known pass, with values that they may have."""
    facts = release_facts()
    paths = {
        "recipe": ("recipe", MARK),
        "params": ("groupings", 0, "params", data.draw(st.sampled_from([MARK, "seed", "random_state", "gamma"]))),
        "loss": ("measures", "loss", "columns", MARK),
        "utility": ("measures", "utility", "columns", MARK),
        "rule": ("recipe", "columns", "age", data.draw(st.sampled_from([MARK, "decimals", "noise", "t"]))),
    }
    for place in places:
        value = {
            "loss": facts.measures.loss.columns["age"],
            "utility": facts.measures.utility.columns["age"],
        }.get(place, MARK)
        facts = put(facts, paths[place], value)
    assert MARK not in shown_to_the_public(facts)


def test_settings_are_those_of_the_recipe():
    recipe = release_facts().recipe
    found = Settings.of(recipe)
    assert (found.within, found.small_strata, found.missing) == (("region",), "suppress", "own-value")
    assert (found.weights, found.rules["income"], found.rules["cost"]) == ("weight", {"decimals": 1}, {"noise": 0.5})
    brief = {"missing": "group", "strata": ["a"], "weights": "w", "guard": "k-first", "columns": {}}
    found = Settings.of(brief)
    assert (found.missing, found.within, found.weights, found.guard) == ("group", ("a",), "w", "k-first")


def test_the_ends_of_a_histogram_are_no_records():
    incomes = [v for v in patients()["income"].to_pylist() if v is not None]
    for render in (render_public, render_internal):
        words = Page(render(release_facts())).words
        for end in (min(incomes), max(incomes)):
            assert f"{end:,.0f}" not in words
    columns = public(release_facts()).measures.utility.columns.values()
    numbers = [of for of in columns if getattr(of, "histogram", None)]
    assert len(numbers) == 3
    for of in numbers:
        for edge in of.histogram.edges:
            assert edge == 0 or float(f"{edge:.2g}") == edge or of.kind == "datetime"
