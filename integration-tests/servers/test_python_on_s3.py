"""Keyfold's Python on an S3 server: what it asks for, and what it says when it is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import keyfold
from keyfold.cli.main import cli
from keyfold.errors import NotACheckpointError, StorageError
from keyfold.storage.storage import Storage
from keyfold.watch.watcher import Watcher
from kit.fake_checkpoint import FakeCheckpoint
from kit.servers.faults import Faults
from kit.servers.proxy import Proxy
from kit.servers.s3 import ACCESS_KEY, BUCKET, REGION, SECRET_KEY, S3Server, endpoint, keyfold_uri
from kit.state_writer import StateWriter


@pytest.fixture(scope="module")
def checkpoint(server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A query with 60 partitions and 20 batches: more files than a page of a listing has."""
    folder = tmp_path_factory.mktemp("made") / "with space"
    writer = StateWriter(FakeCheckpoint(folder), partitions=60)
    for batch in range(20):
        writer.batch({batch * 10 + it: batch for it in range(20)})
    shutil.copytree(folder, server.bucket / "with space")
    return f"s3a://{BUCKET}/with space"


def options(port: int, **others: str) -> dict[str, str]:
    found = {
        "aws_endpoint_url": endpoint(port),
        "aws_region": REGION,
        "aws_access_key_id": ACCESS_KEY,
        "aws_secret_access_key": SECRET_KEY,
    }
    return found | others


def test_all_of_it_is_read(checkpoint: str, proxy: Proxy) -> None:
    opened = keyfold.open_checkpoint(checkpoint, storage_options=options(proxy.port))
    assert opened.describe().rows == 210
    assert opened["agg"].scan().to_arrow().num_rows == 210
    assert opened["agg"].get({"id": 205}).to_pylist()[0]["value"] == {"total": 19}
    assert opened["agg"].history({"id": 190})["change"].to_pylist() == ["inserted", "updated"]
    report = opened.fsck(deep=True)
    assert (report.findings, report.files) == ((), 1200)
    assert not any("HEAD" in operation for operation, _ in proxy.counted)


def test_a_command_asks_for_each_file_once(
    checkpoint: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in options(proxy.port).items():
        monkeypatch.setenv(name.upper(), value)
    found = CliRunner().invoke(cli, ["get", checkpoint, "agg", '{"id": 205}', "-o", "json"])
    assert json.loads(found.stdout)["value"] == {"total": 19}
    # Five lists; query, operator and schema; the batch's two entries; two heads and 19 more deltas.
    assert sum(proxy.counted.values()) <= 5 + 5 + 21


def test_the_command_line_takes_storage_options(checkpoint: str, proxy: Proxy) -> None:
    given = [f"--storage-option={name}={it}" for name, it in options(proxy.port).items()]
    found = CliRunner().invoke(cli, ["describe", checkpoint, "-o", "json", *given])
    assert json.loads(found.stdout)["totals"]["rows"] == 210
    assert SECRET_KEY not in found.output


def test_what_is_wrong_is_said(checkpoint: str, server: S3Server) -> None:
    here = f"bucket {BUCKET!r} at {endpoint(server.port)}"
    for wrong, said in (
        ({"aws_secret_access_key": "a-wrong-secret"}, "SignatureDoesNotMatch"),
        ({"aws_access_key_id": "nobody"}, "Check the access key"),
        ({"aws_region": "eu-north-1"}, "Check the region"),
        ({"aws_skip_signature": "true"}, "anonymous"),
    ):
        with pytest.raises(StorageError) as error:
            keyfold.open_checkpoint(checkpoint, storage_options=options(server.port, **wrong))
        assert said in str(error.value)
        assert here in str(error.value)
        assert "a-wrong-secret" not in str(error.value)
        assert SECRET_KEY not in str(error.value)
    with pytest.raises(StorageError, match="NoSuchBucket"):
        keyfold.open_checkpoint("s3://nowhere/cp", storage_options=options(server.port))
    with pytest.raises(NotACheckpointError, match="cp is not the checkpoint"):
        keyfold.open_checkpoint(f"s3://{BUCKET}/cp", storage_options=options(server.port))


def test_a_uri_of_pyarrow_is_shown_without_its_credentials(
    checkpoint: str, server: S3Server
) -> None:
    assert checkpoint
    opened = keyfold.open_checkpoint(keyfold_uri("with space", server.port))
    shown = f"{opened!r} {json.dumps(opened.describe().to_dict())}"
    assert f"s3://{BUCKET}/with space" in shown
    assert SECRET_KEY not in shown


def test_a_store_that_fails_now_and_then_is_asked_again(checkpoint: str, proxy: Proxy) -> None:
    proxy.faults = Faults(slow_down=0.05, internal_error=0.05)
    opened = keyfold.open_checkpoint(checkpoint, storage_options=options(proxy.port))
    assert opened.describe().rows == 210
    assert proxy.happened.total() > 0


def test_a_file_that_is_gone_is_found(checkpoint: str, server: S3Server, tmp_path: Path) -> None:
    assert checkpoint
    damaged = server.bucket / "damaged"
    shutil.copytree(server.bucket / "with space", damaged)
    lost = next(damaged.glob("state/0/7/3_*.delta"))
    shutil.move(lost, tmp_path)
    found = keyfold.open_checkpoint(
        f"s3://{BUCKET}/damaged", storage_options=options(server.port)
    ).fsck()
    assert {it.kind.value for it in found.findings} == {"damaged"}
    assert any(it.path.endswith(f"state/0/7/{lost.name}") for it in found.findings)


def test_a_look_asks_for_what_is_new(server: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    # The files of one operator with 4 partitions, as docs/watch.md has them.
    folder = server.bucket / "watched"
    folder.mkdir()
    writer = StateWriter(FakeCheckpoint(tmp_path / "watched"), partitions=4)

    def batch(number: int) -> None:
        writer.batch(dict.fromkeys(range(40), number))
        shutil.copytree(writer.fake.root, folder, dirs_exist_ok=True)

    for number in range(10):
        batch(number)
    watcher = Watcher(Storage(f"s3://{BUCKET}/watched", options(proxy.port)))
    assert len(watcher.look().batches) == 10
    first = proxy.counted
    watcher.look()
    nothing_new = proxy.counted - first
    assert nothing_new.total() == 2
    batch(10)
    assert watcher.look().batches[-1].changes == 40
    one_batch = proxy.counted - first - nothing_new
    # Commits, offsets, operators, files; id, description, two entries, the oldest, and four deltas.
    assert one_batch.total() == 4 + 5 + 4
    # Two entries and four deltas of each of nine batches more.
    assert first.total() == one_batch.total() + 9 * (2 + 4) - 1
