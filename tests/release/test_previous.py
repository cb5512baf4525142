"""[previous] in a recipe: what breaks k beside earlier releases is refused; stable groups don't."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct

COLUMNS = {
    "id": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "income": {"role": "quasi", "kind": "numeric"},
    "illness": {"role": "confidential", "kind": "nominal"},
}


def people(n, seed=1):
    rng = np.random.default_rng(seed)
    return {
        f"p{i:03d}": [int(rng.integers(18, 90)), int(rng.integers(10, 99)) * 100, "abcdef"[rng.integers(6)]]
        for i in range(n)
    }


def later(table, seed=2):
    """A year later."""
    rng = np.random.default_rng(seed)
    return {key: [age + 1, income + int(rng.integers(-9, 20)) * 100, ill] for key, (age, income, ill) in table.items()}


def write(path, table):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(COLUMNS), *([key, *values] for key, values in table.items())])
    return path


def document(folder, *names, k=3, **more):
    """A recipe beside earlier releases; `previous` adds to the section."""
    places = [{"bundle": str(folder / name), "input": str(folder / f"{name}.csv")} for name in names]
    previous = {"previous": {"releases": places, **more.pop("previous", {})}} if names else {}
    return {"columns": COLUMNS, "k": k, "seed": 5, "method": "mdav", **previous, **more}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder with a first release, of 60 persons."""
    folder = tmp_path_factory.mktemp("panel")
    write(folder / "first.csv", people(60))
    ct.protect(folder / "first.csv", document(folder)).save(folder / "first")
    return folder


def pair(folder, name):
    return folder / name, folder / f"{name}.csv"


def test_what_breaks_k_is_refused_and_nothing_is_written(run, first, tmp_path):
    path = write(tmp_path / "second.csv", later(people(60)))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(
        ct.PromiseError, match=r"Combined with the earlier releases.*who are in an earlier release.*stable"
    ):
        ct.protect(path, document(first, "first"))
    recipe = ct.Recipe(**document(first, "first"))
    recipe.save(tmp_path / "recipe.toml")
    code, out, err = run("protect", path, "--recipe", tmp_path / "recipe.toml", "-o", tmp_path / "second")
    assert (code, out) == (3, "")
    assert "persons with fewer (k = 3)" in err
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "recipe.toml", *before]


def test_the_counts_are_those_of_difference(first, tmp_path):
    path = write(tmp_path / "second.csv", later(people(60)))
    ct.protect(path, document(first)).save(tmp_path / "second")
    found = ct.difference(tmp_path / "second", path, before=[pair(first, "first")])
    with pytest.raises(ct.PromiseError, match=f"{found.below_k} of 60 persons with fewer"):
        ct.protect(path, document(first, "first"))


def test_stable_groups_keep_k_and_say_what_they_cost(first, tmp_path):
    path = write(tmp_path / "second.csv", later(people(60)))
    release = ct.protect(path, document(first, "first", previous={"groups": "stable"}))
    previous = release.facts.previous
    assert (previous.groups, previous.left_out) == ("stable", 0)
    assert previous.difference.ok
    assert previous.difference.smallest_set >= 3
    free = ct.protect(path, document(first))
    assert previous.free_loss_percent == pytest.approx(free.facts.groupings[0].loss_percent)
    assert previous.loss_percent == pytest.approx(release.facts.groupings[0].loss_percent)
    assert previous.loss_percent > previous.free_loss_percent
    assert "stable groups" in str(release)
    release.save(tmp_path / "second")
    found = ct.difference(tmp_path / "second", path, before=[pair(first, "first")])
    assert found.facts.scenarios == previous.difference.scenarios
    public, internal = ((tmp_path / "second" / name).read_text() for name in ("report.html", "internal.html"))
    assert "previous" not in public
    assert "stayed together" not in public
    assert f"in all releases is {previous.difference.smallest_set}." in internal
    assert f"within free groups {previous.free_loss_percent:.2f} %" in internal
    shown = str(release).replace("\N{NO-BREAK SPACE}", " ")
    line = next(line for line in shown.splitlines() if line.startswith("stable groups"))
    assert line.endswith(f"(variation within groups; within free groups: {previous.free_loss_percent:.2f} %)")
    assert f" {previous.loss_percent:.2f} %  (" in line
    assert ct.verify(tmp_path / "second").ok
    assert ct.replay(tmp_path / "second", path).same


