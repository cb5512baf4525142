"""Facts of a made-up release, in the form that the reports take: for tests."""

from __future__ import annotations

from typing import Any

NAMES = ["age", "income", "education", "region", "admitted"]
DAY = 86_400e6


def _columns() -> list[dict[str, Any]]:
    roles = {
        "patient": ("identifier", "nominal", "dropped"),
        "age": ("quasi", "integer", "rounded mean"),
        "income": ("quasi", "numeric", "mean"),
        "education": ("quasi", "ordinal", "median category"),
        "region": ("quasi", "nominal", "mode"),
        "admitted": ("quasi", "datetime", "mean date"),
        "diagnosis": ("confidential", "nominal", "as it was"),
        "cost": ("confidential", "numeric", "with noise in constant groups"),
        "weight": ("other", "numeric", "as it was"),
    }
    return [
        {"name": n, "role": r, "kind": k, "released": v, "missing_before": 0, "missing_after": 0}
        for n, (r, k, v) in roles.items()
    ]


def _numeric(kind: str, edges: list[float]) -> dict[str, Any]:
    return {
        "kind": kind,
        "mean_change": 0.0014248,
        "variance_ratio": 0.9084271,
        "quantile_changes": {
            "p": [0.05, 0.25, 0.5, 0.75, 0.95],
            "change": [0.1357803, -0.0452601, 0.0, 0.09052, -0.13],
        },
        "histogram": {
            "edges": edges,
            "before": [2, 203, 301, 271, 221, 81, 1],
            "after": [0, 210, 310, 270, 215, 75, 0],
        },
    }


def _coded(kind: str, names: list[str]) -> dict[str, Any]:
    categories = {"names": names, "before": [311, 412, 302, 52, 3], "after": [320, 420, 300, 40, 0]}
    return {"kind": kind, "categories": categories, "total_variation": 0.0388889}


def _utility() -> dict[str, Any]:
    before = [[1.0 if i == j else 0.3 for j in range(3)] for i in range(3)]
    after = [[1.0 if i == j else 0.3 + 0.05 * (i - j) for j in range(3)] for i in range(3)]
    return {
        "columns": {
            "age": _numeric("integer", [18.37 + 10 * i for i in range(8)]),
            "income": _numeric("numeric", [1234.5 + 9876.1 * i for i in range(8)]),
            "education": _coded("ordinal", ["none", "primary", "secondary", "bachelor", "doctorate"]),
            "region": _coded("nominal", ["Centre", "East", "North", "South", "Tiny Hamlet"]),
            "admitted": _numeric("datetime", [DAY * (18_000.3 + 91.7 * i) for i in range(8)]),
            "cost": _numeric("numeric", [3.21 + 7.77 * i for i in range(8)]),
        },
        "correlations": {
            "names": ["age", "income", "cost"],
            "before": before,
            "after": after,
            "mean_change": 0.0667,
            "largest_change": 0.1,
        },
        "eigenvalues": {"before": [1.6, 0.7, 0.7], "after": [1.7, 0.7, 0.6], "change": 0.21},
        "propensity": {"pmse": 0.0034, "expected": 0.00075, "ratio": 4.52, "model": "logit", "records": 1080},
    }


def _classes(smallest: int, sizes: dict[str, int]) -> dict[str, Any]:
    return {
        "records": 1080,
        "classes": sum(sizes.values()),
        "unique": sizes.get("1", 0),
        "below_k": 1080 if smallest == 1 else 0,
        "smallest": smallest,
        "largest_risk": 1 / smallest,
        "mean_risk": sum(sizes.values()) / 1080,
        "expected_reidentifications": float(sum(sizes.values())),
        "sizes": sizes,
    }


def _risk() -> dict[str, Any]:
    says = {"sentence": "A sentence about risk.", "does_not_show": "It does not show all."}
    inferred = {"diagnosis": {"what": "right guesses", "value": 0.39, "baseline": 0.2, "constant_share": 0.25}}
    after = _classes(5, {"5": 189, "10-19": 13})
    return {
        "scenarios": [{"name": "all", "quasi": NAMES, "k": 5, "before": _classes(1, {"1": 1080}), "after": after}],
        "linkage": {"records": 1080, "sampled": False, "expected_correct": 207.0, "share": 0.192, "baseline": 0.0009},
        "intervals": {side: {"widths": [0.01, 0.05, 0.1], "share": [0.0, 0.06, 0.29]} for side in ("sd", "rank")},
        "confidential": [
            {"scenario": "all", "name": "diagnosis", "kind": "nominal", "classes": 202, "constant_classes": 55,
             "constant_records": 275, "least_distinct": 1, "least_entropy_l": 1.0, "largest_t": 0.57},
        ],
        "singling_out": {"before": 1080, "after": 0, **says},
        "linkability": {"before": 1.0, "after": 0.19, **says},
        "inference": {"columns": inferred, **says},
    }  # fmt: skip


def release_facts() -> dict[str, Any]:
    """A new copy of the facts."""
    check = {
        "what": "k-anonymity", "scenario": "all", "columns": NAMES, "wanted": 5, "found": 5, "classes": 202,
        "offending_classes": 0, "offending_records": 0, "sentence": "Every record shares its values with 4 others.",
    }  # fmt: skip
    per_column = {"age": {"loss": 9.1728, "il1s": 0.16915}, "income": {"loss": 9.6832, "il1s": 0.17047}}
    per_column |= {n: {"loss": 16.8459, "il1s": None, "mismatch": 0.21481} for n in ("education", "region")}
    return {
        "coterie": "0.1.0",
        "created": "2026-11-16",
        "recipe": {"k": 5, "seed": 987654321, "method": {"name": "mdav"}, "weights": {"column": "weight"},
                   "strata": {"within": ["region"], "small": "suppress"}, "missing": {"policy": "group"},
                   "columns": {"age": {"role": "quasi", "kind": "integer"}}},
        "input": {"name": "patients-2026.csv", "records": 1082, "columns": 9},
        "output": {"name": "data.csv", "records": 1080, "columns": 8, "suppressed": 2, "blanked": 50, "shuffled": True},
        "columns": _columns(),
        "groupings": [{
            "name": "all", "quasi": NAMES, "k": 5, "method": "mdav", "params": {}, "groups": 216, "sizes": {"5": 216},
            "sse": 566.08, "sst": 4746.1, "loss": 11.927, "loss_weighted": 14.831,
            "bound": {"sse": 350.97, "loss": 7.3949, "gap": 0.6129, "kind": "neighbours", "sentence": "No grouping."},
        }],
        "verdict": {"ok": True, "checks": [check]},
        "measures": {
            "loss": {"sse": 700.5, "sst": 4746.1, "loss": 14.76, "loss_euclidean": 36.09, "loss_weighted": 14.83,
                     "columns": per_column, "il1s_mean": 0.1665, "il1s_sum": 539.47},
            "utility": _utility(),
            "risk": _risk(),
        },
        "notes": ["In 55 classes all records have the same value of diagnosis."],
    }  # fmt: skip


def candidates() -> list[dict[str, Any]]:
    """Of a comparison."""
    return [
        {"method": m, "k": k, "loss": 5.0 + k + i, "risk": 0.9 / k, "largest_risk": 1 / k, "seconds": 0.5,
         "on_frontier": i == 0}
        for k in (3, 5, 10) for i, m in enumerate(("auto", "mdav", "path"))
    ]  # fmt: skip
