"""Commands that are interrupted or killed at random moments.

SIGINT ends with 130 and SIGTERM with 143, as a shell shows it. Whenever a signal
comes, a target is absent, as it was before, or complete; no other file is left; after SIGKILL what
is left is private, and gone after the next run. Private files are private.
"""

from __future__ import annotations

import signal
import stat
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic

from benchmarks.campaign.tables import Column, Table, random_table
from benchmarks.campaign.texts import plan_text, write_table
from benchmarks.campaign.trial import Trial
from benchmarks.campaign.worker import command, environment

# A shell shows 130 and 143 also for a process that the signal itself ends.
SIGNALS = {"SIGINT": (130, -2), "SIGTERM": (143, -15), "SIGKILL": (-9,)}
PRIVATE = ("numbers.json", "report.html", "recoding.json", "risks.csv")
ALGORITHMS = (
    "peel", "gaa", "agglomerative", "full-domain", "mondrian", "forest", "sequential", "k-member",
    "kaca", "mdav", "microaggregation", "concealment", "danonyir", "geneir", "auto",
)  # fmt: skip
OLD = b"what was there before\n"
PATIENCE = 120  # seconds after a signal within which a command must end; it is a second by rights
KILLS = 4  # of each command


def run(trial: Trial) -> None:
    """Run a command in peace, and then again and again with a signal at a random moment."""
    words, targets = _command(trial)
    case, recoding = _case(trial.rng), words[0] == "apply"
    if words[0] == "audit" and case[1]["algorithm"]["name"] == "concealment":
        words += ["--original", "data.csv"]  # which k-concealment is measured against
    # What the command writes when nothing happens, and how long it takes.
    for name in ("first", "peace"):
        peace = trial.folder / name
        _inputs(trial, peace, case, recoding)
        begin = monotonic()
        done = _start(words, peace)
        if done.wait(600) not in (0, 1, 2 if recoding else 0):
            trial.failures.append(f"{words[0]} without a signal: exit {done.returncode}")
            return
        lasts = monotonic() - begin
        if b"Compiling" not in (peace / "err.txt").read_bytes():
            break  # else what is measured is how long compiling takes
    complete = {path.name: path.read_bytes() for path in peace.rglob("*") if path.is_file()}
    for i in range(KILLS):
        scene = trial.folder / f"scene{i}"
        before = _inputs(trial, scene, case, recoding)
        _kill(trial, Scene(scene, words, targets, before, complete), lasts, done.returncode)


@dataclass
class Scene:
    """A folder in which a command is killed."""

    folder: Path
    words: list
    targets: list[str]
    before: list[str]  # files that the command reads
    complete: dict[str, bytes]  # what it writes when nobody disturbs it


def _kill(trial: Trial, scene: Scene, lasts: float, undisturbed: int) -> None:
    """Start the command, send a signal at a random moment, and look at what is there then."""
    rng, words = trial.rng, scene.words
    modes = {}
    for target in scene.targets:
        if rng.random() < 0.4:  # something is there already, and only some may read it
            (scene.folder / target).write_bytes(OLD)
            modes[target] = rng.choice([0o600, 0o640])
            (scene.folder / target).chmod(modes[target])
    name = rng.choice(list(SIGNALS))
    process = _start(words, scene.folder)
    with suppress(subprocess.TimeoutExpired):
        process.wait(rng.uniform(min(0.35, lasts / 2), 1.02 * lasts))
    process.send_signal(getattr(signal, name))
    since = monotonic()
    try:
        code = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
        trial.failures.append(f"{words[0]}: not ended {PATIENCE} s after {name}")
    took = monotonic() - since
    trial.counts["kills"] += 1
    trial.counts[f"{name}: exit {code}"] += 1
    trial.counts[f"killed: {words[0]}"] += 1
    trial.counts["ended more than 5 s after the signal"] += took > 5
    said = (scene.folder / "err.txt").read_text(errors="replace")
    trial.commands.append(f"{name} to: shoal {' '.join(map(str, words))}    # exit {code}\n{said}")
    allowed = {*SIGNALS[name], 0, undisturbed}
    if words[0] == "compare" and name == "SIGTERM":
        allowed.add(130)  # what has finished is written (docs/comparing.md)
    trial.check(code in allowed, f"{words[0]}: exit {code} after {name}: {said[-200:]!r}")
    trial.check("Traceback" not in said, f"{words[0]}: traceback after {name}")
    _look(trial, scene, modes, name)


def _look(trial: Trial, scene: Scene, modes: dict[str, int], name: str) -> None:
    """What is in the folder after a signal."""
    folder, words, targets, complete = scene.folder, scene.words, scene.targets, scene.complete
    partial = words[0] in ("demo", "reproduce", "compare")  # several files, one after the other
    expected = {*scene.before, *targets, "out.txt", "err.txt", *(complete if partial else ())}
    left = [p for p in folder.rglob("*") if p.is_file() and p.name not in expected]
    if name == "SIGKILL":
        for path in left:
            trial.counts["left behind by SIGKILL"] += 1
            mode = stat.S_IMODE(path.stat().st_mode)
            trial.check(not mode & 0o077, f"{words[0]}: {path.name} left with mode {mode:o}")
    else:
        trial.check(not left, f"{words[0]}: left after {name}: {[p.name for p in left]}")
    for target in targets:
        path = folder / target
        if not path.exists():
            trial.check(target not in modes, f"{words[0]}: {target} is gone after {name}")
            continue
        content, mode = path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
        if target in modes:
            trial.check(
                mode == modes[target], f"{words[0]}: {target} had {modes[target]:o}, has {mode:o}"
            )
            if content == OLD:
                continue
        elif target in PRIVATE:
            trial.check(not mode & 0o077, f"{words[0]}: {target} is new with mode {mode:o}")
        whole = _whole(target, content, complete.get(target))
        trial.check(whole, f"{words[0]}: {target} is half-written after {name}")
    if name == "SIGKILL" and left and words[0] != "list":
        for target in targets:
            (folder / target).unlink(missing_ok=True)
        again = _start(words, folder)
        again.wait(600)
        trial.counts["runs after SIGKILL"] += 1
        # One that is empty and new may belong to a run that has just begun, and is left alone.
        still = [p.name for p in left if p.exists() and p.stat().st_size]
        trial.check(not still, f"{words[0]}: still there after the next run: {still}")


