"""What microaggregate returns, and how it shows itself: never a record's value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms.guarantee import Guarantee
from ..algorithms.registry import Method
from ..errors import CoterieError, boundary
from ..facts.result_facts import GuaranteeFacts, ResultFacts
from ..measures.standard_units import finite
from .bound import Bound, Records, bound


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A microaggregated table and its information loss.

    Attributes
    ----------
    labels : ndarray of int64
        The group of each record, numbered by first appearance. For a method that groups each column separately, one
        column of labels per column.
    data
        The aggregated table, in the container and the units of the input.
    sse, sst : float
        Sum of squared distances of the records to the centres of their groups, and to the centre of all records; in
        standardized columns, unless standardize=False.
    loss : float
        100 sse / sst: the share of the variation that is lost, in percent.
    loss_euclidean : float
        The same with Euclidean instead of squared distances (L_E).
    distortion, diversity, information_loss : float
        The same under the options `distortion` and `diversity`; by default equal to sse, sst and loss.
    method, k, params, options
        The settings; `params` holds what the method chose, such as gamma.
    columns : tuple of str
    guarantee : Guarantee or None
        What the method guarantees about `sse`: an approximation factor and a lower bound for these data; see
        `Guarantee`.
    exposed : int
        The number of records that share all their released values with fewer than k - 1 others: 0, unless the method
        groups each column separately.
    seconds : float
        Wall time, compilation included.
    """

    labels: NDArray[np.int64]
    data: Any
    method: str
    k: int
    params: Mapping[str, Any]
    options: Mapping[str, Any]
    columns: tuple[str, ...]
    sse: float
    sst: float
    loss: float
    loss_euclidean: float
    distortion: float
    diversity: float
    information_loss: float
    guarantee: Guarantee | None = None
    exposed: int = 0
    seconds: float = field(default=0.0)
    _proven: Any = None  # what the method itself has proven
    _records: Records | None = None  # the caller's table: needed for bounds, never shown, written or pickled

    def __getstate__(self) -> dict[str, Any]:
        """Leave the records behind."""
        return {**self.__dict__, "_records": None}

    @boundary
    def bound(
        self, effort: Literal["fast", "tight"] = "fast", *, seconds: float | None = None, progress: bool = False
    ) -> Bound:
        """A lower bound on the SSE of any partition: how far this one can be from the best possible.

        Parameters
        ----------
        effort : {"fast", "tight"}
            "fast", by every record's nearest neighbours; "tight", by column generation, for some thousand records as a
            whole, for more of them window by window, on threads, in 2 to 20 CPU milliseconds a record. What the method
            has proven itself is returned at no further cost. Otherwise the table that was microaggregated is read
            again, and must not have changed.
        seconds : float, optional
            Time limit in seconds; the bound is valid whenever it stops.
        progress : bool
            Show the bound as it improves.
        """
        if self._by_column:
            raise CoterieError(
                "A bound needs groups of whole records.", f"{self.method}, which groups each column separately"
            )
        return bound(self, effort, seconds, progress)

    def _reading(self, table: Any) -> Result:
        """The same, with bounds that read this table: one of the same numbers, so that a copy can go."""
        assert self._records is not None
        return replace(self, _records=replace(self._records, table=table))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of records in each group."""
        return np.bincount(self.labels.ravel())

    @property
    def _by_column(self) -> bool:
        return self.labels.ndim > 1

    @property
    def facts(self) -> ResultFacts:
        """All results as typed facts, without any record's value; text, HTML and JSON are views of them."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        return ResultFacts(
            method=self.method,
            params=dict(self.params),
            options=dict(self.options),
            k=self.k,
            records=len(self.labels),
            columns=len(self.columns),
            groups=len(self.sizes),
            sizes={int(size): int(count) for size, count in zip(sizes, counts, strict=True)},
            groups_by_column=self._by_column,
            exposed=self.exposed,
            sse=finite(self.sse),
            sst=finite(self.sst),
            loss_percent=finite(self.loss),
            loss_euclidean_percent=finite(self.loss_euclidean),
            distortion=finite(self.distortion),
            diversity=finite(self.diversity),
            information_loss_percent=finite(self.information_loss),
            seconds=finite(self.seconds),
            guarantee=None if self.guarantee is None else GuaranteeFacts(**self.guarantee.__dict__),
            bound=None if self._proven is None else self.bound().facts,
        )

    def __str__(self) -> str:
        """The facts in a few lines."""
        width = max(len(name) for name, _, _ in self._lines())
        return "\n".join(f"{n:<{width}}  {value}{f'  ({w})' if w else ''}" for n, value, w in self._lines())

    __repr__ = __str__

    def __rich__(self) -> Any:
        """The facts for a terminal, with the plain words set back."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for name, value, words in self._lines():
            table.add_row(Text(name, style="bold"), Text(value), Text(words, style="dim"))
        return table

    def _repr_html_(self) -> str:
        """The facts as a small table, for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(n)}</th><td style='text-align:left'>{escape(value)}</td>"
            f"<td style='text-align:left;opacity:.7'>{escape(w)}</td></tr>"
            for n, value, w in self._lines()
        )
        return f"<table>{rows}</table>{self._sizes_svg()}"

    def _lines(self) -> list[tuple[str, str, str]]:
        """Name, value, and the value in plain words."""
        sizes = self.sizes
        range_ = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        lines = [
            ("method", _called(self.method, self.params), ""),
            ("records", f"{len(self.labels):,} in {_counted(len(self.columns), 'column')}", ""),
            ("groups", f"{len(sizes):,} of {range_} records", self._hiding()),
            ("loss", f"{self.loss:.4g} %", f"share of the variation that was lost: 100 SSE / SST{self._unrounded()}"),
            ("loss_euclidean", f"{self.loss_euclidean:.4g} %", "the same with Euclidean instead of squared distances"),
            ("sse, sst", f"{self.sse:.6g}, {self.sst:.6g}", self._measured_on()),
        ]
        if "blocks" in self.params:
            lines.insert(1, self._blocks_line())
        if (self.options["distortion"], self.options["diversity"]) != ("squared", "centre"):
            model = f"{self.options['distortion']} distances over {self.options['diversity']} diversity"
            lines.append(("information_loss", f"{self.information_loss:.4g} %", model))
        lines += self._guarantee_lines()
        if self._proven is not None:
            lines.append(("bound", f"{self.bound().loss:.6g} %", str(self.bound())))
        lines.append(("seconds", f"{self.seconds:.3g}", ""))
        return lines

    def _blocks_line(self) -> tuple[str, str, str]:
        p = self.params
        blocks = f"{p['blocks']:,} of up to {p['block_size']:,} records"
        before = " before refining" if "refine" in p else ""
        return (
            "blocks",
            blocks,
            f"at one face, {p['faces']:.2g} % more was lost{before}: two of them, {p['compared']:,} records",
        )

    def _hiding(self) -> str:
        if self._by_column:
            records = (
                f"but {self.exposed:,} whole records are not" if self.exposed else "and so is every whole record here"
            )
            return f"in each column, every value is shared by at least {self.k} records; {records}"
        return f"every record is in a group of at least {self.k}"

    def _guarantee_lines(self) -> list[tuple[str, str, str]]:
        """What is promised for any data, and what was proven for these."""
        if (g := self.guarantee) is None:
            return []
        if g.factor == 1:
            return [("guarantee", "optimal", g.why)]
        lines = [("guarantee", f"at most {g.factor:,.4g} times the least SSE", f"whatever the data: {g.why}")]
        if g.lower_bound:
            for_these = f"at most {max(1.0, self.sse / g.lower_bound):,.4g} times the least SSE"
            lines.append(("for these data", for_these, f"no partition has an SSE below {g.lower_bound:.6g}"))
        return lines

    def _unrounded(self) -> str:
        return ", before rounding" if self.options["rounding"] is not None else ""

    def _measured_on(self) -> str:
        columns = "standardized columns" if self.options["standardize"] else "columns as they are"
        return columns + (", about medians" if self.options["centre"] == "median" else "")

    def _sizes_svg(self) -> str:
        """Number of groups of each size, as bars."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        if len(sizes) > 40:
            counts, edges = np.histogram(self.sizes, bins=40)
            sizes = edges[:-1].astype(np.int64)
        step = 600 // max(len(sizes), 12)
        bars = "".join(
            f"<rect x='{i * step + 2}' y='{70 - 60 * c / counts.max():.1f}' width='{step - 4}' "
            f"height='{60 * c / counts.max():.1f}' fill='#4477aa'><title>{c} groups of {s}</title></rect>"
            + (
                f"<text x='{i * step + step / 2}' y='84' font-size='11' text-anchor='middle'>{s}</text>"
                if step > 18
                else ""
            )
            for i, (s, c) in enumerate(zip(sizes, counts, strict=True))
        )
        words = "<text x='0' y='100' font-size='11'>records in a group (height: how many groups)</text>"
        return (
            f"<svg width='600' height='104' viewBox='0 0 600 104' role='img' aria-label='group sizes' "
            f"font-family='sans-serif' fill='currentColor'>{bars}{words}</svg>"
        )


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _called(method: str, params: Mapping[str, Any]) -> str:
    """The method as a person would write it: v-mdav (gamma = 0.3, the best of 21)."""
    parts: list[str] = []
    for name, value in params.items():
        if name in _OF_BLOCKS:
            continue
        if name == "tried":
            parts[-1:] = [f"{parts[-1]}, the best of {len(value)}"] if parts else []
        elif name == "method":
            method = f"{method}, which chose {value}"
        else:
            parts.append(f"{name} = {value}")
    return method + (f" ({', '.join(parts)})" if parts else "")


_OF_BLOCKS = ("blocks", "block_size", "faces", "compared")


class Methods:
    """The registry as a table: iterate over it, or let it print itself."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = list(methods)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)

    def __getitem__(self, name: str) -> Method:
        """The method of that name or alias."""
        from ..algorithms.registry import find

        return find(name)

    def rows(self) -> list[dict[str, str]]:
        """One dictionary a method."""
        return [
            {
                "name": " or ".join((m.name, *m.aliases)),
                "what": m.what,
                "paper": m.paper,
                "cost": m.cost,
                "promise": m.promise,
                "parameters": "; ".join(
                    f"{n} ({p.meaning}, default {p.default}): {p.must_be}" for n, p in m.parameters.items()
                ),
            }
            for m in self._methods
        ]

    def __repr__(self) -> str:
        """The table as text."""
        from io import StringIO

        from rich.console import Console

        out = StringIO()
        Console(file=out, width=150).print(self)
        return out.getvalue()

    def __rich__(self) -> Any:
        """The table for a terminal."""
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, show_lines=False, pad_edge=False)
        for name in self.rows()[0]:
            table.add_column(name, overflow="fold", no_wrap=name == "name")
        for row in self.rows():
            table.add_row(*row.values())
        return table

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        head = "".join(f"<th style='text-align:left'>{escape(n)}</th>" for n in self.rows()[0])
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(v)}</td>" for v in row.values()) + "</tr>"
            for row in self.rows()
        )
        return f"<table><tr>{head}</tr>{body}</table>"
