"""The questions, in SQL: classes, their sizes, their confidential values. Everything is counted by sets, in integers.

A relation is asked under the name `coterie_release`. Column names and texts get in through `literals.py` alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import CoterieError
from .claims import Guard, listed
from .literals import ident, literal, literals
from .texts import Folds, characters, keyed

RELEASE = "coterie_release"
TEXT = {"varchar", "enum"}
FLOATS = {"float": "INTEGER", "double": "BIGINT"}  # and the integer that is as wide
WHOLE = {"tinyint", "smallint", "integer", "bigint", "hugeint"}
WHOLE |= {f"u{name}" for name in WHOLE}
NUMBERS = WHOLE | set(FLOATS) | {"decimal"}
TIMES = {"date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"}
# Not intervals (to DuckDB, a month equals 30 days), nor times with offsets, nor anything nested
PLAIN = TEXT | NUMBERS | TIMES | {"boolean", "blob", "uuid", "null"}

_YES, _NO = "('true', 'yes', 'y', 't', '1', 'on')", "('false', 'no', 'n', 'f', '0', 'off')"
BLANK = r"[\s\x{b}\x{85}\p{Z}\x{200b}\x{feff}]+"  # of any sort, zero-width ones too


def exact(column: str, kind: str) -> str:
    """A value so that two are the same only if nobody can tell them apart.

    Texts are compared byte by byte, whatever the collation. Floats are compared bit by bit: DuckDB would take -0.0 for
    0.0, and any NaN for any other. NULL is a value of its own.
    """
    if kind in TEXT:
        return f"encode({ident(column)}::VARCHAR)"
    if kind in FLOATS:
        return f"(({ident(column)}::BIT)::{FLOATS[kind]})"
    return ident(column)


def present(guard: Guard, column: str, kind: str) -> str:
    """A value of a confidential column, or NULL where it is missing: blank, NaN, or a text that stands for it."""
    name = ident(column)
    if kind in TEXT:
        trimmed = f"regexp_replace({name}::VARCHAR, '^{BLANK}|{BLANK}$', '', 'g')"
        return f"CASE WHEN {trimmed} NOT IN ('', {', '.join(map(literal, guard.missing or ('',)))}) THEN {trimmed} END"
    dressed = guard.thousands or guard.prefix or guard.suffix
    if guard.missing or guard.decimal != "." or guard.format is not None or dressed:
        what = "'missing', 'decimal', 'thousands', 'prefix', 'suffix' and 'format' are about texts."
        raise CoterieError(what, f"'{guard.column}', a column of type {kind}", "leave them out.")
    return f"CASE WHEN NOT isnan({name}) THEN {name} END" if kind in FLOATS else name


def value(guard: Guard, kind: str) -> str:
    """What `v`, a value that is present, stands for by its column's kind; NULL if it can't be read as that.

    Values that are the same get the same: "1.0" and "1.00" are one number.
    """
    if guard.kind == "nominal":
        return "v"
    if guard.kind == "boolean" and guard.true:
        yes, no = (", ".join(map(literal, words)) for words in (guard.true, guard.false))
        return f"CASE WHEN v::VARCHAR IN ({yes}) THEN 'true' WHEN v::VARCHAR IN ({no}) THEN 'false' END"
    if guard.kind == "boolean":
        told = f"CASE WHEN v IN {_YES} THEN 'true' WHEN v IN {_NO} THEN 'false' ELSE v END"
        return told if kind in TEXT else "coalesce(TRY_CAST(v AS BOOLEAN)::VARCHAR, v::VARCHAR)"
    if guard.kind == "ordinal":
        return _ordinal(guard, kind)
    if kind in TEXT:
        return _moment(guard) if guard.kind == "datetime" else _number(guard)
    if kind not in NUMBERS | (TIMES if guard.kind == "datetime" else {"boolean"}):
        raise CoterieError(f"'{guard.column}' must be {guard.kind}.", f"a column of type {kind}")
    return "v::INTEGER" if kind == "boolean" else "v"


def _ordinal(guard: Guard, kind: str) -> str:
    if kind in TEXT:
        if not guard.order:
            raise CoterieError(
                "An ordinal column of texts needs its order.", f"'{guard.column}' without", "give order=[…]."
            )
        return f"nullif(list_position({literals(guard.order)}, v), 0)"
    if kind not in NUMBERS | {"boolean"}:
        raise CoterieError(f"'{guard.column}' must be ordinal.", f"a column of type {kind}")
    if not guard.order:
        return "v::DOUBLE"
    try:
        numbers = [repr(float(text)) for text in guard.order]
    except ValueError:
        numbers = []
    if not numbers:
        raise CoterieError(f"The order of '{guard.column}' must be one of numbers.", f"a column of type {kind}")
    return f"nullif(list_position([{', '.join(numbers)}]::DOUBLE[], v::DOUBLE), 0)"


def _signs(text: str) -> str:
    """A text as a pattern that matches it alone."""
    return "".join(f"\\x{{{ord(sign):x}}}" for sign in text)


def _bare(guard: Guard) -> str:
    """`v` without what may stand before, after and between the digits of a number; as it is where it doesn't fit."""
    if not (guard.thousands or guard.prefix or guard.suffix):
        return "v"
    mark, between = _signs(guard.decimal), _signs(guard.thousands)
    if guard.thousands == " ":
        between = r"[ \x{a0}\x{2009}\x{202f}]"
    whole = f"([0-9]{{1,3}}({between}[0-9]{{3}})+|[0-9]+)" if between else "[0-9]+"
    digits = f"({whole}({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]+)?"
    blank = r"[\s\p{Z}]*"
    before = "|".join(map(_signs, guard.prefix)) or r"[^\s\S]"  # which nothing is
    after = "|".join(map(_signs, guard.suffix)) or r"[^\s\S]"
    pattern = f"^(?:([+-]?){blank}(?:{before})?{blank}|(?:{before}){blank}([+-]))({digits}){blank}(?:{after})?$"
    bare = f"regexp_replace(v, '{pattern}', '\\1\\2\\3')"
    if between:
        bare = f"regexp_replace({bare}, '{between}', '', 'g')"
    return f"CASE WHEN regexp_matches(v, '{pattern}') THEN {bare} ELSE v END"


