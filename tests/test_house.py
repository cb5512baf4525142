"""The rules of the house: where Numba lives, who imports whom, what an import costs, what the README promises."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import coterie as ct
from conftest import ROOT
from coterie.kernels import _jit

SOURCE = ROOT / "src" / "coterie"
MODULES = sorted(SOURCE.rglob("*.py"))


def imports(path):
    """The modules that a file imports, in full; with those below functions, but not those for type checkers."""
    package = ["coterie", *path.relative_to(SOURCE).parts[:-1]]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])])
            yield from (".".join([*base, *([node.module] if node.module else []), a.name]) for a in node.names)


POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "termios"}
POSIX_NAMES = {"SIGALRM", "SIGHUP", "SIGKILL", "fork", "forkpty", "geteuid", "getuid", "killpg", "mkfifo", "setsid"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_what_windows_lacks_is_asked_for_first(path):
    """Modules inside a `try`, names of os and signal behind `hasattr` or a look at `os.name`."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    tried = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and id(node) not in tried:
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            assert not names & POSIX_ONLY, (path.name, node.lineno)
        if isinstance(node, ast.Attribute) and node.attr in POSIX_NAMES:
            around = "\n".join(text.splitlines()[max(0, node.lineno - 3) : node.lineno])
            assert 'hasattr(os, "' in around or "os.name" in around, (path.name, node.lineno)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_text_files_are_opened_with_an_encoding_and_written_with_one_line_end(path):
    """Else what is written depends on the system."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = {keyword.arg for keyword in node.keywords}
            assert node.func.attr != "read_text" or "encoding" in given, (path.name, node.lineno)
            assert node.func.attr != "write_text" or {"encoding", "newline"} <= given, (path.name, node.lineno)


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_numba_only_in_kernels_and_through_one_decorator(path):
    uses = {m.split(".")[0] for m in imports(path)}
    if name_of(path) in ("kernels/_jit.py", "kernels/_cache.py"):
        assert "numba" in uses
        return
    assert "numba" not in uses
    if not name_of(path).startswith("kernels/") or path.name.startswith("_"):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert [ast.unparse(d) for d in node.decorator_list] == ["kernel"], node.name


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent.name == "kernels"], ids=name_of)
def test_kernels_take_few_arguments(path):
    """What belongs together comes as a named tuple."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert len(node.args.args) <= 8, node.name


def test_the_decorator_keeps_to_the_design():
    text = (SOURCE / "kernels" / "_jit.py").read_text(encoding="utf-8")
    calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "njit"]
    assert [ast.unparse(c) for c in calls] == ["njit(**options)", "njit(**options, no_cpython_wrapper=True)"]
    plain = {"nogil": True, "error_model": "numpy", "fastmath": {"nnan", "nsz"}}
    assert plain | {"no_cfunc_wrapper": True} == _jit.OPTIONS


def kernels_in(folder):
    """A copy of the package whose kernels can be changed."""
    shutil.copytree(SOURCE, folder / "coterie", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "coterie" / "kernels"


def mean_of_1_and_3(folder):
    """The mean by compiled kernels, and whether they were compiled in this run."""
    code = (
        "import numpy as np; from coterie.algorithms import groups\n"
        "from coterie.kernels import by_hand, seconds_compiling\n"
        "with by_hand(9.0): mean = groups.centroid(np.array([[1.0], [3.0]]))[0]\n"
        "print(mean, seconds_compiling() > 0.0)"
    )
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"PYTHONPATH": str(folder)}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    mean, compiled = ran.stdout.split()
    return float(mean), compiled == "True"


