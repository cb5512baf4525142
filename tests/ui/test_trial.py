"""What people stumbled over who tried the page on files of their own."""

from __future__ import annotations

import pytest

from page_client import Visitor, words_of

pytest.importorskip("starlette")


@pytest.fixture
def visitor(tmp_path):
    with Visitor(tmp_path) as visitor:
        yield visitor


def people(root, name="people.csv", gaps=1, copies=1):
    """A file of people, some of whose ages are missing; a person may have several records."""
    lines = ["id,age,town,job"]
    for i in range(60):
        age = "" if i < gaps else str(20 + i % 31)
        lines += [f"p{i:03},{age},{'ABC'[i % 3]},{['nurse', 'clerk', 'cook'][i % 3]}"] * copies
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def confirmed(visitor, root, **more):
    people(root, **more)
    visitor.send("/open", {"path": "people.csv"})
    visitor.send("/columns", {"action": "confirm-all"})


def test_missing_values_that_nothing_was_said_about_are_told_before_anything_is_tried(visitor, tmp_path):
    confirmed(visitor, tmp_path)
    assert "With this setting nothing can be released" in words_of(visitor.get("/promise").text)
    visitor.send("/promise", {"k": "3", "missing-policy": "group"})
    assert "nothing can be released" not in words_of(visitor.get("/promise").text)


def test_what_helps_is_told_in_the_words_of_the_page(visitor, tmp_path):
    confirmed(visitor, tmp_path)
    visitor.send("/candidates", {"k": "3", "method": "mdav"})
    page = words_of(visitor.get("/candidates").text)
    assert "None of these is possible" in page
    assert "on the page Promise, under “Missing values”" in page
    assert "--missing" not in page
    visitor.post("/release", {"folder": "out"})
    assert visitor.wait().state == "failed"
    assert "--missing" not in words_of(visitor.get("/release").text)


def test_a_candidate_that_is_not_possible_is_not_called_taken(visitor, tmp_path):
    confirmed(visitor, tmp_path)
    visitor.send("/candidates", {"k": str(visitor.session.document["k"]), "method": "auto"})
    page = words_of(visitor.get("/candidates").text)
    assert "✓ taken" not in page
    assert "Go on to the release" not in page
    visitor.send("/promise", {"k": "3", "missing-policy": "group"})
    visitor.send("/candidates", {"k": "3", "method": "auto"})
    assert len(visitor.session.tried) == 1  # what was not possible is gone
    page = words_of(visitor.get("/candidates").text)
    assert "✓ taken" in page
    assert "Go on to the release" in page


def test_the_file_that_is_open_stands_above_the_folder(visitor, tmp_path):
    people(tmp_path, "in/people.csv")
    visitor.send("/open", {"path": "in/people.csv"})
    page = words_of(visitor.get("/open").text)
    assert page.index("Go on to the columns") < page.index("Or choose one")
    assert "Folder: " in page
    assert "/in ." in page  # where the file lies


def test_the_page_of_the_recipe_names_the_file_too(visitor, tmp_path):
    confirmed(visitor, tmp_path)
    page = words_of(visitor.get("/recipe").text)
    assert "No file is open" not in page
    assert "people-recipe.toml" in visitor.get("/recipe").text


def test_whose_records_they_are_is_asked_for_in_plain_words(visitor, tmp_path):
    confirmed(visitor, tmp_path, copies=3)
    page = words_of(visitor.get("/columns").text)
    assert "One decision is left" in page
    page = words_of(visitor.get("/release").text)
    assert "Whose records they are : Choose what k counts: records or persons." in page
    assert "'?'" not in page


