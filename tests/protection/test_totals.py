"""Controlled rounding: totals are kept as nearly as the sizes of groups allow, with the least change; k stays."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.protection import totals as totals_
from coterie.protection.centres import centres_of_groups
from coterie.protection.totals import KeptTotal, keep_total, nearest_by_exchange, nearest_choice
from coterie.report.public import public
from coterie.tables.columns import Column
from reference import controlled_rounding


def kept(groups, step=1.0, kind="integer", weights=None):
    """What is released for each group of values, and what is left."""
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    column = Column("x", kind, np.concatenate([np.asarray(group, float) for group in groups]))
    w = None if weights is None else np.concatenate([np.asarray(one, float) for one in weights])
    return keep_total(column, labels, w, step, centres_of_groups(column, labels, w, step))


def test_by_hand():
    """Three groups of 3, 3 and 4 records with the means 4/3, 7/3 and 21/4: the total is 4 + 7 + 21 = 32.

    Rounded to the nearest: 1, 2 and 5, that is 3 + 6 + 20 = 29, and 3 are left. Above their lower roundings lie 1, 1
    and 1, together 3: a group of 3 must be rounded up. The first and the second cost the same: 3 (2/3)² instead of 3
    (1/3)². The first has the lower number.
    """
    values, told = kept([[1, 1, 2], [2, 2, 3], [5, 5, 5, 6]])
    assert values.tolist() == [2.0, 2.0, 5.0]
    assert told == KeptTotal(left=0.0, left_plain=3.0, largest_left=0.0, turned=1)


def test_what_sizes_cannot_reach():
    """All groups have 4 records, so every released total is a multiple of 4: of 6 above, 4 or 8 are equally near.

    Means 1/4, 1/2, 3/4 above: 4 takes the last, with squared changes 4 (1/16 + 1/4 + 1/16) = 3/2; 8 takes the last
    two, with the same. The lower sum counts.
    """
    values, told = kept([[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    assert values.tolist() == [0.0, 0.0, 1.0]
    assert (told.left, told.largest_left) == (2.0, 2.0)


def test_a_mean_on_a_step_stays():
    values, told = kept([[3, 3, 3], [4, 4, 5, 4, 4]])
    assert values.tolist() == [3.0, 4.0]
    assert told.left == 1.0


sizes = st.integers(1, 6)
whole = st.one_of(st.integers(-3, 3), st.integers(-500, 500))
groups_ = st.lists(sizes.flatmap(lambda n: st.lists(whole, min_size=n, max_size=n)), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(groups_, st.sampled_from([0, 1, -2]))
def test_like_trying_all_ways(groups, decimals):
    """The same difference and the same least squared change as of all roundings; whole numbers, decimals, hundreds."""
    scale, step = Fraction(10) ** decimals, 10.0**-decimals
    kind = "numeric" if decimals else "integer"
    hundredths = [[float(Fraction(v, 100 if decimals == 1 else 1)) for v in group] for group in groups]
    exact = [[Fraction(v, 100 if decimals == 1 else 1) * scale for v in group] for group in groups]
    values, told = kept(hundredths, step, kind)
    units = [Fraction(round(v * float(scale))) for v in values.tolist()]
    assert values.tolist() == pytest.approx([float(u / scale) for u in units], rel=1e-15)
    means = [sum(group) / len(group) for group in exact]
    assert all(abs(u - mean) < 1 for u, mean in zip(units, means, strict=True))
    left = sum(sum(group) - len(group) * u for group, u in zip(exact, units, strict=True))
    change = sum(len(group) * (u - mean) ** 2 for group, u, mean in zip(exact, units, means, strict=True))
    assert (abs(left), change) == controlled_rounding(exact)
    assert told.left == pytest.approx(float(left / scale), rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([4, 6, 9, 10, 15, 40]), st.floats(0, 0.999)), min_size=1, max_size=8))
def test_sizes_that_hardly_fit_together(given_groups):
    """Sizes with common divisors, so that groups far from the others must be turned."""
    n = np.array([size for size, _ in given_groups])
    above = np.array([int(size * share) for size, share in given_groups])

    def found(up):
        left = abs(int(above.sum() - n[up].sum()))
        shares = [Fraction(a, size) for a, size in zip(above.tolist(), n.tolist(), strict=True)]
        return left, sum(size * (u - x) ** 2 for size, u, x in zip(n.tolist(), up.tolist(), shares, strict=True))

    ways = (np.array([way >> i & 1 for i in range(len(n))], bool) for way in range(1 << len(n)))
    assert found(nearest_choice(n, above)) == min(found(up) for up in ways if not np.any(up & (above == 0)))


def test_whole_numbers_that_floats_cannot_add():
    """Sums of whole numbers near 2**53 are exact, however many there are."""
    top = 2**53 - 1
    values, told = kept([[top, top - 1, -top], [top, top, top - 2], [-top, top, 5]])
    assert told.left == float(sum([top, top - 1, -top, top, top, top - 2, -top, top, 5]) - 3 * sum(map(int, values)))


def test_values_without_room_for_the_step():
    with pytest.raises(ct.CoterieError, match=r"The values of 'x' must be below 2\*\*52 steps") as caught:
        kept([[1e299, 2.0, 3.0]], 0.1, "numeric")
    assert "299" not in str(caught.value)


def test_many_groups_of_one_size_and_an_odd_one():
    """Only the odd group changes the remainder by 50; it must be turned, though its mean is just above a step."""
    rng = np.random.default_rng(1)
    n, above = np.full(3000, 50), rng.integers(5, 45, 3000)
    n[7], above[7] = 51, 1
    above[0] = 0
    above[0] = (1 - above.sum()) % 50
    up = nearest_choice(n, above)
    assert up[7]
    assert above.sum() == n[up].sum()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0, 0.999)), min_size=1, max_size=40))
def test_weights_leave_at_most_half_the_largest(given_groups):
    sums = np.array([size for size, _ in given_groups])
    above = sums * np.array([share for _, share in given_groups])
    up = nearest_by_exchange(sums, above)
    assert not np.any(up & (above == 0))
    assert abs(above.sum() - sums[up].sum()) <= 0.5 * sums.max() * (1 + 1e-9)


def test_weights_by_hand():
    """Weights 1, 2 and 1, 1 and 2, 2: means 5/3, 3/2 and 7/2; sums of weights 3, 2 and 4; the total is 5 + 3 + 14.

    Above the lower roundings lie 2, 1 and 2, together 5: the groups of 3 and 2 up give it exactly.
    """
    values, told = kept([[1, 2], [1, 2], [3, 4]], weights=[[1, 2], [1, 1], [2, 2]])
    assert values.tolist() == [2.0, 2.0, 3.0]
    assert told.left == pytest.approx(0.0, abs=1e-12)


def people(n=300, seed=2):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "children": rng.poisson(1.3, n),
            "income": np.round(rng.lognormal(3, 1, n), 2),
            "region": rng.choice(["north", "south"], n).tolist(),
            "weight": rng.uniform(0.5, 4, n),
        }
    )


def recipe(children=True, income=True, **more):
    return {
        "k": 4,
        "seed": 3,
        "columns": {
            "children": {"role": "quasi", "kind": "integer", "totals": children},
            "income": {"role": "quasi", "kind": "numeric", "decimals": 0, "totals": income},
            "region": {"role": "quasi", "kind": "nominal"},
            "weight": "other",
        },
        "method": "mdav",
        "strata": ["region"],
        **more,
    }


def totals(table, weighted=False):
    out = {}
    for region in ("north", "south"):
        there = np.array([r == region for r in table["region"].to_pylist()])
        w = table["weight"].to_numpy()[there] if weighted else np.ones(there.sum())
        for name in ("children", "income"):
            out[region, name] = float(w @ table[name].to_numpy()[there])
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_in_a_release(weighted):
    table = people()
    more = {"weights": "weight"} if weighted else {}
    release = ct.protect(table, recipe(**more))
    assert release.verdict.ok
    before, after = totals(table, weighted), totals(release.data, weighted)
    plain = totals(ct.protect(table, recipe(False, False, **more)).data, weighted)
    for total in release.facts.totals:
        assert (total.weighted, total.parts) == (weighted, 2)
        differences = [before[region, total.column] - after[region, total.column] for region in ("north", "south")]
        assert sum(differences) == pytest.approx(total.left, abs=1e-6)
        assert max(map(abs, differences)) == pytest.approx(total.largest_left_of_part, abs=1e-6)
        assert total.largest_left_of_part <= 3.5 * (4 if weighted else 1)
        nearest = sum(before[region, total.column] - plain[region, total.column] for region in ("north", "south"))
        assert nearest == pytest.approx(total.left_of_nearest, abs=1e-6)
        assert abs(nearest) > abs(total.left)
    assert [total.column for total in release.facts.totals] == ["children", "income"]
    said = [note for note in release.facts.notes if note.startswith("Controlled rounding")]
    assert len(said) == 2
    assert ct.protect(table, recipe(False, False)).facts.totals == ()


def test_groups_are_those_without():
    """Totals change what is released, not who is together; the loss is measured on what is released."""
    table = people()
    with_, without = ct.protect(table, recipe(shuffle=False)), ct.protect(table, recipe(False, False, shuffle=False))
    assert with_.facts.groupings[0].sizes == without.facts.groupings[0].sizes
    moved = with_.data["income"].to_numpy() - without.data["income"].to_numpy()
    assert set(np.abs(moved).tolist()) == {0.0, 1.0}
    assert with_.facts.measures.loss.sse > without.facts.measures.loss.sse


def test_reports_say_it_and_the_public_one_no_number(tmp_path):
    release = ct.protect(people(), recipe())
    release.save(tmp_path / "bundle")
    told = public(release.facts)
    assert told.settings.totals == ("children", "income")
    assert "left" not in json.dumps(told, default=vars)
    page = " ".join((tmp_path / "bundle" / "report.html").read_text().split())
    assert "In children and income, group means were rounded up or down so that totals are kept within each" in page
    assert "Means rounded to the nearest" not in page
    assert "Means rounded to the nearest" in (tmp_path / "bundle" / "internal.html").read_text()
    assert ct.replay(tmp_path / "bundle", people()).same


def test_a_decimal_type_without_room():
    table = people()
    table = table.set_column(1, "income", table["income"].cast(pa.decimal128(12, 2)))
    how = recipe()
    how["columns"]["income"] |= {"decimals": 3}
    with pytest.raises(ct.CoterieError, match="must have enough decimals"):
        ct.protect(table, how)
    how["columns"]["income"] |= {"decimals": 1}
    release = ct.protect(table, how)
    left = float(sum(table["income"].to_pylist()) - sum(release.data["income"].to_pylist()))
    assert left == pytest.approx(release.facts.totals[1].left, abs=1e-6)


def test_nothing_is_proven_with_weights_but_exchanges_help(monkeypatch):
    rng = np.random.default_rng(5)
    sums, share = rng.uniform(5, 50, 400), rng.random(400)
    up = nearest_by_exchange(sums, sums * share)
    monkeypatch.setattr(totals_, "_ROUNDS", 0)
    greedy = nearest_by_exchange(sums, sums * share)
    wanted = float(sums @ share)
    assert abs(wanted - sums[up].sum()) < 0.01 < abs(wanted - sums[greedy].sum())


def test_prepared_columns_keep_the_total_of_what_they_have_become():
    table = people()
    how = recipe(True, True)
    how["columns"]["children"] |= {"top": 3, "importance": 4, "rename": "n_children"}
    how["columns"]["income"] |= {"bottom": 5, "top": 90}
    release = ct.protect(table, how)
    assert release.verdict.ok
    released = {"children": "n_children", "income": "income"}
    for total, (low, high) in zip(release.facts.totals, ((0, 3), (5, 90)), strict=True):
        values = release.data[released[total.column]].to_numpy()
        assert low <= values.min() <= values.max() <= high
        prepared = np.clip(table[total.column].to_numpy(), low, high)
        assert prepared.sum() - values.sum() == pytest.approx(total.left, abs=1e-6)
    assert public(release.facts).settings.totals == ("n_children", "income")


def test_bands_have_no_total():
    how = recipe(True, False)
    how["columns"]["children"] |= {"bands": [0, 1, 3]}
    with pytest.raises(ct.RecipeError, match="needs rounded means"):
        ct.protect(people(), how)
