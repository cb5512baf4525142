"""The check of a release in many files by the machines of a cluster, through Spark: same questions, same answers.

Spark runs tasks and brings together what belongs to a class; it reads no file and compares no value (to it, -0.0 is
0.0). The number of its jobs is the same for any number of columns, guards and scenarios. What comes back to the driver
are counts, and the characters beyond ASCII of texts that are to be compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CoterieError, boundary
from . import answers, batches, numbering, prepared, sql, texts, verdict
from .claims import Claims, Scenario
from .cluster_tasks import (
    ANSWER,
    REFUSED,
    SCHEMA,
    UNIT,
    Asked,
    Everywhere,
    Files,
    Grouping,
    Guarded,
    Look,
    Records,
    Sizes,
    Tally,
    Task,
    Values,
    error_of,
    guards_of,
)
from .reading import private_connection, quietly
from .uniqueness import ColumnValues, Uniqueness, key_of
from .verdict import Check, Verdict

MOST_TASKS = 4096  # that read files; with more files, a task reads several
IN_A_PART = 2_000_000  # records of all scenarios whose confidential values a task compares in memory
_FAILED = "The release cannot be checked."
_MEMORY = 1 << 28  # bytes for questions about no data


@boundary
def verify_claims_on_spark(spark: Any, files: Sequence[str], claims: Claims) -> Verdict:
    """Check claims on the Parquet files of one release.

    Parameters
    ----------
    spark : SparkSession
        Of any sort: only DataFrames are used.
    files : sequence of str
        Paths, or URIs that pyarrow knows, as the workers see them.
    claims : Claims

    Returns
    -------
    Verdict
        The same as of `verify_claims` on a folder of these files.
    """
    cluster = _Cluster(spark, files)
    seen = cluster.look(claims)
    keys = tuple(_grouping(claims.key(s), claims, seen.kinds) for s in claims.scenarios)
    checks: list[Check] = []
    records, whole = 0, []
    numbered = () if claims.number is None else (Grouping((seen.number_key(len(claims.keys)),), present=True),)
    columns_read = (*claims.keys, *(() if claims.number is None else (claims.number,)))
    sizes_of = cluster.sizes(columns_read, (*keys, *numbered))
    for scenario, sizes in zip(claims.scenarios, sizes_of, strict=False):
        records = sum(size * number for size, number in sizes.items())
        if records == 0:
            raise CoterieError("The release must hold records.", "none")
        whole.append(sql.whole_type(records, max(sizes)))
        columns = claims.key(scenario)
        checks.append(verdict.k_anonymity(scenario.name, columns, len(scenario.quasi), scenario.k, sizes))
    asked = _asked(claims, seen, tuple(whole))
    if asked:
        checks += _guarded(claims, asked, cluster.guarded(claims, keys, asked, records))
    for j, p in enumerate(claims.prepared):
        checks.append(prepared.of_counts(p, seen.prepared[j], records, seen.often[j]))
    if claims.number is not None:
        checks.append(numbering.of_counts(claims.number, seen.number, sum(sizes_of[-1].values()), records))
    return Verdict(tuple(checks), records)


@boundary
def uniqueness_on_spark(
    spark: Any,
    files: Sequence[str],
    columns: Sequence[str],
    sets: Mapping[str, Sequence[str]],
    *,
    missing: Sequence[str] = (),
) -> Uniqueness:
    """Count unique records and values on the Parquet files of one release, as `uniqueness` does.

    Parameters
    ----------
    spark, files
        As for `verify_claims_on_spark`.
    columns, sets, missing
        As for `uniqueness`.
    """
    claims = Claims(tuple(Scenario(name, tuple(some), 2) for name, some in sets.items()))
    cluster = _Cluster(spark, files)
    kinds = cluster.look(claims).kinds
    called = {column: f"c{j}" for j, column in enumerate(claims.columns)}
    groupings = [_grouping(tuple(some), claims, kinds) for some in sets.values()]
    groupings += [Grouping((key_of(c, called[c], kinds[c], missing),), present=True) for c in columns]
    sizes = cluster.sizes(claims.columns, tuple(groupings))
    unique = {name: found.get(1, 0) for name, found in zip(sets, sizes[: len(sets)], strict=True)}
    alone = {
        column: ColumnValues(sum(s * n for s, n in found.items()), sum(found.values()), found.get(1, 0))
        for column, found in zip(columns, sizes[len(sets) :], strict=True)
    }
    return Uniqueness(sum(size * number for size, number in sizes[len(sets) - 1].items()), alone, unique)


def _guarded(claims: Claims, asked: Sequence[Asked], found: Sequence[Sequence[Any]]) -> list[Check]:
    """The checks of units and guards, from what was found by scenario and question."""
    checks: list[Check] = []
    for number, one in enumerate(asked):
        for scenario, answered in zip(claims.scenarios, found, strict=True):
            diversity, closeness = answered[number]
            if claims.unit is not None and number == 0:
                checks.append(answers.of_units(scenario, one.guard, diversity))
            else:
                checks += answers.of_guard(scenario, one.guard, diversity, closeness)
    return checks


def _guarded_columns(claims: Claims) -> list[str]:
    """The columns that are guarded, and that of units: as the records have them, v0, v1, …"""
    more = () if claims.unit is None else (claims.unit.column,)
    return list(dict.fromkeys((*(guard.column for guard in claims.guards), *more)))


def _grouping(columns: Sequence[str], claims: Claims, kinds: Mapping[str, str]) -> Grouping:
    position = claims.columns.index
    return Grouping(tuple(sql.exact(f"c{position(c)}", kinds[c]) for c in columns))


class _Seen:
    """What a look at all files found: types, folds of texts, and how many values are missing or unreadable."""

    def __init__(self, found: Sequence[Mapping[str, Any]]) -> None:
        self.kinds: dict[str, str] = found[0]["kinds"]
        places = found[0]["letters"]
        self.folds = {p: texts.folds({c for one in found for c in one["letters"][p]}) for p in places}
        each = zip(*(one["prepared"] for one in found), strict=True)
        self.prepared = [[sum(numbers) for numbers in zip(*counts, strict=True)] for counts in each]
        together = zip(*(one["often"] for one in found), strict=True)
        self.often = [sum(map(Counter, counts), Counter[str]()) for counts in together]
        numbers = [one["number"] for one in found if one["number"] is not None and one["number"][0] > 0]
        columns = list(zip(*numbers, strict=True)) or [(0,)] * 4
        self.number = [sum(columns[0]), sum(columns[1]), min(columns[2]), max(columns[3])]
        self._number_kind = found[0].get("number_kind")
        self.readable = {p: [sum(one["readable"][p][j] for one in found) for j in (0, 1)] for p in found[0]["readable"]}

    def number_key(self, position: int) -> str:
        """A record's number, where its column stands at a position among those that are read."""
        return numbering.key(f"c{position}", str(self._number_kind))


