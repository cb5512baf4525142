"""A release: the protected table, the check of its promises, and what there is to say about it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..facts.measures import Measures
from ..facts.release import ColumnFacts, GroupingFacts, InputFacts, OutputFacts, ReleaseFacts
from ..formats import Format
from ..measures.measure import measure
from ..measures.risk import Scenario
from ..protection.grouping import Grouped, constant_in
from ..protection.noise import unmoved_groups
from ..protection.proving import bound_of, losses
from ..recipe import Recipe
from ..tables.columns import Column
from ..verification import Verdict

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RELEASED = {
    "numeric": "mean",
    "integer": "rounded mean",
    "ordinal": "median category",
    "nominal": "mode",
    "boolean": "mode",
    "datetime": "mean date",
}


@dataclass(frozen=True, eq=False)
class Story:
    """How a release came about: what measures and reports are made from. It holds records, and stays in memory."""

    input_name: str | None
    input_records: int
    input_columns: int
    suppressed: int
    blanked: int
    before: Mapping[str, Column] = field(repr=False)
    after: Mapping[str, Column] = field(repr=False)
    weights: Floats | None = field(repr=False)
    grouped: tuple[Grouped, ...] = field(repr=False)
    strata: int
    merged: int  # how many fewer strata there are than before they were merged
    gaps: Mapping[str, int]  # missing values of the columns that were not read
    input_sha256: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that keeps its recipe's promises.

    Attributes
    ----------
    data
        The protected table, in the container of the input.
    recipe : Recipe
        What was done, with the seed.
    verdict : Verdict
        The check of every promise, made on the data alone.
    """

    data: Any
    recipe: Recipe
    verdict: Verdict
    _story: Story
    _format: Format | None
    _suffix: str

    def __reduce__(self) -> Any:
        """Refuse to be pickled: it knows the records as they were."""
        raise TypeError("A Release holds the original records and is not pickled; save() writes the bundle.")

    @property
    def loss(self) -> float:
        """100 SSE / SST of the quasi-identifiers that are microaggregated, over all groupings."""
        sums = [losses(g) for g in self._story.grouped]
        whole = sum(s.sst for s in sums)
        return 100.0 * sum(s.sse for s in sums) / whole if whole else 0.0

    @cached_property
    def measures(self) -> Measures:
        """What was lost, what analysts will find, and what an intruder could: loss, utility, risk."""
        story, recipe = self._story, self.recipe
        scenarios = [
            Scenario(name, tuple(dict.fromkeys((*recipe.within, *s.quasi))), s.k) for name, s in recipe.promises.items()
        ]
        seed = recipe.seed or 0
        confidential = recipe.of_role("confidential")
        return measure(
            story.before, story.after, scenarios=scenarios, confidential=confidential, weights=story.weights, seed=seed
        )

    @cached_property
    def facts(self) -> ReleaseFacts:
        """All that there is to say, without a record's value: reports, JSON and text are made from it.

        Once the release is saved, its check is that of the bytes that were written.
        """
        story = self._story
        return ReleaseFacts(
            coterie=__version__,
            created=datetime.date.today().isoformat(),
            engine="memory",
            recipe=self.recipe.as_dict(),
            input=InputFacts(story.input_name, story.input_records, story.input_columns),
            output=OutputFacts(
                name=None,
                records=story.input_records - story.suppressed,
                columns=len(self.recipe.columns) - len(self.recipe.of_role("identifier")),
                suppressed=story.suppressed,
                blanked=story.blanked,
                shuffled=self.recipe.shuffle,
            ),
            columns=tuple(self._column(name) for name in self.recipe.columns),
            groupings=tuple(self._grouping(found) for found in story.grouped),
            measures=self.measures,
            notes=tuple(notes(self)),
            verdict=self.verdict.facts,
        )

    def _column(self, name: str) -> ColumnFacts:
        rule = self.recipe.columns[name]
        before, after = self._story.before.get(name), self._story.after.get(name)
        how = "as it was"
        if rule.role == "identifier":
            how = "dropped"
        elif rule.role == "quasi" and name not in self.recipe.within:
            how = "medoid" if self.recipe.centre == "medoid" else RELEASED[str(rule.kind)]
        elif name in self.recipe.within and self._story.merged:
            how = "merged strata"
        elif rule.noise is not None:
            how = "with noise in constant groups"
        return ColumnFacts(
            name,
            rule.role,
            rule.kind,
            released=how,
            within=name in self.recipe.within,
            missing_before=self._story.gaps.get(name) if before is None else int(before.missing.sum()),
            missing_after=self._story.gaps.get(name) if after is None else int(after.missing.sum()),
        )

    def _grouping(self, found: Grouped) -> GroupingFacts:
        sizes, counts = np.unique(np.bincount(found.labels), return_counts=True)
        effort = self.recipe.method.bound
        return GroupingFacts(
            name=found.component.name,
            quasi=tuple(found.component.quasi),
            k=found.component.k,
            method=self.recipe.method.name if self.recipe.guard.rule == "merge" else self.recipe.guard.rule,
            params=dict(found.found),
            groups=int(found.labels.max()) + 1,
            sizes={int(s): int(c) for s, c in zip(sizes, counts, strict=True)},
            **losses(found)._asdict(),
            loss_weighted_percent=self._weighted(found),
            constant_records=int(self._constant(found).sum()),
            bound=None if effort == "none" else bound_of(found, effort),
        )

    def _constant(self, found: Grouped) -> NDArray[np.bool_]:
        """Which records are in groups in which a confidential column is constant, as it is released."""
        exposed = np.zeros(len(found.labels), bool)
        for name in self.recipe.of_role("confidential"):
            exposed |= constant_in(found.labels, self._story.after[name])
        return exposed

    def _weighted(self, found: Grouped) -> float | None:
        """The loss with every record counted by its weight."""
        w = self._story.weights
        if w is None:
            return None
        total = np.bincount(found.labels, w)
        means = np.column_stack([np.bincount(found.labels, w * found.X[:, j]) for j in range(found.X.shape[1])])
        sse = float((w[:, None] * np.square(found.X - (means / total[:, None])[found.labels])).sum())
        sst = float((w[:, None] * np.square(found.X - np.average(found.X, axis=0, weights=w))).sum())
        return 100.0 * sse / sst if sst > 0 else 0.0

    def save(
        self, folder: str | Path, *, force: bool = False, format: str | None = None, progress: bool = False
    ) -> Path:
        """Write the bundle: data, recipe, manifest, verdict, public and internal report. Whole, or not at all.

        Parameters
        ----------
        folder : path
            Where it goes; it must not exist, unless `force`.
        force : bool
            Replace the folder.
        format : {"csv", "parquet", "feather"}, optional
            Of the data file; without, that of the input file, or Parquet.
        progress : bool
            Whether to show how far it is.
        """
        from .bundle import write_bundle

        folder = Path(folder).absolute()
        # what is said from now on is said of the file that was written, and of the check of its bytes
        self.__dict__["facts"] = write_bundle(self, folder, force, format, progress)
        return folder

    def __str__(self) -> str:
        """The facts in a few lines."""
        from ..report.text import as_text

        return as_text(self.facts)

    __repr__ = __str__

    def __rich__(self) -> Any:
        """The facts for a terminal."""
        from ..report.text import as_table

        return as_table(self.facts)

    def _repr_html_(self) -> str:
        """The facts for a notebook."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def notes(release: Release) -> list[str]:
    """What weakens the promise, or what analysts must know, in plain sentences."""
    recipe, story = release.recipe, release._story
    out = []
    constant = int(np.any([release._constant(g) for g in story.grouped], axis=0).sum())
    if constant:
        out.append(f"{told_by_groups(constant)} l, t, noise or regroup in the recipe are remedies.")
    out += _weak_noise(recipe, story)
    if len(recipe.scenarios) > 1 and len(story.grouped) > 1:
        out.append(
            "The scenarios were protected each on its own. An intruder who knows columns of several of them is not "
            "covered by any."
        )
    out += released_as_observed(recipe, len(story.grouped))
    if not recipe.shuffle:
        out.append("Rows are in the order of the input, which may tell who they are.")
    if story.merged:
        before = story.strata + story.merged
        out.append(f"{before:,} strata were merged into {story.strata:,}, because some had too few records.")
    if story.suppressed:
        left = _counted(story.suppressed, "record was", "records were")
        out.append(f"{left} left out, because too few were like them. Totals are smaller by them.")
    if story.blanked:
        blank = _counted(story.blanked, "value was", "values were")
        out.append(f"{blank} blanked, because too few records had the same gaps.")
    if others := recipe.of_role("other"):
        out.append(kept_as_they_are(len(others)))
    return out


def _weak_noise(recipe: Recipe, story: Story) -> list[str]:
    """Where noise was asked for, and rounding took it away again."""
    out = []
    for name in recipe.of_role("confidential"):
        if recipe.columns[name].noise is not None:
            before, after = story.before[name], story.after[name]
            groups = sum(unmoved_groups(found.labels, before, after) for found in story.grouped)
            if groups:
                some = _counted(groups, "constant group", "constant groups")
                out.append(f"Noise changed no value of '{name}' in {some}: it is too weak for the column's digits.")
    return out


def released_as_observed(recipe: Recipe, groupings: int = 1) -> list[str]:
    """What weights and medoids mean, which are as they were observed."""
    out = []
    if recipe.weights is not None and recipe.columns[recipe.weights.column].role == "other":
        out.append("Sampling weights are released as they are. A rare weight can tell a record's stratum.")
    if recipe.centre == "medoid":
        some = "quasi-identifiers" if groupings == 1 else "a scenario's quasi-identifiers, but for strata,"
        out.append(f"Every released combination of {some} is that of a real record.")
    return out


def told_by_groups(records: int) -> str:
    """What groups mean in which a confidential column has one value at most."""
    some = _counted(records, "record is", "records are")
    return (
        f"{some} in groups in which a confidential column has one value at most: whoever knows that somebody is in "
        "such a group knows it, if it is there."
    )


def kept_as_they_are(columns: int) -> str:
    """What columns mean that nothing was done to."""
    kept = _counted(columns, "column is", "columns are")
    return f"{kept} released unchanged. If an intruder knows one, the promise does not hold against that."


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
