"""What the tests of commands share: files of text made by hand, and a recipe on the disk."""

from __future__ import annotations

import coterie as ct

QUASI = {"role": "quasi", "kind": "numeric"}


def save_recipe(path, **document):
    ct.Recipe(**{"k": 2, "seed": 1, "method": "mdav", **document}).save(path)
    return path


def lines(header, rows, newline="\n"):
    return newline.join([header, *rows]) + newline
