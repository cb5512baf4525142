"""Whether a release keeps its promise: read back from what was written, counted by DuckDB.

Nothing here knows how a release was made: of the package, only the errors are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CoterieError, boundary
from . import answers, numbering, prepared, sql, verdict
from .asking import ask, folds_of, kinds_of
from .claims import Claims, Guard, Scenario, Unit, claims_of, listed
from .prepared_claims import Prepared
from .reading import opened, opened_apart
from .verdict import Check, Verdict

__all__ = ["Check", "Claims", "Guard", "Prepared", "Scenario", "Unit", "Verdict", "check", "verify", "verify_claims"]


@boundary
def verify(
    release: Any,
    quasi: Sequence[str] | None = None,
    k: int | None = None,
    *,
    within: Sequence[str] = (),
    confidential: Mapping[str, Mapping[str, Any]] | None = None,
    scenarios: Mapping[str, tuple[Sequence[str], int]] | None = None,
    unit: str | None = None,
    dialect: Mapping[str, Any] | None = None,
) -> Verdict:
    """Check on the release itself that every record hides among at least k, and that classes are diverse.

    Parameters
    ----------
    release : path or table
        A CSV, TSV, Parquet, Feather (Arrow), SPSS, Stata or SAS file; a folder of Parquet files of one schema, and
        nothing else; a pandas or polars DataFrame, a pyarrow Table.
    quasi : list of str
        The quasi-identifiers. Records that agree in all of them are a class.
    k : int
        The least number of records in a class.
    within : list of str
        Columns that an intruder knows as well, such as strata. They count into every class.
    confidential : mapping of column to dict
        What is claimed of confidential columns: `kind`, and any of `l`, `entropy`, `t`, `order`, `decimal`, `missing`,
        `format`; see `Guard`. Classes with one value at most are counted for each.
    scenarios : mapping of name to (quasi, k)
        Several of them, instead of `quasi` and `k`; all must hold.
    unit : str
        The column that tells what k counts. Every class must hold at least k of its different values.
    dialect : mapping
        Of a CSV file: `delimiter`, `quote` (None for none), `encoding`, `header` (bool), `names` (of the columns, where
        there is no header). Without: the comma, semicolon, tab or bar of the first line; `"`; UTF-8; True.

    Returns
    -------
    Verdict
        Counts and sentences, never a value of the release.

    Raises
    ------
    CoterieError
        If the release cannot be read without doubt, or an argument is not as described.

    Notes
    -----
    For classes, values are the same only if they are written the same: of a CSV file, texts are compared, so "1.0" is
    not "1.00"; of other files, floats are compared bit by bit. A missing value is a value like others; an empty text in
    quotes is another. Confidential texts that differ in case, blanks, form or invisible characters, or as spellings of
    a number, are one value, and so are units.

    Definitions: k-anonymity, Sweeney (2002), doi 10.1142/S0218488502001648; distinct and entropy l-diversity,
    Machanavajjhala et al. (2007), doi 10.1145/1217299.1217302; t-closeness, Li, Li and Venkatasubramanian (2007), doi
    10.1109/ICDE.2007.367856.

    For t, the distance is 1/(m-1) sum_i |sum_{j<=i} (p_j - q_j)| over the m distinct values of the whole file where
    these have an order, and 1/2 sum_i |p_i - q_i| where they have none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from coterie.verification import verify
    >>> print(verify(pa.table({"age": [30, 30, 41, 41, 41]}), ["age"], 2))
    The release keeps all that was claimed (5 records read back).
      ✓ Every record shares its 1 quasi-identifier with at least 1 other: the smallest of 2 equivalence classes has 2.
    """
    return verify_claims(release, claims_of(quasi, k, within, confidential, scenarios, unit), dialect)


def verify_claims(
    release: Any, claims: Claims, dialect: Mapping[str, Any] | None = None, *, memory: int | None = None
) -> Verdict:
    """Check claims that stand together already, as those of a recipe do; `memory` is how many bytes DuckDB may take."""
    with opened(release, claims, dialect, memory) as (relation, names):
        found = _checked(relation, claims, names)
    if not claims.apart:
        return found
    with opened_apart(release, claims, dialect, memory) as (relation, names):
        return found.with_checks(_checked_apart(relation, claims, names, found.records))


@boundary
def check(relation: Any, claims: Claims) -> Verdict:
    """Check the claims on a DuckDB relation; `verify` is this on whatever holds a release.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        It is scanned several times, and must hold the same records each time.
    claims : Claims

    Returns
    -------
    Verdict
    """
    columns = dict.fromkeys((*claims.columns, *claims.apart))
    lacking = [c for c in columns if list(relation.columns).count(c) != 1]
    if lacking:
        raise CoterieError("The release must have every column that is claimed, once.", f"no {listed(lacking)}")
    found = _checked(relation, claims, {c: c for c in claims.columns})
    return found.with_checks(_checked_apart(relation, claims, {c: c for c in columns}, found.records))


def _checked(relation: Any, claims: Claims, names: Mapping[str, str]) -> Verdict:
    """Every check of every scenario. `names` says what the relation calls a column."""
    kinds = kinds_of(relation, names)
    keys = {c: sql.exact(names[c], kinds[c]) for c in claims.keys}
    checks: list[Check] = []
    records, whole = 0, {}
    for scenario in claims.scenarios:
        columns = claims.key(scenario)
        sizes = dict(ask(relation, sql.sizes([keys[c] for c in columns])))
        records = sum(size * number for size, number in sizes.items())
        if records == 0:
            raise CoterieError("The release must hold records.", "none")
        whole[scenario.name] = sql.whole_type(records, max(sizes))
        checks.append(verdict.k_anonymity(scenario.name, columns, len(scenario.quasi), scenario.k, sizes))
    if claims.unit is not None:
        checks += _units(relation, claims, keys, names[claims.unit.column], kinds[claims.unit.column])
    for guard in claims.guards:
        name, kind = names[guard.column], kinds[guard.column]
        folds = folds_of(relation, guard, name, kind)
        if not sql.has_keys(guard, kind):  # any text can be read as a category
            answers.check_order(relation, guard)
            ((missing, unreadable),) = ask(relation, sql.readable(guard, name, kind))
            answers.check_readable(guard, missing, unreadable)
        for scenario in claims.scenarios:
            about = [keys[c] for c in claims.key(scenario)], guard, name, kind, folds
            (diversity,) = ask(relation, sql.diversity(*about))
            closeness = None
            if guard.t is not None:
                (closeness,) = ask(relation, sql.closeness(*about, whole[scenario.name]))
            checks += answers.of_guard(scenario, guard, diversity, closeness)
    return Verdict(tuple(checks), records)


def _checked_apart(relation: Any, claims: Claims, names: Mapping[str, str], records: int) -> list[Check]:
    """The checks that are not about classes: of prepared columns, and of record numbers."""
    checks = prepared.checks(relation, claims.prepared, names, records)
    return [*checks, *numbering.checks(relation, claims, names, records)]


def _units(relation: Any, claims: Claims, keys: Mapping[str, str], name: str, kind: str) -> list[Check]:
    """Whether every class of every scenario holds k different units."""
    checks = []
    for scenario in claims.scenarios:
        guard = claims.unit.guard(scenario.k, kind in sql.TEXT)  # type: ignore[union-attr]
        folds = folds_of(relation, guard, name, kind)
        (found,) = ask(relation, sql.diversity([keys[c] for c in claims.key(scenario)], guard, name, kind, folds))
        checks.append(answers.of_units(scenario, guard, found))
    return checks
