"""difference: panels, corrected files, the same file with another k; an attacker who has the released files alone."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import coterie as ct
from coterie.facts import schema
from coterie.facts.difference_facts import DifferenceFacts

COLUMNS = {
    "id": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "income": {"role": "quasi", "kind": "numeric"},
    "diagnosis": {"role": "confidential", "kind": "nominal"},
}


def persons(n, seed=1):
    """Records by id."""
    rng = np.random.default_rng(seed)
    return {
        f"p{i:03d}": [int(rng.integers(18, 90)), int(rng.integers(10, 99)) * 100, "abcdef"[rng.integers(6)]]
        for i in range(n)
    }


def write(path, table):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(COLUMNS), *([key, *values] for key, values in table.items())])
    return path


def released(folder, name, table, k=3, **more):
    """A bundle of a table, and the file that it was made from."""
    path = write(folder / f"{name}.csv", table)
    recipe = {"columns": COLUMNS, "k": k, "seed": 7, **more}
    return ct.protect(path, recipe).save(folder / name), path


def changed(table, every=4):
    """A year later: everybody is older, some earn more."""
    return {
        key: [age + 1, income + (500 if i % every == 0 else 0), diagnosis]
        for i, (key, (age, income, diagnosis)) in enumerate(table.items())
    }


def nearest_class(known, folder):
    """The class that an intruder takes for a person's: the rows of the released combination nearest to what is known.

    Distances in standard deviations, as the method has them; released values are means of values near to each other.
    """
    with next(folder.glob("data.csv")).open() as file:
        rows = list(csv.DictReader(file))
    combinations = sorted({(row["age"], row["income"]) for row in rows})
    points = np.array(combinations, float)
    scale = np.array([[float(r["age"]), float(r["income"])] for r in rows]).std(axis=0)
    best = combinations[int(((points - known) ** 2 / scale**2).sum(axis=1).argmin())]
    return [row for row in rows if (row["age"], row["income"]) == best]


def truth(bundle, path):
    """The class of everybody, as the custodian knows it: without shuffling, rows stand in the order of the input."""
    recipe = ct.Recipe.load(bundle / "recipe.toml").as_dict() | {"shuffle": False}
    data = ct.protect(path, recipe).data
    with path.open() as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    rows = list(zip(data["age"].to_pylist(), data["income"].to_pylist(), strict=True))
    return dict(zip(ids, rows, strict=True))


def attacked(*releases):
    """By brute force: how many persons share everybody's classes in all releases."""
    known = [truth(*release) for release in releases]
    everyone = set().union(*known)
    return {p: sum(all(c.get(q) == c.get(p) for c in known) for q in everyone) for p in everyone}


def check(found, sets, this, k):
    """What was found is what brute force finds for the persons of this release."""
    here = [sets[p] for p in this]
    assert found.smallest_set == min(here)
    assert found.below_k == sum(size < k for size in here)
    assert found.ok == (min(here) >= k)
    left = [size for p, size in sets.items() if p not in this]
    case = found.facts.scenarios[0]
    assert case.left_smallest_set == (min(left) if left else None)
    assert case.left_below_k == sum(size < k for size in left)
    assert case.alone == here.count(1)


def test_a_panel(tmp_path):
    """Everybody is older, some left, some came."""
    table = persons(60)
    second = dict(list(changed(table).items())[6:]) | {f"n{i}": v for i, v in enumerate(persons(9, 2).values())}
    first, later = released(tmp_path, "first", table), released(tmp_path, "later", second)
    found = ct.difference(*later, before=[first])
    check(found, attacked(later, first), second, 3)
    assert not found.ok
    facts = found.facts
    assert (facts.persons, facts.returning, facts.new, facts.left) == (63, 54, 9, 6)
    assert facts.matched_by == ("id",)
    assert [one.name for one in facts.quasi] == ["age", "income"]
    age, income = facts.quasi
    assert age.changed_persons == 54
    assert income.changed_persons == sum(second[p][1] != table[p][1] for p in second if p in table)
    assert facts.scenarios[0].returning_below_k + facts.scenarios[0].new_below_k == found.below_k
    text = str(found)
    assert "k = 3 is NOT met" in text
    assert "54 are in the release and in an earlier one, 9 only in the release, 6 only in earlier ones" in text


def test_the_same_file_with_another_k(tmp_path):
    table = persons(60)
    first, later = released(tmp_path, "first", table), released(tmp_path, "later", table, k=5, seed=8)
    found = ct.difference(*later, before=[first])
    check(found, attacked(later, first), table, 3)  # everybody is in both: the least k counts
    assert found.facts.scenarios[0].k == 5


