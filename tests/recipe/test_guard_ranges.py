"""What may be asked of a confidential column is the same wherever it is asked: recipe, methods, verify, commands."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import coterie as ct
from coterie.algorithms.confidential.guards import Guard
from coterie.cli import app
from coterie.errors import CoterieError
from coterie.verification.claims import Guard as Claim

GIVEN = {
    "l": [-1, 0, 1, 2, 3, np.int64(2), 2.0, 2.5, True, "2", math.nan, math.inf],
    "entropy": [-1, 0, 0.5, 1, 1.0, 1.0000001, 2, 5.5, np.float64(1.5), True, "2", math.nan, math.inf],
    "t": [-0.1, 0, 0.0, 1e-9, 0.5, np.float64(0.25), 0.999, 1, 1.0, 1.5, True, "0.2", math.nan, math.inf],
}
TAKEN = {"l": {2, 3}, "entropy": {1.0000001, 2, 5.5, 1.5}, "t": {1e-9, 0.5, 0.25, 0.999}}
CASES = [(name, value) for name, values in GIVEN.items() for value in values]


def by_recipe(name, value):
    columns = {"x": {"role": "quasi", "kind": "numeric"}, "c": {"role": "confidential", "kind": "nominal", name: value}}
    ct.Recipe(k=2, columns=columns)


def by_method(name, value):
    Guard("c", np.array([0, 1]), False, **{name: value})


def by_verify(name, value):
    Claim("c", "nominal", **{name: value})


def is_taken(door, name, value):
    try:
        door(name, value)
    except CoterieError:
        return False
    return True


@pytest.mark.parametrize(("name", "value"), CASES)
def test_every_door_takes_the_same(name, value):
    wanted = (
        not isinstance(value, (bool, str)) and not (name == "l" and isinstance(value, float)) and value in TAKEN[name]
    )
    assert {door.__name__: is_taken(door, name, value) for door in (by_recipe, by_method, by_verify)} == {
        "by_recipe": wanted,
        "by_method": wanted,
        "by_verify": wanted,
    }


@pytest.mark.parametrize("line", ["l = 1", "entropy = 1.0", "t = 0.0", "t = 1.0"])
def test_the_command_line_refuses_what_python_does(line, tmp_path):
    table, recipe = tmp_path / "a.csv", tmp_path / "a.toml"
    table.write_text("x,c\n1,a\n2,b\n3,a\n4,b\n")
    recipe.write_text(
        f'k = 2\n[columns]\nx = {{role = "quasi", kind = "numeric"}}\n'
        f'c = {{role = "confidential", kind = "nominal", {line}}}\n'
    )
    refused = []
    for command in (["protect", str(table), "--dry-run"], ["verify", str(table)]):
        result = CliRunner().invoke(app, [*command, "--recipe", str(recipe)])
        refused.append(isinstance(result.exception, CoterieError) and "must be" in str(result.exception))
    assert refused == [True, True]
