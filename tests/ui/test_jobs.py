"""Work under way: it can be cancelled at once, survives what happens to it, and leaves nothing."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from coterie.errors import CoterieError, PromiseError, UnexpectedError
from coterie.recipe import RecipeError
from coterie.recipe.fields import Mistake
from page_client import Visitor, words_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
SECONDS = 120  # more than enough for anything here, on any machine


def table(path, records, columns=6):
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(f"c{j}" for j in range(columns)) + "\n")
        for _ in range(records):
            file.write(",".join(f"{draw.gauss(0, 1):.5f}" for _ in range(columns)) + "\n")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root")
    table(folder / "large.csv", 60_000)
    table(folder / "middle.csv", 20_000)
    table(folder / "small.csv", 60)
    return folder


def temporaries():
    """The private folders of workers that there are now."""
    return set(Path(tempfile.gettempdir()).glob("coterie-ui-*"))


@pytest.fixture
def visitor(root, tmp_path_factory, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))
    before = set(root.iterdir())
    with Visitor(root) as visitor:
        yield visitor
    assert set(root.iterdir()) == before  # no bundle, and nothing that would become one
    assert not temporaries()


def ready(visitor, file="large.csv"):
    visitor.send("/open", {"path": file})
    columns = [str(number) for number in range(len(visitor.session.opened.names))]
    visitor.send("/columns", {"action": "role", "role": "quasi", "pick": columns})
    visitor.send("/columns", {"action": "kind", "kind": "numeric", "pick": columns})
    visitor.send("/columns", {"action": "confirm-all"})
    visitor.send("/promise", {"k": "5", "seed": "1", "method-refine": "thorough"})


def begun(visitor, path="/release", form=None):
    """A job that is under way, in the middle of its work."""
    answer = visitor.post(path, {"folder": "out"} if form is None else form)
    assert answer.status_code == 303
    job = visitor.session.jobs.last
    until = time.monotonic() + SECONDS
    while not job.stage and job.running and time.monotonic() < until:
        time.sleep(0.01)
    assert job.running, "the table is too small for this test"
    return job


def test_cancelling_takes_no_time_and_leaves_nothing(visitor, root):
    ready(visitor)
    job = begun(visitor)
    pid = visitor.session.jobs._worker.pid
    start = time.monotonic()
    answer = visitor.post("/job/cancel", {"back": "/release"})
    took = time.monotonic() - start
    assert answer.status_code == 303
    assert job.state == "cancelled"
    assert took < 10  # about 0.1 on a quiet machine; the work itself takes longer
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not (root / "out").exists()
    assert not list(root.glob(".out*"))
    page = words_of(visitor.get("/release").text)
    assert "Cancelled. Nothing was written." in page
    visitor.send("/open", {"path": "small.csv"})  # and the next one works
    assert visitor.session.opened.records == 60


def test_a_process_that_is_killed_is_told_and_leaves_nothing(visitor, root):
    ready(visitor)
    job = begun(visitor)
    os.kill(visitor.session.jobs._worker.pid, signal.SIGKILL)
    assert job.over.wait(SECONDS)
    assert job.state == "died"
    assert "Its process ended unexpectedly" in words_of(visitor.get("/release").text)
    assert not (root / "out").exists()
    assert not list(root.glob(".out*"))
    assert len(temporaries()) == 1  # that of the next process
    visitor.send("/open", {"path": "small.csv"})
    assert visitor.session.opened.records == 60


def in_the_writing(visitor, root):
    """A job that has begun to write its bundle: what it has written so far."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        shutil.rmtree(root / "out", ignore_errors=True)  # where the machine is busy, a bundle may be there unseen
        visitor.post("/release", {"folder": "out"})
        while visitor.session.jobs.last.running:
            if found := list(root.glob(".out*.part")):
                return found
        assert (root / "out").exists(), visitor.session.jobs.last.words
    raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("way", ["cancelled", "killed", "the server ends"])
