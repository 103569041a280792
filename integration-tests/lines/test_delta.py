"""A driver that dies after Delta's commit of a batch and before the query's, on Spark 4.1."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.installation import installation_of
from kit.killed_sink import HALTING, HALTS_BEFORE, KILLS, KilledSink
from kit.places import ROOT
from kit.submit import Conf, Spark

LINE, DELTA = "4.1", "4.1.0"
DOWNLOAD_S = 600
EXTENSIONS = "io.delta.sql.DeltaSparkSessionExtension,io.keyfold.spark.KeyfoldExtensions"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>test</artifactId><version>1</version>
<dependencies><dependency>
<groupId>io.delta</groupId><artifactId>delta-spark_{line}_2.13</artifactId><version>{release}</version>
</dependency></dependencies></project>
"""


@pytest.fixture(scope="module")
def jars() -> str:
    """Delta for the line, from Maven; a class path."""
    folder = ROOT / ".cache" / f"delta-{DELTA}"
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        pom = folder / "pom.xml"
        pom.write_text(POM.format(line=LINE, release=DELTA), encoding="utf-8")
        copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=jars"]
        command = ["mvn", "-q", "-B", "-f", str(pom), *copy]
        subprocess.run(command, check=True, cwd=folder, timeout=DOWNLOAD_S)
        (folder / "ready").touch()
    # Spark has all else that Delta's needs.
    own = [it for it in (folder / "jars").glob("*.jar") if it.name.startswith("delta-")]
    return ":".join(map(str, own))


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Spark]:
    with closing(Spark(tmp_path, "local[2]", installation_of(LINE))) as spark:
        yield spark


def with_delta(jars: str) -> Conf:
    return {
        "spark.driver.extraClassPath": jars,
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Of Delta's log: Spark 4.1.4 lacks a constructor that this release of Delta reads them by.
        "spark.databricks.delta.properties.defaults.checkpointInterval": 10000,
    }


@pytest.mark.long
@pytest.mark.timeout(DOWNLOAD_S + 300)
def test_each_row_once_after_a_kill_between_the_two_commits(
    local: Spark, tmp_path: Path, jars: str
) -> None:
    conf = with_delta(jars)
    classes = f"{jars}:{HALTING['spark.driver.extraClassPath']}"
    sink = KilledSink(tmp_path, "delta")
    for batch in (0, 2):
        sink.add(2)
        halting = {**conf, **HALTING, "spark.driver.extraClassPath": classes, HALTS_BEFORE: batch}
        halted = local.start(*sink.job, conf=halting)
        assert halted.wait() != 0
        assert (sink.batches, sink.committed) == (batch, batch - 1), halted.end_of_log
    sink.add(1)
    local.run(*sink.job, conf=conf)
    assert sink.rows() == sink.expected()


@pytest.mark.long
@pytest.mark.timeout(DOWNLOAD_S + 300 + 60 * KILLS)
def test_each_row_once_after_kills_at_random(local: Spark, tmp_path: Path, jars: str) -> None:
    sink = KilledSink(tmp_path, "delta")
    between = sink.kill_at_random(local, with_delta(jars))
    sink.add(1)
    local.run(*sink.job, conf=with_delta(jars))
    assert sink.rows() == sink.expected()
    assert between > 0 or KILLS < 20