def _number(guard: Guard) -> str:
    sign = "[.]" if guard.decimal == "." else ","
    pattern = f"[+-]?([0-9]+({sign}[0-9]*)?|{sign}[0-9]+)([eE][+-]?[0-9]+)?"
    v = _bare(guard)
    number = f"TRY_CAST(ltrim(replace({v}, '{guard.decimal}', '.'), '+') AS DOUBLE)"
    if guard.kind != "integer":
        return f"CASE WHEN regexp_full_match({v}, '{pattern}') THEN {number} END"
    return (  # R writes 100000 as 1e+05
        f"CASE WHEN regexp_full_match({v}, '[+-]?[0-9]+({sign}0*)?') "
        f"THEN TRY_CAST(ltrim(split_part({v}, '{guard.decimal}', 1), '+') AS HUGEINT) "
        f"WHEN regexp_full_match({v}, '{pattern}') AND {number} = trunc({number}) AND abs({number}) < 9007199254740992 "
        f"THEN {number}::HUGEINT END"
    )


def whole_around(guard: Guard, kind: str) -> tuple[str, str]:
    """The whole numbers next to a number, below and above, the same for a whole one: exactly, to its last digit.

    NULL where a double is all there is to know: of floats, and of texts with an exponent.
    """
    if kind in WHOLE | {"boolean"}:
        return ("v::INTEGER::HUGEINT",) * 2 if kind == "boolean" else ("v::HUGEINT",) * 2
    if kind == "decimal":
        return "TRY_CAST(floor(v) AS HUGEINT)", "TRY_CAST(ceil(v) AS HUGEINT)"
    if kind not in TEXT:
        return ("NULL::HUGEINT",) * 2
    v, sign = _bare(guard), "[.]" if guard.decimal == "." else ","
    plain = f"regexp_full_match({v}, '[+-]?([0-9]+({sign}[0-9]*)?|{sign}[0-9]+)')"
    whole = f"TRY_CAST('0' || ltrim(split_part({v}, '{guard.decimal}', 1), '+-') AS HUGEINT)"
    more = f"regexp_matches({v}, '{sign}[0-9]*[1-9]')::INTEGER"
    ends = f"({whole} + {more})", whole
    return tuple(  # type: ignore[return-value]
        f"CASE WHEN {plain} THEN CASE WHEN starts_with({v}, '-') THEN -{negative} ELSE {positive} END END"
        for negative, positive in (ends, ends[::-1])
    )