@pytest.mark.parametrize("k", [3, 4, 6])
def test_another_k_of_the_same_file(first, k):
    """The groups of k = 3 are put together, whole, for a larger k."""
    with pytest.raises(ct.PromiseError):
        ct.protect(first / "first.csv", document(first, "first", k=5))
    release = ct.protect(first / "first.csv", document(first, "first", k=k, previous={"groups": "stable"}))
    assert release.verdict.ok
    assert min(release.facts.groupings[0].sizes) >= k
    assert release.facts.previous.difference.smallest_set >= 3


def test_another_seed_or_method_of_the_same_file(first):
    with pytest.raises(ct.PromiseError):
        ct.protect(first / "first.csv", document(first, "first", method="v-mdav", columns={**COLUMNS, "age": "other"}))
    assert ct.protect(first / "first.csv", document(first, "first", seed=77)).facts.previous.difference.ok


def test_a_corrected_file(first, tmp_path):
    """One person's age is corrected: free groups change, stable ones don't."""
    table = people(60)
    path = write(tmp_path / "corrected.csv", table | {"p011": [table["p011"][0] + 40, *table["p011"][1:]]})
    with pytest.raises(ct.PromiseError):
        ct.protect(path, document(first, "first"))
    assert ct.protect(path, document(first, "first", previous={"groups": "stable"})).facts.previous.left_out == 0


def changed(folder):
    """Five left, seven came."""
    table = dict(list(later(people(60)).items())[5:]) | {f"n{i}": v for i, v in enumerate(people(7, 9).values())}
    return write(folder / "second.csv", table)


def test_who_left_and_who_came(first, tmp_path):
    path = changed(tmp_path)
    with pytest.raises(ct.PromiseError, match=r"\d+ persons with fewer, 0 of them in no earlier release.*suppress"):
        ct.protect(path, document(first, "first", previous={"groups": "stable"}))
    release = ct.protect(path, document(first, "first", previous={"groups": "stable", "small": "suppress"}))
    previous = release.facts.previous
    assert previous.left_out == release.facts.output.suppressed > 0
    assert release.facts.output.records == 62 - previous.left_out
    assert release.facts.input.records == 62
    said = (
        f"{previous.left_out} records were suppressed, because too few of those who were with them in earlier releases"
    )
    assert any(note.startswith(said) for note in release.facts.notes)
    assert not any("were like them" in note for note in release.facts.notes)
    assert previous.difference.ok
    assert previous.difference.new == 7
    release.save(tmp_path / "second")
    assert ct.replay(tmp_path / "second", path).same
    # who came is with others who came: at least 3 in each class
    assert previous.difference.scenarios[0].new_below_k == 0


def test_one_who_left_is_told(tmp_path):
    """The first release had k = 6. Of 30 persons one left: the others of that class keep 5, enough for k = 3 now."""
    write(tmp_path / "first.csv", people(30))
    ct.protect(tmp_path / "first.csv", document(tmp_path, k=6)).save(tmp_path / "first")
    path = write(tmp_path / "second.csv", dict(list(later(people(30)).items())[1:]))
    with pytest.warns(ct.PrivacyWarning, match="^1 person of earlier releases is not in this one"):
        release = ct.protect(path, document(tmp_path, "first", previous={"groups": "stable"}))
    found = release.facts.previous.difference
    assert (found.left, found.scenarios[0].left_smallest_set, found.scenarios[0].left_below_k) == (1, 1, 1)
    assert release.facts.previous.left_out == 0
    assert found.smallest_set >= 3


