"""verify: a bundle on its own promises, or a file or table on those that are said."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import CoterieError, PromiseError, boundary
from ..formats import content_hash, detect, kind_of
from ..recipe import Recipe
from ..verification import Check, Claims, Verdict, verify_claims
from ..verification import verify as verify_file
from ..verification.claims import claims_of as claims_said
from ..verification.claims import listed
from .deprecated import renamed
from .manifest import data_name, format_of, manifest_text, others_in, read_manifest, sealed
from .promises import claims_of, dialect_of, names_in_file


@boundary
def verify(
    release: Any,
    quasi: Sequence[str] | None = None,
    k: int | None = None,
    *,
    within: Sequence[str] = (),
    confidential: Mapping[str, Mapping[str, Any]] | None = None,
    scenarios: Mapping[str, tuple[Sequence[str], int]] | None = None,
    read: Mapping[str, Any] | None = None,
    recipe: Recipe | str | Path | Mapping[str, Any] | None = None,
    unit: str | None = None,
    input: Any = None,
    engine: str | None = None,
    dialect: Mapping[str, Any] | None = None,
) -> Verdict:
    """Check a written release, with code that shares nothing with the code that made it.

    Parameters
    ----------
    release : path or table
        A bundle's folder, which is checked against everything its recipe promises and the hashes in its manifest; or a
        file, a folder of Parquet files or a table, which is checked against the other arguments.
    quasi, k, within, confidential, scenarios, unit
        As for `coterie.verification.verify`; not for a bundle, which states its own claims.
    read : mapping
        How to read a CSV file: delimiter, quote, encoding, header, names.
    recipe : Recipe, path or mapping
        Instead of all these: check everything the recipe promises, every scenario and guard, and the columns that a
        file may contain.
    input : path or table
        For a bundle whose unit column was dropped: the original table. The release is repeated to find the unit of each
        record, and the units in every class are counted again. Without it, the count made before the column was dropped
        is taken from `verify.json`.
    engine : {"duckdb", "spark"}, optional
        The engine for the check: DuckDB on this machine, or Spark's workers, for Parquet files wherever they can read
        them.
    dialect : mapping
        Deprecated name of `read`.
    """
    if engine not in (None, "duckdb", "spark"):
        raise CoterieError("'engine' must be one of duckdb, spark.", f"'{engine}'")
    dialect = renamed("dialect", dialect, "read", _dialect(read))
    more = {"within": within or None, "confidential": confidential, "scenarios": scenarios, "dialect": dialect}
    more["unit"] = unit
    more = {name: value for name, value in more.items() if value is not None}
    further = bool(more) or quasi is not None or k is not None
    if engine == "spark":
        from .cluster_check import verify_on_spark

        claims = _claims(recipe, quasi, k, more) if further or recipe is not None else None
        return verify_on_spark(release, claims, input)
    folder = isinstance(release, (str, Path)) and Path(release).is_dir()
    if folder and not ((further or recipe is not None) and _holds_data_alone(Path(release))):
        if further or recipe is not None:
            raise CoterieError(
                "A bundle already states what it promises.",
                "further claims",
                "to check other claims, name its data file.",
            )
        return verify_bundle(Path(release), input)
    if input is not None:
        what = "The input is needed only for a bundle whose units were dropped."
        raise CoterieError(what, "a file or a table", "name the bundle's folder, or leave it out.")
    if recipe is None:
        return verify_file(release, quasi, k, **more)  # type: ignore[arg-type]
    if further:
        raise CoterieError("A recipe already states all claims.", "further claims", "leave them out.")
    return _verify_by_recipe(release, recipe)


def _claims(recipe: Any, quasi: Any, k: Any, more: dict[str, Any]) -> Claims:
    """What is claimed of Parquet files, by arguments or by a recipe."""
    from .flow import as_recipe

    if recipe is None:
        if "dialect" in more:
            raise CoterieError("Only CSV files have a dialect.", "'read' for Parquet files", "leave it out.")
        given = {name: more.get(name) for name in ("within", "confidential", "scenarios", "unit")}
        return claims_said(quasi, k, given["within"] or (), *(given[n] for n in ("confidential", "scenarios", "unit")))
    if quasi is not None or k is not None or more:
        raise CoterieError("A recipe already states all claims.", "further claims", "leave them out.")
    recipe = as_recipe(recipe)
    _refuse_dropped_units(recipe)
    return claims_of(recipe, {})


def _refuse_dropped_units(recipe: Recipe) -> None:
    if _drops_units(recipe):
        what = "Units that were dropped cannot be counted in the released file."
        raise CoterieError(what, f"unit '{recipe.unit_column}'", "verify the bundle, with --input to count them again.")


def _drops_units(recipe: Recipe) -> bool:
    return recipe.unit_column is not None and recipe.unit_column not in recipe.released


def _holds_data_alone(folder: Path) -> bool:
    """Whether a folder is no bundle, but the many Parquet files of a release."""
    return not os.path.lexists(folder / "manifest.json") and any(folder.glob("*.parquet"))


def _dialect(read: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """How a CSV file is read by the verifier, which knows no header where it is told the names."""
    if read is None:
        return None
    quote = {"quote": read["quote"] or None} if "quote" in read else {}
    return {**read, **quote, **({"header": False} if "names" in read and "header" not in read else {})}


def _verify_by_recipe(release: Any, given: Any) -> Verdict:
    """Check a file or a table on what a recipe promises; the file is read as the recipe says, or as it looks."""
    from .flow import as_recipe

    recipe = as_recipe(given)
    _refuse_dropped_units(recipe)
    if not isinstance(release, (str, Path)) or Path(release).is_dir() or kind_of(Path(release)) != "csv":
        return verify_claims(release, claims_of(recipe, {}))
    options = {name: value for name, value in recipe.file.options.items() if name != "sheet"}  # a release is no sheet
    if "names" in options:  # those of the input; identifiers are not released
        options["names"] = names_in_file(options["names"], recipe, {"delimiter": None})
    if "names" in options and "header" not in options:
        options["header"] = False
    form = detect(Path(release), options)
    dialect = dialect_of(form.as_dict(), options.get("names", ()))
    return verify_claims(release, claims_of(recipe, form.details), dialect)


def verify_bundle(folder: Path, input: Any = None) -> Verdict:
    """Check a bundle: the manifest against its seal, every file against the manifest, the data against the recipe.

    Units that are not released are counted again from the input, if that is given.
    """
    manifest = read_manifest(folder)
    check_manifest(folder, manifest)
    hashes = {name: content_hash(folder / name) for name in manifest["files"] if (folder / name).is_file()}
    check_files(str(folder), manifest, hashes, others_in(folder, manifest))
    recipe = Recipe.load(folder / "recipe.toml")
    data = folder / data_name(manifest)
    form = format_of(manifest)
    verdict = verify_claims(data, claims_of(recipe, form.details), dialect_of(form.as_dict(), manifest["names"]))
    return judged(folder, recipe, verdict, input)


_CHANGED = "The files of a bundle must not have been changed."


def check_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest that is not as it was written, or of a bundle that nobody has checked."""
    if manifest_text(folder) != sealed({name: value for name, value in manifest.items() if name != "seal"}):
        raise PromiseError(_CHANGED, "'manifest.json', which was changed")
    if manifest.get("verified") is not True:
        raise PromiseError("A bundle must have passed its check when it was written.", "'verified' is not true in it")


