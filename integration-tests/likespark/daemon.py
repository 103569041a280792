"""Starts Spark's Python workers, forked from a process that has imported what they need."""

from pyspark import daemon

from likespark import after, processors, sinks  # noqa: F401 - pandas and Arrow take a second

if __name__ == "__main__":
    daemon.manager()
