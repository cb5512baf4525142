"""What the internal page shows beyond the public one: risk before and after, the seed, the recipe, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..facts.measures import (
    ConfidentialRisk,
    Guess,
    Inference,
    Intervals,
    KeptRisk,
    Linkability,
    Linkage,
    RiskMeasures,
    ScenarioRisk,
    SinglingOut,
)
from ..facts.release_facts import ReleaseFacts
from . import charts
from .population_view import population_view
from .words import NONE, RISKS, RISKS_OF_UNITS, Measure, counted, fixed, plain, series, share

View = dict[str, Any]


def risk(facts: ReleaseFacts) -> View:
    """The risk section, and what is only for the custodian."""
    given = facts.measures.risk
    return {
        "tiles": _tiles(given),
        "scenarios": [_scenario(scenario) for scenario in given.scenarios],
        "linkage": _linkage(given.linkage, _words(given)["linkage"]),
        "intervals": _intervals(given.intervals),
        "confidential": [_confidential(one) for one in given.confidential],
        "headings": [_singling_out(given.singling_out), _linkability(given.linkability), _inferences(given.inference)],
        "definitions": [measure._asdict() for measure in _words(given).values()],
        "confidential_words": RISKS["confidential"]._asdict(),
        "kept": None if given.kept is None else _kept(given.kept),
    }


def custody(facts: ReleaseFacts) -> View:
    """Seed, input, recipe and notes."""
    seed = facts.recipe.get("seed")
    return {
        "seed": NONE if seed is None else f"{seed}",
        "input": facts.input.name or NONE,
        "input_records": counted(facts.input.records, "record"),
        "input_columns": counted(facts.input.columns, "column"),
        "notes": facts.notes,
        "recipe": list(_flat(facts.recipe)),
    }


def _tiles(given: RiskMeasures) -> list[View]:
    """The worst of all scenarios, before and after."""
    some, words = [], _words(given)
    for key, show in (("unique", counted), ("largest_risk", share), ("expected_reidentifications", _about)):
        before = [v for scenario in given.scenarios if (v := getattr(scenario.before, key)) is not None]
        after = [v for scenario in given.scenarios if (v := getattr(scenario.after, key)) is not None]
        if before or after:
            some.append(_tile(words[key], show(max(before, default=None)), show(max(after, default=None))))
    if given.linkage.share is not None:
        some.append(_tile(words["linkage"], "", share(given.linkage.share)))
    return some


def _words(given: RiskMeasures) -> Mapping[str, Measure]:
    """What the measures mean: where there are units, they count these."""
    return RISKS_OF_UNITS if any(s.after.units is not None for s in given.scenarios) else RISKS


def _tile(measure: Measure, before: str, after: str) -> View:
    return {"name": measure.name, "before": before, "after": after, "words": f"{measure.means} {measure.better}"}


def _about(value: float | None) -> str:
    return f"{value:,.0f}" if value is not None and 10 <= value < 1e15 else plain(value, 3)


def _kept(given: KeptRisk) -> View:
    """The columns that are not masked, those with the most unique values first."""
    columns = sorted(given.columns, key=lambda column: -column.once_share)
    return {
        "unique": counted(given.unique),
        "share": share(given.unique / given.records if given.records else None),
        "unique_with_masked": counted(given.unique_with_masked),
        "share_with_masked": share(given.unique_with_masked / given.records if given.records else None),
        "records": counted(given.records, "record"),
        "number": counted(len(columns), "unmasked column"),
        "table": [
            {
                "name": column.name,
                "role": column.role,
                "different": counted(column.different),
                "once": counted(column.once),
                "share": share(column.once_share),
                "warn": column.nearly_all_differ,
            }
            for column in columns
        ],
        **RISKS["kept"]._asdict(),
    }


_CLASSES = (
    ("records", "Records", counted, ""),
    ("classes", "Equivalence classes", counted, "different combinations of quasi-identifiers"),
    ("unique", "Unique records", counted, "the only record of their class; fewer is better"),
    ("below_k", "Records in classes below k", counted, "k is not met; 0 is needed after"),
    ("smallest", "Smallest class", counted, "at least k after"),
    ("largest_risk", "Largest re-identification risk", share, "1 / smallest class; lower is better"),
    ("mean_risk", "Mean re-identification risk", share, "classes / records; lower is better"),
    ("expected_reidentifications", "Expected re-identifications", _about, "if an intruder tries all records"),
)  # fmt: skip
_CLASSES_OF_UNITS = (
    ("records", "Records", counted, ""),
    ("units", "Units", counted, "what k counts: different values of the unit column"),
    ("classes", "Equivalence classes", counted, "different combinations of quasi-identifiers"),
    ("unique", "Unique units", counted, "the only unit of a class; fewer is better"),
    ("below_k", "Units in classes below k", counted, "k is not met; 0 is needed after"),
    ("smallest", "Fewest units of a class", counted, "at least k after"),
    ("largest_risk", "Largest re-identification risk", share, "1 / fewest units of a class; lower is better"),
    ("largest_unit_share", "Largest share of a unit", share, "of the records of a class"),
    ("mean_risk", "Mean re-identification risk", share, "of a unit, in its most exposed class; lower is better"),
    ("expected_reidentifications", "Expected re-identifications", _about, "units, if an intruder tries all"),
)  # fmt: skip


def _scenario(scenario: ScenarioRisk) -> View:
    before, after = scenario.before, scenario.after
    counts = _CLASSES if after.units is None else _CLASSES_OF_UNITS
    return {
        "name": scenario.name,
        "quasi": series(scenario.quasi, 8),
        "k": plain(scenario.k),
        "table": [{"name": name, "before": show(getattr(before, key)), "after": show(getattr(after, key)),
                   "words": words} for key, name, show, words in counts],
        "picture": charts.class_sizes(before.sizes, after.sizes) if before.sizes or after.sizes else "",
        "population": population_view(scenario.population_before, scenario.population_after),
    }  # fmt: skip


def _linkage(linkage: Linkage, measure: Measure) -> View:
    times, right = "", plain(linkage.expected_correct, 3)
    if linkage.times_guessing is not None:
        guessed = share(linkage.baseline_share)
        times = f" Guessing would re-identify {guessed}: linkage is {plain(linkage.times_guessing, 2)} times as good."
    return {
        "value": share(linkage.share),
        "words": f"{right} of {counted(linkage.records, 'record')} tried are expected to be linked to the right "
        f"original.{times}",
        **measure._asdict(),
    }


def _intervals(given: Intervals) -> View | None:
    pictures, table = [], []
    for name, of, axis in (
        ("by sd", given.sd, "half-width, in standard deviations"),
        ("by rank", given.rank, "half-width, as a share of ranks"),
    ):
        pairs = [(w, s) for w, s in zip(of.widths, of.share, strict=True) if s is not None]
        if not pairs:
            continue
        pictures.append(charts.intervals({name: ([w for w, _ in pairs], [s for _, s in pairs])}, axis))
        table += [{"kind": axis, "width": plain(w), "share": share(s)} for w, s in pairs]
    return {"pictures": pictures, "table": table, **RISKS["intervals"]._asdict()} if pictures else None


def _confidential(one: ConfidentialRisk) -> View:
    return {
        "name": one.name,
        "scenario": one.scenario,
        "kind": one.kind,
        "constant": counted(one.constant_classes),
        "records": counted(one.constant_records),
        "distinct": counted(one.least_distinct),
        "entropy": fixed(one.least_entropy_l, 2),
        "t": fixed(one.largest_t, 3),
        "warn": bool(one.constant_classes),
    }


def _singling_out(given: SinglingOut) -> View:
    sides = [("before", plain(given.records_before)), ("after", plain(given.records_after))]
    return _heading("Singling out", given, sides)


def _linkability(given: Linkability) -> View:
    sides = ("before", given.share_before), ("after", given.share_after)
    return _heading("Linkability", given, [(side, share(value)) for side, value in sides if value is not None])


def _inferences(given: Inference) -> View:
    return _heading("Inference", given, [], [_guess(name, of) for name, of in given.columns.items()])


def _heading(
    name: str,
    given: SinglingOut | Linkability | Inference,
    sides: Sequence[tuple[str, str]],
    columns: Sequence[View] = (),
) -> View:
    hides = given.does_not_show[:1].lower() + given.does_not_show[1:]
    return {"name": name, "sides": sides, "columns": columns, "sentence": given.sentence, "hides": hides}


def _guess(name: str, of: Guess) -> View:
    """What the release tells about a confidential column, beside what is known without the quasi-identifiers."""
    words = f"{of.what or 'share'} {share(of.share)}"
    if of.baseline_share is not None:
        words += f", against {share(of.baseline_share)} without the release's classes"
    if of.constant_share:
        words += f"; attribute disclosure for {share(of.constant_share)} of the records, whose class has a single value"
    return {"name": name, "value": words}


def _flat(recipe: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """The recipe as pairs of path and setting."""
    for key, value in recipe.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            yield from _flat(value, here)
        elif isinstance(value, (list, tuple)) and any(isinstance(v, Mapping) for v in value):
            yield from _flat({str(i): v for i, v in enumerate(value, 1)}, here)
        elif isinstance(value, (list, tuple)):
            yield here, ", ".join(_set(v) for v in value)
        else:
            yield here, _set(value)


def _set(value: Any) -> str:
    """A setting as the recipe writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value}"
