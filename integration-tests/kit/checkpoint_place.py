"""Where tests have the checkpoint of a query: on a local disk, or on a server of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Protocol

from kit.servers import s3
from kit.servers.hdfs import Hdfs, HdfsFolder
from kit.servers.s3 import S3Server

LOCAL, S3, HDFS = "local", "s3", "hdfs"
NAME = "checkpoint"


class Folder(Protocol):
    """As much of a `Path` as is needed to look at a checkpoint while its query runs."""

    @property
    def name(self) -> str: ...
    def __truediv__(self, name: str, /) -> Folder: ...
    def is_dir(self) -> bool: ...
    def exists(self) -> bool: ...
    def read_text(self) -> str: ...
    def iterdir(self) -> Iterator[Folder]: ...


@dataclass(frozen=True)
class CheckpointPlace:
    """A checkpoint's names.

    `url` is Spark's, which needs the settings `conf` for it; `readable` returns what Keyfold's
    Python is given, a copy of now where it does not reach the files; `files` has them as they are.
    """

    url: str
    readable: Callable[[], str]
    files: Folder
    conf: Mapping[str, object] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return self.readable()


@contextmanager
def checkpoint_place(kind: str, folder: Path) -> Iterator[CheckpointPlace]:
    """A place for one checkpoint, whose files are below `folder`. Its server ends with it."""
    if kind == LOCAL:
        yield on_disk(folder)
    elif kind == HDFS:
        with closing(Hdfs(folder / "hdfs")) as hdfs:
            yield on_hdfs(hdfs, folder)
    else:
        with closing(S3Server(folder)) as server:
            yield on_s3(server, server.port)


def on_disk(folder: Path, name: str = NAME) -> CheckpointPlace:
    """A checkpoint on the local disk."""
    checkpoint = folder / name
    return CheckpointPlace(str(checkpoint), lambda: str(checkpoint), checkpoint)


def on_s3(server: S3Server, port: int, name: str = NAME) -> CheckpointPlace:
    """A checkpoint on a server that is reached at `port`, its own or that of a proxy."""
    return CheckpointPlace(
        s3.spark_url(name),
        # Past the proxy: what it is asked is to be Spark's alone.
        lambda: s3.keyfold_uri(name, server.port),
        server.bucket / name,
        s3.spark_conf(port),
    )


def on_hdfs(hdfs: Hdfs, folder: Path, name: str = NAME) -> CheckpointPlace:
    """A checkpoint on HDFS; copies of it are made below `folder`."""
    numbers = count()

    def copy() -> str:
        to = folder / f"copy-{name}-{next(numbers)}"
        hdfs.copy(f"/{name}", to)
        return str(to)

    return CheckpointPlace(f"{hdfs.address}/{name}", copy, HdfsFolder(hdfs, f"/{name}"))
