"""Spark: the session, jobs that report progress and can be interrupted, and their errors.

PySpark is imported only when it is asked for.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from shoal.base import errors
from shoal.base.errors import BadFile, BadPlan, BadTable, BrokenPromise, ShoalError
from shoal.base.own_process import allow_pandas
from shoal.base.waiting import waited
from shoal.engines.large_table import Watch

POLL = 0.1  # seconds between two looks at the progress of a job
RAISED = re.compile(r"shoal\.base\.errors\.(\w+): ([^\n]*)")  # by a task, in its traceback
PLAIN = ("ShoalError", "BadInput", "BadFile", "BadTable", "BadHierarchy", "BadPlan", "NotHeld")

T = TypeVar("T")


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning of PySpark that it does not know this pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


def load() -> Any:
    """The module of PySpark, or an error that says how to install it."""
    allow_pandas()
    try:
        with quiet():
            import pyspark.sql.functions
            import pyspark.sql.types
    except ImportError:
        raise BadPlan(
            "engine = 'spark' needs PySpark, which is not installed: pip install 'shoal[spark]'"
        ) from None
    return pyspark


def session() -> Any:
    """The active session, or a new one by the settings of Spark (SPARK_CONF_DIR and the like)."""
    spark = load().sql.SparkSession
    active = spark.getActiveSession()
    if active is not None:
        return active
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home, "bin")) if home else None) is None:
        raise BadPlan(
            "engine = 'spark' needs Java 17 or later, which was not found"
            + (f" in JAVA_HOME ({home})" if home else "")
            + "; install it (for example openjdk-17-jre-headless), or set JAVA_HOME"
        )
    # Otherwise workers on this machine would use another Python, without pyarrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with quiet():
            # Its own progress bar would be drawn into that of the command line.
            made = spark.builder.appName("shoal").config("spark.ui.showConsoleProgress", "false")
            found = made.getOrCreate()
        found.sparkContext.setLogLevel("ERROR")
        return found
    except Exception as error:
        raise BadPlan(
            f"Spark did not start ({type(error).__name__}); run `pyspark` to see why, and check "
            "that Java is version 17 or later"
        ) from None


def session_of(dataframe: Any) -> Any:
    """The session of a DataFrame; raise an error if it is none, or of Spark Connect."""
    module = load()
    if not isinstance(dataframe, module.sql.DataFrame):
        found = f"{type(dataframe).__module__}.{type(dataframe).__qualname__}"
        raise BadTable(
            f"a table for engine = 'spark' is a Spark DataFrame or the path of a file or a folder; "
            f"got {found.removeprefix('builtins.')}"
        )
    found = dataframe.sparkSession
    if not hasattr(found, "_jsparkSession"):
        raise BadTable(
            "the DataFrame is of Spark Connect, which cannot cancel or watch the jobs of a run; "
            "use a session of the cluster itself"
        )
    return found


def is_spark(table: Any) -> bool:
    """Whether a table is a Spark DataFrame; PySpark is not imported."""
    return any(
        one.__name__ == "DataFrame" and one.__module__.startswith("pyspark.sql.")
        for one in type(table).__mro__
    )


def run(session: Any, work: Callable[[], T], watch: Watch = lambda _: None) -> T:
    """Run jobs in a thread: this one reports their progress, and can be interrupted.

    An interrupt cancels the jobs, and no others of the same cluster.
    """
    context = session.sparkContext
    group = f"shoal-{secrets.token_hex(8)}"

    def in_group() -> T:
        context.setJobGroup(group, "shoal")
        return work()

    try:
        return waited(
            in_group,
            lambda: context.cancelJobGroup(group),
            lambda: watch(_share(context, group)),
            POLL,
        )
    except Exception as error:
        raise explained(error) from None


def _share(context: Any, group: str) -> float:
    """The share of the tasks of a group of jobs that is done."""
    done = total = 0
    with suppress(Exception):  # stages come and go while this looks at them
        tracker = context.statusTracker()
        for job in tracker.getJobIdsForGroup(group):
            for stage in tracker.getJobInfo(job).stageIds:
                found = tracker.getStageInfo(stage)
                if found is not None:
                    total += found.numTasks
                    done += found.numCompletedTasks
    return done / total if total else 0.0


def explained(error: BaseException) -> BaseException:
    """Turn errors of Spark, which may contain values, into messages that say what to do."""
    if isinstance(error, ShoalError) or not isinstance(error, Exception):
        return error
    said = str(error)
    raised = RAISED.search(said)
    if raised and raised[1] == "CannotReach":
        return BrokenPromise(raised[2])
    if raised and raised[1] in PLAIN:
        kind: type[ShoalError] = getattr(errors, raised[1])
        return kind(raised[2])
    if "No module named 'shoal'" in said:
        return BadPlan(
            "the workers of Spark cannot import shoal; install it in their Python "
            "(PYSPARK_PYTHON), or send an environment along (spark.archives)"
        )
    if missing := re.search(r"No module named '(\w+)'", said):
        return BadPlan(
            f"the Python of Spark's workers lacks {missing[1]}; set PYSPARK_PYTHON to one that has "
            "shoal and what it needs"
        )
    if "PYTHON_VERSION_MISMATCH" in said:
        return BadPlan(
            "Spark's workers use another version of Python; set PYSPARK_PYTHON to the same version"
        )
    if "No space left on device" in said or "Disk quota exceeded" in said:
        return BadFile(
            "no space is left for the temporary files of Spark, or for the release; free some, or "
            "choose other disks with spark.local.dir"
        )
    if "maxResultSize" in said:
        return BadPlan(
            "the combinations of values are too many for the driver's limit; raise "
            "spark.driver.maxResultSize, or make the columns coarser before"
        )
    lost = ("OutOfMemoryError", "ExecutorLostFailure", "exited unexpectedly", "Cannot broadcast")
    if any(one in said for one in lost):
        return BadPlan(
            "Spark's executors were lost again and again, or had too little memory; raise "
            "spark.executor.memory or spark.executor.memoryOverhead, or use more and smaller "
            "partitions (spark.sql.shuffle.partitions)"
        )
    return ShoalError(
        f"Spark failed ({type(error).__name__}); nothing is released. The log of Spark has the "
        "reason; it may contain values of the table"
    )