def _moment(guard: Guard) -> str:
    """Microseconds, in universal time where there is an offset: DuckDB drops it, so that it is counted here."""
    if guard.format is not None:
        text = "regexp_replace(v, '[Zz]$', '+00')" if guard.format.endswith("%z") else "v"
        return f"epoch_us(try_strptime({text}, {literal(guard.format)})::TIMESTAMP)"
    time = "[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"
    day = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    zone = "([+-])([0-9]{2}):?([0-9]{2})?"
    place, hours, minutes = (f"regexp_extract(v, '^(.*){zone}$', {i})" for i in (1, 3, 4))
    away = f"(60 * {hours}::BIGINT + coalesce(TRY_CAST({minutes} AS BIGINT), 0)) * 60000000"
    sign = f"CASE WHEN regexp_extract(v, '^(.*){zone}$', 2) = '-' THEN -1 ELSE 1 END"
    return (
        f"CASE WHEN regexp_full_match(v, '{day}[ T]{time}{zone}') "
        f"THEN epoch_us(TRY_CAST({place} AS TIMESTAMP)) - ({sign}) * {away} "
        f"WHEN regexp_full_match(v, '{day}([ T]{time}Z?)?') THEN epoch_us(TRY_CAST(v AS TIMESTAMP)) "
        f"WHEN regexp_full_match(v, '{time}') "
        "THEN epoch_us(TRY_CAST(CASE WHEN length(v) > 5 THEN v ELSE v || ':00' END AS TIME)) END"
    )


def sizes(keys: Sequence[str]) -> str:
    """How many classes there are of each size."""
    named, names = _named(keys)
    return (
        "SELECT size, count(*) FROM (SELECT count(*) AS size "
        f"FROM (SELECT {named} FROM coterie_release) GROUP BY {names}) GROUP BY size ORDER BY size"
    )


def tallies(keys: Sequence[str], present: bool = False) -> str:
    """Classes of a part of the release: keys, records (n), and a number (h) by which parts of classes come together.

    If `present`, only those whose first key is.
    """
    named, names = _named(keys)
    some = " WHERE k0 IS NOT NULL" if present else ""
    return (
        f"SELECT {names}, count(*) AS n, hash({names}) AS h "
        f"FROM (SELECT {named} FROM coterie_release){some} GROUP BY {names}"
    )


def sizes_of_tallies(keys: int) -> str:
    """How many classes there are of each size, where all parts of a class are among the tallies."""
    names = ", ".join(f"k{j}" for j in range(keys))
    tallied = f"SELECT sum(n)::BIGINT AS size FROM coterie_release GROUP BY {names}"
    return f"SELECT size, count(*) FROM ({tallied}) GROUP BY size"


def records(keys: Sequence[str], columns: Sequence[str]) -> str:
    """Every record by the keys of its class, some columns as they are (v0, v1, …), and the number h of its class."""
    named, names = _named(keys)
    more = "".join(f", {ident(column)} AS v{j}" for j, column in enumerate(columns))
    return f"SELECT *, hash({names}) AS h FROM (SELECT {named}{more} FROM coterie_release)"