def test_too_few_who_came_are_refused(first, tmp_path):
    table = later(people(60)) | {"new": [40, 5000, "a"]}
    path = write(tmp_path / "second.csv", table)
    with pytest.raises(ct.PromiseError, match="1 person with fewer, 1 of them in no earlier release"):
        ct.protect(path, document(first, "first", previous={"groups": "stable"}))
    release = ct.protect(path, document(first, "first", previous={"groups": "stable", "small": "suppress"}))
    assert release.facts.previous.left_out == 1


def test_guards_hold_in_stable_groups(first, tmp_path):
    path = write(tmp_path / "second.csv", later(people(60)))
    columns = {**COLUMNS, "illness": {**COLUMNS["illness"], "l": 3}}
    given = document(first, "first", previous={"groups": "stable"}, columns=columns, guard={"split": False})
    release = ct.protect(path, given)
    assert release.verdict.ok
    assert release.facts.previous.difference.ok
    without = ct.protect(path, document(first, "first", previous={"groups": "stable"}))
    assert release.facts.groupings[0].groups < without.facts.groupings[0].groups


@pytest.mark.parametrize(
    "more", [{"centre": "medoid"}, {"missing": "group"}, {"method": {"name": "v-mdav", "refine": "quick"}}]
)
def test_stable_groups_with_other_options(first, tmp_path, more):
    path = write(tmp_path / "second.csv", later(people(60)))
    release = ct.protect(path, document(first, "first", previous={"groups": "stable"}, **more))
    assert release.verdict.ok
    assert release.facts.previous.difference.ok


def test_three_waves(first, tmp_path):
    """The third release stands beside two, the second of which stands beside the first."""
    folder = tmp_path / "waves"
    shutil.copytree(first, folder)
    tables = [people(60)]
    for number, name in enumerate(("second", "third"), 1):
        tables.append(later(tables[-1], number))
        write(folder / f"{name}.csv", tables[-1])
        names = ("first", "second")[:number]
        release = ct.protect(folder / f"{name}.csv", document(folder, *names, previous={"groups": "stable"}))
        assert release.facts.previous.difference.smallest_set >= 3
        release.save(folder / name)
    found = ct.difference(*pair(folder, "third"), before=[pair(folder, "first"), pair(folder, "second")])
    assert found.ok
    assert ct.replay(*pair(folder, "third")).same


def test_rows_and_columns_match_persons(first, tmp_path):
    """By record number, by an identifier, by two columns; a wrong column is refused."""
    path = write(tmp_path / "second.csv", later(people(60)))
    same = [
        ct.protect(path, document(first, "first", previous={"groups": "stable", **by})).facts.previous.difference
        for by in ({}, {"by": "id"}, {"rows": True}, {"by": ["id", "illness"]})
    ]
    assert len({one.scenarios for one in same}) == 1
    assert [one.matched_by for one in same] == [("id",), ("id",), (), ("id", "illness")]
    with pytest.raises(ct.CoterieError, match="one record per person in each release"):
        ct.protect(path, document(first, "first", previous={"groups": "stable", "by": "illness"}))


def test_relative_paths_from_the_command_line(run, first, tmp_path, monkeypatch):
    folder = tmp_path / "project"
    shutil.copytree(first, folder)
    write(folder / "second.csv", later(people(60)))
    given = document(folder, "first", previous={"groups": "stable"})
    given["previous"]["releases"] = [{"bundle": "first", "input": "first.csv"}]
    ct.Recipe(**given).save(folder / "recipe.toml")
    monkeypatch.chdir(tmp_path)
    code, _, err = run("protect", "project/second.csv", "--recipe", "project/recipe.toml", "-o", "project/second")
    assert code == 0, err
    assert "earlier releases" in err
    assert run("replay", "project/second", "--input", "project/second.csv")[0] == 0
    assert run("verify", "project/second")[0] == 0
    shutil.move(folder / "first", folder / "elsewhere")
    code, _, err = run("replay", "project/second", "--input", "project/second.csv")
    assert code == 2
    assert "first', which is not one. Hint: [previous] names it" in err
    assert run("verify", "project/second")[0] == 0  # the file itself needs no other


