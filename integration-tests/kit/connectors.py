"""Jars that connect Spark to Kafka, Delta and Iceberg, from Maven, by the line of Spark."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.places import ROOT

DOWNLOAD_S = 600
KAFKA, DELTA, ICEBERG = "kafka", "delta", "iceberg"
# Lines that are not here have none yet.
RELEASES = {
    KAFKA: {"4.1": "4.1.1", "4.2": "4.2.0"},
    DELTA: {"4.0": "4.1.0", "4.1": "4.1.0"},
    ICEBERG: {"4.0": "1.11.0", "4.1": "1.11.0"},
}
ARTIFACTS = {
    KAFKA: "org.apache.spark:spark-sql-kafka-0-10_2.13:{release}",
    DELTA: "io.delta:delta-spark_{line}_2.13:{release}",
    ICEBERG: "org.apache.iceberg:iceberg-spark-runtime-{line}_2.13:{release}",
}
# What a session needs besides, for tables.
EXTENSIONS = {
    DELTA: "io.delta.sql.DeltaSparkSessionExtension",
    ICEBERG: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}
DELTA_SETTINGS = {
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Spark 4.1.4 lacks a constructor that this release of Delta reads its checkpoints by.
    "spark.databricks.delta.properties.defaults.checkpointInterval": "10000",
    "spark.databricks.delta.snapshotPartitions": "1",
}
# Spark has all else that they need.
OWN = ("spark-sql-kafka-", "spark-token-", "kafka-", "commons-pool2-", "delta-", "iceberg-")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>test</artifactId><version>1</version>
<dependencies><dependency>
<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
<exclusions><exclusion><groupId>org.apache.hadoop</groupId><artifactId>*</artifactId></exclusion>
<exclusion><groupId>org.scala-lang</groupId><artifactId>*</artifactId></exclusion></exclusions>
</dependency></dependencies></project>
"""


def connectors(line: str, *names: str) -> str:
    """A class path of connectors for a line, which are downloaded at the first time."""
    return os.pathsep.join(_jars(line, it) for it in names)


def _jars(line: str, name: str) -> str:
    release = RELEASES[name][line]
    folder = ROOT / ".cache" / "connectors" / f"{name}-{release}-for-{line}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        artifact = ARTIFACTS[name].format(line=line, release=release)
        with TemporaryDirectory(dir=folder.parent) as made:
            jars = _download(artifact, Path(made))
            # Another process may have been faster.
            with suppress(OSError):
                jars.rename(folder)
    own = [it for it in folder.glob("*.jar") if it.name.startswith(OWN)]
    return os.pathsep.join(map(str, sorted(own)))


def _download(artifact: str, folder: Path) -> Path:
    """Copies an artifact and what it needs into a folder of `folder`."""
    group, name, version = artifact.split(":")
    pom = folder / "pom.xml"
    pom.write_text(POM.format(group=group, artifact=name, version=version), encoding="utf-8")
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=jars"]
    command = ["mvn", "-q", "-B", "-f", str(pom), *copy]
    subprocess.run(command, check=True, cwd=folder, timeout=DOWNLOAD_S)  # noqa: S603 - ours
    return folder / "jars"
