"""What the public page shows: as the internal one, but for what is not told of the original."""

from __future__ import annotations

import re

from ..facts.public_facts import PublicCategory, PublicColumnLoss, PublicFacts, PublicNumber
from .release_view import View, release
from .words import NONE, SPACE, fixed, share


def public_view(facts: PublicFacts) -> View:
    """The view of the public facts."""
    view = release(facts)
    steps = share(facts.rounded_to_share, 1)
    rows = [
        _row(column.name, facts.measures.loss.columns[column.name], facts.measures.utility.columns[column.name], facts)
        for column in facts.columns
        if column.name in facts.measures.loss.columns and column.released != "dropped"
    ]
    view["loss"] |= {
        "table": rows,
        "numeric": any(row["variance"] != NONE or row["il1s"] != NONE for row in rows),
        "codes": any(row["mismatch"] != NONE for row in rows),
        "shares": any(row["distance"] != NONE for row in rows),
        "known": any(row["loss"] != NONE for row in rows),
        "totals": [{**total, "value": _short(total["value"])} for total in view["loss"]["totals"]],
    }
    view["groupings"] = [
        {
            **one,
            "loss": _short(one["loss"]),
            "weighted": _short(one["weighted"]),
            "by_importance": _short(one["by_importance"]),
        }
        for one in view["groupings"]
    ]
    view["tiles"] = [_loss_tile(facts) if tile["name"] == "Information loss" else tile for tile in view["tiles"]]
    view["steps"] = steps
    return view


def _loss_tile(facts: PublicFacts) -> View:
    """The loss of all masked columns; or from the least to the most of a column, if it is not told of all."""
    loss = facts.measures.loss
    if loss.loss_percent is not None:
        words = "0 %: values unchanged; 100 %: one common value for all."
        return {"name": "Information loss", "value": _percent(loss.loss_percent, facts), "words": words}
    known = [of.loss_percent for of in loss.columns.values() if of.told == "full" and of.loss_percent is not None]
    changed = [100 * of.mismatch_share for of in loss.columns.values() if of.mismatch_share is not None]
    if known:
        words = "by column of numbers. 0 %: values unchanged; 100 %: one common value for all."
        return {"name": "Information loss", "value": _range(known, facts), "words": words}
    if changed:
        words = "of the records changed in a masked column, by column. Lower is better."
        return {"name": "Changed", "value": _range(changed, facts), "words": words}
    words = f"For no masked column can a change of at least {facts.suppressed_below} records be shown."
    return {"name": "Information loss", "value": NONE, "words": words}


def _range(values: list[float], facts: PublicFacts) -> str:
    least, most = _number(min(values), facts), _number(max(values), facts)
    return f"{most if least == most else f'{least}–{most}'}{SPACE}%"


def _row(name: str, of: PublicColumnLoss, changed: PublicNumber | PublicCategory, facts: PublicFacts) -> View:
    row = {"name": name, "loss": NONE if of.loss_percent is None else _number(of.loss_percent, facts)}
    row |= {"mismatch": _changed(of, facts), "il1s": fixed(of.il1s, 3), "distance": NONE}
    row |= dict.fromkeys(("mean", "variance", "quantile"), NONE)
    if isinstance(changed, PublicCategory):
        return row | {"distance": fixed(changed.total_variation, 2)}
    return row | {
        "mean": fixed(changed.mean_change_sd, 2, sign=True),
        "variance": fixed(changed.variance_ratio, 2),
        "quantile": fixed(changed.largest_quantile_change_sd, 1),
    }


def _changed(of: PublicColumnLoss, facts: PublicFacts) -> str:
    """The share of changed records, in words where it is not told."""
    if of.told == "nothing":
        return f"fewer than {facts.suppressed_below} records"
    if of.told in ("counts", "share"):
        return "nearly all" if of.mismatch_share is None else share(of.mismatch_share, 1)
    return NONE


def _percent(value: float, facts: PublicFacts) -> str:
    return f"{_number(value, facts)}{SPACE}%"


def _short(shown: str) -> str:
    """A rounded number without zeros that say nothing."""
    return re.sub(r"(\.\d*?)0+(?=\D*$)", lambda found: found[1].rstrip("."), shown)


def _number(value: float, facts: PublicFacts) -> str:
    """Without decimals that rounding has left empty."""
    return fixed(value, 1 if 100 * facts.rounded_to_share < 1 else 0)
