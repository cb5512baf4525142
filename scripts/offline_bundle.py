"""Make the bundle for machines without a network: `python scripts/offline_bundle.py WHEEL coterie-offline.tar.gz`.

It holds the wheels of Coterie and of everything that it needs, for the Python and the system that this runs on, the
exact versions, hashes, and a script that installs them: `python install.py FOLDER`. It is tried before it is packed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

EXTRAS = "analysis,files,rda,sklearn,ui"

INSTALL = '''"""Install Coterie from this folder alone: `python install.py FOLDER` makes an environment there."""

import hashlib
import pathlib
import subprocess
import sys
import venv

here = pathlib.Path(__file__).resolve().parent
if len(sys.argv) != 2:
    sys.exit("Usage: python install.py FOLDER")
if sys.version_info[:2] != {python}:
    sys.exit("This bundle is for Python {spoken}.")
for line in (here / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
    digest, name = line.split("  ")
    if hashlib.sha256((here / name).read_bytes()).hexdigest() != digest:
        sys.exit(name + " is damaged or was altered: nothing was installed.")
target = pathlib.Path(sys.argv[1]).absolute()
venv.create(target, with_pip=True)
python = target / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
command = [python, "-m", "pip", "--isolated", "install", "--quiet", "--no-index", "--find-links", here / "wheels"]
subprocess.run([*command, "--constraint", here / "constraints.txt", "coterie[{extras}]"], check=True)
print("Installed. The command is", target / ("Scripts" if sys.platform == "win32" else "bin") / "coterie")
'''


def constraints(wheels: Path) -> str:
    """The exact versions that lie in a folder of wheels."""
    found = sorted(path.name.split("-")[:2] for path in wheels.glob("*.whl"))
    return "".join(f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}\n" for name, version in found)


def sums(folder: Path) -> str:
    """The hashes of all files below a folder, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = (
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files
    )
    return "".join(lines)


def fill(folder: Path, wheel: Path) -> None:
    """The wheels, and what belongs to them."""
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    shutil.copy(wheel, wheels)
    download = [sys.executable, "-m", "pip", "download", "-q", "--only-binary", ":all:", "--dest", str(wheels)]
    subprocess.run([*download, f"{wheel}[{EXTRAS}]"], check=True)
    (folder / "constraints.txt").write_text(constraints(wheels), encoding="utf-8", newline="\n")
    python = sys.version_info[:2]
    script = INSTALL.format(python=python, spoken=".".join(map(str, python)), extras=EXTRAS)
    (folder / "install.py").write_text(script, encoding="utf-8", newline="\n")
    (folder / "SHA256SUMS").write_text(sums(folder), encoding="utf-8", newline="\n")


def without_network() -> list[str]:
    """What runs a command on a machine that has no network, where this one can."""
    unshare = shutil.which("unshare")
    command = [unshare, "--map-root-user", "--net"] if unshare else []
    return command if command and subprocess.run([*command, "true"], capture_output=True).returncode == 0 else []


def attempt(folder: Path, place: Path) -> str:
    """Install from the folder, without a network if that can be had, and make a release."""
    sys.path.insert(0, str(Path(__file__).parent))
    from release import try_out

    isolated = without_network()
    subprocess.run([*isolated, sys.executable, str(folder / "install.py"), str(place / "installed")], check=True)
    try_out(place / "installed" / ("Scripts" if os.name == "nt" else "bin"), place)
    return "without a network" if isolated else "with no index to ask"


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("target", type=Path, help="the .tar.gz to write")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="coterie-offline-") as private:
        folder = Path(private) / given.target.name.removesuffix(".tar.gz")
        fill(folder, given.wheel.absolute())
        how = attempt(folder, Path(private))
        with tarfile.open(given.target, "w:gz") as packed:
            packed.add(folder, folder.name)
    print(f"{given.target}: {given.target.stat().st_size >> 20} MB, installed and tried {how}")


if __name__ == "__main__":
    main()
