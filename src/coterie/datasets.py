"""The data of the papers: small printed sets, loaders of the CASC reference sets, seeded simulators.

Every function returns a `Dataset`, and `DATASETS` lists them by the name used in the tables of results.
The CASC sets are not part of the package: they ship with the R package sdcMicro, and the loaders read
them from a folder of the user's. Nothing is ever downloaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from coterie.errors import CoterieError

__all__ = [
    "DATASETS",
    "Dataset",
    "casc_available",
    "load_census",
    "load_companies",
    "load_eia",
    "load_eia10",
    "load_eia600",
    "load_line11",
    "load_points13",
    "load_tarragona",
    "make_clustered",
    "make_clusters4",
    "make_clusters5",
    "make_normal16",
    "make_scattered",
    "make_simc",
    "make_simu",
]

Folder: TypeAlias = str | os.PathLike[str] | None
Matrix: TypeAlias = npt.NDArray[np.float64]
# a file's columns in order: R lets two columns share a name, so this is no dict
Columns: TypeAlias = list[tuple[str, npt.NDArray[Any]]]

_BACKENDS = ("pandas", "polars", "pyarrow")
_ROLES = ("identifier", "confidential")

_MU_APPROX = (
    "Domingo-Ferrer, Sebé, Solanas: A polynomial-time approximation to optimal multivariate "
    "microaggregation. Computers & Mathematics with Applications 55(4):714-732, 2008, "
    "doi:10.1016/j.camwa.2007.04.034"
)
_V_MDAV = (
    "Solanas, Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable group size. "
    "17th COMPSTAT Symposium of the IASC, Rome, pp. 917-925, 2006"
)
_MDAV_STAR = (
    "Thaeter, Reischuk: Improving anonymization clustering. Sicherheit 2018, pp. 69-82, "
    "doi:10.18420/sicherheit2018_05"
)
_SURVEY = (
    "Domingo-Ferrer, Solanas, Martínez-Ballesté: Privacy in statistical databases: k-anonymity through "
    "microaggregation. IEEE Granular Computing, pp. 774-777, 2006"
)
_TWO_MU_APPROX = (
    "Domingo-Ferrer, Sebé: Optimal multivariate 2-microaggregation for microdata protection: a "
    "2-approximation. Privacy in Statistical Databases, 2006"
)
_CASC = (
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


# ---- printed in the papers ----


def load_companies() -> Dataset:
    """Load the 11 small or medium enterprises of the running example.

    X holds surface (square metres) and employees; company is an identifier, turnover and net_profit
    (euros) are confidential. The paper standardizes X before grouping.

    Returns
    -------
    Dataset
        11 x 2.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, table 1 and example 1.
    """
    surface = [790, 710, 730, 810, 950, 510, 400, 330, 510, 760, 50]
    employees = [55, 44, 32, 17, 3, 25, 45, 50, 5, 52, 12]
    # fmt: off
    other: dict[str, list[Any]] = {
        "company": [
            "A&A Ltd", "B&B SpA", "C&C Inc", "D&D BV", "E&E SL", "F&F GmbH", "G&G AG", "H&H SA", "I&I LLC",
            "J&J Co", "K&K Sarl",
        ],
        "turnover": [
            3212334, 2283340, 1989233, 984983, 194232, 119332, 3012444, 4233312, 159999, 5333442, 645223,
        ],
        "net_profit": [
            313250, 299876, 200213, 143211, 51233, 20333, 501233, 777882, 60388, 1001233, 333010,
        ],
    }
    # fmt: on
    roles = {"company": "identifier", "turnover": "confidential", "net_profit": "confidential"}
    X = np.column_stack([surface, employees]).astype(np.float64)
    return Dataset("sme", X, ("surface", "employees"), f"{_MU_APPROX}, table 1", other, roles)


def load_points13() -> Dataset:
    """Load the 13 points in the plane on which fixed-size groups do badly (k = 3).

    Returns
    -------
    Dataset
        13 x 2.

    References
    ----------
    Solanas, Martínez-Ballesté 2006, COMPSTAT, example 1.
    """
    x = [2.4, 1.68, 3.18, 5.32, 18.68, 20.14, 19.85, 13.67, 17.11, 16.07, 21.28, 22, 23]
    y = [3, 4.9, 5.54, 3.6, 11.49, 9.56, 12.33, 18.9, 21, 19.23, 18.9, 21, 18.5]
    return Dataset("points-13", np.column_stack([x, y]), ("x", "y"), f"{_V_MDAV}, example 1")


def load_line11() -> Dataset:
    """Load the 11 numbers on which V-MDAV loses 12 times as much as MDAV* (k = 3).

    The paper's figures are those of the raw values, not of standardized ones.

    Returns
    -------
    Dataset
        11 x 1.

    References
    ----------
    Thaeter, Reischuk 2018, doi:10.18420/sicherheit2018_05, section 3.
    """
    X = np.array([1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100], dtype=np.float64)[:, np.newaxis]
    return Dataset("line-11", X, ("x",), f"{_MDAV_STAR}, section 3")


# ---- the CASC reference sets ----


class _CascFile(NamedTuple):
    """Where a CASC set may lie, and how many records it must have."""

    csv: str
    r_object: str
    rows: int

    def names(self) -> tuple[str, ...]:
        return (self.csv, f"{self.r_object}.rda", f"{self.r_object}.RData")


_CENSUS_FILE = _CascFile("census.csv", "CASCrefmicrodata", 1080)
_TARRAGONA_FILE = _CascFile("tarragona.csv", "Tarragona", 834)
_EIA_FILE = _CascFile("eia.csv", "EIA", 4092)

# fmt: off
_CENSUS = (
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL",
    "PEARNVAL", "FICA", "WSALVAL", "ERNVAL",
)
_TARRAGONA = (
    "FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY", "UNCOMMITTED.FUNDS", "PAID.UP.CAPITAL",
    "SHORT.TERM.DEBT", "SALES", "LABOR.COSTS", "DEPRECIATION", "OPERATING.PROFIT", "FINANCIAL.OUTCOME",
    "GROSS.PROFIT", "NET.PROFIT",
)
_EIA10 = (
    "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "OTHREVENUE",
    "OTHRSALES", "TOTREVENUE", "TOTSALES",
)
# fmt: on


def casc_available(folder: Folder = None) -> bool:
    """Say whether the files of all three CASC sets are found.

    Parameters
    ----------
    folder : path, optional
        As for `load_census`.

    Returns
    -------
    bool
        Whether the files exist; they are not opened.
    """
    where = _casc_folder(folder)
    return all(_find(file, where) is not None for file in (_CENSUS_FILE, _TARRAGONA_FILE, _EIA_FILE))


def load_census(folder: Folder = None) -> Dataset:
    """Load the CASC set Census: raw values of all 13 attributes of 1080 records.

    Parameters
    ----------
    folder : path, optional
        The folder that holds census.csv, or sdcMicro's CASCrefmicrodata.rda (or .RData; this needs the
        extra ``coterie[rda]``). Without it: the folder named by the environment variable
        COTERIE_CASC_DIR; without that, ../shared/data relative to the current directory. Only the
        first of the three that is given is looked at. Case, dots, spaces and underscores in column
        names don't matter, and further columns are ignored.

    Returns
    -------
    Dataset
        1080 x 13.

    Raises
    ------
    CoterieError
        If the file is not found, lacks a column, or has another number of rows.

    References
    ----------
    Brand, Domingo-Ferrer, Mateo-Sanz 2002, CASC; used in Domingo-Ferrer, Sebé, Solanas 2008,
    doi:10.1016/j.camwa.2007.04.034, section 6.
    """
    return Dataset("census", _read_casc(_CENSUS_FILE, _CENSUS, folder), _CENSUS, _CASC)


def load_tarragona(folder: Folder = None) -> Dataset:
    """Load the CASC set Tarragona: raw values of all 13 attributes of 834 companies.

    Parameters
    ----------
    folder : path, optional
        The folder that holds tarragona.csv, or sdcMicro's Tarragona.rda; see `load_census`.

    Returns
    -------
    Dataset
        834 x 13.

    References
    ----------
    Brand, Domingo-Ferrer, Mateo-Sanz 2002, CASC; used in Domingo-Ferrer, Sebé, Solanas 2008,
    doi:10.1016/j.camwa.2007.04.034, section 6.
    """
    return Dataset("tarragona", _read_casc(_TARRAGONA_FILE, _TARRAGONA, folder), _TARRAGONA, _CASC)


def load_eia(folder: Folder = None) -> Dataset:
    """Load the CASC set EIA: raw values of 11 attributes (1 and 6 to 15) of 4092 records.

    The 11th attribute of the papers is the number of the utility (UTILITYID), used as a quantity.

    Parameters
    ----------
    folder : path, optional
        The folder that holds eia.csv, or sdcMicro's EIA.rda; see `load_census`.

    Returns
    -------
    Dataset
        4092 x 11.

    References
    ----------
    Brand, Domingo-Ferrer, Mateo-Sanz 2002, CASC; attributes as in Thaeter, Reischuk 2018,
    doi:10.18420/sicherheit2018_05, section 5.
    """
    columns = ("UTILITYID", *_EIA10)
    return Dataset("eia", _read_casc(_EIA_FILE, columns, folder), columns, _CASC)


def load_eia10(folder: Folder = None) -> Dataset:
    """Load the CASC set EIA without UTILITYID: raw values of 10 attributes of 4092 records.

    Parameters
    ----------
    folder : path, optional
        The folder that holds eia.csv, or sdcMicro's EIA.rda; see `load_census`.

    Returns
    -------
    Dataset
        4092 x 10.

    References
    ----------
    Brand, Domingo-Ferrer, Mateo-Sanz 2002, CASC.
    """
    return Dataset("eia-10", _read_casc(_EIA_FILE, _EIA10, folder), _EIA10, _CASC)


def load_eia600(folder: Folder = None) -> Dataset:
    """Load EIA-600: the first 600 records of EIA, ALREADY standardized.

    The 10 attributes of `load_eia10` are standardized over all 4092 records (mean 0, variance 1,
    ddof 0), and then the first 600 are taken. Use it with ``standardize=False``: standardizing the 600
    again gives another data set. The paper states neither the order of the two steps nor the
    attributes; this reading gives its SST, 5541.47.

    Parameters
    ----------
    folder : path, optional
        The folder that holds eia.csv, or sdcMicro's EIA.rda; see `load_census`.

    Returns
    -------
    Dataset
        600 x 10.

    References
    ----------
    Domingo-Ferrer, Sebé 2006, Privacy in Statistical Databases, section 5.
    """
    X = _read_casc(_EIA_FILE, _EIA10, folder)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Dataset("eia-600", Z[:600].copy(), _EIA10, f"{_TWO_MU_APPROX}, section 5; data: {_CASC}")


def _casc_folder(folder: Folder) -> Path:
    given = folder if folder is not None else os.environ.get("COTERIE_CASC_DIR")
    return Path(given).expanduser() if given else Path("..", "shared", "data")


def _find(file: _CascFile, where: Path) -> Path | None:
    return next((where / name for name in file.names() if (where / name).is_file()), None)


def _read_casc(file: _CascFile, wanted: tuple[str, ...], folder: Folder) -> Matrix:
    where = _casc_folder(folder)
    path = _find(file, where)
    if path is None:
        hint = (
            "give the folder, or name it in the environment variable COTERIE_CASC_DIR; "
            "the data ship with the R package sdcMicro."
        )
        what = f"The folder of the CASC data must hold one of {', '.join(file.names())}."
        raise CoterieError(what, f"the folder {where}", hint)
    columns = _read_csv(path) if path.suffix == ".csv" else _read_rda(path, file.r_object)
    return _matrix(columns, wanted, file.rows, path.name)


def _read_csv(path: Path) -> Columns:
    from pyarrow import csv

    try:
        table = csv.read_csv(path)
        return [(name, table.column(j).to_numpy()) for j, name in enumerate(table.column_names)]
    except ValueError:
        # pyarrow's own message quotes the row it stumbled over
        raise CoterieError(f"{path.name} must be a CSV file in UTF-8 with a line of column names.") from None


def _read_rda(path: Path, r_object: str) -> Columns:
    try:
        import pyreadr
    except ImportError:
        hint = 'pip install "coterie[rda]"'
        raise CoterieError(f"Reading {path.name} needs the package pyreadr.", hint=hint) from None
    try:
        frames = pyreadr.read_r(str(path))
    except (pyreadr.PyreadrError, pyreadr.LibrdataError):
        raise CoterieError(f"{path.name} must be a file of R data (.rda or .RData).") from None
    if r_object not in frames:
        got = f"the objects {sorted(map(str, frames))}"
        raise CoterieError(f"{path.name} must hold the data frame {r_object}.", got)
    frame = frames[r_object]
    return [(str(name), frame.iloc[:, j].to_numpy()) for j, name in enumerate(frame.columns)]


def _matrix(columns: Columns, wanted: tuple[str, ...], rows: int, file: str) -> Matrix:
    """Pick the wanted columns, in their order, and check them."""
    found: dict[str, list[npt.NDArray[Any]]] = {}
    for name, values in columns:
        found.setdefault(_plain(name), []).append(values)
    missing = [name for name in wanted if _plain(name) not in found]
    if missing:
        raise CoterieError(f"{file} must have all columns of the data set.", f"no {', '.join(missing)}")
    repeated = [name for name in wanted if len(found[_plain(name)]) > 1]
    if repeated:
        what = f"{file} must have every column once."
        raise CoterieError(what, f"more than one {', '.join(repeated)}")
    picked = [found[_plain(name)][0] for name in wanted]
    if len(picked[0]) != rows:
        raise CoterieError(f"{file} must have {rows} rows.", f"{len(picked[0])} rows")
    bad = [name for name, values in zip(wanted, picked, strict=True) if not _is_finite(values)]
    if bad:
        what = f"The columns of {file} must be numbers, with no value missing."
        raise CoterieError(what, f"something else in {', '.join(bad)}")
    return np.ascontiguousarray(np.column_stack(picked), dtype=np.float64)


def _plain(name: str) -> str:
    return re.sub(r"[\s._]", "", name).casefold()


def _is_finite(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind in "iuf" and bool(np.isfinite(values).all())


# ---- the papers' simulations ----


def make_simu(seed: int = 0) -> Dataset:
    """Simulate SimU: 1000 records, 10 independent uniform attributes.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        1000 x 10.

    Notes
    -----
    The paper doesn't state the range: here it is [0, 1), which standardizing makes irrelevant.

    References
    ----------
    Thaeter, Reischuk 2018, doi:10.18420/sicherheit2018_05, section 5.
    """
    X = np.random.default_rng(seed).uniform(size=(1000, 10))
    return Dataset("simu", X, _numbered(10), f"{_MDAV_STAR}, section 5")


def make_simc(seed: int = 0) -> Dataset:
    """Simulate SimC: 100 tight clusters of 4 to 21 records, and a third as many scattered records.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        About 1667 x 10; the number of records depends on the seed.

    Notes
    -----
    Left open by the paper, and assumed here: attributes range over [0, 1); a cluster's size is a
    uniform integer, 4 and 21 included; "at most 0.5 %" is of an attribute's range, so deviations are
    uniform in [-0.005, 0.005], and a record may leave [0, 1) by that much; the centres are no
    records; x/3 is rounded down. Clusters come one after another, then the scattered records.

    References
    ----------
    Thaeter, Reischuk 2018, doi:10.18420/sicherheit2018_05, section 5.
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(size=(100, 10))
    clusters = np.repeat(centres, rng.integers(4, 21, size=100, endpoint=True), axis=0)
    clusters += rng.uniform(-0.005, 0.005, size=clusters.shape)
    X = np.vstack([clusters, rng.uniform(size=(len(clusters) // 3, 10))])
    return Dataset("simc", X, _numbered(10), f"{_MDAV_STAR}, section 5")


def make_scattered(seed: int = 0) -> Dataset:
    """Simulate "Scattered": 1000 records, 2 attributes, no natural clusters.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        1000 x 2, values in [-10000, 10000].

    Notes
    -----
    "Simple random sampling" is taken to mean independent uniform real numbers.

    References
    ----------
    Domingo-Ferrer, Solanas, Martínez-Ballesté 2006, IEEE Granular Computing, section VI.
    """
    X = np.random.default_rng(seed).uniform(-10000, 10000, size=(1000, 2))
    return Dataset("scattered", X, _numbered(2), f"{_SURVEY}, section VI")


def make_clustered(seed: int = 0, spread: float = 0.01) -> Dataset:
    """Simulate "Clustered": 1000 records, 2 attributes, natural clusters of 3 to 5 records.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    spread : float
        The most that a record deviates from its cluster's centre in an attribute, as a fraction of the
        range (20000); between 0 and 0.5.

    Returns
    -------
    Dataset
        1000 x 2, values in [-10000, 10000].

    Notes
    -----
    Left open by the paper, and assumed here: sizes 3, 4 and 5 are equally likely, but for the last
    clusters, which make the total 1000; centres and deviations are uniform, and centres keep so far
    from the border that no record leaves the range. The spread isn't stated either: with 0.01 (200
    units) all figures of table I (MD, MDAV, V-MDAV with gamma 1.1) lie within the range of 25 seeds,
    with 0.002 or 0.0125 they don't. Clusters come one after another.

    References
    ----------
    Domingo-Ferrer, Solanas, Martínez-Ballesté 2006, IEEE Granular Computing, section VI.
    """
    if not 0 <= spread <= 0.5:
        raise CoterieError("spread must be between 0 and 0.5.", repr(spread))
    rng = np.random.default_rng(seed)
    sizes = _cluster_sizes(rng, 1000)
    reach = 20000 * spread
    centres = rng.uniform(-10000 + reach, 10000 - reach, size=(len(sizes), 2))
    X = np.repeat(centres, sizes, axis=0) + rng.uniform(-reach, reach, size=(1000, 2))
    return Dataset("clustered", X, _numbered(2), f"{_SURVEY}, section VI")


def make_normal16(seed: int = 0) -> Dataset:
    """Simulate a non-clustered set small enough to be solved exactly: N(0, 1) throughout.

    Parameters
    ----------
    seed : int
        Seed of the generator. The paper averages over five sets.

    Returns
    -------
    Dataset
        16 x 13.

    Notes
    -----
    Attributes are taken to be independent, here and in `make_clusters5` and `make_clusters4`.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, section 6, table 6.
    """
    return _normal_clusters("normal-16", seed, sizes=(16,), means=(0,), table=6)


def make_clusters5(seed: int = 0) -> Dataset:
    """Simulate five clusters of 2, 2, 3, 4 and 5 records around 0, 3, 6, 9 and 12.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        16 x 13, clusters one after another.

    Notes
    -----
    Every attribute of a cluster is N(mean, 1). The size of the printed SSE (109.68 for k = 2; the
    clusters alone have about 13 (16 - 5) = 143) shows that the paper did not standardize this set.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, section 6, table 7.
    """
    return _normal_clusters("clusters-5", seed, sizes=(2, 2, 3, 4, 5), means=(0, 3, 6, 9, 12), table=7)


def make_clusters4(seed: int = 0) -> Dataset:
    """Simulate four clusters of 3, 4, 4 and 5 records around 0, 4, 8 and 12.

    Parameters
    ----------
    seed : int
        Seed of the generator.

    Returns
    -------
    Dataset
        16 x 13, clusters one after another.

    Notes
    -----
    Every attribute of a cluster is N(mean, 1); not standardized, as `make_clusters5`.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas 2008, doi:10.1016/j.camwa.2007.04.034, section 6, table 8.
    """
    return _normal_clusters("clusters-4", seed, sizes=(3, 4, 4, 5), means=(0, 4, 8, 12), table=8)


def _normal_clusters(
    name: str, seed: int, sizes: tuple[int, ...], means: tuple[int, ...], table: int
) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(np.repeat(means, sizes)[:, np.newaxis], 1, size=(sum(sizes), 13))
    return Dataset(name, X, _numbered(13), f"{_MU_APPROX}, table {table}")


def _cluster_sizes(rng: np.random.Generator, n: int) -> list[int]:
    """Sizes from 3 to 5 that sum to n: what is left is always nothing or enough for a cluster."""
    sizes: list[int] = []
    while n:
        size = int(rng.choice([size for size in (3, 4, 5) if n == size or n - size >= 3]))
        sizes.append(size)
        n -= size
    return sizes


def _numbered(p: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(1, p + 1))


DATASETS: dict[str, Callable[..., Dataset]] = {
    "census": load_census,
    "tarragona": load_tarragona,
    "eia": load_eia,
    "eia-10": load_eia10,
    "eia-600": load_eia600,
    "sme": load_companies,
    "points-13": load_points13,
    "line-11": load_line11,
    "simu": make_simu,
    "simc": make_simc,
    "scattered": make_scattered,
    "clustered": make_clustered,
    "normal-16": make_normal16,
    "clusters-5": make_clusters5,
    "clusters-4": make_clusters4,
}
"""Every data set by its name; each function can be called without arguments."""
