"""An S3 server on a folder, and how Spark and Keyfold reach it."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from kit.places import ROOT
from kit.servers.needed import S3A, needed

VERSITYGW = ROOT / ".cache" / "versitygw" / "versitygw"
ABSENT = f"{VERSITYGW} is missing; install Go 1.26 or newer, then run `make servers`"

ACCESS_KEY, SECRET_KEY = "keyfold", "keyfold-secret"
REGION = "us-east-1"
BUCKET = "checkpoints"
HEALTH = "/health"
TIMEOUT_S = 30


class S3Server:
    """versitygw on 127.0.0.1, with one bucket. `close` ends it.

    Each object is a file: what is in the bucket can be read in the folder `bucket` too, and a
    file appears there as the object does, whole and at once.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        """Starts a server whose files are in `folder`, on `port` or any free one.

        Raises:
            RuntimeError: it has not begun to answer; its log is in `folder`.
        """
        self.bucket = folder / "objects" / BUCKET
        self.bucket.mkdir(parents=True, exist_ok=True)
        self._log = folder / "s3.log"
        self.port = port or free_port()
        binary = needed(VERSITYGW, ABSENT)
        command = [
            str(binary),
            *("--port", f"127.0.0.1:{self.port}", "--region", REGION),
            # Not --keep-alive: the end of a chunked body is then taken for a request (v1.8.0).
            *("--quiet", "--health", HEALTH),
            *("posix", *_metadata_options(folder), str(self.bucket.parent)),
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env={"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Returns when it has ended."""
        self._process.wait()

    def close(self) -> None:
        """Ends it; objects stay."""
        self._process.kill()
        self._process.wait()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(URLError, OSError), urlopen(f"{endpoint(self.port)}{HEALTH}", timeout=5):
                return
            time.sleep(0.02)
        said = self._log.read_text(errors="replace")
        raise RuntimeError(f"The S3 server at port {self.port} does not answer:\n{said}")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listened to a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def endpoint(port: int) -> str:
    """URL of an S3 server, or of a proxy before it."""
    return f"http://127.0.0.1:{port}"


def spark_url(path: str) -> str:
    """Where Spark finds `path` of the bucket."""
    return f"s3a://{BUCKET}/{path}"


def keyfold_uri(path: str, port: int) -> str:
    """Where Keyfold's Python and pyarrow find `path` of the bucket."""
    options = f"endpoint_override=127.0.0.1:{port}&scheme=http&region={REGION}"
    return f"s3://{ACCESS_KEY}:{SECRET_KEY}@{BUCKET}/{path}?{options}"


def spark_conf(port: int) -> dict[str, str]:
    """Settings with which a Spark reaches `spark_url`, S3A's jars among them."""
    jars = needed(S3A, f"{S3A} is missing; run `make servers`").read_text(encoding="utf-8").strip()
    s3a = "spark.hadoop.fs.s3a"
    return {
        "spark.driver.extraClassPath": jars,
        "spark.executor.extraClassPath": jars,
        f"{s3a}.endpoint": endpoint(port),
        f"{s3a}.endpoint.region": REGION,
        f"{s3a}.path.style.access": "true",
        f"{s3a}.connection.ssl.enabled": "false",
        f"{s3a}.access.key": ACCESS_KEY,
        f"{s3a}.secret.key": SECRET_KEY,
    }


def _metadata_options(folder: Path) -> list[str]:
    """Where objects' own headers are kept: in attributes of the files, if the disk has such."""
    try:
        os.setxattr(folder, "user.keyfold", b"")
    except OSError:
        sidecar = folder / "headers"
        sidecar.mkdir(exist_ok=True)
        return ["--sidecar", str(sidecar)]
    return []
