"""A difference in plain words."""

from __future__ import annotations

from ..errors import printable
from ..facts.difference_facts import ColumnDifference, DifferenceFacts, OverlaidScenario, PreviousFacts


def as_text(facts: DifferenceFacts) -> str:
    """The facts in a few lines."""
    this, *earlier = facts.releases
    lines = [
        f"release         {this.name}: {this.records:,} records, {_persons(this.persons)}",
        *(f"earlier         {one.name}: {one.records:,} records, {_persons(one.persons)}" for one in earlier),
        f"matched by      {', '.join(facts.matched_by) or 'record number'}",
        f"persons         {facts.returning:,} are in the release and in an earlier one, {facts.new:,} only in the "
        f"release, {facts.left:,} only in earlier ones",
    ]
    for case in facts.scenarios:
        lines += _scenario(case, len(facts.scenarios) > 1, facts.left)
    if not facts.ok:
        lines += [f"quasi           {_column(one)}" for one in facts.quasi]
    return printable("\n".join(lines), lines=True)


def _scenario(case: OverlaidScenario, several: bool, left: int) -> list[str]:
    lines = [f"scenarios       {' + '.join(case.scenarios)}"] if several else []
    met = "is met" if case.below_k == 0 else "is NOT met"
    lines.append(
        f"smallest set    {_persons(case.smallest_set)} consistent with somebody's classes in all releases; "
        f"k = {case.k} {met}"
    )
    if case.below_k:
        lines.append(
            f"below k         {_persons(case.below_k)}: {case.returning_below_k:,} who are in an earlier release, too, "
            f"{case.new_below_k:,} who are in none; {case.alone:,} are alone in their set"
        )
    if left:
        lines.append(
            f"who left        smallest set {_persons(case.left_smallest_set or 0)}, {case.left_below_k:,} below k, for "
            "an intruder who knows that they are not in the release; no grouping of it changes that"
        )
    for one in case.confidential:
        if one.determined_persons is None:
            lines.append(f"confidential    {one.name}: too many values to look at; not counted")
        else:
            lines.append(
                f"confidential    {one.name}: the value of {_persons(one.determined_persons)} follows from their "
                f"classes in several releases; of {one.known_before or 0:,} of them from one release already"
            )
    return lines


def _column(one: ColumnDifference) -> str:
    parts = [f"{one.alone_below_k:,} below k by this column alone"]
    if one.without_below_k is not None:
        parts.append(f"{one.without_below_k:,} without it")
    if one.changed_persons is not None:
        parts.append(f"another value before masking for {_persons(one.changed_persons)}")
    return f"{one.name}: {'; '.join(parts)}"


def _persons(count: int) -> str:
    return f"{count:,} person" + ("" if count == 1 else "s")


def notes(previous: PreviousFacts | None) -> list[str]:
    """What the internal report says of a release beside earlier ones."""
    if previous is None:
        return []
    found = previous.difference
    out = [
        f"Beside {len(found.releases) - 1:,} earlier: the smallest set of persons consistent with somebody's classes "
        f"in all releases is {found.smallest_set:,}. {found.returning:,} persons are in an earlier release, too, "
        f"{found.new:,} in none; {found.left:,} are in earlier ones alone, and of these at most "
        f"{max(case.left_below_k for case in found.scenarios):,} are below k for an intruder who knows that they "
        "are not in "
        "this one."
    ]
    if previous.free_loss_percent is not None and previous.loss_percent is not None:
        out.append(
            f"Those who were together stayed together: {previous.loss_percent:.2f} % of the variation is within "
            f"groups, within free groups {previous.free_loss_percent:.2f} %. {_persons(previous.left_out)} left out: "
            "too few of those who were with them are left, or came with them."
        )
    return out
