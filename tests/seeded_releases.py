"""Seeded releases of many kinds, and the SHA-256 of each: what a clean-up must not change.

`python -m tests.seeded_releases` compares with the recorded ones, `--record` records them anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import shoal
from shoal import Plan

RECORDED = Path(__file__).parent / "seeded_releases.json"

K = {"name": "k-anonymity", "k": 3}
COLUMN = "diagnosis"
PARAMETERS: dict[str, dict[str, Any]] = {
    "alpha-k-anonymity": {"alpha": 0.7, "k": 3},
    "beta-likeness": {"beta": 4.0},
    "delta-disclosure": {"delta": 20.0},
    "distinct-l-diversity": {"l": 2},
    "eir-alpha-beta-anonymity": {"alpha": 0.7, "beta": 0.7},
    "eir-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 2},
    "frequency-l-diversity": {"l": 2},
    "ir-alpha-beta-anonymity": {"alpha": 0.7, "beta": 0.7},
    "ir-kl-anonymity": {"k": 3, "l": 2},
    "p-sensitivity": {"p": 2},
    "recursive-cl-diversity": {"c": 2.0, "l": 2},
    "t-closeness": {"t": 0.6},
}
LOSSES = "distortion entropy llm lm mean ncp nllm total wllm wnllm".split()
PEOPLE = ("danonyir", "geneir")
ALGORITHMS = (
    "agglomerative forest full-domain gaa k-member kaca mdav mondrian peel sequential".split()
)
FORMATS = "tsv csv.gz csv.xz csv.zst parquet".split()


def table(rows: int = 240) -> pa.Table:
    """Stays of invented people."""
    from shoal.datasets.hospital import hospital

    return hospital(rows, seed=5)


@cache
def _names() -> list[str]:
    """The columns of the table."""
    from shoal.datasets.hospital import hospital

    return hospital(1).column_names


def columns(**changes: Any) -> dict[str, Any]:
    """What each column is."""
    known: dict[str, Any] = {name: {"role": "other"} for name in _names()}
    known |= {
        "name": {"role": "identifier"},
        "patient": {"role": "person"},
        "birth date": {"role": "quasi", "hierarchy": {"dates": ["year", "10 years"]}},
        "sex": {"role": "quasi"},
        "postcode": {"role": "quasi", "hierarchy": {"prefixes": True}},
        "job": {"role": "quasi"},
        "diagnosis": {"role": "sensitive"},
        "smoker": {"role": "sensitive"},
    }
    return known | changes


def cases() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, format and plan of each release."""
    alone = columns(patient={"role": "identifier"})
    free = columns(
        job={"role": "quasi", "hierarchy": {"free_sets": True}},
        patient={"role": "identifier"},
    )
    for name in ALGORITHMS:
        for kind, given in (("rows", alone), ("people", columns())):
            yield f"{name}, {kind}", "csv", {"columns": given, "models": [K], "algorithm": name}
    for name in ("gaa", "agglomerative", "mondrian", "k-member", "mdav", "kaca"):
        yield f"{name}, free", "csv", {"columns": free, "models": [K], "algorithm": name}
    for loss in LOSSES:
        yield f"peel, {loss}", "csv", {"columns": alone, "models": [K], "loss": loss}
        yield f"gaa, {loss}", "csv", {
            "columns": alone, "models": [K], "loss": loss, "algorithm": "gaa",
        }  # fmt: skip
    for name, options in PARAMETERS.items():
        model = {"name": name, "column": COLUMN, **options}
        for kind, given in (("rows", alone), ("people", columns())):
            if kind == "rows" and "ir-" in name:
                continue
            yield f"{name}, {kind}", "csv", {"columns": given, "models": [K, model]}
    for name in PEOPLE:
        yield name, "csv", {
            "columns": columns(), "algorithm": name, "models": [{"name": "ir-k-anonymity", "k": 3}],
        }  # fmt: skip
    for name in ("k-1-anonymity", "1-k-anonymity", "k-k-anonymity", "k-concealment"):
        yield name, "csv", {
            "columns": alone, "algorithm": "concealment", "models": [{"name": name, "k": 3}],
        }  # fmt: skip
    for number in range(2, 8):
        yield f"S{number}", "csv", {
            "columns": alone,
            "algorithm": {"name": "gaa", "strategy": f"S{number}", "column": COLUMN},
            "models": [K, {"name": "distinct-l-diversity", "column": COLUMN, "l": 2}],
        }  # fmt: skip
    for form in FORMATS:
        yield f"peel, {form}", form, {"columns": alone, "models": [K]}


def digest(path: Path) -> str:
    """Of the bytes of a file; of Parquet, whose bytes depend on pyarrow, of what it holds."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return hashlib.sha256(
            json.dumps(pq.read_table(path).to_pylist(), default=str).encode()
        ).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def releases(every: int = 1) -> dict[str, str]:
    """The digest of each, or of every so many."""
    found = {}
    data = table()
    with tempfile.TemporaryDirectory() as folder:
        for name, form, settings in list(cases())[::every]:
            path = Path(folder) / f"release.{form}"
            try:
                shoal.anonymize(data, Plan(seed=7, **settings)).save(path)
                found[name] = digest(path)
            except shoal.BrokenPromise as error:
                found[name] = type(error).__name__
    return found


if __name__ == "__main__":
    now = releases()
    if "--record" in sys.argv:
        RECORDED.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        sys.exit(print(f"recorded {len(now)} releases"))
    before = json.loads(RECORDED.read_text(encoding="utf-8"))
    changed = [name for name in before if before[name] != now.get(name)]
    print(
        f"{len(before) - len(changed)} of {len(before)} releases are the same", *changed, sep="\n"
    )
    sys.exit(bool(changed))
