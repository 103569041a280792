"""Starts Spark's Python workers, forked from a process that has imported what they need."""

import pandas as pd  # noqa: F401 - these take a second of each worker
import pyarrow as pa  # noqa: F401
from pyspark import daemon
from pyspark.sql.streaming import stateful_processor_util  # noqa: F401

import keyfold  # noqa: F401

if __name__ == "__main__":
    daemon.manager()