def check_files(place: str, manifest: Mapping[str, Any], hashes: Mapping[str, str], others: Sequence[str]) -> None:
    """Refuse files that are gone, that were changed, and those of which nothing is known."""
    for name, facts in manifest["files"].items():
        if name not in hashes:
            raise PromiseError("A bundle must contain the files in its manifest.", f"no '{name}' in '{place}'")
        if hashes[name] != facts["sha256"]:
            raise PromiseError(_CHANGED, f"'{name}', which was changed")
    if others:
        what = "A bundle must contain the files in its manifest and no others."
        hint = "move it elsewhere; delete files that the system creates, such as .DS_Store and Thumbs.db."
        raise PromiseError(what, f"{listed(others)}, not in the manifest", hint)


def judged(folder: Path, recipe: Recipe, verdict: Verdict, input: Any) -> Verdict:
    """The verdict on a bundle's data beside what the bundle says itself, with the units that it does not hold."""
    said, of_units = _verdict_in(folder)
    if verdict.ok and not _is_same(said, verdict.facts()):
        raise PromiseError("The verdict in a bundle must match its data.", "a different one in 'verify.json'")
    dropped = _drops_units(recipe)
    if input is not None and not dropped:
        what = "The input is needed only to count units that were dropped."
        raise CoterieError(what, "a bundle without dropped units", "leave it out.")
    if not dropped:
        return verdict
    return verdict.with_checks(_units_said(of_units, recipe) if input is None else _units_again(folder, input))


