"""Where checkpoints are: a folder, an S3 server behind a proxy, or an HDFS; and their requests."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.places.cells import Cell
from kit.servers import s3
from kit.servers.hdfs import Hdfs
from kit.servers.proxy import Proxy
from kit.servers.s3 import S3Server

# What clients do not ask, and what is counted a second time over all users.
_NOT_OF_CLIENTS = ("Overall", "BlockReceived", "SendHeartbeat", "BlockReport")


@dataclass(frozen=True)
class Place:
    """Where a checkpoint of a name goes, the settings for it, and the requests so far by kind."""

    url: Callable[[str], str]
    settings: dict[str, str]
    requests: Callable[[], Counter[str]]


@contextmanager
def place_of(cell: Cell, folder: Path) -> Iterator[Place]:
    """The place of a cell; its server ends with it."""
    if cell.place == "S3":
        (folder / "s3").mkdir()
        with closing(S3Server(folder / "s3")) as server, closing(Proxy(server.port)) as proxy:
            proxy.delay_ms = cell.delay_ms
            yield Place(s3.spark_url, s3.spark_conf(proxy.port), lambda: _of_proxy(proxy))
    elif cell.place == "HDFS":
        with closing(Hdfs(folder / "hdfs")) as hdfs:
            yield Place(lambda name: f"{hdfs.address}/{name}", {}, lambda: _of_name_node(hdfs))
    else:
        yield Place(lambda name: str(folder / name), {}, Counter)


def _of_proxy(proxy: Proxy) -> Counter[str]:
    """By `state` or `logs`."""
    found: Counter[str] = Counter()
    for (_, place), count in proxy.counted.items():
        found["logs" if place in {"offsets", "commits"} else place] += count
    return found


def _of_name_node(hdfs: Hdfs) -> Counter[str]:
    calls = hdfs.calls().items()
    return Counter({k: v for k, v in calls if not k.startswith(_NOT_OF_CLIENTS)})