def test_a_changed_kernel_is_compiled_anew_wherever_it_is_called(tmp_path):
    """Here `add` stands in a file apart from `group_means`, which calls it, and that file changes."""
    kernels = kernels_in(tmp_path)
    text = (kernels / "exact_sum.py").read_text(encoding="utf-8")
    start, end = text.index("@kernel\ndef add("), text.index("@kernel\ndef _carry(")
    head = "from __future__ import annotations\nimport math\nimport numpy as np\nfrom numpy.typing import NDArray\n"
    head += "from ._jit import kernel\n_BIAS = 1126\n_MASK = 0xFFFFFFFF\n"
    (kernels / "apart.py").write_text(head + text[start:end], encoding="utf-8")
    (kernels / "exact_sum.py").write_text(text[:start] + "from .apart import add\n\n\n" + text[end:], encoding="utf-8")
    assert mean_of_1_and_3(tmp_path) == (2.0, True)
    assert mean_of_1_and_3(tmp_path) == (2.0, False)
    twice = (head + text[start:end]).replace("math.frexp(x)", "math.frexp(2.0 * x)")
    (kernels / "apart.py").write_text(twice, encoding="utf-8")
    assert mean_of_1_and_3(tmp_path) == (4.0, True)


def test_a_cache_that_cannot_be_written_is_read(tmp_path):
    """As in a read-only image: what was compiled into it is used, and the rest is compiled, and works."""
    kernels = kernels_in(tmp_path)
    text = (kernels / "_cache.py").read_text(encoding="utf-8")
    read_only = text.replace("return os.access(folder, os.W_OK | os.X_OK)", "return False")
    same_stamp = read_only.replace("_STAMP = _stamp()", "_STAMP = 'one'")
    assert len({text, read_only, same_stamp}) == 3
    (kernels / "_cache.py").write_text(same_stamp, encoding="utf-8")
    assert mean_of_1_and_3(tmp_path) == (2.0, True)
    (kernels / "_cache.py").write_text(text.replace("_STAMP = _stamp()", "_STAMP = 'one'"), encoding="utf-8")
    assert mean_of_1_and_3(tmp_path) == (2.0, True)
    (kernels / "_cache.py").write_text(same_stamp, encoding="utf-8")
    assert mean_of_1_and_3(tmp_path) == (2.0, False)