def test_a_bundle_half_written_is_gone(visitor, root, way, monkeypatch):
    monkeypatch.setattr("coterie.ui.app._PATIENCE", 0.0)  # the answer comes while the job is at work
    visitor.send("/open", {"path": "middle.csv"})
    visitor.send("/columns", {"action": "role", "role": "other", "pick": ["1", "2", "3", "4", "5"]})
    visitor.send("/columns", {"set": "0", "role-0": "quasi", "kind-0": "numeric"})
    visitor.send("/promise", {"k": "5", "seed": "1"})
    assert in_the_writing(visitor, root)
    if way == "cancelled":
        visitor.post("/job/cancel")
    elif way == "killed":
        os.kill(visitor.session.jobs._worker.pid, signal.SIGKILL)
    else:
        visitor.close()
    job = visitor.session.jobs.last
    assert job.over.wait(SECONDS)
    assert job.state == ("died" if way == "killed" else "cancelled")
    assert not list(root.glob(".out*"))
    assert not (root / "out").exists()


def test_one_thing_is_done_at_a_time(visitor):
    ready(visitor)
    job = begun(visitor)
    document, attempt = visitor.session.document, visitor.session.attempt
    for path, form in [
        ("/open", {"path": "small.csv"}),
        ("/open/read", {"delimiter": ";"}),
        ("/release", {"folder": "other"}),
        ("/release/try", {}),
        ("/promise/assess", {}),
        ("/candidates", {"k": "3", "method": "mdav"}),
        ("/check", {"path": "small.csv", "k": "3", "quasi": "c0"}),
        ("/columns/preview", {}),
    ]:
        answer = visitor.post(path, form)
        assert answer.status_code == 422, path
        assert "Only one job can run at a time." in words_of(answer.text), path
        assert visitor.session.jobs.last is job
    assert visitor.session.document is document
    assert visitor.session.attempt is attempt  # what was refused is not what is being opened
    assert job.running
    visitor.post("/job/cancel")


def test_pages_are_there_while_work_is_under_way(visitor):
    ready(visitor)
    job = begun(visitor)
    for path in ("/open", "/columns", "/promise", "/candidates", "/release", "/check", "/recipe", "/history", "/quit"):
        start = time.monotonic()
        answer = visitor.get(path)
        assert answer.status_code == 200
        assert time.monotonic() - start < 20
        assert 'data-job-state="running"' in answer.text
    assert visitor.post("/undo").status_code == 303  # the recipe can be changed meanwhile
    assert job.running
    assert visitor.get("/release").status_code == 200
    visitor.post("/job/cancel")


def test_a_process_that_was_killed_while_idle_is_replaced(visitor):
    visitor.send("/open", {"path": "small.csv"})
    worker = visitor.session.jobs._worker
    with visitor.session.lock:  # nobody is told yet that it is gone
        os.kill(worker.pid, signal.SIGKILL)
        worker._process.join(SECONDS)
        job = visitor.session.open(visitor.session.opening.path, {})
    assert job.over.wait(SECONDS)
    assert job.state == "done", job.words


def test_who_waits_for_a_job_does_not_cancel_another(visitor):
    """A preview that takes too long is ended; what somebody has begun since is not."""
    visitor.send("/open", {"path": "small.csv"})
    jobs = visitor.session.jobs
    first = jobs.last
    os.kill(jobs._worker.pid, signal.SIGSTOP)  # so that it does not answer
    visitor.post("/open", {"path": "small.csv"})
    job = jobs.last
    assert job is not first
    jobs.cancel(first)
    assert job.running
    jobs.cancel(job)
    assert job.state == "cancelled"


def test_a_preview_that_is_cancelled_is_told(visitor):
    visitor.send("/open", {"path": "large.csv"})
    worker = visitor.session.jobs._worker
    os.kill(worker.pid, signal.SIGSTOP)  # so that it does not answer
    answers = []
    asking = threading.Thread(target=lambda: answers.append(visitor.post("/columns/preview")))
    asking.start()
    until = time.monotonic() + SECONDS
    while not visitor.session.jobs.last.running and time.monotonic() < until:
        time.sleep(0.01)
    assert visitor.get("/columns").status_code == 200  # nobody holds the lock meanwhile
    visitor.post("/job/cancel")
    asking.join(SECONDS)
    assert answers[0].status_code == 422
    assert "Cancelled" in words_of(answers[0].text)


def test_a_worker_that_nobody_understands_is_as_good_as_gone(visitor, monkeypatch):
    visitor.send("/open", {"path": "small.csv"})
    worker = visitor.session.jobs._worker
    os.kill(worker.pid, signal.SIGSTOP)
    visitor.post("/open", {"path": "small.csv"})
    job = visitor.session.jobs.last
    assert job.running

    def broken():
        raise pickle.UnpicklingError("canary")

    monkeypatch.setattr(worker, "_connection", type("Broken", (), {"recv": staticmethod(broken)})())
    worker._listen()
    assert job.state == "died"
    assert "canary" not in job.words
    visitor.send("/open", {"path": "small.csv"})


