"""Loaders of the CASC reference sets.

They are not part of the package: they ship with the R package sdcMicro, and are read from a folder of the user's.
Nothing is ever downloaded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import CoterieError
from .dataset import CASC, TWO_MU_APPROX, Dataset, Matrix

Folder: TypeAlias = str | os.PathLike[str] | None
# a file's columns in order: R lets two columns share a name, so this is no dict
Columns: TypeAlias = list[tuple[str, npt.NDArray[Any]]]


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
    return Dataset("census", _read_casc(_CENSUS_FILE, _CENSUS, folder), _CENSUS, CASC)


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
    return Dataset("tarragona", _read_casc(_TARRAGONA_FILE, _TARRAGONA, folder), _TARRAGONA, CASC)


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
    return Dataset("eia", _read_casc(_EIA_FILE, columns, folder), columns, CASC)


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
    return Dataset("eia-10", _read_casc(_EIA_FILE, _EIA10, folder), _EIA10, CASC)


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
    return Dataset("eia-600", Z[:600].copy(), _EIA10, f"{TWO_MU_APPROX}, section 5; data: {CASC}")


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
