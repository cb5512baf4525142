"""No error of a library passes with its words: not in Python, not on the command line, at no stage, on no engine."""

from __future__ import annotations

import pickle
import sys
import traceback
import warnings

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

import coterie as ct
from command_files import save_recipe
from coterie.errors import CoterieError, PrivacyWarning, UnexpectedError, boundary
from release_tables import SECRET, recipe, sixty_people

ENGINES = ["memory", "duckdb"]


class Foreign(Exception):  # noqa: N818
    """An error of a library, with a record's value in its words."""


def broken(*_, **__):
    raise Foreign(f"could not convert '{SECRET}7' with type str")


def everything(error):
    """All that a handler, a notebook or a tracker could print of an error, its frames' variables included."""
    seen, text = set(), []
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        text += [str(error), repr(error), repr(error.args), repr(error.__dict__), *getattr(error, "__notes__", ())]
        text += traceback.format_exception(error)
        error = error.__cause__ or error.__context__
    return "\n".join(text)


def below_the_boundary(error):
    """The variables of the frames of an error that are Coterie's, as a notebook in verbose mode shows them."""
    trace, found = error.__traceback__, []
    while trace is not None:
        if "coterie" in trace.tb_frame.f_globals.get("__name__", ""):
            found.append(repr(trace.tb_frame.f_locals))
        trace = trace.tb_next
    return "\n".join(found)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    pa.csv.write_csv(sixty_people(), path)
    return path


@pytest.fixture
def bundle(people, tmp_path, request):
    ct.protect(people, recipe(), engine=request.getfixturevalue("engine")).save(tmp_path / "was")
    return tmp_path / "was"


def save(people, engine, folder):
    release = ct.protect(people, recipe(), engine=engine)
    release.save(folder)
    str(release)


# What is broken at each stage, for each engine: one function that does the stage's work.
STAGES = {
    "open": {"memory": "coterie.release.source.read_file", "duckdb": "coterie.engines.duckdb._scan"},
    "hash": "coterie.release.source.check_file",
    "survey": "coterie.protection.survey.Survey.add",
    "read": "coterie.tables.records.Reading.read",
    "plan": "coterie.release.flow.make_plan",
    "solve": "coterie.release.solving.solve",
    "write": {"memory": "coterie.release.release.table_of", "duckdb": "coterie.release.bundle.piece_of"},
    "file": {"memory": "coterie.formats.csv_text.write", "duckdb": "coterie.release.bundle.writing"},
    "verify": "coterie.verification.sql.sizes",
    "facts": "coterie.release.release.release_facts",
    "measures": "coterie.release.release.measures_of",
    "report": "coterie.report.html.render_public",
    "bundle": "coterie.release.bundle.write_private",
    "place": "coterie.release.bundle.into_place",
    "text": "coterie.report.text.as_text",
}


def broken_at(monkeypatch, stage, engine):
    at = STAGES[stage]
    monkeypatch.setattr(at if isinstance(at, str) else at[engine], broken)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("stage", STAGES)
def test_a_release_tells_no_foreign_words(people, tmp_path, monkeypatch, stage, engine):
    broken_at(monkeypatch, stage, engine)
    with pytest.raises(UnexpectedError) as told:
        save(people, engine, tmp_path / "out")
    check(told.value)
    assert not (tmp_path / "out").exists() or stage == "text"


