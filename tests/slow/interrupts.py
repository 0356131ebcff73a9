"""Interrupts at random moments of every command with every algorithm.

`python -m tests.slow.interrupts [TIMES] [SEED]`: each time a command is started in a process of its
own, and gets SIGINT or SIGTERM at a random moment from when it can take signals until it would be
done. It must end with 130 or 143, without a traceback, without the word defect, and must leave
complete files or none. If the signal was too late, it must be done as if there had been none: with
the same status and all files. Either way it may use less than a second of processor time after the
signal. The clock on the wall says nothing about that, as other programs may have taken the
processor.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from shoal import Plan, catalog
from shoal.models.k_anonymity import KAnonymity

ROOT = Path(__file__).parents[2]
ROWS = 3_000
PATIENCE = 300  # seconds after which a command that was interrupted hangs
NOTICED = 1.0  # seconds of processor time within which a signal must be noticed
ONE_TABLE = [name for name, kind in catalog.algorithms.items() if not kind.own_command]


def prepare(folder):
    """A table, and a plan for each algorithm."""
    rng = np.random.default_rng(5)
    pa_csv.write_csv(
        pa.table(
            {
                "age": rng.integers(0, 90, ROWS),
                "zip": [f"{x:05d}" for x in rng.integers(0, 99_999, ROWS)],
                "sex": rng.choice(["f", "m"], ROWS),
                "ill": rng.choice(["a", "b", "c", "d"], ROWS, p=[0.7, 0.2, 0.07, 0.03]),
            }
        ),
        folder / "t.csv",
    )
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 30]}},
        "zip": {"role": "quasi", "hierarchy": {"prefixes": [4, 3, 2, 1]}},
        "sex": "quasi",
        "ill": "sensitive",
    }
    for name in ONE_TABLE:
        kind = catalog.algorithms[name]
        k = {"name": "k-anonymity", "k": 5}
        if not kind.is_auto and not kind().serves(KAnonymity(k=5)):
            k["name"] = "k-concealment"
        models = [k]
        if name in ("peel", "gaa", "agglomerative", "mondrian"):
            models.append({"name": "t-closeness", "column": "ill", "t": 0.25})
        Plan(columns=columns, models=models, algorithm=name, seed=1).save(folder / f"{name}.toml")


def commands():
    """Every command, and every algorithm; what is wanted, and the files that it writes."""
    peel = "peel.toml"
    found = {
        f"anonymize {name}": (
            ["anonymize", "t.csv", "--plan", f"{name}.toml", "--out", "r.csv", "--json", "r.json"],
            ["r.csv", "r.json"],
        )
        for name in ONE_TABLE
    }
    found["anonymize report"] = (
        ["anonymize", "t.csv", "--plan", peel, "--out", "r.parquet", "--report", "r.html",
         "--recoding", "r.shoal", "--explain"],
        ["r.parquet", "r.html", "r.shoal"],
    )  # fmt: skip
    found["apply"] = (
        ["apply", "t.csv", "--recoding", "known.shoal", "--out", "n.csv"], ["n.csv"],
    )  # fmt: skip
    found["audit"] = (
        ["audit", "t.csv", "--plan", peel, "--original", "t.csv", "--json", "a.json"], ["a.json"],
    )  # fmt: skip
    found["compare"] = (
        ["compare", "t.csv", "--plan", peel, "--algorithms", "peel,mondrian", "--csv", "c.csv"],
        ["c.csv"],
    )
    found["draft"] = (["draft", "t.csv", "-o", "d.toml"], ["d.toml"])
    found["demo"] = (["demo", "--rows", "300", "--out", "demo"], [])
    found["list"] = (["list"], [])
    found["reproduce"] = (["reproduce", "mauger2020", "--quick", "--out", "rep"], [])
    return found


def start(words, folder):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "shoal", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"},
        # A shell makes what it runs in the background ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def takes_signals(process):
    """Whether the process has handlers: before that nothing of ours runs."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def used(pid):
    """Processor time of a running process and of all processes that it started, in seconds."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        started = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # utime, stime, and those of children that have ended: cutime, cstime
    ticks = map(int, line.rsplit(")", 1)[1].split()[11:15])
    return sum(ticks) / os.sysconf("SC_CLK_TCK") + sum(used(child) or 0.0 for child in started)


def used_by_children():
    """Processor time of all processes that were started here and have ended, in seconds."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def left(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def clean(folder, before):
    for name in set(left(folder)) - set(before):
        (folder / name).unlink()