def test_from_python_paths_begin_where_it_was_started(first, tmp_path, monkeypatch):
    monkeypatch.chdir(first)
    given = document(first, "first", previous={"groups": "stable"})
    given["previous"]["releases"] = [{"bundle": "first", "input": "first.csv"}]
    release = ct.protect("first.csv", given)
    assert release.recipe.previous.releases[0]["bundle"] == str(first / "first")
    release.save(tmp_path / "out")
    assert ct.replay(tmp_path / "out", "first.csv").same


def test_what_is_refused_before_any_work(first, tmp_path):
    path = write(tmp_path / "second.csv", later(people(60)))
    other = write(tmp_path / "other.csv", people(60, 3))
    strangers = write(tmp_path / "strangers.csv", {f"x{i}": v for i, v in enumerate(people(60, 3).values())})

    def beside(bundle, source, **more):
        return {**document(first, **more), "previous": {"releases": [{"bundle": str(bundle), "input": str(source)}]}}

    good = document(first, "first")
    cases = {
        "which is not one": lambda: ct.protect(path, beside(tmp_path / "none", other)),
        "does not exist": lambda: ct.protect(path, beside(first / "first", tmp_path / "none.csv")),
        "not the file that": lambda: ct.protect(path, beside(first / "first", other)),
        "engine duckdb": lambda: ct.protect(path, good, engine="duckdb"),
        "does not take earlier releases": lambda: ct.compare(path, [3], ["mdav"], recipe=good),
        "nobody, by 'id'": lambda: ct.protect(strangers, good),
        "nobody, by": lambda: ct.protect(strangers, document(first, "first", previous={"groups": "stable"})),
    }
    for words, run in cases.items():
        with pytest.raises(ct.CoterieError, match=words):
            run()


def test_a_release_is_no_earlier_one_of_itself(first, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(first, folder)
    given = document(folder, "first", previous={"groups": "stable"})
    ct.protect(folder / "first.csv", given).save(folder / "first", force=True)  # it replaces what it was made beside
    with pytest.raises(ct.CoterieError, match="its own predecessor"):
        ct.replay(folder / "first", folder / "first.csv")


def test_a_table_in_memory(first):
    rows = later(people(60))
    values = list(zip(*rows.values(), strict=True))
    table = pa.table({"id": list(rows), "age": values[0], "income": values[1], "illness": values[2]})
    assert ct.protect(table, document(first, "first", previous={"groups": "stable"})).facts.previous.difference.ok


def test_units_in_free_groups(tmp_path):
    """A unit may stand beside earlier releases: persons are counted, as by difference."""
    table = people(40)
    columns = {"person": "identifier", **{name: rule for name, rule in COLUMNS.items() if name != "id"}}
    path = tmp_path / "visits.csv"
    with path.open("w", newline="") as file:
        rows = [[key, v[0] + 5 * visit, *v[1:]] for key, v in table.items() for visit in (0, 1)]
        csv.writer(file).writerows([list(columns), *rows])
    given = {"columns": columns, "k": 3, "seed": 1, "unit": "person"}
    ct.protect(path, given).save(tmp_path / "visits")
    beside = {"releases": [{"bundle": str(tmp_path / "visits"), "input": str(path)}]}
    ct.protect(path, {**given, "k": 4}).save(tmp_path / "again")
    found = ct.difference(tmp_path / "again", path, before=[(tmp_path / "visits", path)])
    with pytest.raises(ct.PromiseError, match=f"{found.below_k} of 40 persons with fewer"):
        ct.protect(path, {**given, "k": 4, "previous": beside})
    # all in one class, which tells nothing: what is left is the earlier release
    assert ct.protect(path, {**given, "k": 40, "previous": beside}).facts.previous.difference.persons == 40