def _whole(target: str, content: bytes, complete: bytes | None) -> bool:
    """Whether a file is what an undisturbed run writes; times and the like in it may differ."""
    if target.endswith(".json") and target != "recoding.json":
        return content.rstrip().endswith(b"}")
    if target.endswith((".html", ".svg")):
        return content.rstrip().endswith((b"</html>", b"</svg>"))
    if target in ("runs.csv",):
        return content.endswith(b"\n")
    return content == complete


def _start(words: list, folder: Path) -> subprocess.Popen:
    with (folder / "out.txt").open("wb") as out, (folder / "err.txt").open("wb") as err:
        return subprocess.Popen(
            command(words), cwd=folder, env=environment(), stdout=out, stderr=err,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip


def _command(trial: Trial) -> tuple[list, list[str]]:
    """A random command and the files that it is to write."""
    rng = trial.rng
    kind = rng.choices(
        ["anonymize", "audit", "apply", "compare", "draft", "demo", "list", "reproduce"],
        [50, 10, 12, 8, 6, 6, 2, 3],
    )[0]
    plan = ["data.csv", "--plan", "plan.toml"]
    release = rng.choice(["release.csv", "release.csv.gz", "release.parquet", "release.csv.zst"])
    match kind:
        case "anonymize":
            words = [
                *plan,
                "--out",
                release,
                "--json",
                "numbers.json",
                "--recoding",
                "recoding.json",
            ]
            targets = [release, "numbers.json", "recoding.json"]
            if rng.random() < 0.4:
                words, targets = [*words, "--report", "report.html"], [*targets, "report.html"]
        case "audit":
            words = [*plan, "--json", "numbers.json", "--record-risks", "risks.csv"]
            targets = ["numbers.json", "risks.csv"]
        case "apply":
            words = ["data.csv", "--recoding", "old.json", "--out", release, "--seed", "1"]
            words, targets = [*words, "--json", "numbers.json"], [release, "numbers.json"]
        case "compare":
            words = [*plan, "--algorithms", "peel,gaa,mondrian", "--k", "2,5", "--csv", "runs.csv"]
            words, targets = [*words, "--json", "numbers.json"], ["runs.csv", "numbers.json"]
        case "draft":
            words, targets = ["data.csv", "--out", "new.toml", "--force"], ["new.toml"]
        case "demo":
            words, targets = ["--out", "demo", "--rows", "4000"], []
        case "list":
            words, targets = [], []
        case _:
            words, targets = ["li2007", "--quick", "--out", "paper"], []
    return [kind, *words], targets


def _inputs(trial: Trial, folder: Path, case: tuple[Table, dict], recoding: bool) -> list[str]:
    """A table that keeps a command busy for some seconds, its plan and maybe a recoding."""
    folder.mkdir()
    table, plan = case
    write_table({column.name: column.cells for column in table.columns}, folder / "data.csv")
    (folder / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    for name, text in table.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if recoding:
        old = trial.folder / "old.json"
        if not old.exists():
            words = ["anonymize", folder / "data.csv", "--plan", folder / "plan.toml"]
            trial.run(*words, "--out", trial.folder / "old.csv", "--recoding", old, seconds=300)
        (folder / "old.json").write_bytes(old.read_bytes() if old.exists() else b"{}")
    return [path.name for path in folder.iterdir()]


def _case(rng: Random) -> tuple[Table, dict]:
    algorithm = rng.choice(ALGORITHMS)
    rows = {"agglomerative": 6000, "forest": 6000, "k-member": 6000, "concealment": 1500}
    n = rows.get(algorithm, 15_000)
    table = random_table(rng, rows=n, people=0, free=0, odd=0)
    table.columns = [c for c in table.columns if c.role != "sensitive"]
    table.columns.append(
        Column("age", "quasi", [str(rng.randint(0, 99)) for _ in range(n)], {"ranges": [5, 10]})
    )
    table.columns.append(Column("ill", "sensitive", [rng.choice("abcdef") for _ in range(n)]))
    model = "k-concealment" if algorithm == "concealment" else "k-anonymity"
    models: list[dict] = [{"name": model, "k": 5}]
    if algorithm not in ("concealment", "danonyir", "geneir") and rng.random() < 0.5:
        models.append({"name": "t-closeness", "column": "ill", "t": 0.4})
    plan = {"columns": {c.name: c.setting() for c in table.columns}, "models": models, "seed": 1}
    plan["algorithm"] = {"name": algorithm} | ({"seconds": 3} if algorithm == "auto" else {})
    return table, plan
