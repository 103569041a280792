"""A server of Spark Connect in a process of its own, until its input ends; run as a script."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"


def serve() -> None:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - in the server alone
    from pyspark.sql import SparkSession  # noqa: PLC0415

    conf = SparkConf().setMaster("local[2]").set("spark.plugins", _PLUGIN)
    # 0: any free port.
    conf.set("spark.connect.grpc.binding.port", "0").set("spark.ui.enabled", "false")
    context: Any = SparkContext(conf=conf)
    # As Spark's own server makes one, of which Spark 4.0 makes those of clients.
    SparkSession(context)
    package = context._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(package, "SparkConnectService$"), "MODULE$")
    sys.stdout.write(f"{service.localPort()}\n")
    sys.stdout.flush()
    sys.stdin.read()
    context.stop()


@contextmanager
def connect_server(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The URL of a server that runs meanwhile."""
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
            env=os.environ | environment,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            port = server.stdout.readline().strip()
            assert port, (folder / "server.log").read_text(encoding="utf-8")
            yield f"sc://localhost:{port}"
        finally:
            server.stdin.close()
            server.wait()
            server.stdout.close()


if __name__ == "__main__":
    serve()
