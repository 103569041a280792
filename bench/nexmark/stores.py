"""The providers that are compared, and the settings of their sessions."""

from pathlib import Path
from typing import Final

import keyfold
from bench.states import PROVIDERS
from keyfold.settings import (
    EXTENSIONS_CLASS,
    EXTENSIONS_KEY,
    PROVIDER_KEY,
    QUERY_SETTINGS,
)

ROOT: Final = Path(__file__).parents[2]
# What `build/sbt bench/compile` makes.
BENCH_CLASSES: Final = ROOT / "jvm" / "bench" / "target" / "scala-2.13" / "classes"
OURS: Final = "Keyfold"
ROCKSDB: Final = "RocksDB"
NOTHING: Final = "no store"
_CHANGELOG_KEY: Final = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

# Settings of a query.
STORES: Final[dict[str, dict[str, str]]] = {
    OURS: dict(QUERY_SETTINGS),
    ROCKSDB: {PROVIDER_KEY: PROVIDERS[ROCKSDB], _CHANGELOG_KEY: "true"},
    "HDFSBacked": {PROVIDER_KEY: PROVIDERS["HDFSBacked"]},
    NOTHING: {PROVIDER_KEY: "io.keyfold.bench.cell.NothingProvider"},
}


def shared(scratch: Path, partitions: int, cores: int) -> dict[str, str]:
    """Settings of an application, the same for all providers."""
    jars = (str(keyfold.jar_path()), str(BENCH_CLASSES))
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraClassPath": ":".join(jars),
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        # So that runs of half a minute have maintenance too.
        "spark.sql.streaming.stateStore.maintenanceInterval": "10s",
        # Spark's watermark does not go through an exchange that is used twice: query 5 would give
        # nothing.
        "spark.sql.exchange.reuse": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        EXTENSIONS_KEY: EXTENSIONS_CLASS,
    }
