"""Places of checkpoints: what one is told is there, and what is asked of a server is counted."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import keyfold
from demo import __main__ as entry
from demo.errors import DemoError
from demo.place import LOCAL, PLACES, S3, Place
from demo.requests import taken, taken_when_done
from demo.where import opened
from demo.workspace import Workspace
from keyfold.errors import NotACheckpointError
from kit.places import ROOT
from kit.servers import s3
from kit.servers.client import S3Client
from kit.servers.needed import S3A, needed


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """One on an S3 server."""
    needed(s3.VERSITYGW, s3.ABSENT)
    needed(S3A, f"{S3A} is missing; run `make servers`")
    with opened(S3, Workspace(tmp_path), delay_ms=0) as place:
        yield place


def test_on_a_local_disk_spark_python_and_the_demo_have_one_name(tmp_path: Path) -> None:
    with opened(LOCAL, Workspace(tmp_path), delay_ms=0) as place:
        assert place.checkpoint("delays") == str(tmp_path / "checkpoints" / "delays")
        assert str(place.folder("delays")) == place.checkpoint("delays")
        assert (place.conf, place.storage_options, place.counter) == ({}, {}, None)


def test_on_a_local_disk_the_kit_is_not_needed() -> None:
    modules = "demo.__main__, demo.pipeline, demo.verify"
    code = f"import sys, {modules}; print(*(it for it in sys.modules if it.startswith('kit')))"
    environment = {name: it for name, it in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_an_unknown_place_is_refused_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["demo", "--where", "mars"])
    with pytest.raises(SystemExit, match="2"):
        entry.main()
    said = capsys.readouterr().err
    assert "'mars'" in said
    assert all(f"'{it}'" in said for it in PLACES)


@pytest.mark.parametrize("promised", ["", "required"])
def test_without_the_server_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, promised: str
) -> None:
    monkeypatch.setenv("KEYFOLD_SERVERS", promised)
    monkeypatch.setattr(s3, "VERSITYGW", tmp_path / "absent")
    with pytest.raises(DemoError, match="install Go"), opened(S3, Workspace(tmp_path), 0):
        pass


def test_a_driver_is_told_the_place_as_it_is() -> None:
    place = Place("s3a://b/demo", "/objects", {"spark.x": '1 "2"'}, {"aws_region": "r"}, "http://h")
    assert Place.from_json(place.to_json()) == place


def test_what_is_written_to_s3_is_seen_and_counted_once(place: Place, tmp_path: Path) -> None:
    assert place.conf["spark.hadoop.fs.s3a.buffer.dir"].startswith(str(tmp_path))
    assert place.counter is not None
    port = urlsplit(place.counter).port
    assert port is not None
    with closing(S3Client(port)) as client:
        assert client.request("PUT", "demo/delays/state/0/1.delta", b"1")[0] == 200
    assert (place.folder("delays") / "state/0/1.delta").read_bytes() == b"1"
    assert taken_when_done(place.counter) == {"PUT delays/state": 1}
    assert taken(place.counter) == {}
    with pytest.raises(NotACheckpointError):
        keyfold.open_checkpoint(place.checkpoint("delays"), storage_options=place.storage_options)
    assert "LIST delays/state" in taken(place.counter)
