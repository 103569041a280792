"""A real Spark, for every module of this folder one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

import keyfold
from kit.places import ROOT
from kit.session import ENVIRONMENT, session
from python.tests.spark.connect_server import connect_server

# Snapshots are written, and old files removed, while a test goes on.
BUSY = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with session(tmp_path_factory.mktemp("spark"), BUSY) as made:
        yield made


@pytest.fixture(scope="session")
def connect_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Spark Connect that was started as docs/cluster.md says, for all modules one."""
    options = [
        *("--properties-file", str(ROOT / "conf" / "keyfold-defaults.conf")),
        *("--jars", str(keyfold.jar_path())),
        *("--conf", "spark.sql.shuffle.partitions=2"),
        *("--conf", "spark.python.daemon.module=kit.daemon"),
    ]
    arguments = f"{shlex.join(options)} {ENVIRONMENT['PYSPARK_SUBMIT_ARGS']}"
    environment = ENVIRONMENT | {"PYSPARK_SUBMIT_ARGS": arguments}
    with connect_server(tmp_path_factory.mktemp("connect"), environment) as url:
        yield url


@pytest.fixture(scope="session")
def connect(connect_url: str) -> Iterator[Any]:
    """A session on that server."""
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - warns of pandas

    made = SparkSession.builder.remote(connect_url).getOrCreate()
    yield made
    made.stop()


@pytest.fixture(params=[pytest.param("spark", id="classic"), "connect"])
def either(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)
