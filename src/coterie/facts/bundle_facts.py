"""The manifest of a bundle: its files with their hashes, and what made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .release_facts import OutputFacts


@dataclass(frozen=True)
class FileFacts:
    """A file of the bundle."""

    sha256: str
    bytes: int
    audience: str  # "public" or "internal"


@dataclass(frozen=True)
class SourceFacts:
    """The table as it was given."""

    name: str | None
    records: int
    columns: int
    sha256: str | None  # of the file


@dataclass(frozen=True)
class Manifest:
    """What a bundle holds."""

    coterie: str
    created: str
    versions: Mapping[str, str]  # of Python and of packages
    input: SourceFacts
    output: OutputFacts
    names: tuple[str, ...]  # of the released columns
    format: Mapping[str, Any]
    engine: str  # where the work was done
    streamed: int | None  # how many records a part had, where it was written part by part
    memory: int | None  # the most bytes that were to be taken
    files: Mapping[str, FileFacts]
    verified: bool


@dataclass(frozen=True)
class SealedManifest(Manifest):
    """What a bundle holds, as `manifest.json` has it: with a hash of all that it says."""

    seal: str
