"""What is refused for tables larger than memory, and why. Everything else of a recipe works part by part.

| refused | because | when |
|---|---|---|
| files other than CSV and Parquet | their readers hold the whole file | at the start |
| tables in memory | they are there as a whole already | at the start |
| a memory limit below 512 MiB | Python and its libraries take half of it | at the start |
| earlier releases (`[previous]`) | the class of every record must be known in all of them (`release/previous.py`) | at the start |
| t-closeness of a column with more than 50 million different values | its distance is a sum over all different values of the table, so all must be held (`protection/values.py`) | in the survey, before anything is grouped |
| analyses (`[analysis]`) | models and quantiles need all records at once, and columns of role other are not in the sample that measures are taken from (`release/analysing.py`) | at the start |
| nominal columns of bytes, times of day or durations, where a record gets a category that no record near it has | the category is known by its text alone, which such types are not read from (`tables/kinds/categories.py`) | while it is written |
"""  # noqa: E501

from __future__ import annotations

from pathlib import Path

from ..errors import CoterieError
from ..formats import kind_of

IN_PARTS = ("csv", "parquet")  # kinds of files that are read part by part
LEAST_MEMORY = 512 << 20


def refuse_in_parts(path: Path | None, memory: int) -> None:
    """Refuse what can't be done part by part, before any work."""
    if path is None:
        raise CoterieError("The engine duckdb works on files.", "a table in memory", "use engine memory.")
    if kind_of(path) not in IN_PARTS:
        what = "Only CSV and Parquet files can be read part by part."
        hint = "use engine memory, with a higher memory limit if needed, or save the file as CSV or Parquet."
        raise CoterieError(what, f"'{path.name}'", hint)
    if memory < LEAST_MEMORY:
        what = f"Part by part, the memory limit must be at least {LEAST_MEMORY >> 20} MiB."
        raise CoterieError(what, f"{memory:,} bytes")
