"""`make bench`: ratios measured in one run; the source of the figures in the README."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import (
    bound,
    concealment,
    databases,
    dependency,
    draft,
    effort,
    encode,
    flow,
    freeform,
    matching,
    merge,
    parts,
    peel,
    people,
    reading,
    samples,
    scale,
    spreadsheets,
    start,
    strategies,
    studio,
    threads,
)

PARTS = {
    "start": start,
    "encode": encode,
    "draft": draft,
    "dependency": dependency,
    "bound": bound,
    "effort": effort,
    "merge": merge,
    "strategies": strategies,
    "concealment": concealment,
    "freeform": freeform,
    "matching": matching,
    "people": people,
    "flow": flow,
    "peel": peel,
    "reading": reading,
    "spreadsheets": spreadsheets,
    "databases": databases,
    "scale": scale,
    "parts": parts,
    "threads": threads,
    "samples": samples,
    "studio": studio,
}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    results = []
    console = Console()
    for name in chosen:
        console.print(f"measuring: {name} …")
        results += PARTS[name].run()
    table = Table(title="shoal benchmarks", title_justify="left")
    for heading in ("what", "shoal", "plain scan", "ratio", "goal"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for row in results:
        table.add_row(
            row["what"],
            _shown(row),
            f"{row['plain scan']:.2f} s" if "plain scan" in row else "",
            f"{row['ratio']:.3g}" if "ratio" in row else "",
            row["goal"],
        )
    console.print(table)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def _shown(row: dict) -> str:
    if "gigabytes" in row:
        return f"{row['gigabytes']:.2f} GB"
    if "percent" in row:
        return f"{row['percent']:.2f} %"
    return f"{row['shoal']:.3f} s" if "shoal" in row else ""


main()