class Campaign:
    """Commands with what they write when nobody interrupts them, and how long they take."""

    def __init__(self, folder, only=None):
        self.folder = folder
        prepare(folder)
        once = start(
            ["anonymize", "t.csv", "--plan", "peel.toml", "--out", "known.csv", "--recoding",
             "known.shoal"], folder,
        )  # fmt: skip
        out, err = once.communicate()
        assert once.returncode == 0, out + err
        self.before = left(folder)
        self.commands = {n: c for n, c in commands().items() if only is None or n in only}
        self.seconds, self.sizes, self.status = {}, {}, {}
        self.found = Counter()

    def learn(self, name):
        """Run a command as it is, twice if kernels had to be compiled."""
        words, files = self.commands[name]
        for _ in range(2):
            process = start(words, self.folder)
            while process.poll() is None and not takes_signals(process):
                time.sleep(0.001)
            begin = time.monotonic()
            out, err = process.communicate()
            self.seconds[name] = time.monotonic() - begin
            assert process.returncode in (0, 1), (name, out, err)
            self.status[name] = process.returncode
            after = left(self.folder)
            self.sizes[name] = {file: len(after[file]) for file in files}
            clean(self.folder, self.before)
            if "Compiling" not in err:
                break

    def once(self, name, rng):
        """Interrupt a command; returns what is wrong."""
        if name not in self.seconds:
            self.learn(name)
        words, files = self.commands[name]
        number = rng.choice([signal.SIGINT, signal.SIGINT, signal.SIGTERM])
        moment = rng.random() * self.seconds[name]
        before = used_by_children()
        process = start(words, self.folder)
        while process.poll() is None and not takes_signals(process):
            time.sleep(0.0005)
        time.sleep(moment)
        already = used(process.pid) if process.poll() is None else None
        if already is not None:
            process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        took = 0.0 if already is None else used_by_children() - before - already
        wrong = []
        late = already is None or (
            process.returncode == self.status[name] and "interrupted" not in err and took < NOTICED
        )
        expected = self.status[name] if late else 128 + number
        if process.returncode != expected:
            wrong.append(
                f"status {process.returncode} instead of {expected}, {took:.2f} s of the processor "
                f"after {signal.Signals(number).name}"
            )
        elif took >= NOTICED:
            wrong.append(f"{took:.2f} s of the processor after {signal.Signals(number).name}")
        if any(word in out + err for word in ("defect", "Traceback", "Exception ignored", "Fatal")):
            wrong.append("it said more than it should")
        after = left(self.folder)
        wrong += [f"{file} is left" for file in after if ".shoal-" in file]
        wrong += [f"{file} is missing" for file in files if late and file not in after]
        finished = "this is what had finished" in err  # a comparison keeps the runs that were done
        for file in files:
            if file in after and not finished and len(after[file]) < 0.9 * self.sizes[name][file]:
                wrong.append(f"{file} is not complete")
        clean(self.folder, self.before)
        self.found["late" if late else "interrupted"] += 1
        if wrong:
            wrong.append(f"{name}, {moment:.3f} s of {self.seconds[name]:.3f} s\n{out}\n{err}")
        return wrong, took


def main(times=200, seed=0, only=None):
    rng, failures, slowest = random.Random(seed), [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder), only)
        names = list(campaign.commands)
        for number in range(times):
            wrong, took = campaign.once(names[number % len(names)], rng)
            slowest = max(slowest, took)
            if number % 20 == 19:
                print(f"{number + 1}: {dict(campaign.found)}", flush=True)
            if wrong:
                failures.append(wrong)
                print(f"{number}: " + "; ".join(wrong), flush=True)
    print(f"{times} tries, {dict(campaign.found)}, {len(failures)} failures; ", end="")
    print(f"the slowest took {slowest:.1f} s of the processor after the signal", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
