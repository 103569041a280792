"""Measure batches of a count with metrics and without, in pairs."""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

import keyfold
from keyfold.settings import PLUGIN_CLASS, PLUGINS_KEY, PROMETHEUS_SETTINGS

_ROWS = 20_000
_KEYS = 100_000
# The first ones compile.
_SKIPPED = 3
# Ten times as often as by default.
_METRICS = {
    PLUGINS_KEY: PLUGIN_CLASS,
    **PROMETHEUS_SETTINGS,
    "spark.executor.heartbeatInterval": "1s",
}


def batch_ms(partitions: int, batches: int, settings: Mapping[str, str]) -> float:
    """Median duration of a batch, in milliseconds, in a Spark of its own."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", str(partitions))
        .config("spark.sql.streaming.numRecentProgressUpdates", "1000")
        .config(map=dict(settings))
    )
    # Maintenance may still write while the query stops, and not after Spark has.
    with tempfile.TemporaryDirectory() as checkpoint:
        spark = keyfold.configure(builder).getOrCreate()
        try:
            return _median_ms(spark, checkpoint, batches)
        finally:
            spark.stop()


def _median_ms(spark: SparkSession, checkpoint: str, batches: int) -> float:
    spark.sparkContext.setLogLevel("OFF")
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", _ROWS)
    counts = source.load().selectExpr(f"hash(value) % {_KEYS} AS key").groupBy("key").count()
    query = (
        counts.writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", checkpoint)
        .start()
    )
    while len(query.recentProgress) < _SKIPPED + batches:
        query.awaitTermination(1)
    query.stop()
    durations = [it["durationMs"]["triggerExecution"] for it in query.recentProgress]
    return float(statistics.median(durations[_SKIPPED : _SKIPPED + batches]))


def lines(partitions: int, pairs: int, batches: int) -> Iterator[str]:
    """A line for each pair, then what they come to."""
    ratios = []
    for number in range(pairs):
        # Which comes first changes, as what comes later finds a warmer JVM. But the JVM keeps the
        # settings that it was started with: the very first run has no metrics.
        order: list[Mapping[str, str]] = [_METRICS, {}] if number % 2 else [{}, _METRICS]
        found = [batch_ms(partitions, batches, it) for it in order]
        off, on = reversed(found) if number % 2 else found
        ratios.append(on / off)
        yield f"{partitions} partitions: off {off:.0f} ms, on {on:.0f} ms, ratio {on / off:.3f}"
    low, middle, high = statistics.quantiles(ratios, n=4)
    of = f"{partitions} partitions, {pairs} pairs"
    yield f"{of}: ratio {middle:.3f}, quartiles {low:.3f} and {high:.3f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--partitions", type=int, nargs="+", default=[4, 200])
    parser.add_argument("--batches", type=int, default=15, help="that are measured, of each run")
    chosen = parser.parse_args()
    for partitions in chosen.partitions:
        for line in lines(partitions, chosen.pairs, chosen.batches):
            print(line, flush=True)  # noqa: T201 - for who runs it


if __name__ == "__main__":
    main()
