"""Settings that a query may have, beside those of its provider."""

from __future__ import annotations

from random import Random

from keyfold.settings import FORMAT_KEY, PROVIDER_CLASS, PROVIDER_KEY
from kit.lines import NEWEST_JOIN
from kit.providers import HDFS, ROCKSDB

STREAMING = "spark.sql.streaming"
STORE = f"{STREAMING}.stateStore"
JOIN = f"{STREAMING}.join.stateFormatVersion"
ENCODING = f"{STORE}.encodingFormat"
NO_EMPTY_BATCHES = (f"{STREAMING}.noDataMicroBatches.enabled", "false")
# Each is drawn alone, in one query of eight.
SMALL: tuple[tuple[str, tuple[str, ...]], ...] = (
    (f"{STREAMING}.aggregation.stateFormatVersion", ("1",)),
    (f"{STREAMING}.sessionWindow.merge.sessions.in.local.partition", ("true",)),
    (f"{STREAMING}.flatMapGroupsWithState.stateFormatVersion", ("1",)),
    (f"{STREAMING}.noDataMicroBatches.enabled", ("false",)),
    (f"{STREAMING}.minBatchesToRetain", ("1", "2")),
    (f"{STREAMING}.maxBatchesToRetainInMemory", ("0", "1")),
    (f"{STREAMING}.statefulOperator.useStrictDistribution", ("false",)),
    (f"{STREAMING}.multipleWatermarkPolicy", ("max",)),
    (f"{STREAMING}.checkpoint.fileChecksum.enabled", ("false",)),
    (f"{STORE}.rowChecksum.enabled", ("true",)),
    (f"{STORE}.minDeltasForSnapshot", ("1", "2")),
    (f"{STORE}.compression.codec", ("zstd", "snappy")),
    (f"{STORE}.unloadOnCommit", ("true",)),
    (f"{STORE}.skipNullsForStreamStreamJoins.enabled", ("true",)),
    (f"{STORE}.rocksdb.changelogCheckpointing.enabled", ("true",)),
    (f"{STORE}.commitValidation.enabled", ("false",)),
    ("spark.sql.execution.useObjectHashAggregateExec", ("false",)),
    ("spark.sql.execution.arrow.maxRecordsPerBatch", ("1", "3")),
    ("spark.sql.ansi.enabled", ("false",)),
    ("spark.sql.caseSensitive", ("true",)),
    ("spark.sql.legacy.allowHashOnMapType", ("true",)),
    ("spark.sql.autoBroadcastJoinThreshold", ("-1",)),
)
# RocksDB would wait for two minutes for a store that its own task has open.
QUICK = {f"{STORE}.rocksdb.lockAcquireTimeoutMs": "3000"}
# Java's compiler takes longer than these queries.
NO_CODEGEN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
ZONES = ("UTC", "America/New_York", "Asia/Kolkata")


def draw_settings(chance: Random, operator: str) -> dict[str, str]:
    """Those of all providers."""
    drawn = {key: chance.choice(values) for key, values in SMALL if chance.random() < 1 / 8}
    if chance.random() < 0.75:
        drawn |= NO_CODEGEN
    drawn["spark.sql.shuffle.partitions"] = str(chance.choice((1, 2, 2, 3, 3, 4, 4, 7)))
    drawn["spark.sql.session.timeZone"] = chance.choice(ZONES)
    if "join" in operator:
        version = chance.choice([1, *range(2, NEWEST_JOIN + 1)])
        drawn[JOIN] = str(version)
        if version > 3:
            drawn[f"{STREAMING}.join.stateFormatV4.enabled"] = "true"
    if "transformWithState" in operator and chance.random() < 0.3:
        drawn[ENCODING] = "avro"
    return drawn


def of_provider(name: str, chance: Random) -> dict[str, str]:
    """Those that a provider needs."""
    both = {"keyfold": PROVIDER_CLASS, "rocksdb": ROCKSDB, "hdfs": HDFS}
    form = "1" if name == "hdfs" else chance.choice("1222")
    return {PROVIDER_KEY: both[name], FORMAT_KEY: form, **QUICK}
