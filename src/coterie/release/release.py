"""A release: the protected table, the check of its promises, and what there is to say about it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress as progress_
from ..engines.freed import give_back
from ..errors import CoterieError, boundary
from ..facts.release_facts import ReleaseFacts
from ..formats.parquet_folder import is_uri
from ..recipe import Recipe
from ..tables.frames import taken
from ..verification.uniqueness import uniqueness
from .analysing import Analyses
from .flow import checked, planned, released
from .kept import kept_risk, warn_of_kept
from .previous import Earlier
from .source import Source, rules_of
from .tally import Tally
from .telling import measures_of, release_facts
from .unit_check import UnitCheck
from .writing import table_of

if TYPE_CHECKING:
    from ..facts.analysis_facts import AnalysisFacts
    from ..facts.difference_facts import PreviousFacts
    from ..facts.measures import KeptRisk, Measures
    from ..protection.survey import Survey
    from ..tables.records import Records
    from ..verification import Check, Verdict
    from .watching import Watcher


class Release:
    """A protected table that meets its recipe's promises.

    Attributes
    ----------
    data
        The protected table, in the container of the input. For a table too large for memory, None until `save` has
        written it, then the path of the data file; on Spark, a DataFrame, or the location of the files if Spark itself
        cannot read them there.
    recipe : Recipe
        What was done, with the seed.
    verdict : Verdict
        The check of every promise, made on the data alone; after `save`, on the written bytes.
    engine : str
        The engine that does the work.
    """

    def __init__(self, source: Source, recipe: Recipe, engine: str) -> None:
        self.recipe, self.engine = recipe, engine
        self.data: Any = None
        self.verdict: Verdict | None = None
        self._source = source
        self._survey: Survey | None = None
        self._tally: Tally | None = None
        self._unit_checks: tuple[Check, ...] = ()  # of units that are not released
        self._kept: KeptRisk | None = None
        self._previous: PreviousFacts | None = None
        self._watch: Watcher | None = None  # is shown what is released, piece by piece
        self._analyses: tuple[AnalysisFacts, ...] | None = None

    def __reduce__(self) -> Any:
        """Refuse to be pickled: it knows the records as they were."""
        raise TypeError("A Release holds the original records and cannot be pickled; save() writes the bundle.")

    def make(self, progress: bool = False) -> None:
        """Do the work in memory: survey, plan, solve, check."""
        source, recipe = self._source, self.recipe
        earlier = None if recipe.previous is None else Earlier(recipe, source, progress)
        with progress_.bar(progress, "reading"):
            engine = source.engine("memory", rules_of(recipe))
            self._survey, plan = planned(engine, recipe)
            if earlier is not None:
                plan = earlier.arranged(plan, engine.records, engine.reading.missing_texts)
            analyses = Analyses(source, engine, recipe, plan.recipe) if recipe.analysis else None
        self._tally = Tally(plan, all_there=True)
        with progress_.bar(progress, "grouping"):
            (part,) = released(engine, plan, self._tally)
        give_back(engine.records)
        units = UnitCheck(recipe, source.details)
        with progress_.bar(progress, "releasing"):
            column = partial(_column, part.records, source)
            units.add(part, column)
            if earlier is not None:
                earlier.add(part, column)
                self._previous = earlier.facts(engine.records, self._tally)
            if self._watch is not None:
                self._watch(part, column)
            self._unit_checks = units.checks()
            self.data = table_of(part, source, recipe)
            if analyses is not None:
                self._analyses = analyses.of_part(part)
            del part, analyses, column
            give_back(engine.records)
        with progress_.bar(progress, "verifying"):
            self.verdict = checked(self.data, source, recipe).with_checks(self._unit_checks)
            count = partial(uniqueness, self.data, memory=source.memory // 4)
            self._kept = kept_risk(recipe, source.details, count)
        give_back(engine.records)
        warn_of_kept(self._kept)

    def _known(self) -> tuple[Survey, Tally]:
        if self._survey is None or self._tally is None:
            what = "The facts of a release made part by part are known only after it is written."
            raise CoterieError(what, "a release that has not been written", "call save(folder) first.")
        return self._survey, self._tally

    @property
    def loss(self) -> float:
        """The information loss in percent, as the reports have it."""
        return self.measures.loss.loss_percent

    @cached_property
    @boundary
    def measures(self) -> Measures:
        """What was lost, what analysts will find, and what an intruder could: loss, utility, risk."""
        measures = measures_of(*self._known())
        return replace(measures, risk=replace(measures.risk, kept=self._kept))

    @cached_property
    @boundary
    def facts(self) -> ReleaseFacts:
        """All that there is to say, without a record's value: reports, JSON and text are made from it.

        Once the release is saved, its check is that of the bytes that were written.
        """
        survey, tally = self._known()
        facts = release_facts(self._source, self.engine, self.recipe, survey, tally, self.measures)
        verdict = None if self.verdict is None else self.verdict.facts
        return replace(facts, verdict=verdict, analyses=self._analyses, previous=self._previous)

    @boundary
    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str | None = None,
        progress: bool = False,
    ) -> Path | str:
        """Write the bundle: data, recipe, manifest, verdict, public and internal report. Either all of it is written,
        or nothing.

        Parameters
        ----------
        folder : path
            The output folder; it must not exist, unless `force`. On Spark, it may be a URI such as hdfs://host/folder.
        force : bool
            Replace the folder.
        format : {"csv", "parquet", "feather"}, optional
            Format of the data file. Default: that of the input file, or Parquet.
        progress : bool
            Show a progress bar.
        """
        from .bundle import write_bundle

        if not is_uri(str(folder)):
            folder = Path(folder).absolute()
        elif self.engine != "spark":
            what = "Only Spark can write a bundle to another file system."
            raise CoterieError(what, f"engine {self.engine}", "save it locally and copy it.")
        write_bundle(self, folder, force, format, progress)
        return folder

    @boundary
    def rehearse(self, progress: bool = False) -> None:
        """Do everything except write, for a release made part by part: its facts are then not checked."""
        from .bundle import make_in_parts

        if self.engine == "spark":
            from .cluster_bundle import make_on_cluster

            make_on_cluster(self, None, None, progress)
        elif self.engine != "memory":
            make_in_parts(self, lambda _: None, None, progress)

    @boundary
    def __str__(self) -> str:
        """The facts in a few lines."""
        from ..report.text import as_text

        if self._tally is None:
            return f"A release of '{self._source.name}', made part by part when save(folder) writes it."
        return as_text(self.facts)

    __repr__ = __str__

    @boundary
    def __rich__(self) -> Any:
        """The facts for a terminal."""
        from ..report.text import as_table

        return str(self) if self._tally is None else as_table(self.facts)

    def _repr_html_(self) -> str:
        """The facts for a notebook."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def _column(records: Records, source: Source, name: str) -> Any:
    """A column of these records as Arrow has it: as it was, or prepared."""
    array = records.arrow(name) if name in records.reading.preparing else source.arrow(name)
    return taken(name, array, records.numbers)