def test_a_column_to_decide_is_asked_about_in_the_words_of_the_page(visitor, tmp_path):
    lines = ["height,psize"] + [f"{150 + i * 0.7:.1f},{(1, 2, 3, 4, 6, 5)[i % 6]}" for i in range(120)]
    (tmp_path / "few.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    visitor.send("/open", {"path": "few.csv"})
    assert visitor.session.undecided == ["psize"]
    for path in ("/columns", "/columns/1"):
        page = words_of(visitor.get(path).text)
        assert "whole number or number" in page
        assert "decide …" in page
        for word in ("nominal", "'?'", "Write your decision"):
            assert word not in page


def test_a_file_that_is_no_table_is_told_and_does_not_stay(visitor, tmp_path):
    people(tmp_path)
    (tmp_path / "old.xls").write_bytes(b"old")
    answer = visitor.post("/open", {"path": "old.xls"})
    assert answer.status_code == 422
    assert "save it as .xlsx or .csv" in words_of(answer.text)
    assert visitor.get("/open").status_code == 200
    visitor.send("/open", {"path": "people.csv"})
    visitor.post("/open", {"path": "old.xls"})
    assert "Go on to the columns" in words_of(visitor.get("/open").text)


def test_categories_are_listed_to_be_put_in_order(visitor, tmp_path):
    people(tmp_path)
    visitor.send("/open", {"path": "people.csv"})
    visitor.send("/columns", {"set": "3", "role-3": "quasi", "kind-3": "ordinal"})
    page = visitor.get("/columns/3")
    assert "needs its order" in words_of(page.text)
    assert "nurse" not in page.text
    answer = visitor.post("/columns/3/categories")
    assert answer.status_code == 200
    assert "clerk\ncook\nnurse</textarea>" in answer.text
    assert visitor.session.history.at == 1
    visitor.send("/columns/3", {"order": "cook\nclerk\nnurse"})
    assert visitor.session.document["columns"]["job"]["order"] == ["cook", "clerk", "nurse"]
    assert not visitor.session.mistakes
    assert visitor.post("/columns/0/categories").status_code == 200


def test_a_long_list_of_categories_is_not_shown(visitor, tmp_path):
    (tmp_path / "many.csv").write_text("name,age\n" + "".join(f"x{i},{i % 50}\n" for i in range(300)), encoding="utf-8")
    visitor.send("/open", {"path": "many.csv"})
    answer = visitor.post("/columns/0/categories")
    assert answer.status_code == 422
    assert "At most 100" in words_of(answer.text)


def test_while_scenarios_are_added_columns_are_not_called_wrong(visitor, tmp_path):
    confirmed(visitor, tmp_path, gaps=0)
    quasi = [str(visitor.session.opened.numbers[name]) for name in visitor.session.recipe.quasi]
    assert len(quasi) > 1
    visitor.send("/promise/scenarios", {"old": "", "name": "neighbour", "k": "6", "quasi": quasi[:1]})
    page = words_of(visitor.get("/promise").text)
    assert "In no scenario yet:" in page
    assert "Correct the columns first" not in page
    visitor.send("/promise/scenarios", {"old": "", "name": "employer", "k": "5", "quasi": quasi[1:]})
    assert "In no scenario yet:" not in words_of(visitor.get("/promise").text)
    assert visitor.session.ready


def test_a_step_is_named_by_what_it_changes(visitor, tmp_path):
    people(tmp_path)
    visitor.send("/open", {"path": "people.csv"})
    visitor.send("/columns", {"set": "2", "role-2": "quasi", "kind-2": "ordinal"})
    assert visitor.session.history.undone == "kind of town: ordered categories"
    visitor.send("/columns", {"set": "2", "role-2": "other", "kind-2": "ordinal"})
    assert visitor.session.history.undone == "role of town: other"


def test_what_is_not_right_further_down_is_told_at_the_head_of_the_promise(visitor, tmp_path):
    confirmed(visitor, tmp_path, copies=3)
    assert "Not right yet, further down: Whose records they are" in words_of(visitor.get("/promise").text)
    visitor.send("/promise", {"k": "3", "missing-policy": "group", "unit": "none"})
    assert "Not right yet" not in words_of(visitor.get("/promise").text)


def test_a_stage_whose_announced_work_is_done_is_not_said_to_end_in_a_second():
    from coterie.ui.jobs import Job

    job = Job(1, "Trying 3 candidates", "/candidates", done=50, total=100)
    job.stage_began -= 30
    assert job.percent == 50
    assert 25 < job.left < 35
    job.done = 100
    assert job.percent is None
    assert job.left is None


def test_what_was_claimed_of_a_file_stays_and_is_part_of_the_command(visitor, tmp_path):
    people(tmp_path, gaps=0)
    visitor.send("/check", {"path": "people.csv", "k": "3", "quasi": "town\njob"})
    page = visitor.get("/check").text
    assert "coterie verify people.csv -k 3 --quasi town,job" in words_of(page)
    assert "town\njob</textarea>" in page
    people(tmp_path, "others.csv")
    assert visitor.post("/check", {"path": "others.csv", "k": "3"}).status_code == 422
