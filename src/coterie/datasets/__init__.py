"""The data of the papers: small printed sets, loaders of the CASC reference sets, seeded simulators.

Every function returns a `Dataset`, and `DATASETS` lists them by the name used in the tables of results.
"""

from __future__ import annotations

from collections.abc import Callable

from .casc import casc_available, load_census, load_eia, load_eia10, load_eia600, load_tarragona
from .dataset import Dataset
from .printed import load_companies, load_line11, load_points13
from .simulated import (
    make_clustered,
    make_clusters4,
    make_clusters5,
    make_normal16,
    make_scattered,
    make_simc,
    make_simu,
)

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
