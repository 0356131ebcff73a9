"""Spark with two workers against memory: time, loss, and what is shuffled.

`python -m benchmarks.spark 10000000 0.002 1` makes an input of so many rows, with this share of
cells from other records, in a temporary folder, runs both engines in so many parts, prints JSON.
`python -m benchmarks.spark sizes measured.json 1000000000` computes from such a file what larger
tables shuffle and cost.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter

import numpy as np
import pyarrow.parquet as pq

from shoal.algorithms._shared.parts.cuts import HELD, PER_TUPLE
from shoal.engines.spark_rows import BROADCAST

MASTER = "local-cluster[2,1,2048]"  # two workers with one core and 2 GB each
SUMS = ("inputBytes", "shuffleReadBytes", "shuffleWriteBytes", "memoryBytesSpilled",
        "diskBytesSpilled", "executorRunTime", "executorCpuTime")  # fmt: skip
TICKS = os.sysconf("SC_CLK_TCK")


class Processor:
    """Processor seconds of this process and of all that it has started, sampled each second."""

    def __init__(self) -> None:
        self.of: dict[int, float] = {}

    def sample(self) -> None:
        parent, used = {}, {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2]
            except OSError:
                continue
            words = fields.split()
            parent[int(path.parent.name)] = int(words[1])
            used[int(path.parent.name)] = (int(words[11]) + int(words[12])) / TICKS
        for one in used:
            above = one
            while above in parent and above != os.getpid():
                above = parent[above]
            if above == os.getpid():
                self.of[one] = used[one]

    @property
    def seconds(self) -> float:
        return sum(self.of.values())

    @contextmanager
    def watching(self) -> Iterator[None]:
        done = Event()

        def watch() -> None:
            while not done.wait(1.0):
                self.sample()

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.sample()


def session(folder: Path):
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    root = Path(__file__).parents[1]
    settings = {
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "8",
        "spark.executorEnv.PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}",
    }
    builder = SparkSession.builder.master(MASTER).appName("shoal benchmark")
    for key, value in settings.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def stages(context) -> dict[str, int]:
    """What Spark has read and shuffled so far, over all stages."""
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:
        found = json.load(answer)
    return {name: sum(one[name] for one in found) for name in SUMS}


def measure(rows: int, share: float, parts: int) -> dict:
    """From a Parquet file to verified Parquet, by both engines; no report."""
    import shoal
    from benchmarks.scale import generate
    from benchmarks.tables import frame, plan

    asked = plan(10, algorithm="peel", engine="memory", seed=1, parts=parts)
    with TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        source = folder / "people.parquet"
        generate(source, rows, share)
        shoal.anonymize(frame(), asked)  # load compiled kernels
        found: dict = {"rows": rows, "input megabytes": source.stat().st_size / 1e6,
                       "load": os.getloadavg()}  # fmt: skip
        processor = Processor()
        processor.sample()
        before, begin = processor.seconds, perf_counter()
        with processor.watching():
            memory = shoal.anonymize(source, asked)
            memory.save(folder / "memory.parquet")
        found["memory"] = {"seconds": perf_counter() - begin,
                           "processor": processor.seconds - before,
                           "steps": memory.seconds}  # fmt: skip
        begin = perf_counter()
        spark = session(folder)
        found["start of the cluster"] = perf_counter() - begin
        processor.sample()
        before, begin = processor.seconds, perf_counter()
        with processor.watching():
            release = shoal.anonymize(source, asked.changed(engine="spark"))
            grouped = stages(spark.sparkContext)
            middle = perf_counter()
            release.save(folder / "spark")
        found["spark"] = {"seconds": perf_counter() - begin, "saving": perf_counter() - middle,
                          "processor": processor.seconds - before,
                          "steps": release.seconds, "grouping": grouped,
                          "all": stages(spark.sparkContext)}  # fmt: skip
        units = release.recoded.units.native
        found["tuples"] = len(units)
        found["tuple bytes"] = 2 * units.nbytes / len(units)  # original and published values
        found["partials"] = partials(source)
        found["classes"] = release.classes
        found["published"] = release.published
        found["loss"] = [release.losses["nllm"], memory.losses["nllm"]]
        found["parts"] = release.parts
        found["release megabytes"] = (
            sum(one.stat().st_size for one in (folder / "spark").iterdir()) / 1e6
        )
        spark.stop()
    return found


def partials(source: Path) -> int:
    """Combinations of values in each group of rows, which one task counts, over all groups."""
    with pq.ParquetFile(source) as file:
        return sum(
            file.read_row_group(i).group_by(file.schema_arrow.names).aggregate([]).num_rows
            for i in range(file.num_row_groups)
        )


def simulated(rows: int, tuples: int, task: int = 1_000_000) -> float:
    """Expected partial counts if the i-th tuple is drawn in proportion to 1 / i (Zipf's law).

    A task with m rows counts the i-th tuple unless none of its rows has it: 1 - (1 - p_i)^m.
    """
    share = 1.0 / np.arange(1, tuples + 1)
    share /= share.sum()
    found = -np.expm1(task * np.log1p(-np.minimum(share, 1 - 1e-12)))
    return float(found.sum()) * rows / task


def sizes(measured: dict, rows: int, tuples: int) -> dict:
    """What a table of so many rows and distinct tuples shuffles and costs, from what was measured.

    Grouping shuffles the partial counts of each task. Writing shuffles every row once. Joining
    shuffles every row once more if the tuples are too many to be sent to each executor.
    """
    spark, n = measured["spark"], measured["rows"]
    grouping = spark["grouping"]["shuffleWriteBytes"] / measured["partials"]  # bytes per count
    per_row = (spark["all"]["shuffleWriteBytes"] - spark["grouping"]["shuffleWriteBytes"]) / n
    joined = tuples * measured["tuple bytes"] > BROADCAST
    return {
        "rows": rows,
        "tuples": tuples,
        "shuffled by grouping, GB": simulated(rows, tuples) * grouping / 1e9,
        "shuffled by writing, GB": rows * per_row / 1e9,
        "shuffled by joining, GB": rows * per_row / 1e9 if joined else 0.0,
        "processor hours": spark["processor"] * rows / n / 3600,
        "driver, GB": tuples * PER_TUPLE / 1e9,
        "driver with parts, GB": tuples * HELD / 1e9,
    }


if __name__ == "__main__":
    if sys.argv[1] == "sizes":
        given = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
        table = [sizes(given, int(sys.argv[3]), many) for many in (10**5, 10**6, 10**7)]
        print(json.dumps(table, indent=2))
    else:
        print(json.dumps(measure(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
