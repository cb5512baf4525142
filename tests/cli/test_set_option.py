"""--set: anything of a recipe, said on the command line, or refused with nothing written."""

import pytest

import coterie as ct
from command_files import lines


@pytest.fixture
def people(tmp_path):
    rows = [f"{18 + i * 7 % 70},{1000 + i * 137 % 9000},{['nurse', 'clerk', 'pilot'][i % 3]},p{i}" for i in range(120)]
    path = tmp_path / "in.csv"
    path.write_text(lines("age,net pay,job,id", rows))
    return path


ROLES = ["--quasi", "age,net pay", "--keep", "job", "--drop", "id"]


def protect(run, people, *settings, more=()):
    asked = [word for text in settings for word in ("--set", text)]
    out = people.parent / "out"
    code, _, err = run("protect", people, *ROLES, "-k", 4, "--seed", 1, *more, *asked, "-o", out)
    return code, err, out


def test_what_was_set_is_in_the_recipe_and_done_as_by_the_recipe(run, people, tmp_path):
    settings = ["columns.age.top=60", 'columns."net pay".importance=3', 'columns."net pay".totals=true']
    settings += ['columns.job.kind="nominal"', 'columns.job={rename="work", rare=30}']
    code, err, out = protect(run, people, *settings, 'columns.job.others="other"', "population.fraction=0.1")
    assert code == 0, err
    recipe = ct.Recipe.load(out / "recipe.toml")
    assert (recipe.columns["age"].top, recipe.columns["net pay"].importance) == (60, 3)
    assert (recipe.columns["job"].rename, recipe.columns["job"].rare) == ("work", 30)
    assert recipe.population.fraction == 0.1
    again = tmp_path / "again"
    assert run("protect", people, "--recipe", out / "recipe.toml", "-o", again)[0] == 0
    assert (again / "data.csv").read_bytes() == (out / "data.csv").read_bytes()
    assert ct.verify(out).ok


def test_a_section_that_an_option_has_begun_goes_on(run, people):
    code, err, out = protect(run, people, "method.refine='thorough'", more=["--method", "mdav"])
    assert code == 0, err
    method = ct.Recipe.load(out / "recipe.toml").method
    assert (method.name, method.refine) == ("mdav", "thorough")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["columns.age.topp=60"], "did you mean 'top'"),
        (["columns.ages.top=60"], "did you mean 'age'"),
        (["columns.age.top=60", "columns.age.top=61"], "--set can set each key only once"),
        (["columns.age.top=sixty"], "strings need quotation marks"),
        (["columns.age.top"], "--set must be KEY=VALUE"),
        (["[columns.age]"], "--set must be KEY=VALUE"),
        ([""], "--set must be KEY=VALUE"),
        (["columns.age.top=60\ncolumns.age.bottom=20"], "several lines"),
        (["columns.age=60"], "Name the setting"),
        (["columns=60"], "This is given twice"),
        (['columns.age.role="other"'], "roles and kinds"),
        (['columns.age.kind="nominal"'], "roles and kinds"),
        (["k=3"], "-k says it"),
        (["seed=3"], "--seed says it"),
        (["promise.risk=0.5"], "--risk says it"),
        (['file.encoding="cp1252"'], "--read says it"),
        (["nothing.there=1"], "This is not a section of a recipe"),
        (["columns.age.importance=0"], "columns.age.importance"),
        (["." * 3000 + "=1"], "--set must be KEY=VALUE"),
        (["a=" + "[" * 50_000], "--set must be KEY=VALUE"),
        (["a=" + "9" * 5_000], "--set must be KEY=VALUE"),
    ],
)
def test_bad_settings_are_told_and_nothing_is_written(run, people, settings, words):
    code, err, out = protect(run, people, *settings)
    assert code == 2
    assert words in err
    assert not out.exists()


def test_not_beside_a_recipe_and_not_what_has_no_effect(run, people, tmp_path):
    code, err, out = protect(run, people)
    assert code == 0, err
    args = ["--recipe", out / "recipe.toml", "--set", "columns.age.top=60"]
    code, _, err = run("protect", people, *args, "-o", tmp_path / "other")
    assert (code, "--recipe cannot be combined with --set" in err) == (2, True)
    for command in ("assess", "compare"):
        code, _, err = run(command, people, *ROLES, "--set", 'method.name="mdav"')
        assert (code, "has no effect here" in err) == (2, True)


def test_assess_and_compare_see_prepared_columns(run, people):
    plain = run("assess", people, *ROLES)[2]
    code, _, prepared = run("assess", people, *ROLES, "--set", "columns.age.width=50")
    assert (code, prepared != plain) == (0, True), prepared
    args = ["compare", people, *ROLES, "--k", 4, "--methods", "mdav", "--json", "--quiet"]
    assert run(*args)[1] != run(*args, "--set", "columns.age.top=40")[1]
