"""The proxy between an S3 client and its server: what passes, is counted, and goes wrong."""

import json
import socket
from base64 import b64encode
from contextlib import closing
from hashlib import md5
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Barrier, Thread
from time import monotonic, sleep
from urllib.request import Request, urlopen

import pytest
from pyarrow import fs

from kit.servers.client import S3Client
from kit.servers.connection import STEERING
from kit.servers.faults import Faults
from kit.servers.proxy import Proxy
from kit.servers.s3 import ACCESS_KEY, BUCKET, REGION, SECRET_KEY, S3Server

ONCE = {"if-none-match": "*"}
GONE = (OSError, HTTPException)


def test_requests_are_counted_by_operation_and_place(proxy: Proxy, client: S3Client) -> None:
    for key in ("q/state/0/1/1.delta", "q/offsets/0", "q/commits/0", "q/metadata"):
        assert client.request("PUT", key, b"1")[0] == 200
    assert client.request("HEAD", "q/offsets/0") == (200, b"")
    assert client.request("GET", "q/commits/0") == (200, b"1")
    copy = {"x-amz-copy-source": f"{BUCKET}/q/offsets/0"}
    assert client.request("PUT", "q/offsets/1", headers=copy)[0] == 200
    listed = client.request("GET", query={"list-type": "2", "prefix": "q/state/"})
    assert b"q/state/0/1/1.delta" in listed[1]
    assert client.request("DELETE", "q/offsets/1")[0] == 204
    names = b"<Delete><Object><Key>q/metadata</Key></Object></Delete>"
    checked = {"content-md5": b64encode(md5(names).digest()).decode()}  # noqa: S324 - S3 wants it
    assert client.request("POST", body=names, query={"delete": ""}, headers=checked)[0] == 200
    assert client.request("GET", "q/metadata")[0] == 404
    assert proxy.counted == {
        ("PUT", "state"): 1,
        ("PUT", "offsets"): 1,
        ("PUT", "commits"): 1,
        ("PUT", "other"): 1,
        ("HEAD", "offsets"): 1,
        ("GET", "commits"): 1,
        ("COPY", "offsets"): 1,
        ("LIST", "state"): 1,
        ("DELETE", "offsets"): 1,
        ("DELETE MANY", "other"): 1,
        ("GET", "other"): 1,
    }
    assert not proxy.happened


def test_uploads_in_parts_chunked_and_with_continue_pass_whole(proxy: Proxy) -> None:
    # Arrow's client signs Host, waits for 100 Continue, and sends parts as aws-chunked.
    files = fs.S3FileSystem(
        access_key=ACCESS_KEY,
        secret_key=SECRET_KEY,
        region=REGION,
        scheme="http",
        endpoint_override=f"127.0.0.1:{proxy.port}",
    )
    content = bytes(range(256)) * (3 << 14)
    with files.open_output_stream(f"{BUCKET}/parts") as stream:
        stream.write(content)
    with files.open_input_file(f"{BUCKET}/parts") as file:
        assert file.read() == content
        assert file.read_at(1000, 77_777) == content[77_777:78_777]
    assert proxy.counted["START UPLOAD", "other"] == proxy.counted["END UPLOAD", "other"] == 1
    assert proxy.counted["PUT PART", "other"] >= 1


def test_a_connection_takes_one_request_after_the_other(proxy: Proxy, key: str) -> None:
    with closing(S3Client(proxy.port)) as client:
        client.request("PUT", key, b"1")
        before = client._connection.sock
        assert isinstance(before, socket.socket)
        assert client.request("GET", key) == (200, b"1")
        assert client._connection.sock is before


def test_of_conditional_puts_at_once_one_is_done(
    server: S3Server, proxy: Proxy, key: str, file: Path
) -> None:
    begun = Barrier(8)
    answers: dict[bytes, int] = {}

    def put(body: bytes) -> None:
        with closing(S3Client(proxy.port if body < b"4" else server.port)) as client:
            begun.wait()
            answers[body] = client.request("PUT", key, body, headers=ONCE)[0]

    writers = [Thread(target=put, args=(b"%d" % it,)) for it in range(8)]
    for it in writers:
        it.start()
    for it in writers:
        it.join()
    assert sorted(answers.values())[:2] == [200, 412]
    assert answers[file.read_bytes()] == 200


