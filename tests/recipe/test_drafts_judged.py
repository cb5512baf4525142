"""Drafts for 60 real files beside a list of right answers that was written before the rules were."""

import pytest

from coterie import draft_recipe
from coterie.recipe.draft import draft, look
from judged_drafts import Judged, judge, packages_file, right_answers, stand_in, stand_ins

RIGHT = right_answers()
FILES = [pytest.param(*file, id=f"{file[0]}-{file[1].rsplit('/', 1)[-1]}") for file in RIGHT]


def judged_stand_in(file: tuple[str, str]) -> Judged:
    profiles = stand_ins()[file]
    columns = {name: stand_in(profile) for name, profile in profiles.items()}
    return judge(draft({name: look(array, ".", about) for name, (array, about) in columns.items()}, 5), RIGHT[file])


def test_of_60_drafts_54_are_right_few_columns_are_asked_about_and_none_does_harm():
    assert len(RIGHT) == 60
    judged = {file: judged_stand_in(file) for file in RIGHT}
    assert sum(not one.wrong for one in judged.values()) >= 54, {f: j.wrong for f, j in judged.items() if j.wrong}
    asked = sum(len(one.asked) for one in judged.values())
    assert 0 < asked <= 0.15 * sum(one.columns for one in judged.values())
    assert {file: one.identifiers for file, one in judged.items() if one.identifiers} == {}
    assert {file: one.codes for file, one in judged.items() if one.codes} == {}


@pytest.mark.parametrize(("package", "file"), FILES)
def test_the_draft_of_a_real_file(package, file, tmp_path):
    """Of the files that lie in installed packages; the rest is skipped."""
    found = packages_file(package, file, tmp_path)
    if found is None:
        pytest.skip(f"the package {package} is not installed, or has no such file")
    path, options = found
    judged = judge(draft_recipe(path, read=options or None), RIGHT[package, file])
    assert (judged.wrong, judged.identifiers, judged.codes) == ([], [], [])


def test_the_judge_sees_what_is_wrong():
    right = {"id": frozenset({"id"}), "region": frozenset({"code"}), "age": frozenset({"number"})}
    text = """
    [columns]
    id = {role = "other"}
    region = {role = "quasi", kind = "integer"}
    age = {role = "quasi", kind = "?"}
    """
    assert judge(text, right) == Judged(3, ["age"], ["id", "region"], ["id"], ["region"])
