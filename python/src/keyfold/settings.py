"""The Spark settings that Keyfold needs, the same as in `conf/keyfold-defaults.conf`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PROVIDER_CLASS: Final = "io.keyfold.spark.KeyfoldStateStoreProvider"
PROVIDER_KEY: Final = "spark.sql.streaming.stateStore.providerClass"

# Lines of Spark that there is a jar for; the wheel has them all.
SPARK_LINES: Final = ("4.0", "4.1", "4.2", "4.3")
JARS_KEY: Final = "spark.jars"

# Lets transformWithState run with a provider that is not Spark's; read when a session is created.
EXTENSIONS_CLASS: Final = "io.keyfold.spark.KeyfoldExtensions"
EXTENSIONS_KEY: Final = "spark.sql.extensions"

# Metrics of state, and a tab of Spark's UI; read when Spark starts.
PLUGIN_CLASS: Final = "io.keyfold.spark.KeyfoldPlugin"
PLUGINS_KEY: Final = "spark.plugins"

# Spark's own page of the driver's metrics for Prometheus.
_SERVLET = "spark.metrics.conf.*.sink.prometheusServlet"
PROMETHEUS_SETTINGS: Final[Mapping[str, str]] = {
    f"{_SERVLET}.class": "org.apache.spark.metrics.sink.PrometheusServlet",
    f"{_SERVLET}.path": "/metrics/prometheus",
}

# With version 2 each attempt at a batch has its own files; the commit log has the ids of those that
# count.
FORMAT_KEY: Final = "spark.sql.streaming.stateStore.checkpointFormatVersion"
FORMAT_VERSION: Final = "2"

# Writes Spark's logs as state files are written: with as few file operations as there must be.
FILE_MANAGER_CLASS: Final = "io.keyfold.spark.KeyfoldCheckpointFileManager"
FILE_MANAGER_KEY: Final = "spark.sql.streaming.checkpointFileManagerClass"

QUERY_SETTINGS: Final[Mapping[str, str]] = {
    PROVIDER_KEY: PROVIDER_CLASS,
    FORMAT_KEY: FORMAT_VERSION,
    FILE_MANAGER_KEY: FILE_MANAGER_CLASS,
}

# Before the names of Keyfold's own settings.
PREFIX: Final = "spark.sql.streaming.stateStore.keyfold."

# Number of partitions to which the state of a query is rescaled when it starts.
PARTITIONS_KEY: Final = f"{PREFIX}partitions"

# Whether rows are always in the partitions that their hashes give: Spark's own, of the offset log.
STRICT_KEY: Final = "spark.sql.streaming.statefulOperator.useStrictDistribution"

# Off-heap memory of all stores of an executor.
MEMORY_KEY: Final = f"{PREFIX}memory.maxBytes"

# Number of executors that an application asks YARN or Kubernetes for.
INSTANCES_KEY: Final = "spark.executor.instances"


def jar_name(line: str) -> str:
    """The jar for a line of Spark."""
    return f"keyfold-spark_{line}_2.13.jar"


def line_of_jar(path: str) -> str | None:
    """The line that a jar is for, by its name here or as Maven has it; None if it is another's."""
    found = re.search(r"(?:^|[/\\])keyfold-spark_([\d.]+)_2\.13[^/\\]*\.jar$", path)
    return found[1] if found else None
