"""A look at every column of a source, and a sample of its values: of a file larger than memory in one scan."""

from __future__ import annotations

from .. import progress
from ..errors import CoterieError
from ..recipe.draft import Look, Looking, look
from ..tables.dress import undressed
from ..tables.sample import Sample
from .source import Source

_COUNTED = 100_000  # different values of a column that are counted where it is looked at part by part


def looks(source: Source) -> dict[str, Look]:
    """What every column looks like. A source is looked at once."""
    seen: dict[str, Look] | None = source.__dict__.get("_looks")
    if seen is None and source.fits:
        seen = source.__dict__["_looks"] = _looks_at_all(source)
    elif seen is None:
        seen, source.__dict__["_samples"] = _looks_in_parts(source)
        source.__dict__["_looks"] = seen
    return seen


def samples(source: Source) -> dict[str, Sample]:
    """Some values of every column, with numbers bare. What a file is read in parts for is there from looking at it."""
    taken: dict[str, Sample] | None = source.__dict__.get("_samples")
    if taken is None and not source.fits:
        looks(source)
        taken = source.__dict__["_samples"]
    if taken is None:
        taken = source.__dict__["_samples"] = {name: _sample(source, name) for name in source.names}
    return taken


def _sample(source: Source, name: str) -> Sample:
    sample = Sample()
    sample.add(source.arrow(name))
    if sample.values is not None:
        sample.values = undressed(sample.values, source.dress)
    return sample


def _looks_at_all(source: Source) -> dict[str, Look]:
    about = source.details.get("variables", {})
    return {
        name: look(undressed(source.arrow(name), source.dress), source.decimal, about.get(name))
        for name in source.names
    }


def _looks_in_parts(source: Source) -> tuple[dict[str, Look], dict[str, Sample]]:
    engine = source.engine("duckdb", {})
    try:
        looking = {name: Looking(source.decimal, _COUNTED) for name in engine.names}
        taken = {name: Sample() for name in engine.names}
        progress.more(engine.records)
        for records in engine.scan(engine.names):
            progress.done(len(records))
            for name in engine.names:
                array = undressed(records.reading.plain(records.arrow(name)), source.dress)
                looking[name].add(array)
                taken[name].add(array)
        engine.check_unchanged()
        if engine.records == 0:
            raise CoterieError("The table must contain records.", "0")
        return {name: one.seen() for name, one in looking.items()}, taken
    finally:
        engine.close()
