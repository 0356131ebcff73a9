"""Run the campaign: `python -m benchmarks.campaign --minutes 10 --seed 1`."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from random import Random
from time import monotonic, strftime

from benchmarks.campaign.trial import Trial
from benchmarks.campaign.worker import ROOT, Shoal, environment

# Each kind of trial, and its share of the time.
KINDS = {"releases": 0.45, "samples": 0.15, "spoiled": 0.15, "markers": 0.1, "kills": 0.15}
SHOWN = 40  # failures and counts that are printed at the end


def one(kind: str, index: int, seed: int, shoal: Shoal, found: Path) -> dict:
    """Run one case; its folder is kept where something failed."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        trial = Trial(Random(f"{seed}:{kind}:{index}"), Path(scratch), shoal)
        try:
            import_module(f"benchmarks.campaign.{kind}").run(trial)
        except Exception as error:  # a mistake of this script, or files that nobody can read
            trial.failures.append(f"{type(error).__name__}: {error}")
            trial.commands.append(traceback.format_exc())
        if trial.failures:
            keep = found / f"{kind}-{index}"
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(scratch, keep, symlinks=True, ignore=_specials)
            again = f"python -m benchmarks.campaign --seed {seed} --only {kind}:{index}"
            lines = [again, "", *trial.failures, "", *trial.commands]
            (keep / "FAILED.txt").write_text("\n".join(lines), encoding="utf-8")
    counts = {"cases": 1, **trial.counts}
    return {"kind": kind, "index": index, "counts": counts, "failures": trial.failures}


def _specials(folder: str, names: list[str]) -> list[str]:
    """What is neither a file nor a folder cannot be copied."""
    paths = ((name, Path(folder) / name) for name in names)
    return [name for name, path in paths if not (path.is_file() or path.is_dir())]


def lane(number: int, lanes: int, options: argparse.Namespace) -> None:
    """Run cases until the time is over, each lane its own; print one line per case."""
    shoal, begin = Shoal(), monotonic()
    spent = dict.fromkeys(options.kinds, 0.0)
    index = dict.fromkeys(options.kinds, number)
    while monotonic() - begin < 60 * options.minutes:
        kind = min(spent, key=lambda kind: spent[kind] / KINDS[kind])
        since = monotonic()
        print(json.dumps(one(kind, index[kind], options.seed, shoal, options.found)), flush=True)
        spent[kind] += monotonic() - since
        index[kind] += lanes
    shoal.close()


def campaign(options: argparse.Namespace) -> int:
    """Start the lanes, add up what they tell, and say what failed."""
    words = [sys.executable, "-m", "benchmarks.campaign", *sys.argv[1:]]
    lanes = [
        subprocess.Popen(
            [*words, "--lane", f"{i}/{options.processes}"], stdout=subprocess.PIPE, text=True,
            cwd=ROOT, env=environment(),
        )
        for i in range(options.processes)
    ]  # fmt: skip
    counts: dict[str, Counter] = {kind: Counter() for kind in options.kinds}
    failed: list[dict] = []
    begin = said = monotonic()
    for result in _lines(lanes):
        counts[result["kind"]].update(result["counts"])
        if result["failures"]:
            failed.append(result)
            print(
                f"FAILED {result['kind']}:{result['index']} {result['failures'][0][:200]}",
                flush=True,
            )
        if monotonic() - said > 15:
            said = monotonic()
            cases = ", ".join(f"{c['cases']} {kind}" for kind, c in counts.items())
            print(f"{(said - begin) / 60:5.1f} min: {cases}; {len(failed)} failed", flush=True)
    codes = [process.wait() for process in lanes]
    _summary(counts, failed, options)
    return int(bool(failed) or any(codes))


def _lines(lanes: list[subprocess.Popen]):
    """What the lanes tell, as it comes."""
    import selectors

    watch = selectors.DefaultSelector()
    for process in lanes:
        watch.register(process.stdout, selectors.EVENT_READ)
    while watch.get_map():
        for key, _ in watch.select():
            line = key.fileobj.readline()
            if line:
                yield json.loads(line)
            else:
                watch.unregister(key.fileobj)


def _summary(counts: dict[str, Counter], failed: list[dict], options: argparse.Namespace) -> None:
    print(f"\nCampaign of {options.minutes:g} minutes, seed {options.seed}")
    for kind, count in counts.items():
        bad = sum(1 for one in failed if one["kind"] == kind)
        print(f"\n{kind}: {count.pop('cases', 0)} cases tried, {bad} failed")
        for what, many in sorted(count.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]:
            print(f"  {many:7,} {what}")
    if failed:
        print(f"\nFAILED: {len(failed)} cases; their files and commands are in {options.found}")
        for result in failed[:SHOWN]:
            print(f"  {result['kind']}:{result['index']}")
            for failure in result["failures"][:4]:
                print(f"      {failure[:300]}")
    else:
        print("\nNothing failed.")


def main() -> int:
    """Read the options, and run a campaign, one lane of it, or one case."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(strftime("%Y%m%d")))
    parser.add_argument("--processes", type=int, default=2, choices=(1, 2))
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--only", help="one case, such as releases:17")
    parser.add_argument("--found", type=Path, default=ROOT / "campaign-failures")
    parser.add_argument("--lane", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    if options.only:
        kind, _, index = options.only.partition(":")
        shoal = Shoal()
        result = one(kind, int(index), options.seed, shoal, options.found)
        shoal.close()
        print(json.dumps(result, indent=1))
        return int(bool(result["failures"]))
    if options.lane:
        number, _, lanes = options.lane.partition("/")
        lane(int(number), int(lanes), options)
        return 0
    return campaign(options)


if __name__ == "__main__":
    sys.exit(main())
