"""What Python hands to the JVM: places, and the file sink of a query."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keyfold import _jvm
from keyfold.admin import bridge
from keyfold.admin.copies import clone
from keyfold.admin.rollback import rollback
from keyfold.errors import InvalidArgumentError, JvmError, StorageError
from kit.fake_checkpoint import FakeCheckpoint


def test_a_local_path_is_absolute_as_the_reader_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bridge.place("cp") == bridge.place(Path("cp")) == str(tmp_path / "cp")
    for uri in ("s3a://bucket/cp", "file:/data/cp", "hdfs://node:8020/cp"):
        assert bridge.place(uri) == uri


def test_a_folder_of_the_sink_that_is_empty_is_not_taken_for_no_sink(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match="folder of the sink"):
        rollback("cp", 0, sink_path="")
    with pytest.raises(InvalidArgumentError):
        bridge.place("")


def test_a_folder_that_cannot_be_listed_is_not_taken_for_no_table(
    fake: FakeCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.run(0)
    table = tmp_path / "table"
    table.mkdir()
    (table / "_delta_log").write_text("no folder")
    with pytest.raises(StorageError, match="_delta_log"):
        clone(fake.root, tmp_path / "copy", sink_path=str(table))

    def refuses(*_: object, **__: object) -> dict[str, object]:
        raise JvmError("It has no log of a file sink.", "KEYFOLD_ROLLBACK_REFUSED")

    monkeypatch.setattr(bridge, "answer", refuses)
    with pytest.raises(JvmError, match=r"_REFUSED\].*file sink\. .*Cannot read .*_delta_log"):
        rollback(fake.root, 0, sink_path=str(table))


def test_a_command_starts_a_jvm_where_programs_go_to_a_server_of_spark_connect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")

    def start(_: object) -> object:
        raise JvmError(str("SPARK_REMOTE" in os.environ))

    monkeypatch.setattr(_jvm, "active_session", lambda: None)
    monkeypatch.setattr(_jvm, "new_session", start)
    monkeypatch.setattr(bridge.setup, "configure", lambda builder: builder)
    with pytest.raises(JvmError, match="False"):
        rollback("/cp", 0)
    assert os.environ["SPARK_REMOTE"] == "sc://localhost"
