"""verify on Spark: a bundle, or Parquet files, in any place that the workers see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..engines.spark import hashes_of
from ..engines.spark_session import start
from ..errors import CoterieError
from ..formats import content_hash
from ..formats.base import attempt
from ..formats.parquet_folder import ParquetFiles, file_system, is_uri, open_parquet
from ..recipe import Recipe
from ..verification import Claims, Verdict
from ..verification.cluster import verify_claims_on_spark
from ..verification.reading import private_folder
from .check import check_files, check_manifest, judged
from .manifest import DATA, data_name, format_of, others_in, parts_of, read_manifest
from .promises import claims_of

_SMALL = 1 << 28  # bytes: no other file of a bundle is larger


def verify_on_spark(release: Any, claims: Claims | None, input: Any) -> Verdict:
    """Check Parquet files on claims, or a bundle on its own."""
    if not isinstance(release, (str, Path)):
        raise CoterieError("On Spark, only files can be checked.", f"an object of type {type(release).__name__}")
    if claims is None:
        return _verify_bundle(str(release), input)
    files = open_parquet(str(release))
    return verify_claims_on_spark(start(), _paths(files), claims)


def _paths(files: ParquetFiles) -> list[str]:
    root = files.root.rstrip("/") if is_uri(files.root) else str(Path(files.root).absolute())
    return [f"{root}/{file.path}" if file.path else root for file in files.files]


def _verify_bundle(place: str, input: Any) -> Verdict:
    with _small_files(place) as folder:
        manifest = read_manifest(folder)
        if data_name(manifest) != DATA:
            what = "On Spark, only bundles with a folder of Parquet files can be checked."
            raise CoterieError(what, "one with a single data file", "leave the engine out.")
        check_manifest(folder, manifest)
        files = open_parquet(f"{place.rstrip('/')}/{DATA}")
        session = start()
        hashes = {f"{DATA}/{file.path}": sha for file, sha in zip(files.files, hashes_of(session, files), strict=True)}
        small = [name for name in manifest["files"] if name not in parts_of(manifest)]
        hashes |= {name: content_hash(folder / name) for name in small if (folder / name).is_file()}
        check_files(
            place, manifest, hashes, [*_others(place, folder, manifest), *sorted({*hashes} - {*manifest["files"]})]
        )
        recipe = Recipe.load(folder / "recipe.toml")
        verdict = verify_claims_on_spark(session, _paths(files), claims_of(recipe, format_of(manifest).details))
        return judged(folder, recipe, verdict, input)


def _others(place: str, folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Files of which the manifest says nothing."""
    if not is_uri(place):
        return others_in(folder, manifest)
    from pyarrow import fs

    system, root = file_system(place)
    names = [
        entry.path[len(root) :].strip("/") for entry in system.get_file_info(fs.FileSelector(root, recursive=True))
    ]
    return sorted(name for name in names if name not in {*manifest["files"], "manifest.json", DATA})


@contextmanager
def _small_files(place: str) -> Iterator[Path]:
    """A folder of this machine with all files of a bundle but the data."""
    if not is_uri(place):
        yield Path(place)
        return
    from pyarrow import fs

    system, root = file_system(place)
    found, reason = attempt(system.get_file_info, fs.FileSelector(root))
    if reason is not None:
        raise CoterieError("A bundle must have a manifest.json.", f"'{place}', which can't be read")
    with private_folder() as private:
        for entry in found:
            if entry.type == fs.FileType.File and entry.size <= _SMALL:
                with system.open_input_stream(entry.path) as stream:
                    (Path(private) / entry.base_name).write_bytes(stream.read())
        yield Path(private)