def check(error):
    assert SECRET not in everything(error)
    assert SECRET not in below_the_boundary(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert error.kind == "Foreign"
    assert error.places[-1].startswith("release/test_boundary.py:")
    assert any(place.startswith("release/") for place in error.places[:-1])
    assert "Foreign at" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("stage", [s for s in STAGES if s != "text"])
def test_nor_does_the_command_line(people, tmp_path, monkeypatch, capsys, stage, engine):
    from coterie import cli

    rules = save_recipe(tmp_path / "r.toml", **recipe())
    broken_at(monkeypatch, stage, engine)
    words = ["protect", people, "--recipe", rules, "-o", tmp_path / "out", "--engine", engine, "--json"]
    monkeypatch.setattr(sys, "argv", ["coterie", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert ended.value.code == 70
    assert SECRET not in out + err
    assert err.startswith("coterie: a bug: Foreign at ")
    assert "release/test_boundary.py:" in err
    assert err.count("\n") == 1


OTHERS = {
    "verify a file": (
        "coterie.verification.sql.sizes",
        lambda people, _, engine: ct.verify(people, ["age"], 2),  # noqa: ARG005
    ),
    "verify": ("coterie.release.check.content_hash", lambda _, folder, __: ct.verify(folder)),
    "replay": ("coterie.release.replay.content_hash", lambda people, folder, _: ct.replay(folder, people)),
    "replay the work": ("coterie.release.flow.make_plan", lambda people, folder, _: ct.replay(folder, people)),
    "assess": (
        "coterie.release.assess.class_risk",
        lambda people, _, engine: ct.assess(people, recipe(), engine=engine),
    ),
    "compare": (
        "coterie.release.solving.solve",
        lambda people, _, engine: ct.compare(people, [3], ["mdav"], recipe=recipe(), engine=engine),
    ),
    "draft": ("coterie.release.drafting.looks", lambda people, *_: ct.draft_recipe(people)),
    "open": ("coterie.release.source.content_hash", lambda people, *_: ct.open_source(people)),
    "peek": ("coterie.release.source.read_file", lambda people, *_: ct.open_source(people).names),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", OTHERS)
def test_nor_does_anything_else(people, bundle, monkeypatch, what, engine):
    at, run = OTHERS[what]
    monkeypatch.setattr(at, broken)
    with pytest.raises(CoterieError) as told:
        run(people, bundle, engine)
    assert SECRET not in everything(told.value) + below_the_boundary(told.value)
    assert told.value.__context__ is None


@pytest.mark.parametrize("where", ["coterie.microaggregation.api.read", "coterie.algorithms.mdav.mdav"])
def test_nor_does_research(monkeypatch, where):
    table = pd.DataFrame({"a": range(20), "b": range(20)})
    monkeypatch.setattr(where, broken)
    with pytest.raises(UnexpectedError) as told:
        ct.microaggregate(table, 3, "mdav")
    assert SECRET not in everything(told.value)


def mixed():
    people = sixty_people().to_pandas()
    people["note"] = pd.Series([f"{SECRET}{i}" if i % 2 else i for i in range(60)], dtype=object)
    return people


@pytest.mark.parametrize("format", ["csv", "parquet", "feather"])
def test_a_column_of_mixed_types_is_told_by_its_name(tmp_path, format):
    release = ct.protect(mixed(), recipe())
    with pytest.raises(CoterieError, match="The column 'note' must hold values of one type") as told:
        release.save(tmp_path / "out", format=format)
    assert SECRET not in everything(told.value)
    assert not isinstance(told.value, UnexpectedError)
    assert list(tmp_path.iterdir()) == []


def test_errors_of_ours_come_without_those_they_were_made_from():
    @boundary
    def refuse():
        try:
            broken()
        except Foreign:
            raise CoterieError("This must hold.") from None

    with pytest.raises(CoterieError, match="This must hold") as told:
        refuse()
    assert SECRET not in everything(told.value)
    assert told.value.__context__ is None
    assert not isinstance(told.value, UnexpectedError)


def test_what_passes_and_what_becomes_of_other_errors():
    @boundary
    def fail(error):
        raise error

    @boundary
    def interrupted():
        try:
            broken()
        except Foreign as error:
            raise KeyboardInterrupt from error

    with pytest.raises(PrivacyWarning, match="weak"):
        fail(PrivacyWarning("weak"))
    with pytest.raises(MemoryError, match="There is not enough memory"):
        fail(MemoryError(SECRET))
    with pytest.raises(CoterieError, match="No space left") as told:
        fail(OSError(28, SECRET))
    assert SECRET not in everything(told.value)
    with pytest.raises(CoterieError, match="libraries") as told:
        fail(ImportError(f"/home/{SECRET}: failed to map segment from shared object", name="numba"))
    assert SECRET not in everything(told.value)
    assert "'numba'" in str(told.value)
    with pytest.raises(KeyboardInterrupt) as stopped:
        interrupted()
    assert stopped.value.__cause__ is stopped.value.__context__ is None
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        fail()


def test_warnings_point_to_the_caller(people):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ct.draft_recipe(people, options={"encoding": "utf-8"})
        ct.assess(people, recipe(file={"encoding": "utf-8"}), options=None)
        ct.microaggregate(pd.DataFrame({"a": [1, 2, 3, 9, 8, 7], "b": [3, 9, 1, 2, 8, 5]}), 3, "individual-ranking")
    assert [w.category for w in caught] == [DeprecationWarning, PrivacyWarning]
    assert {w.filename for w in caught} == {__file__}