def values(column: str, kind: str, count: str = "count(*)") -> str:
    """The different values of a column as they are (v0), how often each occurs (n), and a number of the value (h)."""
    key = exact(column, kind)
    return (
        f"SELECT any_value({ident(column)}) AS v0, ({count})::BIGINT AS n, hash(any_value({key})) AS h "
        f"FROM coterie_release GROUP BY {key}"
    )


def distribution(guard: Guard, column: str, kind: str, folds: Folds) -> str:
    """From values with their counts (n): how often each is in the whole file, by what it stands for (w)."""
    rows = _rows(("n",), guard, column, kind, folds)
    return f"SELECT w, sum(n)::BIGINT AS n FROM (SELECT k0 AS n, {value(guard, kind)} AS w FROM ({rows})) GROUP BY w"


def _named(keys: Sequence[str]) -> tuple[str, str]:
    """The keys under names of our own, which no column of the release can be mistaken for."""
    return ", ".join(f"{key} AS k{j}" for j, key in enumerate(keys)), ", ".join(f"k{j}" for j in range(len(keys)))


def has_keys(guard: Guard, kind: str) -> bool:
    """Whether the values of a confidential column are told apart by keys of texts."""
    return kind in TEXT and guard.kind in ("nominal", "boolean") and not guard.true  # words are named as they stand


def letters(guard: Guard, column: str) -> str:
    """The characters whose folds must be known before keys can be asked for."""
    return characters(f"SELECT decode(raw) AS v FROM ({_texts(guard, column)})")


def order_letters(guard: Guard) -> str:
    """The characters of an order, to be folded."""
    return characters(f"SELECT unnest({literals(guard.order)}) AS v")


def spelt_twice(guard: Guard, folds: Folds) -> str:
    """How many categories of an order are one value with another one."""
    keys = keyed(f"SELECT unnest({literals(guard.order)}) AS v", folds)
    return f"SELECT count(*) - count(DISTINCT coalesce(v, '')) FROM ({keys})"


def _texts(guard: Guard, column: str) -> str:
    """The different texts of a column, and those that stand for a missing value."""
    missing = "".join(f" UNION SELECT encode({literal(text)})" for text in guard.missing)
    return f"SELECT DISTINCT {exact(column, 'varchar')} AS raw FROM coterie_release{missing}"


def _rows(keys: Sequence[str], guard: Guard, column: str, kind: str, folds: Folds) -> str:
    """All records: the keys of their classes, and v, the confidential value if it is present; of texts, its key."""
    named, names = ("".join(f"{part}, " for part in parts if part) for parts in zip(_named(keys), strict=True))
    if not has_keys(guard, kind):
        return f"SELECT {named}{present(guard, column, kind)} AS v FROM coterie_release"
    texts = keyed(f"SELECT raw, decode(raw) AS v FROM ({_texts(guard, column)})", folds)
    missing = (
        f"SELECT v FROM texts WHERE v IS NOT NULL AND list_contains({literals(('', *guard.missing))}, decode(raw))"
    )
    return f"""
      WITH texts AS MATERIALIZED ({texts}), told AS (SELECT raw, v FROM texts WHERE v NOT IN ({missing}))
      SELECT {names}told.v AS v FROM (SELECT {named}{exact(column, kind)} AS raw FROM coterie_release) AS rows
      LEFT JOIN told ON rows.raw = told.raw"""


def readable(guard: Guard, column: str, kind: str) -> str:
    """How many values are missing, and how many can't be read as what they should be."""
    return (
        f"SELECT count(*) FILTER (v IS NULL), count(*) FILTER (v IS NOT NULL AND w IS NULL) "
        f"FROM (SELECT v, {value(guard, kind)} AS w FROM ({_rows((), guard, column, kind, {})}))"
    )


