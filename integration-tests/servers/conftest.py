"""An S3 server, and a proxy before it; an application with a query."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.servers.client import S3Client
from kit.servers.proxy import Proxy
from kit.servers.s3 import S3Server
from servers.application import Application, application
from servers.count_query import CountQuery


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with closing(S3Server(tmp_path_factory.mktemp("s3"))) as server:
        yield server


@pytest.fixture
def proxy(server: S3Server) -> Iterator[Proxy]:
    with closing(Proxy(server.port, seed=1)) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: Proxy) -> Iterator[S3Client]:
    """A client of the proxy."""
    with closing(S3Client(proxy.port)) as client:
        yield client


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """An object of the test alone."""
    name: str = request.node.name
    return f"{name}/state/0/1/1.delta"


@pytest.fixture
def file(server: S3Server, key: str) -> Path:
    """Where the server has it."""
    return server.bucket / key


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    with application(tmp_path_factory.mktemp("application")) as it:
        yield it


@pytest.fixture
def query(app: Application) -> CountQuery:
    return CountQuery(app.spark, app.new_folder())