def test_the_same_groups_again_lose_nothing(tmp_path):
    table = persons(40)
    first, later = released(tmp_path, "first", table), released(tmp_path, "later", table, seed=99)
    found = ct.difference(*later, before=[first])
    assert found.ok
    assert found.smallest_set >= 3
    assert "k = 3 is met" in str(found)
    assert "below k" not in str(found)


def test_a_corrected_file_by_row_and_by_id(tmp_path):
    """One value is corrected, and no column tells who is who: rows do."""
    table = persons(45)
    columns = {**COLUMNS, "id": {"role": "other"}}
    first = released(tmp_path, "first", table, columns=columns)
    corrected = table | {"p007": [table["p007"][0] + 30, *table["p007"][1:]]}
    later = released(tmp_path, "later", corrected, columns=columns)
    with pytest.raises(ct.CoterieError, match=r"Persons must be identified.*--by COLUMN"):
        ct.difference(*later, before=[first])
    found = ct.difference(*later, before=[first], rows=True)
    assert found.facts.matched_by == ()
    check(found, attacked(later, first), corrected, 3)
    assert found.facts.quasi[0].changed_persons == 1
    by_id = ct.difference(*later, before=[first], by="id")
    assert by_id.facts.scenarios == found.facts.scenarios


def test_the_same_file_needs_no_identifier(tmp_path):
    table = persons(40)
    columns = {**COLUMNS, "id": {"role": "other"}}
    first = released(tmp_path, "first", table, columns=columns)
    later, path = released(tmp_path, "later", table, k=4, columns=columns)
    found = ct.difference(later, first[1], before=[first])  # the same bytes
    assert found.facts.matched_by == ()
    check(found, attacked((later, path), first), table, 3)


def test_several_earlier_releases(tmp_path):
    table = persons(60)
    second = dict(list(changed(table).items())[4:])
    third = dict(list(changed(second, 3).items())[4:]) | {"new": [50, 5000, "a"]}
    releases = [released(tmp_path, name, t) for name, t in (("one", table), ("two", second), ("three", third))]
    found = ct.difference(*releases[2], before=releases[:2])
    check(found, attacked(releases[2], *releases[:2]), third, 3)
    assert [one.name for one in found.facts.releases] == ["three", "one", "two"]
    assert found.facts.scenarios[0].new_below_k == 1


def test_an_attacker_with_the_released_files_finds_the_smallest_set(tmp_path):
    """Two far clusters: the intruder knows age and income, finds the nearest class in each file, and intersects.

    Diagnoses all differ and are released unchanged, so records can be linked: those in both classes are the set.
    """
    rng = np.random.default_rng(5)
    table = {f"p{i:02d}": [20 + 50 * (i % 2) + int(rng.integers(0, 8)), 1000 + 10 * i, f"d{i}"] for i in range(24)}
    first = released(tmp_path, "first", table)
    moved = {key: [age, income + (4000 if i % 5 == 0 else 0), d] for i, (key, (age, income, d)) in
             enumerate(table.items())}  # fmt: skip
    later = released(tmp_path, "later", moved)
    found = ct.difference(*later, before=[first])
    sets = []
    for key in table:
        seen_first = {row["diagnosis"] for row in nearest_class(table[key][:2], first[0])}
        seen_later = {row["diagnosis"] for row in nearest_class(moved[key][:2], later[0])}
        if table[key][2] in seen_first & seen_later:  # the nearest classes are the right ones
            sets.append(len(seen_first & seen_later))
    assert len(sets) > 12
    assert found.smallest_set == min(sets) == 1
    case = found.facts.scenarios[0]
    # diagnoses are different for all, so whoever is alone in the set has theirs told, and nobody else
    assert case.confidential[0].determined_persons == case.alone
    assert case.confidential[0].known_before == 0


def test_suppressed_persons_are_in_no_class(tmp_path):
    """Two persons without an income are left out of the second release: they are not in it."""
    table = persons(40)
    first = released(tmp_path, "first", table)
    gaps = table | {key: [table[key][0], "", table[key][2]] for key in ("p003", "p004")}
    later = released(tmp_path, "later", gaps, missing={"policy": "own-value", "small": "suppress"})
    found = ct.difference(*later, before=[first])
    assert (found.facts.persons, found.facts.left) == (38, 2)


