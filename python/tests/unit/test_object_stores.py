"""Object stores without a server: requests counted on a store in memory, options, and errors."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner

import keyfold
from keyfold.cli.command import ExitCode
from keyfold.cli.main import cli
from keyfold.errors import (
    ExtraMissingError,
    FileMissingError,
    InvalidArgumentError,
    StorageError,
)
from keyfold.storage.object_files import reason
from keyfold.storage.storage import Storage
from kit.counted_requests import Requests
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

OPTIONS = {
    "aws_access_key_id": "an-id",
    "aws_secret_access_key": "not-to-be-shown",
    "aws_session_token": "nor-is-this",
    "aws_region": "eu-west-1",
    "aws_endpoint_url": "http://127.0.0.1:1",
}


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor is Amazon asked for the region of a bucket."""
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "nothing"))
    monkeypatch.setenv("AWS_REGION", "us-east-1")


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Requests:
    return Requests(monkeypatch, tmp_path)


def written(folder: Path, *, partitions: int, batches: int) -> StateWriter:
    fake = FakeCheckpoint(folder / "cp")
    writer = StateWriter(fake, partitions=partitions)
    for batch in range(batches):
        writer.batch(dict.fromkeys(range(batch, batch + 40), batch))
    return writer


def opened() -> keyfold.Checkpoint:
    """As the command line opens it, so that a test counts the requests of one command."""
    from keyfold.checkpoint import open_for_command  # noqa: PLC0415

    return open_for_command("s3://bucket/cp", {})


def test_a_look_up_reads_each_file_of_the_chain_once(requests: Requests, tmp_path: Path) -> None:
    writer = written(tmp_path, partitions=4, batches=10)
    key = next(it for it in range(9, 40) if writer.owner(it) == 2)
    assert opened()["agg"].get({"id": key}).to_pylist()[0]["value"] == {"total": 9}
    found = requests.counts()
    # The logs, the operator, the schema, the head of partition 0, and ten deltas.
    assert found["get"] <= 6 + 10
    assert found["head"] == found["get_range"] == found["list"] == 0
    assert found["list_with_delimiter"] <= 6


def test_describe_reads_one_footer_a_partition(requests: Requests, tmp_path: Path) -> None:
    written(tmp_path, partitions=30, batches=3)
    assert opened().describe().rows == 42
    found = requests.counts()
    assert found["get"] <= 30 + 6
    assert found["head"] == found["get_range"] == 0
    assert found["list"] + found["list_with_delimiter"] <= 8


@pytest.mark.parametrize("deep", [False, True])
def test_fsck_reads_each_file_once(requests: Requests, tmp_path: Path, deep: bool) -> None:  # noqa: FBT001
    written(tmp_path, partitions=4, batches=10)
    report = opened().fsck(deep=deep)
    assert report.ok
    assert report.files == 40
    # Partition 0's head also says how many partitions there are, and the offsets are listed again.
    found = requests.counts(twice=2)
    # Every file of state; two logs of ten batches; metadata of query and operator, and the schema.
    assert found["get"] == 40 + 20 + 3 + 1
    assert found["head"] == found["get_range"] == 0


def test_a_count_and_a_scan_list_all_partitions_at_once(requests: Requests, tmp_path: Path) -> None:
    written(tmp_path, partitions=30, batches=3)
    assert opened()["agg"].count() == 42
    assert requests.counts()["get"] <= 30 + 6
    assert opened()["agg"].scan().to_arrow().num_rows == 42
    found = requests.counts()
    assert found["get"] <= 90 + 6
    assert found["list"] + found["list_with_delimiter"] <= 8


def test_a_checkpoint_of_the_api_sees_the_next_batch(requests: Requests, tmp_path: Path) -> None:
    writer = written(tmp_path, partitions=2, batches=1)
    checkpoint = keyfold.open_checkpoint("s3://bucket/cp")
    table = checkpoint["agg"]
    assert (checkpoint.last_batch, table.count()) == (0, 40)
    writer.batch({1000: 1})
    assert (checkpoint.last_batch, table.count()) == (1, 41)
    assert requests.asked


