"""The page without a browser: from a file to a checked bundle, by forms alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from page_client import Visitor, words_of

pytest.importorskip("starlette")


@pytest.fixture
def root(tmp_path):
    for name in ("patients.csv", "companies.csv"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    return tmp_path


@pytest.fixture
def visitor(root):
    with Visitor(root) as visitor:
        yield visitor


def ready(visitor, file="patients.csv"):
    """A file with every column confirmed, and a promise that can be kept."""
    visitor.send("/open", {"path": file})
    visitor.send("/columns", {"action": "confirm-all"})
    if file == "patients.csv":
        visitor.send("/promise", {"k": "3", "missing-policy": "group", "seed": "7"})


def test_from_a_file_to_a_bundle_that_the_command_line_makes_too(visitor, root):
    ready(visitor)
    visitor.send("/candidates", {"k": "3, 4", "method": ["mdav", "auto"]})
    assert len(visitor.session.tried) == 4
    best = min(visitor.session.tried, key=lambda t: t.reached.loss_percent)
    visitor.send("/candidates/choose", {"number": str(best.number)})
    visitor.send(f"/candidates/{best.number}")
    assert "What analysts will find" in visitor.get(f"/candidates/{best.number}").text
    visitor.send("/release", {"folder": "out"})
    page = words_of(visitor.get("/release").text)
    assert "✓ Checked" in page
    assert "data.csv" in page
    (root / "recipe.toml").write_text(visitor.session.recipe.dumps(), encoding="utf-8")
    command = [sys.executable, "-m", "coterie", "protect", "patients.csv", "--recipe", "recipe.toml", "-o", "again"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    assert (root / "out" / "data.csv").read_bytes() == (root / "again" / "data.csv").read_bytes()
    assert (root / "out" / "recipe.toml").read_bytes() == (root / "again" / "recipe.toml").read_bytes()


def test_what_was_written_is_checked_and_made_again(visitor, root):
    ready(visitor)
    visitor.send("/release", {"folder": "out"})
    visitor.send("/check", {"path": "out"})
    assert visitor.session.checked.verdict.ok
    visitor.send("/check/replay", {"path": "out", "input": "patients.csv"})
    assert visitor.session.checked.replayed.same
    assert "byte for byte" in words_of(visitor.get("/check").text)
    data = root / "out" / "data.csv"
    data.write_bytes(data.read_bytes().replace(b"\n", b"\r\n", 1))
    answer = visitor.post("/check", {"path": "out"})
    assert answer.status_code == 303
    job = visitor.wait()
    assert job.state == "failed" or not visitor.session.checked.verdict.ok


def test_nothing_goes_on_while_a_column_is_not_confirmed(visitor):
    visitor.send("/open", {"path": "patients.csv"})
    for path in ("/candidates", "/release", "/promise"):
        assert "not confirmed" in words_of(visitor.get(path).text)
    for path in ("/candidates", "/release", "/release/try", "/promise/assess"):
        answer = visitor.post(path, {"folder": "out", "k": "3", "method": "mdav"})
        assert answer.status_code == 422
        assert "Every column must be confirmed" in words_of(answer.text)
    assert visitor.session.jobs.last.number == 1  # opening; no other job has begun


def test_a_contradiction_is_told_beside_its_field_in_the_words_of_the_recipe(visitor):
    ready(visitor)
    visitor.send("/promise", {"k": "1", "missing-policy": "refuse", "missing-small": "merge", "stay": "yes"})
    page = words_of(visitor.get("/promise").text)
    assert "This must be a whole number of at least 2." in page
    assert "which matter only with policy" in page
    assert visitor.session.recipe is None
    assert "incomplete or contradictory" in words_of(visitor.get("/release").text)


def test_what_drives_the_risk_is_counted_where_it_is_asked_for(visitor):
    ready(visitor)
    visitor.send("/promise/assess", {})
    assert "Coarsen first" not in words_of(visitor.get("/promise").text)
    visitor.send("/promise/assess", {"drivers": "yes"})
    page = words_of(visitor.get("/promise").text)
    assert "240 records have a minimal sample unique." in page
    (drivers,) = visitor.session.assessment[1].drivers
    alone = [one for one in drivers.columns if one.unique_alone > 1]
    assert alone
    for one in alone:
        assert f"{one.name} alone identifies {one.unique_alone} records: no other has the same value." in page
    places = [page.partition("Coarsen first")[2].index(one.name) for one in drivers.columns]
    assert places == sorted(places)
    assert visitor.session.assessment[1].scores is None  # those of single records stay with the worker


def test_undo_leads_back_to_the_draft_and_redo_forth(visitor):
    ready(visitor)
    here = visitor.session.document
    names = [step.name for step in visitor.session.history.steps]
    assert names[0] == "draft for patients.csv"
    while visitor.session.history.undone:
        visitor.send("/undo", {"back": "/columns"})
    assert visitor.session.document["k"] == 5
    assert visitor.session.unconfirmed
    while visitor.session.history.redone:
        visitor.send("/redo", {"back": "/columns"})
    assert visitor.session.document is here


def test_the_history_is_kept_beside_the_file_only_if_asked_for(visitor, root):
    before = sorted(root.iterdir())
    ready(visitor)
    assert sorted(root.iterdir()) == before
    visitor.send("/history/keep", {"keep": "yes"})
    kept = root / "patients.csv.coterie-history.json"
    assert kept.stat().st_mode & 0o077 == 0
    document = visitor.session.document
    with Visitor(root) as later:  # after a crash, say
        later.send("/open", {"path": "patients.csv"})
        assert later.session.document == document
        assert not later.session.unconfirmed
        assert len(later.session.history.steps) == len(visitor.session.history.steps)
        later.send("/history/keep", {})
    assert not kept.exists()


def test_a_kept_history_of_another_content_is_not_taken_over(visitor, root):
    ready(visitor)
    visitor.send("/history/keep", {"keep": "yes"})
    with (root / "patients.csv").open("a", encoding="utf-8") as file:
        file.write((root / "patients.csv").read_text(encoding="utf-8").splitlines()[-1] + "\n")
    with Visitor(root) as later:
        later.send("/open", {"path": "patients.csv"})
        assert later.session.unconfirmed
        assert "has changed since" in words_of(later.get("/columns").text)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"coterie-history": 1}', '{"coterie-history": 1, "steps": [], "at": 0}', "\0"]
)
def test_a_damaged_history_is_told_and_not_followed(visitor, root, text):
    (root / "patients.csv.coterie-history.json").write_text(text, encoding="utf-8")
    visitor.post("/open", {"path": "patients.csv"})
    job = visitor.wait()
    assert job.state == "failed"
    assert "must be one that this page has written" in job.words


def test_another_file_can_be_opened_and_nothing_of_the_first_is_lost(visitor):
    ready(visitor)
    visitor.send("/candidates", {"k": "3", "method": "mdav"})
    document, steps = visitor.session.document, len(visitor.session.history.steps)
    visitor.send("/open", {"path": "companies.csv"})
    assert visitor.session.unconfirmed
    assert not visitor.session.tried
    visitor.send("/open", {"path": "patients.csv"})
    assert visitor.session.document is document
    assert len(visitor.session.history.steps) == steps
    assert len(visitor.session.tried) == 1
    assert "Continuing where you left off with patients.csv" in words_of(visitor.get("/columns").text)


def test_two_tabs_show_the_same_state(visitor):
    visitor.send("/open", {"path": "companies.csv"})
    before = visitor.session.version
    visitor.send("/columns", {"set": "1", "role-1": "other"})
    assert visitor.session.version > before
    assert "confirmed" in visitor.get("/columns").text


def test_a_recipe_can_be_written_loaded_and_saved_as_text(visitor, root):
    ready(visitor, "companies.csv")
    text = visitor.session.recipe.dumps()
    visitor.send("/recipe/save", {"file": "mine.toml"})
    assert (root / "mine.toml").read_text(encoding="utf-8") == text
    again = visitor.post("/recipe/save", {"file": "mine.toml"})
    assert again.status_code == 422
    visitor.send("/recipe", {"text": text.replace("k = 5", "k = 4")})
    assert visitor.session.recipe.k == 4
    visitor.send("/recipe/load", {"file": "mine.toml"})
    assert visitor.session.recipe.k == 5
    wrong = visitor.post("/recipe", {"text": text.replace("k = 5", "k = 1")})
    assert wrong.status_code == 422
    assert "k = 1" in wrong.text  # what was typed is still there
    assert visitor.session.recipe.k == 5


def test_reading_in_another_way_is_a_step_that_can_be_undone(visitor, root):
    (root / "odd.csv").write_text("a;b;c\n" + "".join(f"{i};{i % 7},5;x{i % 3}\n" for i in range(40)), encoding="utf-8")
    visitor.send("/open", {"path": "odd.csv"})
    names = visitor.session.opened.names
    assert len(names) == 3
    visitor.send("/open/read", {"missing": "x1", "decimal": ","})
    assert visitor.session.opened.opening.options == {"missing": ["", "x1"], "decimal": ","}
    assert visitor.session.opened.columns["c"].look.missing == 13
    visitor.send("/undo", {"back": "/open"})
    assert visitor.session.opened.opening.options == {}
    assert visitor.session.opened.columns["c"].look.missing == 0


def test_the_worker_reads_the_file_once(visitor, root):
    ready(visitor)
    pid = visitor.session.jobs._worker.pid
    visitor.send("/candidates", {"k": "3", "method": "mdav"})
    visitor.send("/promise", {"k": "4", "missing-policy": "group", "seed": "7"})
    visitor.send("/release/try", {})
    assert visitor.session.jobs._worker.pid == pid
    (root / "patients.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    visitor.post("/release", {"folder": "out"})
    job = visitor.wait()
    assert job.state == "failed"
    assert "must not change while you work on it" in job.words
    assert not (root / "out").exists()


def test_the_state_that_tabs_are_told_holds_nothing_of_the_file(visitor):
    from coterie.ui.app import state_of

    ready(visitor)
    assert set(state_of(visitor.session)) == {"state", "job"}
    assert set(state_of(visitor.session)["job"]) == {"number", "state", "stage", "percent", "left", "seconds"}
    json.dumps(state_of(visitor.session))
