"""The public report names columns as the release does: what they were called before is the custodian's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from ..facts.public_facts import PublicFacts

T = TypeVar("T")


def with_released_names(facts: PublicFacts, names: Mapping[str, str]) -> PublicFacts:
    """The same facts with other names of columns. The verdict is about the release, and has them already."""
    if all(old == new for old, new in names.items()):
        return facts

    def one(name: str | None) -> str | None:
        return None if name is None else names.get(name, name)

    def every(some: Iterable[str]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in some)

    dropped = {column.name for column in facts.columns if column.released == "dropped"}

    def keys(mapping: Mapping[str, T]) -> dict[str, T]:
        taken = {names.get(name, name) for name in mapping if name not in dropped}  # another may have its name now
        kept = (name for name in mapping if name not in dropped or name not in taken)
        return {names.get(name, name): mapping[name] for name in kept}

    settings, measures = facts.settings, facts.measures
    utility = measures.utility
    correlations = replace(utility.correlations, names=every(utility.correlations.names))
    return replace(
        facts,
        settings=replace(
            settings,
            within=every(settings.within),
            weights=one(settings.weights),
            unit=one(settings.unit),
            rules=keys(settings.rules),
            totals=every(settings.totals),
        ),
        columns=tuple(replace(column, name=names.get(column.name, column.name)) for column in facts.columns),
        prepared=tuple(replace(one, name=names.get(one.name, one.name)) for one in facts.prepared),
        groupings=tuple(replace(grouping, quasi=every(grouping.quasi)) for grouping in facts.groupings),
        measures=replace(
            measures,
            loss=replace(measures.loss, columns=keys(measures.loss.columns)),
            utility=replace(utility, columns=keys(utility.columns), correlations=correlations),
        ),
    )
