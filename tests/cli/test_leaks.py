"""Nothing leaks: no value of a record in errors, on the terminal, in reports or in temporary files."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from command_files import save_recipe
from coterie.errors import CoterieError
from coterie.facts import as_json

NAME, TOWN, NUMBER, DATE = "Zz-Secretname-zZ", "Qq-Secrettown-qQ", "987654321.125", "1907-03-11"
MARKS = ("Secretname", "Secrettown", "987654321", "987,654,321", "1907-03-11", "9.87654321")


def clean(text):
    found = [mark for mark in MARKS if mark in text]
    assert not found, (found, text[:500])


def secrets(n=40, delimiter=","):
    rng = np.random.default_rng(4)
    rows = []
    for i in range(n):
        last = i == n - 1
        rows.append([
            f"{NAME}{i}", str(rng.integers(20, 80)), TOWN if last else ["Reus", "Valls"][i % 2],
            NUMBER if last else f"{rng.normal(30, 9):.3f}", DATE if last else f"2020-01-{i % 28 + 1:02d}",
            ["flu", "none", "gout"][i % 3],
        ])  # fmt: skip
    return "\n".join(delimiter.join(row) for row in [["name", "age", "town", "income", "day", "illness"], *rows]) + "\n"


ROLES = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "income": {"role": "quasi", "kind": "numeric"},
    "day": {"role": "quasi", "kind": "datetime"},
    "illness": {"role": "confidential", "kind": "nominal"},
}


def roles(**changes):
    return {**ROLES, **changes}


def quasi(kind, **more):
    return {"role": "quasi", "kind": kind, **more}


def guarded(kind, **more):
    return {"role": "confidential", "kind": kind, **more}


BAD = {
    **{
        f"{name} as {kind}": {"columns": roles(**{name: quasi(kind, **more)})}
        for name in ("name", "town", "income", "day")
        for kind, more in (
            ("numeric", {}), ("integer", {}), ("datetime", {}), ("datetime", {"format": "%d.%m.%Y"}), ("boolean", {}),
            ("ordinal", {"order": ["Reus", "Valls"]}),
        )
        if (name, kind, more) not in (("income", "numeric", {}), ("day", "datetime", {}))
    },
    "confidential numbers": {"columns": roles(town=guarded("numeric"))},
    "confidential order": {"columns": roles(town=guarded("ordinal", order=["Reus"]))},
    "weights": {"columns": roles(town="other"), "weights": "town"},
    "dropped weights": {"weights": "name"},
    "strata": {"strata": {"within": ["town"]}},
    "out of reach": {"columns": roles(illness=guarded("nominal", l=9))},
    "too near": {"columns": roles(illness=guarded("nominal", t=0.001))},
    "k": {"k": 99},
    "no such method": {"method": TOWN.lower()[:2]},
    "k of exact": {"method": "exact", "k": 39},
    "missing markers": {"file": {"missing": [TOWN]}},
    "decimal comma": {"file": {"decimal": ","}},
    "delimiter": {"file": {"delimiter": ";"}},
    "quote": {"file": {"quote": "-"}},
    "encoding": {"file": {"encoding": "utf-16-le"}},
    "ascii": {"file": {"encoding": "rot13"}},
    "names": {"file": {"header": False, "names": list(ROLES)}},
    "fewer names": {"file": {"header": False, "names": ["a"]}},
    "fewer columns": {"columns": {"age": quasi("integer")}},
    "more columns": {"columns": roles(adress="other")},
}  # fmt: skip


def everything(error):
    """All that a handler could print of an error."""
    seen, text = set(), []
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        text += [str(error), repr(error), repr(error.args), *getattr(error, "__notes__", ())]
        text += traceback.format_exception(error)
        error = error.__cause__ or error.__context__
    return "\n".join(text)


@pytest.mark.parametrize("kind", ["file", "pandas", "polars", "arrow"])
def test_errors_tell_no_value(tmp_path, kind):
    path = tmp_path / "in.csv"
    path.write_text(secrets())
    table = path
    if kind != "file":
        module = pytest.importorskip({"arrow": "pyarrow.csv"}.get(kind, kind))
        table = {"pandas": lambda: module.read_csv(path), "arrow": lambda: module.read_csv(path)}.get(
            kind, lambda: module.read_csv(path, try_parse_dates=True)
        )()
    failed = 0
    for name, changes in BAD.items():
        if kind != "file" and "file" in changes:
            continue
        document = {"k": 3, "seed": 1, "method": "mdav", "columns": ROLES, **changes}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                release = ct.protect(table, document)
            except CoterieError as error:
                failed += 1
                clean(everything(error))
            except Exception as error:  # a bug, and named as such
                raise AssertionError(f"{name}: {type(error).__name__}") from error
            else:
                clean(f"{release}{release!r}{release.recipe}{release.verdict}{release._repr_html_()}")
                clean(as_json(release.facts))
        clean("".join(str(w.message) for w in caught))
    assert failed > (25 if kind == "file" else 15)


BROKEN = {
    "ragged": secrets().replace(f"{DATE},flu", f"{DATE},flu,{TOWN}").replace(",2020-01-05", f",2020-01-05,{NAME}"),
    "a stray quote": secrets().replace(TOWN, f'a"{TOWN}'),
    "an open quote": secrets().replace(TOWN, f'"{TOWN}'),
    "other bytes": secrets().replace(TOWN, f"{TOWN}\udcfc"),
    "a NUL": secrets().replace(TOWN, f"{TOWN}\0"),
    "a lone return": secrets().replace(TOWN, f"{TOWN}\r"),
    "formulas": secrets().replace(TOWN, f"={TOWN}").replace("flu", f"=cmd|{NAME}"),
    "infinite": secrets().replace(NUMBER, f"{NUMBER}e999"),
    "no date": secrets().replace(DATE, f"{DATE}T99"),
    "digits": secrets().replace(",7", f",{NUMBER.replace('.', '')}999999"),
}


def test_what_the_terminal_sees(run, tmp_path):
    """Files that break in every way, under every command; also what is left in the folder."""
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=ROLES)
    for name, text in BROKEN.items():
        (tmp_path / "in.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
        for command in (
            ("protect", "--recipe", rules, "-o", tmp_path / "out", "--force"), ("recipe",),
            ("assess", "--recipe", rules), ("verify", "--quasi", "age,town,income", "-k", 3),
            ("compare", "--recipe", rules, "--k", "3", "--methods", "mdav"),
        ):  # fmt: skip
            code, out, err = run(command[0], tmp_path / "in.csv", *command[1:])
            assert code in (0, 2, 3), (name, command[0], err)
            clean(out + err)


def test_the_bundle_tells_no_value(run, tmp_path):
    """A lonely category, an extreme number, an early date: none is released, so no report has them either."""
    (tmp_path / "in.csv").write_text(secrets())
    rules = save_recipe(tmp_path / "r.toml", k=4, columns=ROLES)
    code, out, err = run("protect", tmp_path / "in.csv", "--recipe", rules, "-o", tmp_path / "out", "--json")
    assert code == 0, err
    clean(err)
    clean(out)
    for path in (tmp_path / "out").iterdir():
        clean(path.read_text())
    code, out, err = run("verify", tmp_path / "in.csv", "--quasi", "town,income,day", "-k", 3, "--json")
    assert code == 3
    clean(out + err)
    for args in (("assess", "--recipe", rules, "--json"), ("recipe",)):
        code, out, err = run(args[0], tmp_path / "in.csv", *args[1:])
        assert code == 0
        clean(out + err)
    args = ("--recipe", rules, "--k", "3,5", "--methods", "mdav", "-o", tmp_path / "map.html", "--json")
    code, out, err = run("compare", tmp_path / "in.csv", *args)
    assert code == 0, err
    clean(out + err + (tmp_path / "map.html").read_text())


def test_confidential_extremes_stay_out_of_the_reports(run, tmp_path):
    """They are in the data, by their role; a report that goes elsewhere needs not repeat them."""
    (tmp_path / "in.csv").write_text(secrets())
    columns = roles(income=guarded("numeric"), day=guarded("datetime"), town=guarded("nominal"))
    rules = save_recipe(tmp_path / "r.toml", k=4, columns=columns)
    code, _, err = run("protect", tmp_path / "in.csv", "--recipe", rules, "-o", tmp_path / "out")
    assert code == 0, err
    assert NUMBER in (tmp_path / "out" / "data.csv").read_text()
    for name in ("report.html", "verify.json", "manifest.json"):
        clean((tmp_path / "out" / name).read_text().replace(TOWN, ""))


class Watcher(threading.Thread):
    """Reads all that appears in some folders, again and again."""

    def __init__(self, *folders):
        super().__init__(daemon=True)
        self.folders, self.over, self.seen, self.found, self.modes = folders, False, set(), set(), set()

    def run(self):
        while not self.over:
            for folder in self.folders:
                for root, _, names in os.walk(folder):
                    for name in names:
                        self._look(Path(root) / name)

    def _look(self, path):
        try:
            data = path.read_bytes()
            self.modes.add((path.suffix, path.parent.stat().st_mode & 0o077, path.stat().st_mode & 0o077))
        except OSError:
            return
        self.seen.add(path.name)
        # words of the original: a name, which is dropped, or an income to three places, which is averaged
        for mark in (NAME.encode(), TOWN.encode(), NUMBER.encode(), DATE.encode()):
            if mark in data:
                self.found.add((path.name, mark))


def test_temporary_files_hold_nothing_of_the_original(tmp_path):
    """Beside the target and in the folder for temporary files, during a run and after it; under -X dev."""
    source, spare, place = tmp_path / "in" / "in.csv", tmp_path / "spare", tmp_path / "place"
    for folder in (source.parent, spare, place):
        folder.mkdir()
    source.write_bytes(secrets(1500, ";").replace("Reus", "Rëus").encode("cp1252"))
    rules = save_recipe(source.with_suffix(".toml"), k=3, columns=ROLES, file={"encoding": "cp1252"})
    watcher = Watcher(spare, place)
    watcher.start()
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-m", "coterie", "protect", str(source),
         "--recipe", str(rules), "-o", str(place / "out")],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(spare)},
    )  # fmt: skip
    watcher.over = True
    watcher.join()
    assert ran.returncode == 0, ran.stderr
    assert "Warning" not in ran.stderr
    clean(ran.stderr)
    assert {"data.csv", "utf8.csv", "report.html"} <= watcher.seen
    assert not watcher.found
    assert list(spare.iterdir()) == []
    assert [p.name for p in place.iterdir()] == ["out"]


def test_a_bug_tells_where_and_no_more(run, tmp_path, monkeypatch):
    from coterie.release import release

    def broken(*_):
        raise RuntimeError(f"could not convert {NAME}")

    monkeypatch.setattr(release, "planned", broken)
    (tmp_path / "in.csv").write_text(secrets())
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=ROLES)
    with pytest.raises(AssertionError, match=r"a bug: RuntimeError at .* > cli/test_leaks\.py"):
        run("protect", tmp_path / "in.csv", "--recipe", rules, "--dry-run")
