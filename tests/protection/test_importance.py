"""Importance is a weight in squared distances: what a column becomes is multiplied by its root, everywhere."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.algorithms.limits import Limits
from coterie.algorithms.run import groups_of
from coterie.algorithms.unit_mdav import groups_of_units
from coterie.protection.centroids import Centroid
from coterie.protection.encoding import encode_columns
from coterie.protection.losses import part_loss
from coterie.tables.columns import Column
from exact_scales import scale_of

N = 90


def table(seed=4, n=N):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.normal(40, 12, n).tolist(),
            "income": rng.gamma(2, 900, n).tolist(),
            "job": rng.choice(["clerk", "nurse", "smith"], n).tolist(),
            "member": rng.choice([True, False], n).tolist(),
            "person": [f"P{i}" for i in rng.integers(0, n // 2, n)],
        }
    )


KINDS = {"age": "numeric", "income": "numeric", "job": "nominal", "member": "boolean"}


def recipe(importance=None, **more):
    columns = {name: {"role": "quasi", "kind": kind} for name, kind in KINDS.items()}
    columns |= {name: {**columns[name], "importance": weight} for name, weight in (importance or {}).items()}
    base = {"k": 4, "seed": 1, "method": "mdav", "shuffle": False, "unit": "none", "columns": columns}
    return {**base, "columns": {**columns, "person": "other"}, **more}


def standardized(data, importance):
    """The encoding of docs/recipe.md, written down literally, each column times the root of its weight."""
    blocks = []
    for name in KINDS:
        values = np.array(data[name].to_pylist())
        if KINDS[name] == "numeric":
            block = ((values - values.mean()) / values.std())[:, None]
        elif KINDS[name] == "boolean":
            block = values.astype(float)[:, None]
        else:
            block = (values[:, None] == np.unique(values)[None]) * np.sqrt(0.5)
        blocks.append(block * np.sqrt(importance.get(name, 1.0)))
    return np.ascontiguousarray(np.hstack(blocks))


def classes(data):
    """Which records share all released values."""
    rows = list(zip(*(data[name].to_pylist() for name in KINDS), strict=True))
    first = {row: i for i, row in reversed(list(enumerate(rows)))}
    return [first[row] for row in rows]


def same_partition(labels):
    first = {label: i for i, label in reversed(list(enumerate(labels.tolist())))}
    return [first[label] for label in labels.tolist()]


WEIGHTS = [{"income": 7}, {"job": 0.25}, {"age": 1000, "member": 2.5}, {"income": 1e-300}]


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "auto"])
@pytest.mark.parametrize("importance", WEIGHTS)
def test_it_is_the_root_times_the_standardized_column(method, importance):
    data = table()
    labels, _ = groups_of(standardized(data, importance), 4, method, {}, "none", np.random.default_rng([1, 0]))
    release = ct.protect(data, recipe(importance, method=method))
    assert classes(release.data) == same_partition(labels)
    plain, _ = groups_of(standardized(data, {}), 4, method, {}, "none", np.random.default_rng([1, 0]))
    assert same_partition(plain) != same_partition(labels)  # the weights matter here


def test_it_holds_for_groups_of_units():
    data = table()
    units = np.unique(data["person"].to_pylist(), return_inverse=True)[1].astype(np.int64)
    X = standardized(data, {"income": 7})
    found = groups_of_units(X, 4, units, "none", np.random.default_rng([1, 0]), Limits())
    how = recipe({"income": 7}, unit="person")
    release = ct.protect(data, {**how, "columns": {**how["columns"], "person": "identifier"}})
    assert classes(release.data) == same_partition(found.labels)


@pytest.mark.parametrize("centre", ["mean", "medoid"])
@pytest.mark.parametrize("blocks", [None, 20])
def test_one_is_the_default(centre, blocks):
    more = {"centre": centre, "shuffle": True, "method": {"name": "mdav", **({"blocks": blocks} if blocks else {})}}
    plain = ct.protect(table(), recipe(**more))
    ones = ct.protect(table(), recipe(dict.fromkeys(KINDS, 1), **more))
    assert ones.data.equals(plain.data)
    assert ones.facts.groupings == plain.facts.groupings
    assert ones.facts.groupings[0].loss_by_importance_percent is None
    assert ones.facts.measures.loss.loss_by_importance_percent is None


def test_only_ratios_have_an_effect():
    one = ct.protect(table(), recipe({"age": 8, "income": 2, "job": 2, "member": 2}))
    other = ct.protect(table(), recipe({"age": 4}))
    assert one.data.equals(other.data)
    assert one.facts.measures.loss.loss_by_importance_percent == pytest.approx(
        other.facts.measures.loss.loss_by_importance_percent
    )


def test_a_heavier_column_loses_less_and_the_others_more():
    losses = []
    for weight in (0.01, 1, 100):
        facts = ct.protect(table(n=300), recipe({"age": weight})).facts
        losses.append([facts.measures.loss.columns[name].loss_percent for name in ("age", "income")])
    ages, incomes = zip(*losses, strict=True)
    assert ages[0] > ages[1] > ages[2]
    assert incomes[0] <= incomes[1] < incomes[2]


def columns_of(n=7):
    numbers = Column("a", "numeric", np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, np.nan]))
    named = Column("b", "nominal", np.array([0.0, 1, 2, 0, 1, np.nan, 2]), ("x", "y", "z"))
    flag = Column("c", "boolean", np.array([0.0, 1, 1, 0, np.nan, 1, 0]), ("no", "yes"))
    columns = [numbers.at(np.arange(n)), named.at(np.arange(n)), flag.at(np.arange(n))]
    return columns, {"a": scale_of(columns[0].numbers)}


def test_records_are_lent_by_the_same_distances_as_groups_are_formed():
    columns, scales = columns_of()
    importance = {"a": 3.0, "b": 0.5, "c": 10.0}
    X = encode_columns(columns, scales, importance)
    assert np.array_equal(X[:, 0], encode_columns(columns, scales)[:, 0] * np.sqrt(3.0))
    expected = np.square(X - X.mean(axis=0)).sum(axis=1)
    assert Centroid(columns, scales, importance).squared_distances(columns) == pytest.approx(expected, rel=1e-12)


def test_the_loss_by_importance_is_that_of_the_weighed_matrix():
    columns, scales = columns_of()
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    importance = {"a": 3.0, "b": 0.5, "c": 10.0}
    for weights, found in (({}, "plain"), (importance, "by_importance")):
        X = encode_columns(columns, scales, weights)
        centres = np.array([X[labels == g].mean(axis=0) for g in (0, 1)])
        spread = getattr(part_loss(columns, scales, labels, None, importance), found)
        assert spread.sse == pytest.approx(np.square(X - centres[labels]).sum(), rel=1e-12)
        assert spread.sst == pytest.approx(np.square(X - X.mean(axis=0)).sum(), rel=1e-12)


def test_the_loss_by_importance_by_hand():
    """Records 0, 2, 10, 12 in a and 0, 10, 2, 12 in b, k = 2.

    With a four times as important, groups are {0, 2} and {10, 12} in a: a is released as 1, 1, 11, 11, b as 5, 5, 7, 7.
    Squares: a moves 4 * 1 of 2 * 36 + 2 * 16 = 104 about the mean 6, b 4 * 25 of 104; both columns have the same
    standard deviation, so the loss is 104 / 208 = 50 %. By importance: (4 * 4 + 100) / (4 * 104 + 104) = 116 / 520.
    """
    data = pa.table({"a": [0.0, 2.0, 10.0, 12.0], "b": [0.0, 10.0, 2.0, 12.0]})
    quasi = {"role": "quasi", "kind": "numeric"}
    how = {
        "k": 2,
        "seed": 1,
        "method": "mdav",
        "shuffle": False,
        "columns": {"a": {**quasi, "importance": 4}, "b": quasi},
    }
    release = ct.protect(data, how)
    assert release.data["a"].to_pylist() == [1.0, 1.0, 11.0, 11.0]
    loss, grouping = release.facts.measures.loss, release.facts.groupings[0]
    assert loss.loss_percent == pytest.approx(50)
    assert grouping.loss_percent == pytest.approx(50)
    assert loss.loss_by_importance_percent == pytest.approx(100 * 116 / 520)
    assert grouping.loss_by_importance_percent == pytest.approx(100 * 116 / 520)


def test_small_strata_join_the_one_that_is_nearest_by_importance():
    """Stratum s is at 0 in a and b; t is 1 away in a, u 2 away in b. With b at a hundredth, u is nearer."""
    a = [0.0] + [1.0] * 4 + [0.0] * 4
    b = [0.0] + [0.0] * 4 + [2.0] * 4
    data = pa.table({"where": ["s", *"tttt", *"uuuu"], "a": a, "b": b})
    quasi = {"role": "quasi", "kind": "numeric"}

    def merged_with(**importance):
        columns = {"where": {"role": "quasi", "kind": "nominal"}, "a": quasi, "b": quasi}
        columns |= {name: {**columns[name], "importance": weight} for name, weight in importance.items()}
        strata = {"within": ["where"], "small": "merge"}
        release = ct.protect(data, {"k": 3, "seed": 1, "shuffle": False, "strata": strata, "columns": columns})
        return release.data["where"].to_pylist()[0]

    assert merged_with(a=100) == "u"
    assert merged_with(b=100) == "t"
    assert merged_with(where=0.001, a=100) == "u"  # a stratum column may have one where strata are merged


def test_blocks_are_cut_where_weighed_columns_are_widest():
    """One cut: at the median of the column whose variance, times its importance, is largest."""
    rng = np.random.default_rng(2)
    data = pa.table({"a": rng.uniform(size=64), "b": rng.uniform(size=64)})
    quasi = {"role": "quasi", "kind": "numeric"}
    for name in ("a", "b"):
        columns = {"a": quasi, "b": quasi}
        columns[name] = {**quasi, "importance": 50}
        how = {"k": 3, "seed": 1, "shuffle": False, "method": {"name": "mdav", "blocks": 32}, "columns": columns}
        release = ct.protect(data, how)
        tree = release._tally.plan.divisions[0].trees[0]
        assert [("a", "b")[j] for j in tree.column.tolist()] == [name]


def test_the_medoid_is_nearest_by_importance():
    """a: 0, 2, 3; b: 2, 0, 3: mean 5/3 in both. Squared distances: (25 + 1, 1 + 25, 16 + 16) / 9, weighed in a by 9:

    (225 + 1, 9 + 25, 144 + 16) / 9: the second record.
    """
    data = pa.table({"a": [0.0, 2.0, 3.0], "b": [2.0, 0.0, 3.0]})
    quasi = {"role": "quasi", "kind": "numeric"}
    for heavy, expected in (("a", (2.0, 0.0)), ("b", (0.0, 2.0))):
        columns = {"a": quasi, "b": quasi}
        columns[heavy] = {**quasi, "importance": 9}
        release = ct.protect(data, {"k": 3, "seed": 1, "centre": "medoid", "columns": columns})
        assert (release.data["a"][0].as_py(), release.data["b"][0].as_py()) == expected


def test_a_bound_is_about_the_weighed_loss():
    facts = ct.protect(table(n=24), recipe({"income": 9}, k=3, method={"name": "exact", "bound": "tight"})).facts
    (grouping,) = facts.groupings
    assert grouping.bound.gap_percent == pytest.approx(0, abs=1e-6)
    assert grouping.bound.loss_percent == pytest.approx(grouping.loss_by_importance_percent)
    assert "importance" in grouping.bound.sentence
    fast = ct.protect(table(), recipe({"income": 9}, method={"name": "mdav", "bound": "fast"})).facts.groupings[0]
    assert fast.bound.loss_percent < fast.loss_by_importance_percent != fast.loss_percent


@pytest.mark.parametrize("weight", [0, -1, 1000.1, float("inf"), float("nan"), "3", True, None, [1]])
def test_what_is_no_importance_is_refused(weight):
    with pytest.raises(
        ct.RecipeError, match=r"columns\.age\.importance: This must be a number above 0 and at most 1000"
    ):
        ct.Recipe(**recipe({"age": weight}))


def test_the_recipe_keeps_it():
    one = ct.Recipe(**recipe({"age": 3, "job": 1}))
    assert one.importance == {"age": 3.0}
    again = ct.Recipe.loads(one.dumps())
    assert again.columns["age"].importance == 3.0
    assert again.as_dict() == one.as_dict()