def test_a_folder_that_vanishes_does_not_keep_a_job_running(visitor, root):
    ready(visitor)
    job = begun(visitor)
    visitor.session.jobs._place = root / "none" / "out"  # as if somebody had removed the folder
    visitor.post("/job/cancel")
    assert job.state == "cancelled"
    visitor.send("/open", {"path": "small.csv"})


def test_every_error_comes_through_as_it_is():
    """A process tells its errors by pickling them; one that can't be read again would be taken for its death."""
    mistakes = [Mistake(("columns", "a"), "what", "got", "hint")]
    for error in (
        CoterieError("what", "got", "hint"),
        PromiseError("what"),
        UnexpectedError.of(KeyError("canary")),
        RecipeError(mistakes, "the text", "k = 1"),
        MemoryError("There is not enough memory."),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_a_step_back_that_can_not_be_read_changes_nothing(visitor, root):
    """Undo may have to read the file in another way; until that has worked, all stays as it is."""
    place = root / "small.csv"
    before = place.read_bytes()
    visitor.send("/open", {"path": "small.csv"})
    visitor.send("/open/read", {"missing": "x"})
    at, opened = visitor.session.history.at, visitor.session.opened
    try:
        place.write_bytes(b"\xff\xfe\x00" * 50)
        visitor.post("/undo", {"back": "/columns"})
        job = visitor.wait()
        assert job.state == "failed"
        assert visitor.session.history.at == at
        assert visitor.session.opened is opened
        for path in ("/columns", "/columns/0", "/promise", "/history", "/recipe"):
            assert visitor.get(path).status_code == 200
    finally:
        place.write_bytes(before)


def test_a_kept_history_that_reads_the_file_in_another_way_is_taken_up(visitor):
    visitor.send("/open", {"path": "small.csv"})
    visitor.send("/open/read", {"missing": "x"})
    visitor.send("/history/keep", {"keep": "yes"})
    document = visitor.session.document
    try:
        visitor.send("/open", {"path": "small.csv"})
        assert visitor.session.document == document
        assert visitor.session.opened.opening.options == {"missing": ["", "x"]}
        assert visitor.session.keeping
    finally:
        visitor.send("/history/keep", {})


def test_a_recipe_that_reads_the_file_in_another_way_must_fit_it(visitor):
    visitor.send("/open", {"path": "small.csv"})
    opened = visitor.session.opened
    columns = "\n".join(f'"{name}" = {{role = "other"}}' for name in opened.names)
    quasi = columns.replace('role = "other"', 'role = "quasi", kind = "numeric"', 1)
    visitor.post("/recipe", {"text": f'k = 3\n[file]\ndelimiter = ";"\n[columns]\n{quasi}\n'})
    assert visitor.wait().state == "failed"  # read so, there is one column
    assert visitor.session.opened is opened
    for path in ("/columns", "/promise", "/recipe"):
        assert visitor.get(path).status_code == 200


@pytest.mark.campaign
@pytest.mark.parametrize("round_", range(12))
def test_a_large_job_ended_at_any_time_leaves_nothing(visitor, root, round_):
    """The whole way of a large table, cancelled or killed at moments that nobody chose."""
    place = root / "huge.csv"
    table(place, 200_000)
    try:
        ready(visitor, "huge.csv")
        visitor.post("/release", {"folder": "out"})
        job = visitor.session.jobs.last
        time.sleep(random.Random(round_).uniform(0.0, 8.0))
        start = time.monotonic()
        if round_ % 2:
            visitor.post("/job/cancel")
        elif job.running:
            os.kill(visitor.session.jobs._worker.pid, signal.SIGKILL)
        assert job.over.wait(SECONDS)
        assert time.monotonic() - start < 20
        assert job.state in ("cancelled", "died", "done")
        if job.state != "done":
            assert not (root / "out").exists()
        assert not list(root.glob(".out*"))
        visitor.send("/open", {"path": "small.csv"})
    finally:
        place.unlink()
        if (root / "out").exists():
            shutil.rmtree(root / "out")
