"""Every method, one line each: what the function, the command line, the docs and the tests know of it.

Functions are named, not imported, so that listing the methods compiles and imports nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from ..constraints import Must, WrongError, check, from_text, number, one_of, whole
from ..errors import CoterieError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .guarantee import Guarantee
    from .optimal.lower_bound import Proven

GAMMAS = tuple(i / 10 for i in range(21))  # what `gamma="auto"` tries (Thaeter and Reischuk 2018, section 5.1)


class Found(NamedTuple):
    """What a method returns when it has more to tell than labels: what it chose, and what it can promise."""

    labels: NDArray[np.int64]
    chosen: dict[str, Any]
    guarantee: Guarantee | None = None
    proven: Proven | None = None


@dataclass(frozen=True)
class Parameter:
    """A method's own parameter: its default, what it means, and what it must be."""

    default: Any
    meaning: str
    must: Must

    @property
    def must_be(self) -> str:
        """What it must be, in words."""
        return self.must.be

    def check(self, value: Any) -> Any:
        """The value as it is kept; a ValueError if it is not what it must be."""
        return self.must.read(value)


_NUMBER = number("a number >= 0", lambda value: value >= 0)


def _gamma(value: Any) -> Any:
    if isinstance(value, str) and value == "auto":
        return value
    if isinstance(value, Real):
        return _NUMBER.read(value)
    try:
        gammas = tuple(map(_NUMBER.read, value))
    except TypeError:  # nothing to iterate over
        raise WrongError from None
    if not gammas:
        raise WrongError
    return gammas


