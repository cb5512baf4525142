"""Make a release from a clean tree: `python scripts/release.py dist`. A dirty one is refused.

What is committed, and nothing else, is built: the site, the sdist, the wheel. They are checked, the wheel is tried in
an empty environment, and SHA256SUMS is written. The same commit gives the same bytes. Needs the extras [dev] and
[maintain].
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (
    "coterie/docs/limits.md",
    "coterie/ui/static/page.js",
    "coterie/ui/templates/page.html.j2",
    "coterie/py.typed",
)
MOST = 12 << 20  # bytes of a wheel, with the site


class RefusedError(Exception):
    """Why no release is made."""


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command; its output, or the reason to stop."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=os.environ | (env or {}), capture_output=True, text=True
    )
    if done.returncode:
        raise RefusedError(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def check_clean(root: Path) -> None:
    """Refuse a tree in which anything is changed, added or not committed."""
    if changed := run("git", "status", "--porcelain", cwd=root).splitlines():
        shown = "\n".join(changed[:10])
        raise RefusedError(f"The tree must be clean: commit, stash or remove first.\n{shown}")


def version_of(root: Path) -> str:
    """The version, which all files that name it must agree on."""
    text = (root / "src" / "coterie" / "_version.py").read_text(encoding="utf-8")
    match = re.search(r'__version__ = "(\d+\.\d+\.\d+)"', text)
    if match is None:
        raise RefusedError("src/coterie/_version.py must hold a version such as 0.2.0.")
    version = match[1]
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text(encoding="utf-8"):
        raise RefusedError(f"CITATION.cff must name version {version}.")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## .*\b{re.escape(version)}\b", changelog, re.MULTILINE):
        raise RefusedError(f"CHANGELOG.md must have a section for {version}.")
    return version


def check_tag(root: Path, version: str) -> None:
    """Refuse a version that was released from another commit."""
    if run("git", "tag", "--list", f"v{version}", cwd=root).strip():
        tagged, head = (run("git", "rev-list", "-n", "1", one, cwd=root).strip() for one in (f"v{version}", "HEAD"))
        if tagged != head:
            raise RefusedError(f"The tag v{version} is at another commit: choose a new version.")


def export(root: Path, folder: Path) -> dict[str, str]:
    """What is committed, in a folder of its own; and the environment that makes builds repeatable."""
    archive = folder.with_suffix(".tar")
    run("git", "archive", "-o", archive, "HEAD", cwd=root)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct", cwd=root).strip(), "PYTHONHASHSEED": "0"}


def build(tree: Path, out: Path, env: dict[str, str]) -> None:
    """The site, if there is one to build, then sdist and wheel."""
    if (tree / "docs" / "conf.py").is_file():
        run("make", "docs", f"BIN={Path(sys.executable).parent}", cwd=tree, env=env | {"PYTHONPATH": str(tree / "src")})
        for made in (tree / "build").glob("doctrees*"):  # only the site itself goes into the package
            run("rm", "-rf", made)
    run(sys.executable, "-m", "build", "--outdir", out, tree, env=env)


def check(out: Path, version: str, site: bool) -> Path:
    """The wheel, if it and the sdist hold what they should and nothing else."""
    wheel, sdist = out / f"coterie-{version}-py3-none-any.whl", out / f"coterie-{version}.tar.gz"
    if sorted(path.name for path in out.iterdir()) != sorted([wheel.name, sdist.name]):
        raise RefusedError(f"There must be {wheel.name} and {sdist.name}, and nothing else.")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    with tarfile.open(sdist) as packed_too:
        sources = packed_too.getnames()
    if missing := [name for name in (*NEEDED, *(["coterie/site/index.html"] if site else [])) if name not in names]:
        raise RefusedError(f"The wheel lacks {', '.join(missing)}.")
    if odd := [
        name for name in (*names, *sources) if re.search(r"__pycache__|\.py[co]$|\.map$|\.nb[ci]$|/\.venv/", name)
    ]:
        raise RefusedError(f"These have no place in a release: {', '.join(odd[:5])}.")
    if wheel.stat().st_size > MOST:
        raise RefusedError(f"The wheel must stay below {MOST >> 20} MB.")
    return wheel


def attempt(wheel: Path, place: Path) -> None:
    """Install the wheel alone in an empty environment, and release the companies with it."""
    venv.create(place / "empty", with_pip=True)
    bin = place / "empty" / ("Scripts" if os.name == "nt" else "bin")
    run(bin / "python", "-m", "pip", "install", "-q", wheel, cwd=place)
    try_out(bin, place)


def try_out(bin: Path, place: Path) -> None:
    """A release and its check, by what is installed."""
    columns = "company,surface,employees\n" + "".join(f"c{i},{7 * i % 11},{5 * i % 13}\n" for i in range(1, 13))
    (place / "table.csv").write_text(columns, encoding="utf-8", newline="\n")
    roles = ("--drop", "company", "--quasi", "surface,employees")
    env = {"PYTHONPATH": "", "PYTHONNOUSERSITE": "1", "NUMBA_CACHE_DIR": str(place / "numba")}
    run(bin / "coterie", "protect", "table.csv", *roles, "-k", "3", "-o", "release", cwd=place, env=env)
    run(bin / "coterie", "verify", "release", cwd=place, env=env)


def write_sums(out: Path) -> None:
    """The hashes of all files, as `sha256sum --check` reads them."""
    files = sorted(path for path in out.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def release(root: Path, target: Path, offline: bool) -> str:
    """Make it in private, and put it into its place when all of it is good."""
    check_clean(root)
    version = version_of(root)
    check_tag(root, version)
    if target.exists() and any(target.iterdir()):
        raise RefusedError(f"{target} must be empty or not there.")
    with tempfile.TemporaryDirectory(prefix="coterie-release-") as private:
        place = Path(private)
        out = place / "dist"
        env = export(root, place / f"coterie-{version}")
        build(place / f"coterie-{version}", out, env)
        wheel = check(out, version, site=(root / "docs" / "conf.py").is_file())
        attempt(wheel, place)
        if offline:
            run(
                sys.executable, root / "scripts" / "offline_bundle.py", wheel, out / f"coterie-{version}-offline.tar.gz"
            )
        write_sums(out)
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted(out.iterdir()):
            (target / path.name).write_bytes(path.read_bytes())
    return version


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", type=Path, help="where the files go; empty or not there yet")
    parser.add_argument(
        "--offline-bundle", action="store_true", help="make the bundle for machines without a network too"
    )
    given = parser.parse_args()
    try:
        version = release(ROOT, given.target.absolute(), given.offline_bundle)
    except RefusedError as reason:
        sys.exit(f"No release: {reason}")
    print(f"Coterie {version} is in {given.target}. To publish it: git tag v{version}, and push the tag.")


if __name__ == "__main__":
    main()