def test_a_large_file_is_read_by_ranges(requests: Requests, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1024
    (tmp_path / "cp").mkdir()
    (tmp_path / "cp/large").write_bytes(content)
    with Storage("s3://bucket/cp").open("large", len(content)) as file:
        assert file.read(1000, 10) == content[1000:1010]
        assert file.read(len(content) - 5, 10) == content[-5:]
    assert requests.counts(twice=1) == {"get_range": 2}


def test_missing_objects(requests: Requests) -> None:
    with pytest.raises(FileMissingError, match="s3://bucket/cp/gone"):
        Storage("s3://bucket/cp").text("gone")
    assert Storage("s3://bucket/cp").listing("gone") == []
    assert requests.asked


def test_a_pickled_storage_remembers_nothing(requests: Requests, tmp_path: Path) -> None:
    written(tmp_path, partitions=4, batches=2)
    storage = Storage("s3://bucket/cp").once()
    storage.fetch(["metadata", "commits/0"], ["commits"])
    assert len(pickle.loads(pickle.dumps(storage)).listing("commits")) == 2  # noqa: S301
    assert requests.counts(twice=1) == {"get": 2, "list_with_delimiter": 2}


def test_credentials_are_not_shown(tmp_path: Path) -> None:
    storage = Storage("s3a://bucket/cp", OPTIONS)
    with pytest.raises(StorageError) as error:
        storage.text("metadata")
    shown = f"{error.value} {error.value.__cause__} {storage!r} {vars(storage.once())['root']}"
    assert "bucket 'bucket' at http://127.0.0.1:1 (region eu-west-1)" in shown
    assert "AWS_ENDPOINT_URL" in shown
    assert "not-to-be-shown" not in shown
    assert "nor-is-this" not in shown
    assert repr(pickle.loads(pickle.dumps(storage))) == "Storage('s3a://bucket/cp')"  # noqa: S301
    assert tmp_path


@pytest.mark.parametrize(
    "path",
    [
        "abfss://id:not-to-be-shown@account.dfs.core.windows.net/cp",
        "sftp://id:not-to-be-shown@host/cp",
        "s3://bucket/cp?secret=not-to-be-shown",
    ],
)
def test_credentials_in_a_uri_are_refused(path: str) -> None:
    with pytest.raises(InvalidArgumentError, match="storage option") as error:
        Storage(path)
    assert "not-to-be-shown" not in str(error.value)


def test_a_uri_of_pyarrow_is_read_and_its_credentials_are_not_shown() -> None:
    storage = Storage(
        "s3://an-id:not%2Fshown@bucket/a b/cp?endpoint_override=host:9000&scheme=http&region=there"
    )
    config = storage._files._store.config  # type: ignore[attr-defined]
    assert config["secret_access_key"] == "not/shown"  # noqa: S105
    assert (config["endpoint"], config["region"]) == ("http://host:9000", "there")
    assert storage.full_path("x") == "s3://bucket/a b/cp/x"


def test_options_of_connections_may_be_given_as_delta_rs_has_them() -> None:
    given = OPTIONS | {"aws_allow_http": True, "timeout": "5s", "AWS_CONNECT_TIMEOUT": "1s"}
    client = Storage("s3://bucket/cp", given)._files._store.client_options  # type: ignore[attr-defined]
    assert set(client) == {"allow_http", "timeout", "connect_timeout"}


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"no_such.*aws_endpoint_url"):
        Storage("s3://bucket/cp", {"no_such": "1"})
    with pytest.raises(InvalidArgumentError, match="Local disks"):
        Storage(tmp_path, {"aws_region": "us-east-1"})
    with pytest.raises(InvalidArgumentError, match="'host:9000' is not a URL"):
        Storage("s3://bucket/cp", {"aws_endpoint_url": "host:9000"})
    with pytest.raises(InvalidArgumentError, match="no bucket"):
        Storage("s3:///cp")


