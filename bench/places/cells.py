"""What is measured: providers and their settings, and queries by where their checkpoint is."""

from dataclasses import dataclass, field
from typing import Final

import keyfold
from keyfold.settings import FORMAT_KEY, JARS_KEY, PROVIDER_KEY, QUERY_SETTINGS
from kit.places import ROOT
from kit.providers import HDFS, ROCKSDB

KEYFOLD: Final = {**QUERY_SETTINGS, JARS_KEY: str(keyfold.jar_path())}
STATELESS: Final = "no state"
# As `keyfold.configure` sets it up.
OURS: Final = "Keyfold v2"
PROVIDERS: Final = {
    STATELESS: {},
    "HDFSBacked": {PROVIDER_KEY: HDFS},
    "RocksDB": {
        PROVIDER_KEY: ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    },
    "Keyfold v1": {**KEYFOLD, FORMAT_KEY: "1"},
    OURS: KEYFOLD,
}
# Hadoop's local file system starts a process for each file: HDFSBacked without them.
SHELLLESS: Final = {
    "spark.driver.extraClassPath": str(ROOT / "jvm/testkit/target/scala-2.13/classes"),
    "spark.hadoop.fs.file.impl": "io.keyfold.testkit.ShelllessLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "io.keyfold.testkit.ShelllessLocalFs",
}
LOCAL: Final = {
    **PROVIDERS,
    "HDFSBacked without processes": {**PROVIDERS["HDFSBacked"], **SHELLLESS},
    "Keyfold v2, not forced": {
        **KEYFOLD,
        "spark.sql.streaming.stateStore.keyfold.files.forced": "false",
    },
}


@dataclass(frozen=True)
class Cell:
    """A query by each of `providers`, `rows` a batch, `keys` in all; `cores` tasks at once.

    `warm_up` batches with all keys come before the `measured` ones: short ones need more of both.
    With `restarts` the query is started for each of these.
    """

    name: str
    place: str
    partitions: int
    rows: int
    keys: int
    cores: int = 2
    delay_ms: float = 0
    warm_up: int = 4
    measured: int = 8
    restarts: bool = False
    providers: dict[str, dict[str, str]] = field(default_factory=lambda: PROVIDERS)

    @property
    def text(self) -> str:
        """For people."""
        delay = f", {self.delay_ms:.0f} ms a request" if self.delay_ms else ""
        restart = ", after a restart" if self.restarts else ""
        return (
            f"{self.place}{restart}{delay}: {self.partitions} partitions,"
            f" {self.rows:,} rows a batch, {self.keys:,} keys"
        )


CELLS: Final = (
    Cell("local-4", "local disk", 4, 200_000, 20_000, warm_up=60, measured=40, providers=LOCAL),
    Cell("local-200", "local disk", 200, 20_000, 200_000, warm_up=20, providers=LOCAL),
    Cell("s3-4", "S3", 4, 2_000, 2_000, cores=4, delay_ms=25, warm_up=20, measured=20),
    # Each loads the deltas of 8 to 12 batches, and no snapshot.
    Cell("s3-4-load", "S3", 4, 2_000, 2_000, 4, 25, warm_up=7, measured=5, restarts=True),
    Cell("s3-200-trickle", "S3", 200, 10, 20, cores=16, delay_ms=25),
    Cell("hdfs-4", "HDFS", 4, 20_000, 200_000, warm_up=40, measured=20),
    Cell("hdfs-100", "HDFS", 100, 20_000, 200_000, warm_up=20),
)