def _asked(claims: Claims, seen: _Seen, whole: tuple[str, ...]) -> tuple[Asked, ...]:
    """The questions about guarded columns, the unit first; refused where a column cannot be read as what it is."""
    guards = guards_of(claims, seen.kinds)
    columns = _guarded_columns(claims)
    asked = []
    for place in sorted(guards, key=lambda place: (place != UNIT, int(place) if place != UNIT else 0)):
        guard = guards[place]
        kind, folds = seen.kinds[guard.column], seen.folds.get(place, {})
        name = f"v{columns.index(guard.column)}"
        if place == UNIT:
            sql.present(guard, name, kind)
        elif not sql.has_keys(guard, kind):
            with private_connection(_MEMORY) as connection:
                answers.check_order(connection.sql("SELECT 1"), guard)
            sql.readable(guard, name, kind)  # which refuses a type that does not fit
            answers.check_readable(guard, *seen.readable[place])
        everywhere = len(claims.scenarios) + int(place) if guard.t is not None else None
        least = tuple(scenario.k for scenario in claims.scenarios) if place == UNIT else ()
        asked.append(Asked(guard, name, kind, folds, everywhere, whole, least))
    return tuple(asked)


class _Cluster:
    """Runs tasks on the files of a release."""

    def __init__(self, spark: Any, files: Sequence[str]) -> None:
        if not files:
            raise CoterieError("A release must have files.", "none")
        name = str(files[0]).replace("\\", "/").rpartition("/")[0].rpartition("/")[2]
        self._spark = spark
        self._files = Files(tuple(map(str, files)), min(len(files), MOST_TASKS), name)
        self._known: dict[int, tuple[int, ...]] = {}

    def look(self, claims: Claims) -> _Seen:
        """Types and texts; refused if the files are not alike, or columns not those that are claimed."""
        found = sorted(self._answers(self._reading(Look(self._files, claims))), key=lambda one: int(one["task"]))
        if len({digest for one in found for digest in one["schemas"]}) > 1:
            raise batches.differing()
        for one in found:
            if "refused" in one:
                raise error_of(one["refused"])
        return _Seen(found)

    def sizes(self, columns: tuple[str, ...], groupings: tuple[Grouping, ...]) -> list[dict[int, int]]:
        """How many classes there are of each size, by grouping."""
        sizes: list[dict[int, int]] = [{} for _ in groupings]
        parts = self._parts()
        tallies = self._reading(Tally(self._files, columns, groupings, parts))
        for answer in self._answers(self._gathered(tallies, len(parts), Sizes(groupings))):
            for place, rows in answer.items():
                for size, number in rows:
                    sizes[int(place)][size] = sizes[int(place)].get(size, 0) + number
        return [dict(sorted(found.items())) for found in sizes]

    def guarded(
        self, claims: Claims, keys: tuple[Grouping, ...], asked: tuple[Asked, ...], records: int
    ) -> list[list[Any]]:
        """Diversity and closeness, by scenario and question."""
        parts = self._parts(records * len(keys))
        called = [f"c{claims.columns.index(column)}" for column in _guarded_columns(claims)]
        rows = self._reading(Records(self._files, claims.columns, keys, tuple(called), parts))
        compared = {one.everywhere: (one.guard.column, one.kind) for one in asked if one.everywhere is not None}
        if compared:
            values = self._reading(Values(self._files, compared, parts))
            rows = rows.union(self._gathered(values, len(parts), Everywhere(compared, parts)))
        merged: list[list[Any]] = [[None] * len(asked) for _ in keys]
        lengths = tuple(len(grouping.keys) for grouping in keys)
        for answer in self._answers(self._gathered(rows, len(parts), Guarded(lengths, asked))):
            for scenario, number, *found in answer:
                before = merged[scenario][number]
                merged[scenario][number] = found if before is None else _merged(before, found)
        return merged

    def _parts(self, records: int = 0) -> tuple[int, ...]:
        """Numbers that Spark sends to different partitions: as many as it is set to, or as so many records ask for.

        Its partitions are hashes of what it partitions by: of the numbers 0, 1, … several would meet in one.
        """
        most = int(quietly(lambda: self._spark.conf.get("spark.sql.shuffle.partitions"), _FAILED))
        number = max(1, min(self._files.tasks, most), -(-records // IN_A_PART))
        if number not in self._known:
            numbers = self._spark.range(0, 16 * number, 1, 1).selectExpr("id", f"pmod(hash(id), {number}) AS at")
            found = {row["at"]: row["id"] for row in quietly(numbers.collect, _FAILED)}
            self._known[number] = tuple(found.get(at, -1 - at) for at in range(number))
        return self._known[number]

    def _reading(self, task: Task) -> Any:
        """Rows of a task that reads files."""
        tasks = self._files.tasks
        return quietly(lambda: self._spark.range(0, tasks, 1, tasks).mapInArrow(task, SCHEMA), _FAILED)

    def _gathered(self, rows: Any, parts: int, task: Task) -> Any:
        """Rows of a task that gets all rows of some parts."""
        return quietly(lambda: rows.repartition(parts, "part").mapInArrow(task, SCHEMA), _FAILED)

    def _answers(self, rows: Any) -> list[Any]:
        """What tasks have found out; refused if one of them refused its data."""
        found = [(row["place"], json.loads(bytes(row["blob"]))) for row in quietly(rows.collect, _FAILED)]
        for refused in sorted(([t or "" for t in told] for place, told in found if place == REFUSED)):
            raise error_of([t or None for t in refused])
        return [told for place, told in found if place == ANSWER]


def _merged(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """Answers about the classes of two parts, as one about all of them: most are numbers of classes or records."""
    diversity = [a + b for a, b in zip(one[0], other[0], strict=True)]
    diversity[1:3] = [min(a, b) for a, b in zip(one[0][1:3], other[0][1:3], strict=True)]
    if one[1] is None:
        return [diversity, None]
    (far, *some), (farther, *more) = one[1], other[1]
    return [diversity, [max(far, farther), *(a + b for a, b in zip(some, more, strict=True))]]