def _cells(keys: Sequence[str], guard: Guard, column: str, kind: str, folds: Folds) -> str:
    """The cells: how often (n) a class (id, size) holds a value (w), missing ones as NULL.

    The values are collected by class and unpacked again under its number: all that follows then groups by one integer.
    """
    names = _named(keys)[1]
    return f"""
    WITH classes AS (
      SELECT row_number() OVER () AS id, size, held FROM (
        SELECT count(*) AS size, list({value(guard, kind)}) AS held
        FROM ({_rows(keys, guard, column, kind, folds)}) GROUP BY {names})),
    cells AS MATERIALIZED (
      SELECT id, any_value(size) AS size, w, count(*) AS n
      FROM (SELECT id, size, unnest(held) AS w FROM classes) GROUP BY id, w)"""


def units(keys: Sequence[str], guard: Guard, column: str, kind: str, folds: Folds) -> str:
    """Of each class: a number that stands for it, its records, its units, and which, if they are fewer than l.

    Units are told by numbers, too. Should two have the same, they count as one.
    """
    names = _named(keys)[1]
    return f"""
    SELECT hash({names}), count(*), count(DISTINCT w),
      CASE WHEN count(DISTINCT w) < {guard.l} THEN coalesce(list(DISTINCT hash(w)) FILTER (w IS NOT NULL), []) END
    FROM (SELECT {names}, {value(guard, kind)} AS w FROM ({_rows(keys, guard, column, kind, folds)}))
    GROUP BY {names}"""


# sum(n ln n), the same in any order: doubles from 1 on are integers once multiplied by 2^52, and these add exactly
_EXACTLY = "(sum((n * ln(n) * 4503599627370496)::HUGEINT) FILTER (w IS NOT NULL))::DOUBLE / 4503599627370496"


def diversity(keys: Sequence[str], guard: Guard, column: str, kind: str, folds: Folds) -> str:
    """Of all classes: least distinct l and entropy l, classes and records below each, classes with one value at most.

    A class's entropy is that of its values that are present: ln T - sum(n ln n) / T, with T of them in all.
    """
    l, entropy = guard.l or 0, guard.entropy or 0  # noqa: E741
    return (
        _cells(keys, guard, column, kind, folds)
        + f""",
    of_class AS (
      SELECT any_value(size) AS size, count(w) AS l,
        coalesce(exp(ln(sum(n) FILTER (w IS NOT NULL))
          - ({_EXACTLY}) / sum(n) FILTER (w IS NOT NULL)), 0.0) AS e
      FROM cells GROUP BY id)
    SELECT count(*)::BIGINT, min(l)::BIGINT, min(e),
      count(*) FILTER (l < {l}), coalesce(sum(size) FILTER (l < {l}), 0)::BIGINT,
      count(*) FILTER (e < {entropy!r}::DOUBLE * (1 - 1e-12)),
      coalesce(sum(size) FILTER (e < {entropy!r}::DOUBLE * (1 - 1e-12)), 0)::BIGINT,
      count(*) FILTER (l <= 1), coalesce(sum(size) FILTER (l <= 1), 0)::BIGINT
    FROM of_class"""
    )


def closeness(
    keys: Sequence[str], guard: Guard, column: str, kind: str, folds: Folds, whole: str, everywhere: str = "cells"
) -> str:
    """Of all classes: the largest distance to the whole file, classes and records beyond t.

    `whole` is the type for products of counts, as `whole_type` says; `everywhere` the table of the whole file's values
    (w) and counts (n), where the relation holds only some classes.
    """
    measure = _ordered if guard.is_ordered else _equal
    return (
        _cells(keys, guard, column, kind, folds)
        + measure(whole, everywhere)
        + f"""
    SELECT max(d), count(*) FILTER (d > {guard.t!r}::DOUBLE + 1e-12),
      coalesce(sum(size) FILTER (d > {guard.t!r}::DOUBLE + 1e-12), 0)::BIGINT
    FROM distances"""
    )


