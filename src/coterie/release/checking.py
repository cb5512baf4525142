"""verify: a bundle on its own promises, or a file or table on those that are said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import CoterieError, PromiseError
from ..formats import content_hash, detect, harmless, kind_of
from ..recipe import Recipe
from ..verification import Claims, Guard, Scenario, Verdict, verify_claims
from ..verification import verify as verify_file
from ..verification.claims import listed

_OF_SYSTEMS = (".DS_Store", "Thumbs.db", "desktop.ini")  # who looks at a folder leaves them, and sees nothing of them


def verify(
    release: Any,
    quasi: Sequence[str] | None = None,
    k: int | None = None,
    *,
    within: Sequence[str] = (),
    confidential: Mapping[str, Mapping[str, Any]] | None = None,
    scenarios: Mapping[str, tuple[Sequence[str], int]] | None = None,
    dialect: Mapping[str, Any] | None = None,
    recipe: Recipe | str | Path | Mapping[str, Any] | None = None,
) -> Verdict:
    """Check a release on what was written, by code that shares nothing with what made it.

    Parameters
    ----------
    release : path or table
        The folder of a bundle, which is checked on all its recipe promises, its files on the hashes of its manifest; or
        a file, or a table, which is checked on what the other arguments say.
    quasi, k, within, confidential, scenarios, dialect
        As for `coterie.verification.verify`; not for a bundle, which says them itself.
    recipe : Recipe, path or mapping
        Instead of all these: what it promises, every scenario and guard, and the columns that a file may hold.
    """
    more = {"within": within or None, "confidential": confidential, "scenarios": scenarios, "dialect": dialect}
    more = {name: value for name, value in more.items() if value is not None}
    further = bool(more) or quasi is not None or k is not None
    if isinstance(release, (str, Path)) and Path(release).is_dir():
        if further or recipe is not None:
            raise CoterieError(
                "A bundle says itself what it promises.", "further claims", "to check others, name its data file."
            )
        return verify_bundle(Path(release))
    if recipe is None:
        return verify_file(release, quasi, k, **more)  # type: ignore[arg-type]
    if further:
        raise CoterieError("A recipe says all that is claimed.", "further claims", "leave them out.")
    return _verify_by_recipe(release, recipe)


def _verify_by_recipe(release: Any, given: Any) -> Verdict:
    """Check a file or a table on what a recipe promises; the file is read as the recipe says, or as it looks."""
    from .flow import as_recipe

    recipe = as_recipe(given)
    if not isinstance(release, (str, Path)) or kind_of(Path(release)) != "csv":
        return verify_claims(release, claims_of(recipe, {}))
    options = dict(recipe.file.options)
    if "names" in options:  # those of the input; identifiers are not released
        names = [n for n in options["names"] if n not in recipe.of_role("identifier")]
        options["names"] = harmless(names) if recipe.file.formulas == "neutralize" else names
    form = detect(Path(release), options)
    dialect = dialect_of(form.as_dict(), options.get("names", ()))
    return verify_claims(release, claims_of(recipe, form.details), dialect)


def verify_bundle(folder: Path) -> Verdict:
    """Check a bundle: the manifest against its seal, every file against the manifest, the data against the recipe."""
    manifest = read_manifest(folder)
    changed = "The files of a bundle must be as they were written."
    if _text(folder) != sealed({name: value for name, value in manifest.items() if name != "seal"}):
        raise PromiseError(changed, "'manifest.json', which was changed")
    for name, facts in manifest["files"].items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            raise PromiseError("A bundle must hold the files of its manifest.", f"no '{name}' in '{folder}'")
        if content_hash(path) != facts["sha256"]:
            raise PromiseError(changed, f"'{name}', which was changed")
    known = {*manifest["files"], "manifest.json", *_OF_SYSTEMS}
    others = sorted(path.name for path in folder.iterdir() if path.name not in known)
    if others:
        what = "A bundle must hold the files of its manifest, and no others."
        raise PromiseError(what, f"{listed(others)}, of which nothing is known", "keep it elsewhere.")
    recipe = Recipe.load(folder / "recipe.toml")
    data = folder / data_name(manifest)
    details = {n: v for n, v in manifest["format"].items() if n != "kind"}
    verdict = verify_claims(data, claims_of(recipe, details), dialect_of(manifest["format"], manifest["names"]))
    if verdict.ok and _verdict_in(folder) != verdict.facts():
        raise PromiseError("The verdict of a bundle must be that on its data.", "another in 'verify.json'")
    return verdict


def _verdict_in(folder: Path) -> Any:
    """What the bundle's verify.json says, whose first version named no version; None if it is no JSON."""
    try:
        said = json.loads((folder / "verify.json").read_text(encoding="utf-8"))
    except ValueError:
        return None
    return {name: value for name, value in said.items() if name != "version"} if isinstance(said, dict) else said


