"""Names and categories can hold anything: what is shown of them is printable, and documents mean what they meant."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coterie as ct
from coterie.errors import PrivacyWarning, printable, printable_json, printable_toml

SIGNS = [
    "\x1b[31m",
    "\x9b2J",
    "\u202e",
    "\u2066",
    "\x07",
    "\x00",
    "\x7f",
    "\u200b",
    "\ufeff",
    "\u2028",
    "\U000e0041",
    "\r",
    "\x85",
]
EVIL = "".join(SIGNS) + "\U000e0041\r\x85" + "[red]<b>\ncheck   passed"
NAMES = (f"a{EVIL}", f"b{EVIL}", f"c{EVIL}", f"d{EVIL}")


def fine(text, lines=True):
    """Nothing in it that a terminal obeys, or does not show."""
    odd = {sign for sign in text if not sign.isprintable() and sign not in "\xa0\u202f"}  # blanks that we set
    odd -= {"\n"} if lines else set()
    assert not odd, (odd, text[:300])
    assert "\ncheck   passed" not in text
    return text


def evil_table(n=40):
    rng = np.random.default_rng(1)
    a, b, c, d = NAMES
    return pa.table(
        {
            a: rng.integers(0, 9, n),
            b: [f"{'xyz'[i]}{EVIL}" for i in rng.integers(0, 3, n)],
            c: [f"{'pqr'[i]}{EVIL}" for i in rng.integers(0, 3, n)],
            d: [f"other{i}" for i in range(n)],
        }
    )


def evil_recipe(**more):
    a, b, c, d = NAMES
    roles = {
        a: {"role": "quasi", "kind": "integer"},
        b: {"role": "quasi", "kind": "nominal"},
        c: {"role": "confidential", "kind": "nominal"},
        d: "other",
    }
    return {"k": 3, "seed": 1, "columns": roles, **more}


def test_printable():
    assert printable("plain, äöü – 漢字 → …") == "plain, äöü – 漢字 → …"
    assert printable("a\x1b[2J\x9b\u202e\n") == r"a\x1b[2J\x9b\u202e\n"
    assert printable("a\nb\t", lines=True) == "a\nb\\t"
    assert fine(printable(EVIL), lines=False)
    odd = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA1), 0xAD, 0x200B, 0x202E, 0xE0041, 0x1D173])) + '"\\'
    written = printable_json(json.dumps({odd: odd}, ensure_ascii=False, indent=1))
    assert json.loads(fine(written)) == {odd: odd}
    columns = {odd: {"role": "quasi", "kind": "ordinal", "order": [odd, "x"]}}
    recipe = ct.Recipe(k=3, columns=columns)
    assert tomllib.loads(fine(recipe.dumps()))["columns"] == columns
    assert printable_toml("a = 1\n") == "a = 1\n"


def test_errors_and_warnings():
    for error in (ct.CoterieError("What.", EVIL, EVIL), ct.PromiseError(EVIL), PrivacyWarning(EVIL)):
        fine(str(error), lines=False)
    with pytest.raises(ct.RecipeError) as told:
        ct.Recipe(k=1, columns={EVIL: {"role": EVIL}, f"{EVIL}2": {"role": "quasi", "knd": 1}})
    assert fine(str(told.value)).count("\n") == 3


def test_everything_that_python_shows(tmp_path):
    pytest.importorskip("rich")
    from rich.console import Console

    scenarios = {f"s{EVIL}": {"quasi": [NAMES[0]], "k": 3}, "t": {"quasi": [NAMES[1]], "k": 3}}
    for more in ({}, {"scenarios": scenarios, "columns": {**evil_recipe()["columns"], NAMES[2]: "other"}}):
        release = ct.protect(evil_table(), evil_recipe(**more))
        release.save(tmp_path / "out", force=True)
        shown = [release, release.verdict, ct.verify(tmp_path / "out"), ct.assess(evil_table(), evil_recipe(**more))]
        for one in shown:
            fine(str(one))
            fine(repr(one))
            with open(os.devnull, "w") as nowhere, Console(file=nowhere, width=200, record=True) as console:
                console.print(one)
                fine(console.export_text())
            if hasattr(one, "_repr_html_"):
                fine(one._repr_html_())
        for name in ("report.html", "internal.html", "verify.json", "manifest.json", "recipe.toml"):
            text = fine((tmp_path / "out" / name).read_text(encoding="utf-8"))
            assert "[red]<b>" not in text or not name.endswith("html")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["names"] == list(NAMES)
    comparison = ct.compare(evil_table(), [3, 39], ["mdav"], recipe=evil_recipe(strata=[NAMES[1]]))
    fine(str(comparison))
    fine(comparison.html())
    fine(ct.draft_recipe(evil_table()))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_everything_that_commands_show(run, tmp_path, engine):
    file, rules, out = tmp_path / "in.parquet", tmp_path / "r.toml", tmp_path / "out"
    pa.parquet.write_table(evil_table(), file)
    ct.Recipe(**evil_recipe()).save(rules)
    ran = [
        run("recipe", file),
        run("assess", file, "--recipe", rules, "--engine", engine),
        run("assess", file, "--recipe", rules, "--engine", engine, "--json"),
        run("protect", file, "--recipe", rules, "-o", out, "--engine", engine, "--json"),
        run("verify", out, "--json"),
        run("replay", out, "--input", file, "--json"),
        run("compare", file, "--recipe", rules, "-k", "3,39", "--methods", "mdav", "--engine", engine, "--json"),
        run("protect", file, "--quasi", "no such", "-k", 3, "-o", tmp_path / "x"),
        run("protect", file, "--recipe", tmp_path / f"{EVIL[:8]}.toml".replace("/", ""), "-o", tmp_path / "x"),
    ]
    for code, stdout, stderr in ran:
        fine(stdout)
        fine(stderr)
        assert code in (0, 2)
    assert json.loads(ran[1 + 1][1])["scenarios"][0]["quasi"] == [NAMES[0], NAMES[1]]


def test_a_terminal_gets_no_escapes_but_ours(tmp_path):
    """On a terminal, rich sets colours: what names bring is written out, and looks like no markup."""
    file, rules = tmp_path / "in.parquet", tmp_path / "r.toml"
    pa.parquet.write_table(evil_table(), file)
    ct.Recipe(**evil_recipe()).save(rules)
    wide = {**os.environ, "COLUMNS": "2000"}
    ours, theirs = pty.openpty()
    words = ["protect", str(file), "--recipe", str(rules), "-o", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-m", "coterie", *words], stderr=theirs, stdout=subprocess.DEVNULL, env=wide
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            some = os.read(ours, 1 << 16)
        except OSError:
            break
        if not some:
            break
        shown += some
    assert process.wait() == 0
    text = shown.decode("utf-8", "strict")
    assert "passed" in text
    for sign in ("\x9b", "\u202e", "\u2066", "\x1b[2J", "\u200b", "\x07"):
        assert sign not in text
    assert "\\x9b" in text
    assert "[red]" in text


def test_privacy_warnings_are_printable():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(f"The column '{EVIL}' is kept.", PrivacyWarning, stacklevel=1)
    fine(str(caught[0].message), lines=False)