def test_scenarios_are_looked_at_in_all_combinations(tmp_path):
    table = persons(48)
    scenarios = {"by age": {"quasi": ["age"], "k": 3}, "by income": {"quasi": ["income"], "k": 4}}
    first = released(tmp_path, "first", table)
    later = released(tmp_path, "later", table, scenarios=scenarios)
    found = ct.difference(*later, before=[first])
    assert [case.scenarios for case in found.facts.scenarios] == [("by age", "all"), ("by income", "all")]
    assert [case.k for case in found.facts.scenarios] == [3, 4]
    known, mine = truth(*first), truth(*later)
    for case, column in zip(found.facts.scenarios, (0, 1), strict=True):
        sets = [sum(known[q] == known[p] and mine[q][column] == mine[p][column] for q in table) for p in table]
        assert case.smallest_set == min(sets)
        assert case.below_k == sum(size < 3 for size in sets)
    assert found.below_k == max(case.below_k for case in found.facts.scenarios)


def test_units_are_persons(tmp_path):
    """Each person has two records; the set is one of persons."""
    table = persons(40)
    visits = {
        f"{key}-{visit}": [values[0] + 9 * visit, *values[1:]] for key, values in table.items() for visit in (0, 1)
    }
    columns = {"person": "identifier", **{n: v for n, v in COLUMNS.items() if n != "id"}}
    releases = []
    for name, k in (("first", 3), ("later", 4)):
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as file:
            rows = [[key.split("-")[0], *values] for key, values in visits.items()]
            csv.writer(file).writerows([list(columns), *rows])
        recipe = {"columns": columns, "k": k, "seed": 3, "unit": "person"}
        releases.append((ct.protect(path, recipe).save(tmp_path / name), path))
    found = ct.difference(*releases[1], before=releases[:1])
    assert found.facts.persons == found.facts.returning == 40
    assert found.facts.matched_by == ("person",)
    assert found.facts.releases[0].records == 80
    classes = []
    for bundle, path in releases:
        recipe = ct.Recipe.load(bundle / "recipe.toml").as_dict() | {"shuffle": False}
        data = ct.protect(path, recipe).data
        of = {}
        for key, age, income in zip(visits, data["age"].to_pylist(), data["income"].to_pylist(), strict=True):
            of.setdefault(key.split("-")[0], set()).add((age, income))
        classes.append(of)
    one, other = classes
    least = {p: min(sum(c in one[q] and d in other[q] for q in table) for c in one[p] for d in other[p]) for p in table}
    assert found.smallest_set == min(least.values())
    assert found.below_k == sum(size < 3 for size in least.values())


def test_a_release_that_was_made_part_by_part(tmp_path):
    table = persons(60)
    first = released(tmp_path, "first", table)
    path = write(tmp_path / "later.csv", changed(table))
    recipe = {"columns": COLUMNS, "k": 3, "seed": 7, "method": {"name": "mdav", "blocks": 20}}
    later = ct.protect(path, recipe, engine="duckdb", memory="1GB").save(tmp_path / "later")
    whole = ct.protect(path, recipe).save(tmp_path / "whole")
    parts, one = (ct.difference(b, path, before=[first]).facts for b in (later, whole))
    assert parts.scenarios == one.scenarios
    assert parts.below_k > 0


def test_facts_are_json_by_their_schema(tmp_path):
    table = persons(30)
    first, later = released(tmp_path, "first", table), released(tmp_path, "later", changed(table))
    found = ct.difference(*later, before=first)  # one pair will do
    shown = found.as_dict()
    assert set(schema(DifferenceFacts)["required"]) == set(shown)
    text = json.dumps(shown) + str(found)
    assert not any(key in text for key in table)  # no value


def test_prepared_columns_are_looked_at_as_they_are_released(tmp_path):
    """Ages in bands, and incomes as confidential bands: two values, so one of them follows more often than of many."""
    table = persons(60)
    rules = {
        **COLUMNS,
        "age": {"role": "quasi", "kind": "integer", "bands": [0, 40, 60, 120]},
        "income": {"role": "confidential", "kind": "integer", "bands": [0, 8000, 20000]},
        "diagnosis": {"role": "quasi", "kind": "nominal"},
    }
    first = released(tmp_path, "first", table, columns=rules)
    # everybody a year older, and half of the rest one letter further: other classes, in the same bands of income
    moved = {
        key: [age + 1, income, "abcdef"["abcdef".index(d) * (i % 2)]]
        for i, (key, (age, income, d)) in enumerate(table.items())
    }
    later = released(tmp_path, "later", moved, columns=rules)
    found = ct.difference(*later, before=[first])
    classes = []
    for bundle, path in (later, first):
        recipe = ct.Recipe.load(bundle / "recipe.toml").as_dict() | {"shuffle": False}
        data = ct.protect(path, recipe).data.to_pylist()
        classes.append(dict(zip(table, ((row["age"], row["diagnosis"]) for row in data), strict=True)))
    bands = dict(zip(table, (row["income"] for row in data), strict=True))
    assert len(set(bands.values())) == 2
    alike = {p: [{q for q in table if of[q] == of[p]} for of in classes] for p in table}
    told = sum(len(set.intersection(*({bands[q] for q in these} for these in alike[p]))) == 1 for p in table)
    case = found.facts.scenarios[0]
    assert case.confidential[0].name == "income"
    assert case.confidential[0].determined_persons == told > 0
    assert case.smallest_set == min(len(set.intersection(*alike[p])) for p in table)
    age = next(one for one in found.facts.quasi if one.name == "age")
    assert age.changed_persons == sum(values[0] in (39, 59) for values in table.values())  # who reached the next band


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    table = persons(30)
    return released(folder, "first", table), released(folder, "later", changed(table))


