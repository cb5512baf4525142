"""Record numbers, checked on what was written: 1 to n, each once."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

from coterie.errors import CoterieError
from coterie.verification import Claims, Guard, Scenario, verify_claims
from coterie.verification.cluster import verify_claims_on_spark
from spark_sessions import spark  # noqa: F401
from verified_files import written

CLAIMS = Claims((Scenario("all", ("q",), 2),), number="n")
CASES = [
    ([3, 1, 2, 4], True),
    ([1, 2, 3, 3], False),
    ([1, 2, 3, 5], False),
    ([0, 1, 2, 3], False),
    ([1, 2, 3, None], False),
    ([2, 3, 4, 5], False),
]


@pytest.mark.parametrize(("numbers", "ok"), CASES)
@pytest.mark.parametrize("kind", ["integers", "floats", "texts", "csv"])
def test_each_number_once(tmp_path, numbers, ok, kind):
    types = {"integers": pa.int32(), "floats": pa.float64(), "texts": pa.string()}
    if kind == "csv":
        rows = [f"1,{'' if n is None else n}" for n in numbers]
        release = written(tmp_path, "\n".join(["q,n", *rows]) + "\n")
    else:
        release = pa.table({"q": [1] * 4, "n": pa.array(numbers).cast(types[kind])})
    verdict = verify_claims(release, CLAIMS)
    assert verdict.ok is ok
    assert [check.what for check in verdict.checks] == ["k-anonymity", "record numbers"]
    assert verdict.checks[1].sentence.startswith("'n' numbers" if ok else "'n' does not number")


@pytest.mark.parametrize(
    "values", [["1", "2", "03", "4"], ["1", "2", "x", "4"], [1.0, 2.0, 2.5, 4.0], [True, False] * 2]
)
def test_other_values_are_no_numbers(values):
    assert not verify_claims(pa.table({"q": [1] * 4, "n": values}), CLAIMS).ok


def test_a_column_is_one_thing():
    with pytest.raises(CoterieError, match="a column of their own"):
        Claims((Scenario("all", ("q",), 2),), number="q")
    with pytest.raises(CoterieError, match="a column of their own"):
        Claims((Scenario("all", ("q",), 2),), guards=(Guard("n", "nominal"),), number="n")
    with pytest.raises(CoterieError, match="must be in the release"):
        verify_claims(pa.table({"q": [1, 1]}), CLAIMS)


def test_spark_counts_the_same(tmp_path, spark):  # noqa: F811
    """A number that stands in two files is seen."""
    for name, numbers in (("a", [3, 1]), ("b", [3, 4])):
        parquet.write_table(pa.table({"q": [1, 1], "n": numbers}), tmp_path / f"{name}.parquet")
    verdict = verify_claims_on_spark(spark, sorted(map(str, tmp_path.iterdir())), CLAIMS)
    assert verdict == verify_claims(tmp_path, CLAIMS)
    assert not verdict.ok