def _gamma_in(text: str) -> Any:
    """What the command line says: auto, 0.2 or 0.1,0.2."""
    if text == "auto":
        return text
    numbers = [float(part) for part in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def _restarts_need_chance(params: Mapping[str, Any]) -> None:
    if params["order"] == "index" and params["restarts"] > 1:
        raise CoterieError(
            "'restarts' needs order='random'.", "order='index'", "by index, every start gives the same groups."
        )


def _any(params: Mapping[str, Any]) -> None:
    """Whatever values the parameters have, they go together."""


@dataclass(frozen=True)
class Method:
    """A line of the registry."""

    name: str
    function: str  # module:function, below coterie.algorithms
    what: str
    paper: str
    cost: str
    promise: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    aliases: Sequence[str] = ()
    compares: bool = False  # takes `loss`, a function of labels, to choose between partitions
    randomized: bool = False  # takes `rng`
    limited: bool = False  # takes `limits`, and stops when they say so
    by_column: bool = False  # groups every column on its own: labels[:, column]
    only_k: int | None = None
    only_columns: int | None = None
    agree: Callable[[Mapping[str, Any]], None] = _any  # refuses parameters that don't go together

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        module, function = self.function.split(":")
        return getattr(import_module(f".{module}", __package__), function)  # type: ignore[no-any-return]

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The method's parameters, with what was given checked and the rest at its default."""
        for name in given:
            if name not in self.parameters:
                takes = ", ".join(self.parameters) or "no parameters of its own"
                raise CoterieError(f"The method '{self.name}' takes {takes}.", f"'{name}'", _also_takes(name))
        out = {name: check(name, p.must, given.get(name, p.default)) for name, p in self.parameters.items()}
        self.agree(out)
        return out

    def draws(self, params: Mapping[str, Any]) -> bool:
        """Whether, with these parameters, the groups depend on a seed."""
        return self.randomized and params.get("order") != "index"

    def check_fits(self, k: int, columns: int) -> None:
        """Refuse a k or a number of columns that the method is not made for."""
        if self.only_k not in (None, k):
            what = f"The method '{self.name}' works only for k = {self.only_k}."
            raise CoterieError(what, f"k = {k}", "mu-approx gives a guarantee for every k.")
        if self.only_columns not in (None, columns):
            what = f"The method '{self.name}' takes a single column."
            hint = "path takes several columns together, individual-ranking takes each separately."
            raise CoterieError(what, f"{columns} columns", hint)


_DM02 = "Domingo-Ferrer & Mateo-Sanz 2002, doi:10.1109/69.979982"
_SURVEY = "Domingo-Ferrer, Solanas & Martínez-Ballesté 2006 (IEEE GrC)"
_DSS08 = "Domingo-Ferrer, Sebé & Solanas 2008, doi:10.1016/j.camwa.2007.04.034"
_SMD06 = "Solanas & Martínez-Ballesté 2006 (COMPSTAT)"
_TR18 = "Thaeter & Reischuk 2018, doi:10.18420/sicherheit2018_05"
_DS06 = "Domingo-Ferrer & Sebé 2006 (PSD, LNCS 4302)"
_LM05 = "Laszlo & Mukherjee 2005, doi:10.1109/TKDE.2005.112"
_HM03 = "Hansen & Mukherjee 2003, doi:10.1109/TKDE.2003.1209020"
_DN93 = "Defays & Nanopoulos 1993"
_DMMS06 = "Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006, doi:10.1007/s00778-006-0007-0"
_COST = Parameter(
    "sse",
    "what a group costs: squares about the mean, absolute deviations from the median, or its range",
    one_of("sse", "absolute", "maximal"),
)
_CHOICES = Parameter("random", "how the paper's free choices are made", one_of("random", "index"))
_RESTARTS = Parameter(1, "random starts, of which the best is kept", from_text(whole(1, be="a whole number >= 1"), int))
_PATH = Parameter(
    "tour",
    "the path: a short tour, the nearest record next, or a space-filling curve",
    one_of("tour", "nearest", "curve"),
)
_GAMMA = Parameter(
    "auto",
    "gain factor",
    from_text(Must("a number >= 0, a list of them, or 'auto' (0.0 to 2.0 in steps of 0.1)", _gamma), _gamma_in),
)

METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        Method("auto", "auto:auto",
               "local search from mdav, or up to 10,000 records from mdav* if that is better",
               "this package", "some seconds up to 10,000 records, then about twice that of mdav", "heuristic",
               compares=True, randomized=True, limited=True),
        Method("exact", "auto:exact_method",
               "local search, then column generation, cuts and branching until it is proven",
               "this package", "exponential; some thousand records come close", "optimal where proven",
               randomized=True, limited=True),
        Method("md", "md:md", "two groups at a time around the two records farthest apart",
               _DM02 + "; " + _SURVEY, "O(n³p/k) worst, mostly far less", "heuristic"),
        Method("mdav", "mdav:mdav",
               "two groups at a time around the record farthest from the centroid, and the one farthest from that",
               _SURVEY + "; " + _DSS08, "O(n²p/k)", "heuristic"),
        Method("mdav1", "mdav:mdav1", "one group at a time around the record farthest from the centroid of the rest",
               _DSS08 + ", section 6", "O(n²p/k)", "heuristic"),
        Method("mdav+", "v_mdav:mdav_plus", "as mdav1, with the centroid computed once; leftovers join near groups",
               _SMD06 + "; " + _TR18, "O(n²p/k)", "heuristic", aliases=("mdav-plus",)),
        Method("v-mdav", "v_mdav:v_mdav", "mdav+ whose groups grow up to 2k - 1 while records nearby are isolated",
               _SMD06, "O(n²p) a gamma", "heuristic", {"gamma": _GAMMA}, compares=True),
        Method("mdav*", "mdav_star:mdav_star", "weighs opening a group against extending one, by SSE a record",
               _TR18, "O(n²p)", "heuristic", aliases=("mdav-star",)),
        Method("m-d", "m_d:m_d", "the minimum spanning tree without its longest edges; large parts split by md",
               _LM05, "O(n²p) worst, mostly far less", "heuristic"),
        Method("mu-approx", "mu_approx:mu_approx", "trees that join near records, cut into parts of at least k",
               _DSS08, "O(n²p) worst, mostly far less", "approximation, 2(2k-1)max(2k-1, 3k-5)²",
               {"order": _CHOICES, "restarts": _RESTARTS}, compares=True, randomized=True,
               agree=_restarts_need_chance),
        Method("2-mu-approx", "two_mu_approx:two_mu_approx",
               "for k = 2: pairs and triples by the lightest [1,2]-factor of the complete graph, proven lightest",
               _DS06, "linear programs over O(n) edges, O(n²p) to price the others", "approximation, 2", only_k=2),
        Method("univariate", "univariate:univariate", "one column: groups of neighbouring values, the best there are",
               _HM03, "O(n log n)", "optimal", {"cost": _COST}, only_columns=1),
        Method("individual-ranking", "univariate:individual_ranking",
               "every column on its own, optimally; the records are not k-anonymous",
               _DN93 + "; " + _HM03, "O(pn log n)", "optimal in each column; no k-anonymity of records",
               {"cost": _COST}, by_column=True),
        Method("path", "path:path", "records in the order of a short path, cut where the least is lost",
               _DMMS06, "O(nkp) to cut; the tour O(n²p) worst, mostly far less", "heuristic",
               {"order": _PATH}),
    )
}  # fmt: skip


def find(name: Any) -> Method:
    """The method of that name or alias."""
    if not isinstance(name, str):
        raise CoterieError("'method' must be the name of a method.", f"an object of type {type(name).__name__}")
    for method in METHODS.values():
        if name == method.name or name in method.aliases:
            return method
    known = [n for m in METHODS.values() for n in (m.name, *m.aliases)]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'?" if close else "coterie.methods() lists them."
    raise CoterieError(f"'method' must be one of {', '.join(METHODS)}.", f"'{name}'", hint)


def _also_takes(parameter: str) -> str | None:
    owners = [m.name for m in METHODS.values() if parameter in m.parameters]
    return f"'{parameter}' belongs to {', '.join(owners)}." if owners else None