def as_json(facts: Any) -> str:
    """As the files of a bundle have it."""
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sealed(manifest: Mapping[str, Any]) -> str:
    """The text of a manifest, with a hash of all that it says: a slip of an editor is found, a forger is not."""
    return as_json({**manifest, "seal": hashlib.sha256(as_json(manifest).encode("utf-8")).hexdigest()})


def is_bundle(folder: Path) -> bool:
    """Whether a folder holds a bundle, and nothing else."""
    try:
        manifest = read_manifest(folder)
    except CoterieError:
        return False
    return all(path.name in (*manifest["files"], "manifest.json") for path in folder.iterdir())


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a bundle says of itself."""
    try:
        manifest = json.loads(_text(folder))
    except (OSError, ValueError, RecursionError):
        manifest = None
    if not _is_manifest(manifest):
        raise CoterieError("A bundle must have a manifest.json.", f"'{folder}' without one that can be read")
    return manifest  # type: ignore[no-any-return]


def _text(folder: Path) -> str:
    return (folder / "manifest.json").read_bytes().decode("utf-8")


def _is_manifest(manifest: Any) -> bool:
    """Whether this is what `write_bundle` writes: anything may lie in a folder."""
    if not isinstance(manifest, dict) or not isinstance(manifest.get("coterie"), str):
        return False
    if not all(isinstance(manifest.get(name), dict) for name in ("files", "output", "format", "input", "versions")):
        return False
    if not isinstance(manifest.get("names"), list) or not all(isinstance(n, str) for n in manifest["names"]):
        return False
    files = manifest["files"]
    if not set(files) >= _FILES or any(Path(name).name != name for name in files):
        return False
    return all(isinstance(f, dict) and isinstance(f.get("sha256"), str) for f in files.values())


_FILES = {"recipe.toml", "verify.json", "report.html", "internal.html"}  # and the data


def data_name(manifest: Mapping[str, Any]) -> str:
    """The name of the data file, which lies in the folder itself."""
    name = str(manifest["output"].get("name"))
    if name not in manifest["files"]:
        raise CoterieError("The manifest must name the data file.", "another name")
    return name


def dialect_of(form: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    """How a CSV file is to be read; None for others."""
    if form.get("kind") != "csv":
        return None
    named = {} if form["header"] else {"names": list(names)}
    return {
        "delimiter": form["delimiter"],
        "quote": form.get("quote") or None,
        "encoding": form["encoding"],
        "header": form["header"],
        **named,
    }


def claims_of(recipe: Recipe, details: Mapping[str, Any]) -> Claims:
    """What a release promises. `details` say how a text file writes numbers and gaps."""
    within = recipe.within
    neutral = recipe.file.formulas == "neutralize" and "delimiter" in details
    released = [n for n, rule in recipe.columns.items() if rule.role != "identifier"]
    told = dict(zip(released, harmless(released) if neutral else released, strict=True))
    scenarios = tuple(
        Scenario(name, tuple(told[q] for q in s.quasi if q not in within), s.k) for name, s in recipe.promises.items()
    )
    guards = tuple(
        Guard(
            column=told[name],
            kind=str(rule.kind),
            l=rule.l,
            entropy=rule.entropy,
            t=rule.t,
            order=tuple(harmless(rule.order or ()) if neutral else rule.order or ()),
            decimal=(details.get("decimal") or ".") if rule.kind in ("numeric", "integer") else ".",
            missing=tuple(details.get("missing") or ()),
            format=rule.format,
        )
        for name, rule in recipe.columns.items()
        if rule.role == "confidential"
    )
    return Claims(scenarios, tuple(told[w] for w in within), guards, tuple(told.values()))
