"""The files around the code stay true: workflows, citation, forms, policies, the release script."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib

import pytest

import coterie as ct
from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def yaml_of(name):
    return pytest.importorskip("yaml").safe_load(text_of(name))


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_workflows_test_what_the_package_says_it_runs_on():
    matrix = yaml_of(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    classifiers = PROJECT["classifiers"]
    minors = [c.rsplit(" ", 1)[1] for c in classifiers if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", c)]
    assert matrix["python"] == minors
    assert PROJECT["requires-python"] == f">={minors[0]}"
    systems = {"ubuntu": "POSIX :: Linux", "macos": "MacOS", "windows": "Microsoft :: Windows"}
    assert [f"Operating System :: {systems[name.split('-')[0]]}" for name in matrix["os"]] == [
        f"Operating System :: {name}" for name in systems.values()
    ]
    assert all(f"Operating System :: {name}" in classifiers for name in systems.values())


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_have_few_rights_no_secrets_and_run_what_is_here(path):
    workflow = yaml_of(path.relative_to(ROOT))
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf-8")
    for job in workflow["jobs"].values():
        for step in job.get("steps", []):
            for name in re.findall(r"(?<!\S)((?:\.ci|scripts)/[\w./]+)", step.get("run", "")):
                assert (ROOT / name).is_file(), name
            for extra in re.findall(r"\.\[([a-z,]+)\]", step.get("run", "")):
                assert set(extra.split(",")) <= set(EXTRAS)


def test_nightly_and_ci_run_tests_that_exist():
    nightly = text_of(".ci/nightly")
    told = set(re.findall(r"^#   \.ci/nightly (\w+)", nightly, re.MULTILINE))
    assert told == set(re.search(r"\$\{@:-([\w ]+)\}", nightly)[1].split())
    assert told <= set(re.findall(r"^(\w+)\(\)", nightly, re.MULTILINE))
    for name in re.findall(r"tests/[\w/.]+", nightly):
        assert (ROOT / name).exists(), name
    assert ".ci/lint" in text_of(".ci/run")


def test_the_citation_is_of_this_version_and_names_the_papers():
    citation = yaml_of("CITATION.cff")
    assert citation["version"] == ct.__version__
    assert citation["license"] == PROJECT["license"]
    assert len(citation["references"]) == 5
    cited = {name for paper in citation["references"] for name in paper["notes"].split(" ", 1)[1].split(", ")}
    papers = {"Solanas", "Sebé", "Reischuk"}
    assert cited == {m.name for m in ct.methods() if any(p in m.paper for p in papers)} - {"auto", "exact"} - OTHERS


OTHERS = {"individual-ranking", "path", "univariate"}


def test_every_extra_is_documented():
    words = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
    words += "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    for extra in EXTRAS:
        assert re.search(rf"\[[a-z,]*\b{extra}\b[a-z,]*\]", words), extra


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_forms_ask_for_recipes_and_versions_and_never_for_data(name):
    form = yaml_of(f".github/ISSUE_TEMPLATE/{name}.yml")
    fields = {field.get("id"): field for field in form["body"]}
    assert {"recipe", "versions"} <= set(fields)
    assert "upload" not in {field["type"] for field in form["body"]}
    assert "no data" in text_of(f".github/ISSUE_TEMPLATE/{name}.yml").lower()
    assert {"name", "description", "body"} <= set(form)


def test_links_in_the_pages_around_the_code_lead_somewhere():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "ROADMAP.md", "docs/versions.md"):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text_of(name)):
            assert ((ROOT / name).parent / target).exists(), (name, target)


def test_the_container_installs_the_offline_bundle_and_nothing_else():
    lines = text_of("Containerfile")
    assert re.findall(r"^RUN python (\S+)", lines, re.MULTILINE) == ["/opt/bundle/install.py"]
    assert not re.search(r"pip install|apt-get|curl|wget|https?:", lines)
    assert f"coterie-{ct.__version__}-offline" in lines
    assert re.search(r"^USER (?!root)", lines, re.MULTILINE)


@pytest.fixture
def clone(tmp_path):
    """A small repository that looks like this one to the checks."""
    (tmp_path / "src" / "coterie").mkdir(parents=True)
    (tmp_path / "src" / "coterie" / "_version.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 1.2.3\n", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.3\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder, *args):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-c", "core.hooksPath="]
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x", "--allow-empty")


def test_a_release_needs_a_clean_tree(clone):
    release = script("release")
    release.check_clean(clone)
    assert release.version_of(clone) == "1.2.3"
    (clone / "new.txt").touch()
    with pytest.raises(release.RefusedError, match=r"must be clean.*\n.*new\.txt"):
        release.release(clone, clone / "dist", offline=False)
    commit(clone)
    release.check_clean(clone)
    (clone / "CHANGELOG.md").write_text("changed", encoding="utf-8")
    with pytest.raises(release.RefusedError, match="must be clean"):
        release.check_clean(clone)


@pytest.mark.parametrize("name", ["CITATION.cff", "CHANGELOG.md", "src/coterie/_version.py"])
def test_a_release_needs_one_version_everywhere(name, clone):
    release = script("release")
    path = clone / name
    path.write_text(path.read_text(encoding="utf-8").replace("1.2.3", "1.2.4"), encoding="utf-8")
    with pytest.raises(release.RefusedError, match=r"1\.2\."):
        release.version_of(clone)


def test_a_version_is_released_once(clone):
    release = script("release")
    git(clone, "tag", "v1.2.3")
    release.check_tag(clone, "1.2.3")
    commit(clone)
    with pytest.raises(release.RefusedError, match="choose a new version"):
        release.check_tag(clone, "1.2.3")


def test_a_release_holds_what_is_committed_with_the_time_of_the_commit(clone, tmp_path_factory):
    release = script("release")
    (clone / "ignored.txt").touch()
    folder = tmp_path_factory.mktemp("export") / "tree"
    env = release.export(clone, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["CHANGELOG.md", "CITATION.cff", "src"]
    assert env["SOURCE_DATE_EPOCH"].isdigit()


def test_an_offline_bundle_that_was_altered_installs_nothing(tmp_path):
    bundle = script("offline_bundle")
    (tmp_path / "wheels").mkdir()
    for name in ("Some_Package-1.0-py3-none-any.whl", "other.thing-2.1-cp311-cp311-linux_x86_64.whl"):
        (tmp_path / "wheels" / name).write_bytes(b"x")
    assert bundle.constraints(tmp_path / "wheels") == "some-package==1.0\nother-thing==2.1\n"
    python = sys.version_info[:2]
    install = bundle.INSTALL.format(python=python, spoken="3.x", extras="ui")
    (tmp_path / "install.py").write_text(install, encoding="utf-8")
    (tmp_path / "SHA256SUMS").write_text(bundle.sums(tmp_path / "wheels").replace("  ", "  wheels/"), encoding="utf-8")
    (tmp_path / "wheels" / "Some_Package-1.0-py3-none-any.whl").write_bytes(b"y")
    ran = subprocess.run([sys.executable, tmp_path / "install.py", tmp_path / "to"], capture_output=True, text=True)
    assert ran.returncode == 1
    assert "was altered: nothing was installed" in ran.stderr
    assert not (tmp_path / "to").exists()
