"""Runs the code blocks of the documentation and compares what they print: python docs/blocks.py [--write] [PAGE ...].

Blocks of a page share one folder, which holds examples/, and one Python namespace. A block of `coterie` commands
(indented, or marked sh) or of Python is run; a block marked text right after it is what must come out, where … stands
for anything. A block marked toml is read as TOML, and written to the file that the line above it names, if any.
With --write, what came out is put in the place of what was expected. What is not run is in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)((?:    \S.*\n)+)")
_NAMED = re.compile(r"`([\w-]+\.toml)`[^`]*:\s*$")

_PIP = "asks a package index, which needs a network"
_CLUSTER = "needs a cluster and its tables; tutorials/cluster.md is run"
_PYPI = "needs files of other packages, which the page says how to get"
_SHOWN = "shows what comes of a change that the text describes"
_OWN = "names files of the reader; tests/cli/test_analyse_command.py runs the like"
# The page and the beginning of the block: why it is not run.
NOT_RUN: dict[tuple[str, str], str] = {
    ("analyses.md", "coterie analyse release"): _OWN,
    ("analyses.md", "release = ct.protect(data"): _OWN,
    ("analyses.md", "jobs: table"): _OWN,
    ("benchmark.md", "python benchmarks/table.py"): "takes minutes to an hour, and writes the page itself",
    ("cluster.md", "coterie recipe visits"): _CLUSTER,
    ("cluster.md", "import coterie as ct"): _CLUSTER,
    ("cluster.md", "frame = spark"): _CLUSTER,
    ("command-line.md", "coterie difference"): "previous.md runs it",
    ("command-line.md", "coterie ui"): "opens a browser and waits; tests/ui runs it",
    ("command-line.md", "coterie docs"): "opens a browser; tests/docs runs it",
    ("howto/enclaves.md", "pip download"): _PIP,
    ("howto/enclaves.md", "pip install"): _PIP,
    ("howto/enclaves.md", "coterie docs"): "prints a path of this machine",
    ("howto/reproducing.md", "coterie reproduce"): "needs the CASC files; tests/reproduce runs it",
    ("large.md", "coterie recipe survey.parquet"): "a person decides every line of the draft before the next command",
    ("real-files.md", "coterie "): _PYPI,
    ("real-files.md", "coterie: Combined"): _PYPI,
    ("real-files.md", "import numpy"): _PYPI,
    ("real-files.md", "…"): _PYPI,
    ("tutorial.md", "surface,employees"): "rows in random order, made without a seed",
    ("tutorial.md", "draft = true"): "a shortened file; the command above writes it",
    ("tutorial.md", "coterie: 2 mistakes"): _SHOWN,
    ("tutorial.md", "coterie: The files of a bundle"): _SHOWN,
    ("tutorial.md", "The release does not keep"): _SHOWN,
    ("tutorials/page.md", "pip install"): _PIP,
    ("ui.md", "pip install"): _PIP,
}
_DF = "import coterie as ct\ndf = ct.datasets.make_scattered().X[:40]\nlabels = [i // 5 for i in range(40)]\n"
_PATIENTS = """
import shutil
import warnings
import coterie as ct
for name in ("patients.csv", "patients.toml"):
    shutil.copy(f"examples/{name}", name)
"""
_DATA = _PATIENTS + 'shutil.copy(ct.protect("patients.csv", "patients.toml").save("kept") / "data.csv", "data.csv")\n'
# What a page's blocks rely on and don't show.
SETUP: dict[str, str] = {
    "command-line.md": _DATA,
    "guarantees.md": _DF,
    "importance.md": _PATIENTS,
    "large.md": _DF
    + """
import pyarrow.csv, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.csv.read_csv("examples/companies.csv"), "survey.parquet")
columns = {"company": "identifier", "turnover": "other", "net_profit": "other"}
columns |= {name: {"role": "quasi", "kind": "integer"} for name in ("surface", "employees")}
ct.Recipe(k=3, columns=columns).save("survey.toml")
""",
    "least-loss.md": _DF,
    "population-risk.md": _PATIENTS
    + """