def bad(two, tmp_path):
    """What is refused, by what it says."""
    first, later = two
    other = write(tmp_path / "other.csv", persons(30, 9))
    strangers = released(tmp_path, "strangers", {f"x{i}": v for i, v in enumerate(persons(30, 9).values())})
    return {
        "not the file that": lambda: ct.difference(later[0], other, before=[first]),
        "which is not one": lambda: ct.difference(tmp_path / "none", other, before=[first]),
        "does not exist": lambda: ct.difference(*later, before=[(first[0], tmp_path / "none.csv")]),
        "must be a list of earlier releases": lambda: ct.difference(*later, before=[]),
        "each with its input": lambda: ct.difference(*later, before=[first[0]]),
        "without 'ID'": lambda: ct.difference(*later, before=[first], by="ID"),
        "Got: both": lambda: ct.difference(*later, before=[first], by="id", rows=True),
        "list of different ones": lambda: ct.difference(*later, before=[first], by=["id", "id"]),
        "object of type int": lambda: ct.difference(*later, before=[first], by=5),
        "different ones. Got: none": lambda: ct.difference(*later, before=[first], by=[]),
        "object of type list": lambda: ct.difference(*later, before=[first], by=["id", 5]),
        "'rows' must be True or False": lambda: ct.difference(*later, before=[first], rows="yes"),
        "a bundle's folder": lambda: ct.difference(ct.protect(first[1], {"columns": COLUMNS, "k": 3}), "", [first]),
        "nobody, by 'id'": lambda: ct.difference(*strangers, before=[first]),
    }  # fmt: skip


def test_what_is_refused(two, tmp_path):
    for words, run in bad(two, tmp_path).items():
        with pytest.raises(ct.CoterieError, match=words):
            run()


def test_records_that_say_nothing_of_whose_they_are_are_refused(tmp_path):
    table = persons(30)
    first = released(tmp_path, "first", table)
    later = released(tmp_path, "later", {("" if key == "p003" else key): values for key, values in table.items()})
    with pytest.raises(ct.CoterieError, match="1 records of 'later' without a value in 'id'"):
        ct.difference(*later, before=[first], by="id")


@pytest.mark.parametrize("of_which", [0, 1], ids=["first", "later"])
def test_a_bundle_that_is_not_whole_is_refused_before_anything_is_repeated(two, monkeypatch, of_which):
    """A broken bundle is no broken promise: exit code 3 is about persons."""
    from coterie.release import difference

    monkeypatch.setattr(difference, "again", lambda *_: pytest.fail("repeated"))
    folder = two[of_which][0]
    for name, change, words in (
        ("data.csv", lambda text: text.replace("1", "2", 1), "'data.csv', which was changed"),
        ("data.csv", None, "no 'data.csv'"),
        ("manifest.json", lambda text: text.replace('"records"', '"recordz"', 1), "'manifest.json', which was changed"),
        ("manifest.json", lambda text: text.replace('"verified": true', '"verified": false'), "'manifest.json', which"),
        ("recipe.toml", None, "no 'recipe.toml'"),
        ("recipe.toml", lambda text: text.replace("seed = 7", "seed = 8"), "'recipe.toml', which was changed"),
    ):
        kept = (folder / name).read_text()
        (folder / name).unlink()
        if change is not None:
            (folder / name).write_text(change(kept))
        with pytest.raises(ct.CoterieError, match=words) as error:
            ct.difference(*two[1], before=[two[0]])
        assert not isinstance(error.value, ct.PromiseError)
        assert str(folder) in str(error.value)
        (folder / name).write_text(kept)