def whole_type(records: int, largest: int) -> str:
    """The integers that hold the sums of t-closeness: less than records² times the largest class."""
    return "BIGINT" if records**2 * largest < 2**62 else "HUGEINT"


def _equal(whole: str, everywhere: str) -> str:
    """1/2 sum |p - q|; a value that the class lacks adds its q, so that only the class's own cells are visited."""
    return f""",
    whole AS (SELECT w, sum(n)::{whole} AS n FROM {everywhere} GROUP BY w),
    every AS (SELECT sum(n)::{whole} AS n FROM whole),
    distances AS (
      SELECT any_value(c.size) AS size,
        (sum(abs(e.n * c.n - c.size * a.n) - c.size * a.n) + any_value(c.size * e.n))::DOUBLE
          / (2 * any_value(c.size * e.n))::DOUBLE AS d
      FROM cells AS c JOIN whole AS a ON c.w IS NOT DISTINCT FROM a.w CROSS JOIN every AS e GROUP BY c.id)"""


def _ordered(whole: str, everywhere: str) -> str:
    """1/(m-1) sum over i of |sum over j <= i of (p_j - q_j)|, by the class's own values alone.

    With N records in all and C_i of them up to the i-th of m values, a class of s records with c of them up to there
    adds |N c - s C_i| / (s N). Between two values of the class c stays the same and C_i grows, so that there is one x
    up to which the difference is positive: the sums of both parts follow from P_i, the sum of C_1 to C_i.
    """
    return f""",
    whole AS (SELECT w, sum(n) AS n FROM {everywhere} GROUP BY w),
    ranked AS (SELECT w, row_number() OVER (ORDER BY w) AS i, sum(n) OVER (ORDER BY w) AS upto FROM whole),
    ranks AS MATERIALIZED (
      SELECT w, i::{whole} AS i, upto::{whole} AS upto, sum(upto) OVER (ORDER BY i)::{whole} AS p FROM ranked),
    every AS (SELECT max(upto) AS n, max(i) AS m, max(p) AS p FROM ranks),
    steps AS (
      SELECT id, size::{whole} AS s, r.i AS first, r.p - r.upto AS before,
        sum(c.n) OVER by_value::{whole} AS c,
        coalesce(lead(r.i) OVER by_value - 1, e.m) AS last,
        coalesce(lead(r.p - r.upto) OVER by_value, e.p) AS after,
        e.n AS n, r.i = min(r.i) OVER (PARTITION BY id) AS lowest
      FROM cells AS c JOIN ranks AS r ON c.w = r.w CROSS JOIN every AS e
      WINDOW by_value AS (PARTITION BY id ORDER BY r.i)),
    turned AS (
      SELECT t.*, least(greatest(coalesce(r.i, 0), first - 1), last) AS x,
        CASE WHEN r.i IS NULL OR r.i < first THEN before WHEN r.i > last THEN after ELSE r.p END AS middle
      FROM (SELECT *, (n * c) // s AS bar FROM steps) AS t ASOF LEFT JOIN ranks AS r ON t.bar >= r.upto),
    distances AS (
      SELECT any_value(s)::BIGINT AS size,
        sum((x - first + 1) * n * c - s * (middle - before) + s * (after - middle) - (last - x) * n * c
          + CASE WHEN lowest THEN s * before ELSE 0 END)::DOUBLE
          / greatest(any_value(s * n)::DOUBLE * ((SELECT m FROM every) - 1)::DOUBLE, 1) AS d
      FROM turned GROUP BY id)"""


def check_plain(columns: Sequence[str], kinds: Sequence[str]) -> None:
    """Refuse columns whose values DuckDB does not compare exactly."""
    wrong = [c for c, kind in zip(columns, kinds, strict=True) if kind not in PLAIN]
    if wrong:
        types = sorted({kind for kind in kinds if kind not in PLAIN})
        raise CoterieError("Columns must hold plain values.", f"{listed(wrong)} of type {', '.join(types)}")
