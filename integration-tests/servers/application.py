"""A Spark in the process of the tests, and the servers that its queries keep checkpoints on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pyspark.sql import SparkSession

from kit.checkpoint_place import HDFS, S3, CheckpointPlace, on_disk, on_hdfs, on_s3
from kit.files import files_in
from kit.servers import s3
from kit.servers.hdfs import Hdfs
from kit.servers.proxy import Proxy
from kit.servers.s3 import S3Server
from kit.session import session

# Maintenance at the end of each task, and no thread of its own that changes files after a query.
AT_ONCE = {"spark.sql.streaming.stateStore.unloadOnCommit": "true"}


@dataclass
class Application:
    """A session, and servers that start when the first place on them is asked for."""

    spark: SparkSession
    folder: Path
    port: int
    _open: ExitStack = field(default_factory=ExitStack)
    _numbers: Iterator[int] = field(default_factory=count)

    def place(self, kind: str) -> CheckpointPlace:
        """A place for a checkpoint that no other has."""
        name = f"checkpoint-{next(self._numbers)}"
        if kind == S3:
            return on_s3(self._s3, self.proxy.port, name)
        return (
            on_hdfs(self._hdfs, self.folder, name) if kind == HDFS else on_disk(self.folder, name)
        )

    def new_folder(self) -> Path:
        """An empty folder on the local disk."""
        return Path(mkdtemp(dir=self.folder))

    @cached_property
    def proxy(self) -> Proxy:
        """Between Spark and the S3 server."""
        return self._open.enter_context(closing(Proxy(self._s3.port, port=self.port)))

    @cached_property
    def _s3(self) -> S3Server:
        return self._open.enter_context(closing(S3Server(self.folder)))

    @cached_property
    def _hdfs(self) -> Hdfs:
        return self._open.enter_context(closing(Hdfs(self.folder / "hdfs")))


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    """Ends all of it at its end."""
    # The proxy's: Spark is told where S3 is when it starts.
    port = s3.free_port()
    with ExitStack() as servers:
        spark = servers.enter_context(session(folder, s3.spark_conf(port) | AT_ONCE))
        yield Application(spark, folder, port, servers)


def contents(place: CheckpointPlace) -> dict[str, bytes]:
    """Its files by path below it, without checksums that Hadoop adds to copies."""
    folder = place.files if isinstance(place.files, Path) else Path(place.uri)
    found = files_in(folder)
    return {str(it.relative_to(folder)): found[it] for it in found if it.suffix != ".crc"}


def file_system(spark: SparkSession, url: str) -> tuple[Any, Any]:
    """Hadoop's for a path, and the path as it takes it."""
    path = spark._jvm.org.apache.hadoop.fs.Path(url)  # noqa: SLF001 - there is no other way
    conf = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    return path.getFileSystem(conf), path
