"""What drives the risk, in plain words."""

from __future__ import annotations

from ..errors import printable
from ..facts.risk_drivers import Coarsened, ColumnDriver, RiskDrivers

_NAMED = 12  # columns that are halved in turn, at most: the others are counted


def drivers_lines(drivers: RiskDrivers, several: bool, noun: str = "records") -> list[str]:
    """The lines of an assessment about what drives the risk; with several scenarios, each is named."""
    where = f" (scenario {printable(drivers.scenario)})" if several else ""
    most, all_columns = drivers.most_columns, len(drivers.quasi)
    sizes = "of any size" if drivers.complete else f"of up to {most} of {all_columns} columns; larger ones not searched"
    count = f"{drivers.minimal_uniques:,} minimal sample uniques, in {drivers.records:,} records"
    lines = [f"drivers{where}", f"  minimal uniques  {count} ({sizes})"]
    few = [(size, n) for size, n in drivers.records_by_smallest.items() if n]
    lines += [f"  unique by        {_values(int(size))}: {_records(n)}" for size, n in few[:3]]
    if len(few) > 3:
        lines.append(f"  unique by        {few[3][0]} values or more: {_records(sum(n for _, n in few[3:]))}")
    other = "other" if noun == "records" else "other unit"
    lines += [
        f"  identifies       {printable(one.name)} alone: {_records(one.unique_alone)}, by a value that no {other} has"
        for one in drivers.columns
        if one.unique_alone
    ]
    if drivers.dis is not None:
        lines.append(f"  DIS              {_share(drivers.dis)} of matches with a unique record are right, by estimate")
    return [*lines, *_table(drivers, noun)]


def _table(drivers: RiskDrivers, noun: str) -> list[str]:
    before = f"{drivers.expected_reidentifications:,.1f} expected re-identifications, {drivers.unique:,} unique {noun}"
    width = max(6, *(len(printable(one.name)) for one in drivers.columns))
    head = f"  {'column':<{width}}  {'score':>8}  {'halved':>8}  {'unique':>9}  {'left out':>8}  {'unique':>9}"
    return [
        f"  as it is         {before}",
        "  coarsen first    by how far these fall if one column has half as many values, or is left out",
        head,
        *(_row(one, width) for one in drivers.columns),
        f"  score: share of the SUDA scores that the column has a part in; unique: {noun} that stay unique",
        *_in_turn(drivers, noun),
    ]


def _in_turn(drivers: RiskDrivers, noun: str) -> list[str]:
    """What halving columns in turn takes: until half of the risk is left, and to the end."""
    steps, lines = drivers.in_turn, []
    half = [s.expected_reidentifications <= drivers.expected_reidentifications / 2 for s in steps]
    for last in sorted({half.index(True) if any(half) else len(steps) - 1, len(steps) - 1}) if steps else ():
        left = {step.column: step.values for step in steps[: last + 1]}
        what = [
            f"{printable(name)} left out" if values == 1 else f"{printable(name)} to {values:,} values"
            for name, values in left.items()
        ]
        more = [f"and {len(what) - _NAMED} more columns"] if len(what) > _NAMED else []
        end = steps[last]
        lines.append(
            f"  together         {', '.join([*what[:_NAMED], *more])}: {end.expected_reidentifications:,.1f} expected "
            f"re-identifications, {end.unique:,} unique {noun}"
        )
    return lines


def _share(x: float) -> str:
    return "less than 0.1 %" if x < 0.001 else f"{100 * x:.1f} %"


def _values(n: int) -> str:
    return "1 value" if n == 1 else f"{n} values"


def _records(n: int) -> str:
    return "1 record" if n == 1 else f"{n:,} records"


def _row(one: ColumnDriver, width: int) -> str:
    score = "-" if one.score_percent is None else f"{one.score_percent:.1f} %"
    return (
        f"  {printable(one.name):<{width}}  {score:>8}  {_fall(one.halved):>8}  {one.halved.unique:>9,}  "
        f"{_fall(one.left_out):>8}  {one.left_out.unique:>9,}"
    )


def _fall(of: Coarsened) -> str:
    return "-" if of.fall_percent is None else f"{0.0 - round(of.fall_percent, 1):.1f} %"
