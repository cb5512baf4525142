"""What a data set is, and where the papers' come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import CoterieError

Matrix: TypeAlias = npt.NDArray[np.float64]

_BACKENDS = ("pandas", "polars", "pyarrow")
_ROLES = ("identifier", "confidential")

MU_APPROX = (
    "Domingo-Ferrer, Sebé, Solanas: A polynomial-time approximation to optimal multivariate "
    "microaggregation. Computers & Mathematics with Applications 55(4):714-732, 2008, "
    "doi:10.1016/j.camwa.2007.04.034"
)
V_MDAV = (
    "Solanas, Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable group size. "
    "17th COMPSTAT Symposium of the IASC, Rome, pp. 917-925, 2006"
)
MDAV_STAR = (
    "Thaeter, Reischuk: Improving anonymization clustering. Sicherheit 2018, pp. 69-82, doi:10.18420/sicherheit2018_05"
)
SURVEY = (
    "Domingo-Ferrer, Solanas, Martínez-Ballesté: Privacy in statistical databases: k-anonymity through "
    "microaggregation. IEEE Granular Computing, pp. 774-777, 2006"
)
TWO_MU_APPROX = (
    "Domingo-Ferrer, Sebé: Optimal multivariate 2-microaggregation for microdata protection: a "
    "2-approximation. Privacy in Statistical Databases, 2006"
)
CASC = (
    "Brand, Domingo-Ferrer, Mateo-Sanz: Reference data sets to test and compare SDC methods for "
    "protection of numerical microdata. European project IST-2000-25069 CASC, 2002"
)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table split into what microaggregation groups by and the rest.

    Parameters
    ----------
    name : str
        The name in `DATASETS`.
    X : ndarray of shape (n, p)
        The numeric quasi-identifiers, float64, C order.
    columns : tuple of str
        The names of the columns of X.
    source : str
        Where the data come from, as a citation.
    other : dict of str to list
        Further columns by name.
    roles : dict of str to str
        "identifier" or "confidential" for every column in `other`.
    """

    name: str
    X: Matrix
    columns: tuple[str, ...]
    source: str
    other: dict[str, list[Any]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        X = self.X
        if X.dtype != np.float64 or X.ndim != 2 or not X.flags.c_contiguous:
            got = f"{X.dtype} with {X.ndim} dimension(s)"
            raise CoterieError("X must be a float64 matrix in C order.", got)
        if X.shape[1] != len(self.columns):
            got = f"{len(self.columns)} names for {X.shape[1]} columns"
            raise CoterieError("Every column of X needs a name.", got)
        if any(len(values) != len(X) for values in self.other.values()):
            raise CoterieError("Every other column must have as many values as X has rows.")
        if set(self.roles) != set(self.other) or not set(self.roles.values()) <= set(_ROLES):
            what = f"Every other column needs a role, one of {', '.join(_ROLES)}."
            raise CoterieError(what, f"roles for {sorted(self.roles)}, columns {sorted(self.other)}")

    def __repr__(self) -> str:
        """Name, size and column names: never the value of a record."""
        n, p = self.X.shape
        rest = f", other={tuple(self.other)}" if self.other else ""
        return f"Dataset(name={self.name!r}, n={n}, p={p}, columns={self.columns}{rest})"

    def frame(self, backend: str = "pandas") -> Any:
        """Give the whole table as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library whose frame is wanted.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Identifiers, then the columns of X, then confidential columns.

        Raises
        ------
        CoterieError
            If the backend is unknown or not installed.
        """
        if backend not in _BACKENDS:
            raise CoterieError(f"backend must be one of {', '.join(_BACKENDS)}.", repr(backend))
        import narwhals as nw

        data: dict[str, Any] = self._with_role("identifier")
        # copies, because pyarrow would share the memory of X
        data |= {name: self.X[:, j].copy() for j, name in enumerate(self.columns)}
        data |= self._with_role("confidential")
        try:
            return nw.from_dict(data, backend=backend).to_native()  # type: ignore[arg-type]
        except ImportError:
            hint = f"pip install {backend}"
            raise CoterieError(f"The backend {backend} must be installed.", hint=hint) from None

    def _with_role(self, role: str) -> dict[str, list[Any]]:
        return {name: list(values) for name, values in self.other.items() if self.roles[name] == role}
