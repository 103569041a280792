"""A Spark with Keyfold in the process of the tests."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

import keyfold
from keyfold.settings import JARS_KEY
from kit.places import INTEGRATION_TESTS, TEST_CLASSES, TESTKIT
from kit.program import JVM_OPTIONS
from kit.servers.needed import S3A


def _missing() -> str:
    """Why there is no jar for the Spark that is installed here; empty if there is one."""
    try:
        keyfold.jar_path()
    except keyfold.KeyfoldError as error:
        return str(error)
    return ""


NO_JAR = _missing()
NEEDS_JAR = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(NO_JAR), reason=NO_JAR),
    # PySpark says so of pandas 3, and of Arrow tables that hold timestamps.
    pytest.mark.filterwarnings("ignore"),
]

# A process has one JVM, whichever test comes first: it has S3A's jars for those that need them, and
# the testkit, whose local files take no processes, and the queries of Scala's tests.
_S3A_JARS = S3A.read_text(encoding="utf-8").strip() if S3A.is_file() else ""
_CLASS_PATH = os.pathsep.join(filter(None, (_S3A_JARS, TESTKIT, TEST_CLASSES)))
_OPTIONS = ["--driver-java-options", JVM_OPTIONS, "--driver-class-path", _CLASS_PATH]

# Of a process that starts a Spark.
ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join(
        filter(None, (os.environ.get("PYTHONPATH"), str(INTEGRATION_TESTS)))
    ),
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_SUBMIT_ARGS": shlex.join([*_OPTIONS, "pyspark-shell"]),
}


@contextmanager
def session(root: Path, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.python.daemon.module", "kit.daemon")
        # Or each session compiles the same classes again: a fifth of a query's time.
        .config("spark.sql.artifact.isolation.enabled", "false")
        .config("spark.sql.codegen.cache.maxEntries", "1000")
        # No test takes the power away.
        .config("spark.sql.streaming.stateStore.keyfold.files.forced", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
        .config(map=dict(settings))
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        # What a JVM is started with stays for every Spark of the process.
        jar = SparkConf(loadDefaults=False).set(JARS_KEY, str(keyfold.jar_path()))
        SparkContext._ensure_initialized(conf=jar)  # noqa: SLF001 - there is no other way
        made = keyfold.configure(builder).getOrCreate()
        made.sparkContext.setLogLevel("OFF")
        yield made
        # Hadoop keeps them for the process, whose next Spark may reach S3 at another port.
        made._jvm.org.apache.hadoop.fs.FileSystem.closeAll()  # noqa: SLF001 - there is no other way
        made.stop()