def test_each_request_is_held_back(proxy: Proxy, client: S3Client, key: str) -> None:
    proxy.delay_ms = 100
    before = monotonic()
    client.request("PUT", key, b"1")
    client.request("GET", key)
    assert monotonic() - before >= 0.2


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("slow_down", (503, b"<Code>SlowDown</Code>")),
        ("internal_error", (500, b"<Code>InternalError</Code>")),
        ("conflict", (409, b"<Code>ConditionalRequestConflict</Code>")),
    ],
)
def test_what_is_answered_with_an_error_is_not_done(
    proxy: Proxy, key: str, file: Path, fault: str, error: tuple[int, bytes]
) -> None:
    proxy.faults = Faults(**{fault: 1})
    client = S3Client(proxy.port)
    status, body = client.request("PUT", key, bytes(1 << 18), headers=ONCE)
    assert status == error[0]
    assert error[1] in body
    assert not file.exists()
    # The connection goes on.
    proxy.faults = Faults()
    assert client.request("PUT", key, b"1", headers=ONCE)[0] == 200
    client.close()


def test_only_a_conditional_put_meets_a_conflict(proxy: Proxy, client: S3Client, key: str) -> None:
    proxy.faults = Faults(conflict=1)
    assert client.request("PUT", key, b"1")[0] == 200
    assert client.request("GET", key, headers=ONCE)[0] in {200, 304}
    assert not proxy.happened


@pytest.mark.parametrize("length", [1, 1000, 1 << 20])
def test_a_put_whose_body_is_cut_is_not_done(
    proxy: Proxy, client: S3Client, key: str, file: Path, length: int
) -> None:
    proxy.faults = Faults(reset=1)
    with pytest.raises(GONE):
        client.request("PUT", key, bytes(length))
    assert client.request("HEAD", key)[0] == 404
    assert not file.exists()
    assert proxy.happened == {"reset": 1}


def test_a_put_whose_answer_is_lost_is_done(
    proxy: Proxy, client: S3Client, key: str, file: Path
) -> None:
    proxy.faults = Faults(lost_answer=1)
    with pytest.raises(GONE):
        client.request("PUT", key, b"1", headers=ONCE)
    assert file.read_bytes() == b"1"
    proxy.faults = Faults()
    assert client.request("PUT", key, b"1", headers=ONCE)[0] == 412


def test_a_put_that_hangs_is_done_after_its_client_has_gone(
    proxy: Proxy, key: str, file: Path
) -> None:
    proxy.faults = Faults(hang=1, hang_s=1)
    with closing(S3Client(proxy.port, timeout_s=0.2)) as client, pytest.raises(TimeoutError):
        client.request("PUT", key, b"1")
    assert not file.exists()
    deadline = monotonic() + 30
    while not file.exists():
        assert monotonic() < deadline
        sleep(0.01)
    assert file.read_bytes() == b"1"


def test_the_same_seed_has_the_same_faults(server: S3Server, key: str) -> None:
    def answers(seed: int) -> list[int]:
        with closing(Proxy(server.port, seed=seed)) as proxy, closing(S3Client(proxy.port)) as it:
            proxy.faults = Faults(slow_down=0.3, internal_error=0.3)
            return [it.request("PUT", key, b"1")[0] for _ in range(40)]

    first = answers(7)
    assert set(first) == {200, 500, 503}
    assert answers(7) == first
    assert answers(8) != first


def test_another_process_steers_it_by_http(proxy: Proxy, client: S3Client, key: str) -> None:
    url = f"http://127.0.0.1:{proxy.port}{STEERING}"
    client.request("PUT", key, b"1")
    with urlopen(Request(url, b'{"delay_ms": 2, "slow_down": 1}')) as answer:
        told = {"counted": {"PUT state": 1}, "happened": {}, "connections": 1}
        assert json.load(answer) == told
    assert proxy.delay_ms == 2
    assert client.request("GET", key)[0] == 503
    with urlopen(url) as answer:
        told = json.load(answer)
    assert (told["counted"], told["happened"]) == ({"GET state": 1}, {"slow_down": 1})


def test_a_request_whose_client_is_gone_holds_its_connection_until_it_is_done(
    proxy: Proxy, key: str, file: Path
) -> None:
    def connections() -> int:
        with urlopen(f"http://127.0.0.1:{proxy.port}{STEERING}") as answer:
            return int(json.load(answer)["connections"])

    proxy.delay_ms = 300
    with closing(S3Client(proxy.port, timeout_s=0.1)) as client, pytest.raises(TimeoutError):
        client.request("PUT", key, b"1")
    assert connections() >= 1
    assert not file.exists()
    deadline = monotonic() + 10
    while connections() and monotonic() < deadline:
        sleep(0.01)
    assert file.read_bytes() == b"1"


def test_a_server_that_is_gone_is_a_connection_that_ends(server: S3Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    assert port != server.port
    with closing(Proxy(port)) as proxy, closing(HTTPConnection("127.0.0.1", proxy.port)) as it:
        it.request("GET", "/checkpoints")
        with pytest.raises(GONE):
            it.getresponse()