def _is_same(said: Any, found: dict[str, Any]) -> bool:
    """Whether verdicts are the same but for the last digit of an entropy, which once came from the order of a sum."""
    try:
        pairs = list(zip(said["checks"], found["checks"], strict=True))
        alike = all(math.isclose(one["found"], other["found"], rel_tol=1e-12) for one, other in pairs)
        return alike and found == {**said, "checks": [{**one, "found": other["found"]} for one, other in pairs]}
    except (LookupError, TypeError, ValueError):
        return False


def _units_said(said: list[Any], recipe: Recipe) -> list[Check]:
    """The count of units that was made before they were dropped, as the bundle says it."""
    checks: list[Check] = []
    counted: dict[str, Check] = {}
    with suppress(LookupError, TypeError, AttributeError, ValueError):
        checks = [Check.from_dict(one) for one in said]
        counted = {check.scenario: check for check in checks if _counts_units(check, recipe)}
    if any(counted[name].wanted != rule.k if name in counted else True for name, rule in recipe.promises.items()):
        what = "A bundle whose units were dropped must record that they were counted."
        raise PromiseError(what, "no such record in 'verify.json'", "--input FILE counts them again.")
    again = " This count was made with the bundle; --input FILE repeats it."
    return [replace(check, sentence=check.sentence + again) for check in checks]


def _counts_units(check: Check, recipe: Recipe) -> bool:
    """Whether a check is one of units in every class that was made before they were dropped, and held."""
    told = check.what, check.columns, check.basis, check.offending_classes
    wanted = "k-anonymity of units", (recipe.unit_column,), "input", 0
    return check.ok is True and told == wanted and check.found >= (check.wanted or 0)


def _units_again(folder: Path, input: Any) -> tuple[Check, ...]:
    """The units in every class, counted on the release as it is made once more from the input."""
    from .replay import replayed

    again, checks = replayed(folder, input)
    if not again.same:
        what = "Units can be counted again only if the input gives the same release."
        raise PromiseError(what, str(again), "give the original file of the bundle.")
    return checks


def _verdict_in(folder: Path) -> tuple[Any, list[Any]]:
    """What the bundle's verify.json says of its data, and of units that are not in them; None if it is no JSON.

    Its first version named no version, and no basis of a check.
    """
    try:
        said = json.loads((folder / "verify.json").read_text(encoding="utf-8"))
        checks = [{"basis": "release", **check} for check in said["checks"]]
    except (ValueError, LookupError, TypeError):
        return None, []
    data = [check for check in checks if check["basis"] == "release"]
    of_units = [check for check in checks if check["basis"] != "release"]
    return {name: value for name, value in said.items() if name != "version"} | {"checks": data}, of_units
