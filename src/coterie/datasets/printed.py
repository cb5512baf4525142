"""The small sets that are printed in the papers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dataset import MDAV_STAR, MU_APPROX, V_MDAV, Dataset


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
    return Dataset("sme", X, ("surface", "employees"), f"{MU_APPROX}, table 1", other, roles)


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
    return Dataset("points-13", np.column_stack([x, y]), ("x", "y"), f"{V_MDAV}, example 1")


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
    return Dataset("line-11", X, ("x",), f"{MDAV_STAR}, section 3")