def test_the_command_line_does_not_repeat_what_is_not_a_pair() -> None:
    found = CliRunner().invoke(cli, ["describe", "s3://b/c", "--storage-option", "not-to-be-shown"])
    assert found.exit_code == ExitCode.USAGE
    assert "KEY=VALUE" in found.output
    assert "not-to-be-shown" not in found.output


def test_commands_that_change_say_where_spark_takes_its_settings_from() -> None:
    given = ["rescale", "s3://b/c", "--to", "3", "--storage-option", "aws_region=not-to-be-shown"]
    found = CliRunner().invoke(cli, given)
    assert found.exit_code == ExitCode.USAGE
    assert "spark.hadoop.fs.s3a.endpoint" in found.output
    assert "not-to-be-shown" not in found.output


def test_a_profile_has_keys_and_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys, config = tmp_path / "credentials", tmp_path / "config"
    keys.write_text("[work]\naws_access_key_id = one\naws_secret_access_key = two\n")
    config.write_text("[profile work]\nregion = eu-north-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.delenv("AWS_REGION")
    found = Storage("s3://bucket/cp")._files._store.config  # type: ignore[attr-defined]
    assert (found["access_key_id"], found["region"]) == ("one", "eu-north-1")
    given = Storage("s3://bucket/cp", OPTIONS)._files._store.config  # type: ignore[attr-defined]
    assert (given["access_key_id"], given["region"]) == ("an-id", "eu-west-1")


def answer(code: str, status: str) -> str:
    return (
        f"Error performing GET http://host/bucket in 2ms - Server returned non-2xx status code: "
        f"{status}: <?xml?><Error><Code>{code}</Code><Message>A reason.</Message>"
        "<StringToSign>a-signature</StringToSign></Error>"
    )


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (answer("InvalidAccessKeyId", "403 Forbidden"), "aws_secret_access_key"),
        (answer("AccessDenied", "403 Forbidden"), "s3:ListBucket"),
        (answer("NoSuchBucket", "404 Not Found"), "name of the bucket"),
        (answer("RequestTimeTooSkewed", "403 Forbidden"), "set the clock"),
        (answer("AuthorizationHeaderMalformed", "400 Bad Request"), "aws_region"),
        ("Server returned non-2xx status code: 301 Moved", "aws_region"),
        ('Connect, message: "Connection refused"', "Connection refused"),
        ("Error performing PUT http://169.254.169.254/latest/api/token", "aws_skip_signature"),
    ],
)
def test_a_refusal_says_what_to_check(text: str, check: str) -> None:
    found = reason(text, "bucket 'b' at http://host")
    assert "bucket 'b' at http://host" in found
    assert check in found
    assert "a-signature" not in found


def test_fsspec_reads_other_schemes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import fsspec  # type: ignore[import-untyped] # noqa: PLC0415

    writer = written(tmp_path, partitions=2, batches=2)
    memory = fsspec.filesystem("memory")
    memory.put(str(writer.fake.root), "/bucket/cp", recursive=True)
    checkpoint = keyfold.open_checkpoint("memory://bucket/cp")
    assert checkpoint.describe().rows == 41
    assert checkpoint["agg"].get({"id": 1}).num_rows == 1
    assert checkpoint.fsck(deep=True).ok
    with pytest.raises(FileMissingError, match="memory://bucket/cp/gone"):
        Storage("memory://bucket/cp").content("gone")
    storage = Storage("memory://bucket/cp")
    with monkeypatch.context() as broken:
        broken.setattr(type(memory), "cat_file", lambda *_, **__: {}["odd"])
        with pytest.raises(StorageError, match="KeyError: 'odd'"):
            storage.content("metadata")
    with pytest.raises(InvalidArgumentError, match="nonesuch"):
        Storage("nonesuch://bucket/cp")
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(ExtraMissingError, match="pip install fsspec"):
        Storage("memory://bucket/cp")
