"""compare: what candidates lose and what risk they leave, on one map."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import progress as progress_
from ..errors import CoterieError, PromiseError
from ..facts.comparison import Candidate, with_frontier
from ..recipe import Recipe
from .drafting import recipe_to_look


@dataclass(frozen=True)
class Comparison:
    """Candidates, each with its loss and its risk."""

    candidates: tuple[Candidate, ...]

    def html(self) -> str:
        """A page with the risk-utility map."""
        from ..report.html import render_compare

        return render_compare(self.candidates)

    def __str__(self) -> str:
        """As a table."""
        lines = [f"{'method':<14}{'k':>5}{'loss':>10}{'linked':>10}{'largest risk':>14}{'seconds':>9}"]
        for c in self.candidates:
            if c.not_possible is not None:
                lines.append(f"{c.method:<14}{c.k:>5}  not possible: {c.not_possible}")
                continue
            mark = "  best of its kind" if c.on_frontier else ""
            lines.append(
                f"{c.method:<14}{c.k:>5}{c.loss_percent:>8.3g} %{c.linked_percent:>8.3g} %"
                f"{c.largest_risk_percent:>12.3g} %{c.seconds:>9.2f}{mark}"
            )
        lines.append(
            "loss: of the variation in the quasi-identifiers; linked: records whose nearest original is their own;"
        )
        lines.append(
            "largest risk: one over the smallest class. Best of its kind: none is better in loss and in links."
        )
        return "\n".join(lines)


def compare(
    table: Any,
    k: list[int],
    methods: list[str],
    *,
    recipe: Any = None,
    quasi: list[str] | None = None,
    confidential: list[str] | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Protect a table by several methods, for several k, and say what each loses and what risk it leaves.

    A candidate whose promise cannot be kept is told as not possible, with the reason; the others are compared.

    Parameters
    ----------
    table : path or table
    k : list of int
    methods : list of str
        Each once, however often they are named.
    recipe : Recipe, path or mapping, optional
        Says roles and kinds; its k and its method are replaced. One with scenarios is refused, as each has its own k.
    quasi, confidential : list of str
        Instead of a recipe; the other columns are kept.
    options : mapping
        How a file is read, without a recipe that says it.
    seed : int
    progress : bool

    Raises
    ------
    PromiseError
        If no candidate is possible.
    """
    from .pipeline import protect

    chosen = recipe_to_look(table, recipe, quasi, confidential, None if recipe is not None else 5, options)
    if chosen.scenarios:
        raise CoterieError("Candidates differ in k, so scenarios, which have their own, are not compared.", "scenarios")
    if not k or not methods:
        raise CoterieError("Give at least one k and one method.", f"{len(k)} and {len(methods)}")
    document = {n: v for n, v in chosen.as_dict().items() if n not in ("k", "method", "seed")}
    candidates, refused = [], []
    with progress_.bar(progress, "comparing"):
        for size in dict.fromkeys(k):
            for method in dict.fromkeys(methods):
                chosen = Recipe(**document, k=size, method=method, seed=seed)
                began = time.process_time()
                try:
                    release = protect(table, chosen)
                except PromiseError as error:
                    refused.append(error)
                    candidates.append(Candidate(method, size, not_possible=" ".join(str(error).split())))
                else:
                    candidates.append(_measured(method, size, release, time.process_time() - began))
    if len(refused) == len(candidates):
        raise refused[0]
    return Comparison(with_frontier(candidates))


def _measured(method: str, k: int, release: Any, seconds: float) -> Candidate:
    measures = release.measures
    return Candidate(
        method,
        k,
        loss_percent=measures.loss.loss_percent,  # as protect and the reports have it: of what is released
        linked_share=measures.risk.linkage.share,
        largest_risk=measures.risk.scenarios[0].after.largest_risk,
        seconds=seconds,
    )
