"""coterie warm-up."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from coterie import cli, warm_up
from coterie.algorithms.registry import METHODS
from coterie.kernels import _interpreted


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_every_rehearsal_is_held_compiled_and_a_word_said(monkeypatch, options):
    held = []
    monkeypatch.setattr(
        warm_up, "REHEARSALS", {name: lambda: held.append(_interpreted._patience.get()) for name in "ab"}
    )
    ran = CliRunner().invoke(cli.app, ["warm-up", *options])
    assert ran.exit_code == 0
    assert held == [0.0, 0.0]  # nothing is left to Python
    assert ("compiled in" in ran.output) is not bool(options)


def test_there_is_a_rehearsal_for_every_method():
    names = {m if isinstance(m, str) else m.name for m in METHODS}
    assert all(f"{name}, few" in warm_up.REHEARSALS for name in names)


def test_rehearsals_do_the_work_they_are_for():
    """A small one as it is: nothing is refused, and numbers are random ones alone."""
    warm_up.rehearse("univariate, few", "individual-ranking, few")
    np.testing.assert_array_equal(warm_up._table(5), warm_up._table(5))
