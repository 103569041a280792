"""An S3 server for the checkpoints of a run, behind a proxy that counts what it is asked."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from demo.errors import DemoError
from demo.place import Place
from demo.requests import query_and_part
from kit.servers import s3
from kit.servers.connection import STEERING
from kit.servers.needed import NeededError
from kit.servers.proxy import Proxy


@contextmanager
def s3_place(folder: Path, delay_ms: float) -> Iterator[Place]:
    """Run both, with all objects in `folder`; each request is held back for so long."""
    folder.mkdir(parents=True)
    with ExitStack() as servers:
        try:
            server = servers.enter_context(closing(s3.S3Server(folder)))
            proxy = servers.enter_context(closing(Proxy(server.port, place=query_and_part)))
            conf = s3.spark_conf(proxy.port)
        except (NeededError, RuntimeError) as error:
            raise DemoError(str(error)) from error
        proxy.delay_ms = delay_ms
        endpoint = s3.endpoint(proxy.port)
        yield Place(
            url=s3.spark_url("demo"),
            files=str(server.bucket / "demo"),
            # A driver that is killed leaves what it has not sent behind.
            conf={**conf, "spark.hadoop.fs.s3a.buffer.dir": str(folder / "unsent")},
            storage_options={
                "aws_endpoint_url": endpoint,
                "aws_region": s3.REGION,
                "aws_access_key_id": s3.ACCESS_KEY,
                "aws_secret_access_key": s3.SECRET_KEY,
            },
            counter=endpoint + STEERING,
        )
