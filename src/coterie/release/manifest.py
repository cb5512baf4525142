"""The manifest of a bundle: what it says, read with suspicion, and its seal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CoterieError, PromiseError, printable_json
from ..formats import Format, check_details, kind_of

DATA = "data"  # the folder of a release in many files


def parts_of(manifest: Mapping[str, Any]) -> list[str]:
    """The files of a release in many, in their order."""
    return sorted(name for name in manifest["files"] if name.startswith(f"{DATA}/"))


def as_json(facts: Any) -> str:
    """As the files of a bundle have it."""
    return printable_json(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def sealed(manifest: Mapping[str, Any]) -> str:
    """The text of a manifest, with a hash of all that it says: a slip of an editor is found, a forger is not."""
    return as_json({**manifest, "seal": hashlib.sha256(as_json(manifest).encode("utf-8")).hexdigest()})


def is_bundle(folder: Path) -> bool:
    """Whether a folder holds a bundle, and nothing else."""
    try:
        manifest = read_manifest(folder)
    except CoterieError:
        return False
    return not others_in(folder, manifest)


def others_in(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The files and folders of a bundle's folder that its manifest does not name."""
    known, found = {*manifest["files"], "manifest.json"}, []
    for path in sorted(folder.iterdir()):
        if path.name == DATA and path.is_dir() and not path.is_symlink():
            found += [f"{DATA}/{inside.name}" for inside in sorted(path.iterdir())]
        else:
            found.append(path.name)
    return [name for name in found if name not in known]


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a bundle says of itself."""
    try:
        manifest = json.loads(manifest_text(folder))
    except (OSError, ValueError, RecursionError):
        manifest = None
    if not _is_manifest(manifest):
        raise CoterieError("A bundle must have a manifest.json.", f"'{folder}' without one that can be read")
    links = [name for name in ("manifest.json", DATA, *manifest["files"]) if (folder / name).is_symlink()]
    if links:  # what is checked here could be something else where the bundle goes
        raise PromiseError("A bundle must not contain links.", f"{_quoted(links)}, which lead elsewhere")
    return manifest  # type: ignore[no-any-return]


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def manifest_text(folder: Path) -> str:
    """The manifest as it was written."""
    return (folder / "manifest.json").read_bytes().decode("utf-8")


def _is_manifest(manifest: Any) -> bool:
    """Whether this is what `write_bundle` writes: anything may lie in a folder."""
    if not isinstance(manifest, dict) or not isinstance(manifest.get("coterie"), str):
        return False
    if not all(isinstance(manifest.get(name), dict) for name in ("files", "output", "format", "input", "versions")):
        return False
    if not isinstance(manifest.get("names"), list) or not all(isinstance(n, str) for n in manifest["names"]):
        return False
    if not all(_is_count(manifest.get(name)) for name in ("streamed", "memory")):
        return False
    files = manifest["files"]
    if not set(files) >= _FILES or not all(map(_is_plain, files)):
        return False
    return all(isinstance(f, dict) and isinstance(f.get("sha256"), str) for f in files.values())


def _is_plain(name: str) -> bool:
    """Whether a file lies in the folder itself, or in that of the data."""
    return Path(name).name == name or (name.startswith(f"{DATA}/") and Path(name).name == name[len(DATA) + 1 :])


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value > 0)


_FILES = {"recipe.toml", "verify.json", "report.html", "internal.html"}  # and the data


def format_of(manifest: Mapping[str, Any]) -> Format:
    """How the data file is written, as the manifest says it: all of it, and what its name says."""
    form = Format.from_dict(manifest["format"])
    name = data_name(manifest)
    if form.kind != ("parquet" if name == DATA else kind_of(Path(name))):
        raise CoterieError("The manifest must describe the format of the data file.", f"another kind, {form.kind}")
    check_details(form)
    return form


def data_name(manifest: Mapping[str, Any]) -> str:
    """The name of the data file, which lies in the folder itself, or of the folder that holds several."""
    name = str(manifest["output"].get("name"))
    if name not in manifest["files"] and not (name == DATA and parts_of(manifest)):
        raise CoterieError("The manifest must name the data file.", "another name")
    return name