import pandas as pd
pd.read_csv("patients.csv").rename(columns={"smoker": "sex"}).to_csv("survey.csv", index=False)
""",
    "previous.md": """
import coterie as ct
import pandas as pd
frame = pd.read_csv("examples/companies.csv").rename(columns={"company": "id"})[["id", "surface", "employees"]]
columns = {"id": "identifier"} | {name: {"role": "quasi", "kind": "integer"} for name in ("surface", "employees")}
for name in ("first", "second"):
    frame.to_csv(f"{name}.csv", index=False)
    ct.protect(f"{name}.csv", ct.Recipe(k=3, seed=1, columns=columns)).save(f"{name}-release")
""",
    "risk-drivers.md": _PATIENTS,
    "tutorial.md": _DATA,
    "verify.md": _PATIENTS + 'shutil.copy("patients.csv", "release.csv")\n',
}


@dataclass
class Block:
    """A code block, and what must come out of it."""

    kind: str
    text: str
    above: str  # the line before it
    at: tuple[int, int]  # of the expected text in the page, or of the block
    expected: str | None = None

    @property
    def first(self) -> str:
        """The line by which a block is known."""
        return self.text.strip().splitlines()[0] if self.text.strip() else ""


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page in their order; expected texts are with the block before them."""
    found = []
    fences = list(_FENCE.finditer(page))
    for match in fences:
        found.append((match.start(), match.end(), match.group(1) or "text", match.group(2), match.span(2)))
    for match in _INDENTED.finditer(page):
        inside = any(f.start() < match.start() < f.end() for f in fences)
        if not inside and match.group().lstrip().startswith("coterie "):
            text = re.sub(r"^    ", "", match.group(), flags=re.MULTILINE)
            found.append((match.start(), match.end(), "sh", text, match.span(1)))
    blocks: list[Block] = []
    last_end = 0
    for start, end, kind, text, at in sorted(found):
        between = page[last_end:start]
        if kind == "text" and blocks and not between.strip() and blocks[-1].kind in ("sh", "python"):
            blocks[-1].expected, blocks[-1].at = text, at
        else:
            above = page[:start].rstrip().rsplit("\n\n", 1)[-1]
            blocks.append(Block(kind, text, " ".join(above.split()), at))
        last_end = end
    return blocks


def run(block: Block, names: dict) -> str:
    """Run a block in the current folder; what it prints."""
    if block.kind == "sh":
        return "".join(map(_command, _lines(block.text)))
    if block.kind == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(block.text, "<documentation>", "exec"), names)
        return out.getvalue()
    if block.kind == "pycon":
        return _doctest(block, names)
    if block.kind == "toml":
        tomllib.loads(block.text)
        if (name := _NAMED.search(block.above)) is not None:
            Path(name.group(1)).write_text(block.text, encoding="utf-8")
        return ""
    raise AssertionError(f"a block of kind {block.kind!r} that follows nothing: {block.first}")


def _lines(text: str) -> list[str]:
    """Commands, without comments; a backslash joins lines."""
    joined = text.replace("\\\n", " ").splitlines()
    return [line for line in joined if line.strip() and not line.lstrip().startswith("#")]


