"""A real Spark cluster for tests: a master, and two workers whose executors are processes."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MASTER = "local-cluster[2,1,1024]"  # two workers with one core and 1024 MB each
# Every query runs once on a few rows: the optimizing compiler of Java would take longer than it.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def lacking() -> str | None:
    """What is missing to run Spark, in words; None: nothing."""
    if find_spec("pyspark") is None:
        return "needs PySpark: pip install 'shoal[spark]'"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home, "bin")) if home else None) is None:
        return "needs Java 17, for example the package openjdk-17-jre-headless"
    return None


def started(folder: Path) -> Any:
    """A session on a new cluster, whose files are in a folder."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.shuffle.partitions": "3",
            "spark.sql.session.timeZone": "UTC",
            "spark.executorEnv.PYTHONPATH": path,
            "spark.driver.extraJavaOptions": JAVA,
            "spark.executor.extraJavaOptions": JAVA,
            # What a lost executor had shuffled is given up soon, and computed again.
            "spark.shuffle.io.maxRetries": "1",
            "spark.shuffle.io.retryWait": "200ms",
        }
        builder = SparkSession.builder.master(MASTER).appName("shoal tests")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
