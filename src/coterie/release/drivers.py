"""What drives the risk of a table: minimal sample uniques, SUDA scores, and which columns to coarsen first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..facts.measures import ClassRisk
from ..facts.risk_drivers import ColumnDriver, RiskDrivers
from ..formats.atomic import atomically
from ..measures.coarsening import coarsened, in_turn
from ..measures.risk import values
from ..tables.columns import Column

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class RecordScores(NamedTuple):
    """What each record has to do with the risk, in the order of the file. Internal: never part of a report."""

    score: Floats  # SUDA; NaN for a record whose unit is not known
    minimal_uniques: Ints
    smallest: Ints  # how many columns its smallest minimal sample unique has; 0 without any
    dis_score: Floats | None = None  # DIS-SUDA, where the sampling fraction is known; of fewer than 28 columns


def check_asked(drivers: Any, most_columns: Any, on_spark: bool = False) -> None:
    """Refuse what has no effect, no meaning or no way to be done, before any work."""
    if not isinstance(drivers, bool):
        raise CoterieError("drivers must be True or False.", type(drivers).__name__)
    if drivers and on_spark:
        what = "Risk drivers need the quasi-identifiers of all records in memory."
        raise CoterieError(what, "a table on Spark", "assess a sample of it, as a file, in memory.")
    if most_columns is None:
        return
    if not drivers:
        raise CoterieError("most_columns has no effect without drivers.", hint="leave it out, or set drivers=True.")
    if isinstance(most_columns, bool) or not isinstance(most_columns, int) or most_columns < 1:
        raise CoterieError("most_columns must be a whole number of at least 1.", repr(most_columns)[:40])


def drivers_of(
    scenario: str,
    columns: Sequence[Column],
    k: int,
    units: Ints | None,
    whole: ClassRisk,
    most: int | None,
    fraction: float | None = None,
) -> tuple[RiskDrivers, RecordScores]:
    """What drives the risk in a scenario with these columns, and the scores of its records.

    `fraction` is the sampling fraction, if it is known and the same for all records.
    """
    from ..measures.suda import depth_for, dis, dis_scores, minimal_uniques, shares, suda_scores  # compiled code

    numbers = [values(column) for column in columns]
    found = minimal_uniques(numbers, depth_for(len(columns), most), units)
    score = suda_scores(found)
    if units is not None:
        score[units < 0] = np.nan
    counts = found.by_record.astype(np.int64)
    smallest = np.where(counts.any(axis=1), (counts > 0).argmax(axis=1) + 1, 0)
    estimate = None if fraction is None else dis(whole.unique, 2 * whole.sizes.get("2", 0), fraction)
    divided = None if estimate is None else dis_scores(score, whole.unique, estimate, len(columns))
    scores = RecordScores(score, counts.sum(axis=1), smallest, divided)
    changes = coarsened(columns, numbers, k, units, whole)
    told = [
        ColumnDriver(
            column.name,
            int(numbers[j].max(initial=-1)) + 1,
            int(found.by_column[j, 0]),
            int(found.by_column[j].sum()),
            None if share is None else 100.0 * share,
            *changes[j],
        )
        for j, (column, share) in enumerate(zip(columns, shares(found), strict=True))
    ]
    told.sort(key=_first)
    sizes = range(1, found.depth + 1)
    known = ~np.isnan(score)
    return RiskDrivers(
        scenario,
        tuple(column.name for column in columns),
        found.depth,
        found.depth == len(columns),
        int(np.count_nonzero(smallest)),
        int(counts.sum()),
        {str(size): int(total) for size, total in zip(sizes, counts.sum(axis=0), strict=True)},
        {str(size): int(np.count_nonzero(smallest == size)) for size in sizes},
        float(score[known].max(initial=0.0)),
        float(score[known].mean()) if known.any() else None,
        whole.unique,
        whole.below_k,
        whole.expected_reidentifications,
        tuple(told),
        tuple(in_turn(columns, numbers, k, units, whole)),
        estimate,
    ), scores


def _first(one: ColumnDriver) -> tuple[float, float, float]:
    """What comes first has the largest fall if halved; then if left out; then the largest share of the scores.

    Falls are compared to a tenth of a per cent: less decides nothing.
    """
    falls = (round(change.fall_percent or 0.0, 1) for change in (one.halved, one.left_out))
    return -next(falls), -next(falls), -(one.score_percent or 0.0)


def save_scores(
    path: str | Path, scores: Mapping[str, RecordScores], force: bool = False, source: Path | None = None
) -> None:
    """Write the scores as CSV, one line for each record of each scenario; only the owner may read the file.

    Records are numbered from 1, in the order of the file that was assessed.
    """
    if not isinstance(path, (str, Path)):
        what = "The output file of the scores must be a path."
        raise CoterieError(what, f"an object of type {type(path).__name__}", 'such as "scores.csv".')
    to = Path(path).absolute()
    check_scores_file(to, force, source=source)
    atomically(to, lambda place: _write(place, scores), private=True)


def check_scores_file(path: Path, force: bool, called: str = "force=True", source: Path | None = None) -> None:
    """Refuse a place where the scores can't or should not go: never where the file is that was assessed."""
    if path.suffix.lower() != ".csv":
        raise CoterieError("The file of scores must end in .csv.", f"'{path.name}'")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise CoterieError("The folder of the scores file must exist.", f"'{path}'")
    if path.exists() and source is not None and source.exists() and path.samefile(source):
        raise CoterieError("The file of scores must not be the input file.", f"'{path}'")
    if path.exists() and not force:
        raise CoterieError("The file of scores exists already.", f"'{path}'", f"{called} replaces it.")


def _write(place: str, scores: Mapping[str, RecordScores]) -> None:
    import csv

    divided = any(of.dis_score is not None for of in scores.values())
    with open(place, "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["scenario", "record", "score", "minimal_uniques", "smallest", *(["dis_score"] * divided)])
        for name, of in scores.items():
            parts = [range(1, len(of.score) + 1), _texts(of.score), of.minimal_uniques.tolist(), of.smallest.tolist()]
            if divided:
                parts.append(_texts(np.zeros(len(of.score)) if of.dis_score is None else of.dis_score))
            lines.writerows([name, *row] for row in zip(*parts, strict=True))


def _texts(numbers: Floats) -> list[str]:
    """Numbers as text; nothing where there is none."""
    return [f"{x:.15g}" if x == x else "" for x in numbers.tolist()]