def _command(line: str) -> str:
    """What a command prints; only `coterie` is run, and in this process, which is quicker."""
    from coterie import cli

    program, *arguments = shlex.split(line, comments=True)
    if program != "coterie":
        raise AssertionError(f"only coterie is run: {line}")
    out = io.StringIO()
    cli._clean_up_when_stopped = lambda: None  # signals belong to whoever runs the blocks
    before, sys.argv = sys.argv, ["coterie", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
            warnings.simplefilter("default")
            cli.main()
    except SystemExit as end:
        if end.code not in (0, None):
            out.write(f"exit code {end.code}\n")
    finally:
        sys.argv = before
    return out.getvalue().replace("\u00a0", " ")  # as it is typed in a page


def _doctest(block: Block, names: dict) -> str:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(block.text, names, block.first, None, 0)
    test.globs = names
    out = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failures = doctest.DocTestRunner(optionflags=flags).run(test, out=out.write, clear_globs=False).failed
    if failures:
        raise AssertionError(out.getvalue())
    return ""


def refilled(block: Block, names: dict) -> str:
    """The examples of a block with what they print now."""
    out = []
    for example in doctest.DocTestParser().get_examples(block.text):
        first, *more = example.source.rstrip("\n").split("\n")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(Exception):  # what exists since the first try is refused
                exec(compile(example.source, "<documentation>", "single"), names)
        out += [f">>> {first}", *(f"... {line}".rstrip() for line in more), printed.getvalue().rstrip("\n")]
    return "\n".join(line for line in out if line) + "\n"


def matches(expected: str, printed: str) -> bool:
    """Whether what was printed is what was expected, where … stands for anything, on a line of its own for lines."""
    parts = []
    for line in expected.rstrip().splitlines():
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(map(re.escape, re.split(r" *… *", line.rstrip()))) + r"[ \t]*\n")
    return re.fullmatch("".join(parts), printed.rstrip() + "\n") is not None


def not_run(page: str, block: Block) -> str | None:
    """Why a block is not run; None if it is."""
    for (name, first), reason in NOT_RUN.items():
        if name == page and block.first.startswith(first):
            return reason
    return None


@contextlib.contextmanager
def workplace(page: str):
    """A folder for a page's blocks, as the current one, and their namespace."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE.parent / "examples", Path(folder) / "examples")
        os.symlink(HERE, Path(folder) / "docs")
        os.chdir(folder)
        names: dict = {"__name__": "documentation"}
        try:
            if page in SETUP:
                run(Block("python", SETUP[page], "", (0, 0)), names)
            yield names
        finally:
            os.chdir(before)


def run_page(page: str, text: str) -> tuple[list[str], str, int]:
    """What differs, the text with what came out, and how many blocks were run."""
    wrong, edits, count = [], [], 0
    with workplace(page) as names:
        for block in blocks_of(text):
            if not_run(page, block) is not None:
                continue
            count += 1
            try:
                printed = run(block, names)
            except Exception as error:
                wrong.append(f"{page}: {block.first}\n{type(error).__name__}: {error}")
                if block.kind == "pycon":
                    edits.append((block.at, refilled(block, names)))
                continue
            if block.expected is None and "\nexit code " in f"\n{printed}":
                wrong.append(f"{page}: {block.first}\n{printed}")
            if block.expected is not None and not matches(block.expected, printed):
                wrong.append(f"{page}: {block.first}\nexpected:\n{block.expected}\nprinted:\n{printed}")
                edits.append((block.at, printed.rstrip() + "\n"))
    for (start, end), printed in sorted(edits, reverse=True):
        text = text[:start] + printed + text[end:]
    return wrong, text, count


def pages() -> list[str]:
    """Every page that has blocks, by its path below docs/."""
    found = (path.relative_to(HERE).as_posix() for path in HERE.rglob("*.md") if "generated" not in path.parts)
    return sorted(page for page in found if blocks_of((HERE / page).read_text(encoding="utf-8")))


def main() -> None:
    """Run the pages that are named, or all."""
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    failed = 0
    for page in given or pages():
        place = HERE / page
        before = place.read_text(encoding="utf-8")
        wrong, after, count = run_page(page, before)
        print(f"{page}: {count} blocks, {len(wrong)} differ")
        if "--write" in sys.argv and after != before:
            place.write_text(after, encoding="utf-8")
        else:
            print(*wrong, sep="\n")
        failed += len(wrong)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
