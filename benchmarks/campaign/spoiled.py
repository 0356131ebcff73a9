"""Damaged inputs: whatever is in a file, a command ends with 0, 1 or 2 and says something plain.

Nothing is written unless it ends with 0.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.campaign.plans import random_plan
from benchmarks.campaign.releases import Case
from benchmarks.campaign.tables import random_table
from benchmarks.campaign.texts import FORMATS
from benchmarks.campaign.trial import Trial

TARGETS = ("release.csv", "numbers.json", "report.html", "recoding.json", "new.toml", "risks.csv")
STRANGE = [
    "1e999999999", "-1", "0", "1e308", "nan", "inf", "-inf", "null", "true", "[]", "{}", '""', "*",
    "''", "9" * 400, "0x10", "1_000", "2024-13-45", "0001-01-01", "9999-12-31", '"*"', '["*"]',
    "1979-05-27T07:32:00Z", "[[]]", "{ ranges = [1e-300] }", "{ prefixes = [1000000000] }",
    '{ dates = ["hour"] }', "{ prefixes = true, length = 1000000000 }", "{ ranges = [0.1, 0.3] }",
    "{ free_sets = [1, 2] }", "{ free_ranges = true, low = -1e300, high = 1e300 }", '"."',
    '"../../etc/passwd"', '"plan.toml"', "\u0000", "\ufeff", "é" * 50, "\u202e", "\x00\xd8",
]  # fmt: skip


def run(trial: Trial) -> None:
    """Spoil one or two of the files of a small release, and run every command that reads them."""
    rng, folder = trial.rng, trial.folder
    table = random_table(rng, rows=rng.choice([1, 3, 12, 40]))
    plan = random_plan(rng, table)
    if plan.get("algorithm", {}).get("name") == "auto" or plan.get("loss") in (
        "auto",
        "mean",
        "entropy",
    ):
        plan |= {"algorithm": {"name": "gaa"}, "loss": "lm"}
    case = Case(trial, table, plan)
    data = case.write()
    first = ["anonymize", data, "--plan", "plan.toml", "--out", f"old.{rng.choice(FORMATS)}"]
    made = trial.run(*first, "--recoding", "old.json", seconds=90)
    files = [data, "plan.toml", *table.files] + (["old.json", first[5]] if made.code == 0 else [])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for _ in range(4):
        for name, content in before.items():
            _remove(folder / name)
            (folder / name).write_bytes(content)
        for name in rng.sample(files, rng.choice([1, 1, 1, 2])):
            trial.commands.append(f"spoiled: {name} by {_spoil(rng, folder / name)}")
        _command(trial, data, first[5] if made.code == 0 else data)


def _command(trial: Trial, data: str, old: str) -> None:
    rng, folder = trial.rng, trial.folder
    kinds = {"anonymize": 8, "audit": 4, "draft": 4, "apply": 4, "compare": 1}
    kind = rng.choices(list(kinds), list(kinds.values()))[0]
    plan = ["--plan", "plan.toml"]
    match kind:
        case "anonymize":
            words = [data, *plan, "--out", "release.csv", "--json", "numbers.json"]
            words += ["--report", "report.html"] if rng.random() < 0.2 else []
        case "audit":
            words = [old, *plan, "--original", data, "--json", "numbers.json"]
            words += ["--population", data] if rng.random() < 0.3 else []
        case "draft":
            words = [data, "--out", "new.toml"]
        case "apply":
            words = [
                data,
                "--recoding",
                "old.json",
                "--out",
                "release.csv",
                "--json",
                "numbers.json",
            ]
        case _:
            words = [data, *plan, "--algorithms", "gaa", "--json", "numbers.json"]
    names = {path.name for path in folder.iterdir()}
    ran = trial.run(kind, *words, seconds=60)
    trial.counts[f"{kind}: exit {ran.code}"] += 1
    written = sorted({path.name for path in folder.iterdir()} - names - {"out.txt", "err.txt"})
    fine = ran.code == 0 or (
        kind == "audit" and ran.code == 1
    )  # a violated requirement is a result
    if not fine:
        trial.check(not written, f"{kind}: exit {ran.code}, and written: {written}")
        trial.check(ran.err.strip(), f"{kind}: exit {ran.code} without a word")
    strange = [name for name in written if name not in TARGETS]
    trial.check(not strange, f"{kind}: left behind: {strange}")
    for name in written:
        (folder / name).unlink()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _spoil(rng, path: Path) -> str:
    """Change a file in place, and say how."""
    content = bytearray(path.read_bytes())
    ways = ["bits", "cut", "double", "insert", "empty", "noise", "line", "encoding", "special"]
    text = path.suffix not in (".parquet", ".gz", ".xz", ".zst", ".feather", ".xlsx")
    if text:
        ways += ["word", "word", "word", "header", "quote", "nest", "long", "crlf"]
    if path.suffix == ".json":
        ways += ["json", "json", "json"]
    way = rng.choice(ways)
    at = rng.randrange(len(content) + 1)
    match way:
        case "bits":
            for _ in range(rng.choice([1, 1, 5, 50])):
                if content:
                    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        case "cut":
            content = content[:at]
        case "double":
            content = content + content
        case "insert":
            content[at:at] = rng.choice(
                [b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b",", b"\n", b"\r"]
            )
        case "empty":
            content = bytearray()
        case "noise":
            content = bytearray(rng.randbytes(200))
        case "line":
            lines = content.split(b"\n")
            lines.insert(
                rng.randrange(len(lines)), rng.choice(lines) + rng.choice([b"", b",x", b";;"])
            )
            content = bytearray(b"\n".join(lines))
        case "encoding":
            content = bytearray(
                content.decode("latin-1").encode(rng.choice(["utf-16", "utf-32", "utf-7"]))
            )
        case "special":
            path.unlink()
            kinds = ["a directory", "a link to itself"]
            if path.name.startswith(("data.", "old.")) and path.suffix != ".json":
                kinds.append("a pipe")  # nobody writes to it; of a plan that is waited for
            kind = rng.choice(kinds)
            if kind == "a directory":
                path.mkdir()
            elif kind == "a pipe":
                os.mkfifo(path)
            else:
                path.symlink_to(path.name)
            return kind
        case "word":
            words = content.decode("utf-8", "replace").split(" ")
            words[rng.randrange(len(words))] = rng.choice(STRANGE)
            content = bytearray(" ".join(words).encode("utf-8", "replace"))
        case "header":
            first, _, rest = bytes(content).partition(b"\n")
            cells = first.split(b",")
            cells[rng.randrange(len(cells))] = rng.choice([*cells, b"", b" ", b'"', b"a" * 5000])
            content = bytearray(b",".join(cells) + b"\n" + rest)
        case "quote":
            content = bytearray(
                bytes(content).replace(b",", rng.choice([b'"x"y,', b',"', b"','"]), 1)
            )
        case "nest":
            deep = rng.choice([60, 3000, 100_000])
            content[at:at] = rng.choice([b"[" * deep, b"{a=" * deep, b"[" * deep + b"]" * deep])
        case "long":
            content[at:at] = b"9" * rng.choice([500, 5000, 1_000_000])
        case "crlf":
            content = bytearray(
                bytes(content).replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n"]))
            )
        case "json":
            return "json: " + _spoil_json(rng, path)
    path.write_bytes(content)
    return way


def _spoil_json(rng, path: Path) -> str:
    """Put something strange somewhere into a JSON file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    place, key, inside = None, None, content
    while isinstance(inside, dict | list) and inside and (place is None or rng.random() < 0.8):
        key = rng.choice(list(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
        place, inside = inside, inside[key]
    strange = [None, 1, -1, 1e300, "x", [], {}, [[]], True, "9" * 400, [None], {"a": None}, ""]
    chosen = rng.choice(strange)
    if place is not None:
        if rng.random() < 0.3 and isinstance(place, dict):
            del place[key]
        else:
            place[key] = chosen
    path.write_text(json.dumps(content), encoding="utf-8")
    return f"{key!r} = {chosen!r}"
