"""Codes with labels: a released code is one that the column had, with its label; averages have none."""

import warnings

import numpy as np
import pytest

import coterie as ct
from coterie.formats import read
from format_files import needs_pyreadstat

N = 120
LABELS = {1.0: "north", 2.0: "south", 3.0: "east", 4.0: "west", 5.0: "abroad", 9.0: "no answer"}


def labelled_file(folder, suffix):
    import pandas as pd
    import pyreadstat

    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "region": rng.integers(1, 6, N).astype(float),
            "rating": rng.choice([1.0, 3.0, 5.0], N),
            "age": rng.integers(18, 90, N).astype(float),
        }
    )
    path = folder / f"t{suffix}"
    labels = {"region": LABELS, "rating": {1.0: "bad", 3.0: "fair", 5.0: "good"}}
    if suffix == ".sav":
        frame.loc[:4, "region"] = 9.0
        frame.loc[5:9, "age"] = 999.0
        labels["age"] = {999.0: "refused"}
        pyreadstat.write_sav(
            frame, path, variable_value_labels=labels, missing_ranges={"region": [9.0], "age": [999.0]},
            variable_measure={"rating": "ordinal", "age": "scale"},
        )  # fmt: skip
    else:
        pyreadstat.write_dta(frame.astype({"region": "int32", "rating": "int32"}), path, variable_value_labels={
            name: {int(c): t for c, t in of.items()} for name, of in labels.items()
        })  # fmt: skip
    return path


def released(folder):
    return read(next(path for path in folder.iterdir() if path.stem == "data"))


@needs_pyreadstat
@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labelled_columns_are_drafted_as_codes_and_released_as_codes(tmp_path, suffix):
    path = labelled_file(tmp_path, suffix)
    text = ct.draft_recipe(path).replace("draft = true", "").replace('"refuse" ', '"group" ')
    recipe = ct.Recipe.loads(text)
    assert recipe.columns["region"].kind == "nominal"
    rating = recipe.columns["rating"]
    assert (rating.kind, rating.order) == (("ordinal", ("1", "3", "5")) if suffix == ".sav" else ("nominal", None))
    assert recipe.columns["age"].kind == "integer"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ct.PrivacyWarning)
        ct.protect(path, recipe).save(tmp_path / "out")
    source = released(tmp_path / "out")
    for name, codes in (("region", {1, 2, 3, 4, 5}), ("rating", {1, 3, 5})):
        values = set(source.table.column(name).to_pylist())
        assert values <= codes
        assert values <= {code for code, _ in source.format.details["variables"][name]["labels"]}


@needs_pyreadstat
@pytest.mark.parametrize("suffix", [".sav", ".dta"])
@pytest.mark.parametrize("kind", ["numeric", "integer"])
def test_a_labelled_column_that_is_called_a_number_is_warned_of_and_its_averages_have_no_labels(tmp_path, suffix, kind):
    path = labelled_file(tmp_path, suffix)
    columns = {
        "region": {"role": "quasi", "kind": kind},
        "rating": {"role": "quasi", "kind": "nominal"},
        "age": {"role": "quasi", "kind": "integer"},
    }
    recipe = ct.Recipe(k=5, columns=columns, missing="group")
    with pytest.warns(ct.PrivacyWarning, match="'region' have labels") as caught:
        ct.protect(path, recipe).save(tmp_path / "out")
    assert (
        len([w for w in caught if issubclass(w.category, ct.PrivacyWarning)]) == 1
    )  # a label of a missing value is none
    source = released(tmp_path / "out")
    assert "labels" not in source.format.details["variables"]["region"]
    assert source.format.details["variables"]["rating"]["labels"]


@needs_pyreadstat
def test_a_guarded_column_with_noise_has_no_labels_and_one_that_is_kept_has(tmp_path):
    path = labelled_file(tmp_path, ".dta")
    columns = {
        "region": {"role": "confidential", "kind": "integer", "noise": 0.5},
        "rating": {"role": "confidential", "kind": "integer"},
        "age": {"role": "quasi", "kind": "integer"},
    }
    with pytest.warns(ct.PrivacyWarning, match="calls them numbers") as caught:
        ct.protect(path, ct.Recipe(k=3, columns=columns)).save(tmp_path / "out")
    assert len([w for w in caught if issubclass(w.category, ct.PrivacyWarning)]) == 2
    variables = released(tmp_path / "out").format.details["variables"]
    assert "labels" not in variables["region"]
    assert variables["rating"]["labels"]


@needs_pyreadstat
def test_the_command_line_tells_the_warning(run, tmp_path):
    path = labelled_file(tmp_path, ".dta")
    args = ["--quasi", "region,rating,age", "-k", 3, "--dry-run", "--quiet"]
    code, _, err = run("protect", path, *args, "--kind", "region=integer")
    assert code == 0, err
    assert "coterie: warning: The values of 'region' have labels" in err
    assert run("protect", path, *args) == (0, "", "")