# Who may import whom: a stage knows the stages before it, and nothing reaches back.
ALLOWED = {
    "kernels": {"kernels", "progress"},
    "constraints": {"errors"},
    "algorithms": {"algorithms", "constraints", "kernels", "errors", "measures.loss", "progress"},
    "datasets": {"datasets", "errors"},
    "measures": {"measures", "facts", "tables.columns", "errors", "kernels"},
    "errors": set(),
    "facts": {"facts", "errors", "verification.verdict"},
    "progress": set(),
    "tables": {"tables", "errors"},
    "formats": {"formats", "errors", "tables.arrow", "tables.dress"},
    "microaggregation": {
        "microaggregation",
        "algorithms",
        "constraints",
        "errors",
        "facts",
        "formats",
        "measures",
        "progress",
        "tables",
    },
    "reproduce": {
        "reproduce",
        "algorithms.registry",
        "datasets",
        "errors",
        "kernels.subsets",
        "microaggregation",
        "progress",
    },
    "analysis": {"analysis", "errors", "facts", "tables.columns"},
    "recipe": {"recipe", "algorithms.registry", "analysis.columns_used", "constraints", "errors", "formats", "tables"},
    "protection": {
        "protection",
        "algorithms",
        "errors",
        "facts",
        "kernels",
        "measures",
        "microaggregation",
        "progress",
        "recipe",
        "tables",
    },
    "verification": {"verification", "errors"},  # it shares nothing with what it checks
    "report": {"report", "algorithms.registry", "errors", "constraints", "facts", "verification.verdict"},
    "engines": {"engines", "_version", "errors", "formats", "tables"},
    "release": {
        "release",
        "_version",
        "analysis",
        "algorithms.confidential",
        "algorithms.shared",
        "kernels",
        "algorithms.kd_blocks",
        "algorithms.registry",
        "constraints",
        "engines",
        "errors",
        "facts",
        "formats",
        "measures",
        "progress",
        "protection",
        "recipe",
        "report",
        "tables",
        "verification",
    },
    "ui": {
        "ui",
        "_version",
        "algorithms.registry",
        "constraints",
        "errors",
        "facts",
        "formats",
        "progress",
        "recipe",
        "release",
        "report",
        "tables.columns",
        "documentation",
    },
    "cli": {
        "cli",
        "ui.server",
        "_version",
        "algorithms.registry",
        "engines.spark_session",
        "errors",
        "facts",
        "formats",
        "microaggregation",
        "recipe",
        "release",
        "reproduce",
        "tables",
        "documentation",
        "warm_up",
    },
    "documentation": set(),
    "warm_up": {"algorithms", "errors", "kernels", "microaggregation", "progress", "release"},
}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_between_rooms(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__", "_version"):
        return
    for module in imports(path):
        if module.startswith("coterie."):
            inside = module.removeprefix("coterie.")
            assert any(inside == a or inside.startswith(f"{a}.") for a in ALLOWED[room]), (name_of(path), module)


def test_no_two_modules_of_sibling_packages_share_a_name():
    """Else nobody knows which of them to open."""
    names = [path.name for path in SOURCE.glob("*/*.py") if path.name != "__init__.py"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_frame_library_is_forced_on_anyone(path):
    roots = {m.split(".")[0] for m in imports(path)}
    assert "polars" not in roots
    assert not roots & {"pandas", "formulaic", "statsmodels", "scipy"} or name_of(path) == "analysis/models.py"
    assert "sklearn" not in roots or path.name == "estimator.py"
    assert not roots & {"http", "requests", "httpx"}
    if path.relative_to(SOURCE).parts[0] != "ui":  # which listens on the loopback interface, and asks nobody
        assert not roots & {"socket", "urllib", "starlette", "uvicorn"}
    elif "urllib" in roots:
        assert {m for m in imports(path) if m.startswith("urllib")} <= {"urllib.parse", "urllib.parse.parse_qsl"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_stay_short(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 500
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                assert body[-1].end_lineno - body[0].lineno < 60, node.name


def test_tests_lie_where_the_code_lies():
    """In the folder of the package's name; and no two test files share a name, which pytest's imports don't allow."""
    files = [path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*.py")]
    assert len({path.name for path in files}) == len(files)
    for path in files:
        assert (SOURCE / path.parent).is_dir() or path.parent.name == "docs", path
        assert path.name.startswith("test_") or len(path.parts) == 1, path
    about_all = {path.name for path in files if len(path.parts) == 1 and path.name.startswith("test_")}
    assert about_all == {"test_house.py", "test_plain_english.py", "test_project.py"}


def loaded_by(code):
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in ran.stdout.splitlines()[-1].split()}


def test_importing_is_cheap():
    heavy = {"numba", "numpy", "sklearn", "pandas", "polars", "pyarrow", "scipy", "rich"}
    assert not loaded_by("import coterie") & heavy
    assert not loaded_by("import coterie.cli") & (heavy - {"rich"})
    assert not loaded_by("import coterie as ct; ct.methods(); ct.datasets.load_companies()") & {
        "numba", "sklearn", "pandas", "polars", "pyarrow", "scipy",
    }  # fmt: skip


def test_public_names():
    for name in ct.__all__:
        assert getattr(ct, name) is not None
    assert set(ct.__all__) <= set(dir(ct))
    assert callable(ct.methods)
    with pytest.raises(AttributeError, match="no_such_name"):
        ct.no_such_name  # noqa: B018


@pytest.mark.parametrize("module", ["microaggregation.api", "microaggregation.estimator"])
def test_examples_in_docstrings(module):
    failures, tried = doctest.testmod(importlib.import_module(f"coterie.{module}"))
    assert tried > 0
    assert failures == 0


def test_lower_bounds_only():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for requirement in [*project["dependencies"], *(r for extra in extras for r in extra)]:
        if not requirement.startswith("coterie["):
            assert re.fullmatch(r"[a-zA-Z0-9_-]+>=[0-9.]+", requirement)


def commands(marker):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- {marker} -->\s*```sh\n(.*?)\n```", text, re.DOTALL).group(1)


def test_ci_runs_the_readme_test_command():
    assert commands("test").count("\n") == 0
    assert commands("run").count("\n") == 0
    assert "README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_readme_lists_the_methods():
    text = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    for method in ct.methods():
        assert f"`{method.name}`" in text


def test_links_in_the_docs_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), (page.name, target)
