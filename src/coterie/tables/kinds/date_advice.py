"""Why texts are no dates, and what to write in a recipe: told by formats that fit, without a word of the texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import in_shell
from ..dress import GAPS
from .advice import gaps_said

FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%Y/%m/%d",
    "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%Y.%m.%d", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M", "%Y/%m/%d %H:%M", "%Y%m%d%H%M%S", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%d%b%Y",
    "%b %d, %Y", "%B %d, %Y", "%d. %B %Y", "%m/%Y", "%m.%Y", "%Y-%m", "%b %Y", "%B %Y",
)  # fmt: skip
_SEEN = 1000  # different texts that are tried: a format that these fit is the one
_NUMBERS_ALONE = "%Y%m%d"


def advice_on_dates(name: str, texts: Sequence[str], wrong: Sequence[str], said: str | None) -> str:
    """What to do with texts that are no dates, or not written as was said.

    `texts` are all different ones of the column, `wrong` those that could not be read.
    """
    hints = []
    gaps = [text for text in wrong if text.strip().lower() in GAPS]
    if gaps:
        hints.append(f"if some mean missing, {gaps_said(sorted({gap.strip() for gap in gaps}))}")
    dates = [text.strip() for text in texts if text not in gaps][:_SEEN]
    fitting = [form for form in FORMATS if form != said and dates and all(_fits(text, form) for text in dates)]
    rest = len(gaps) < len(wrong)
    if fitting and rest:
        hints.append("format = " + " or ".join(f'"{form}"' for form in fitting[:2]))
    elif rest and len(dates) > 1 and all(any(_fits(text, form) for form in FORMATS) for text in dates):
        hints.append("dates are written in several ways: write all of them like 2024-12-31")
    elif rest:
        hints.append('write them like 2024-12-31, or give a format, such as "%d.%m.%Y"')
    return "; ".join(hints) + f'; if these are not dates, kind = "nominal" ({in_shell("--kind", name + "=nominal")}).'


def _fits(text: str, form: str) -> bool:
    if form.startswith(_NUMBERS_ALONE) and not text.isdecimal():
        return False
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return form != _NUMBERS_ALONE or len(text) == 8
