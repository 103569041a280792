"""What Python hands to the JVM: places, and the file sink of a query."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyfold.admin import bridge
from keyfold.admin.rollback import rollback
from keyfold.errors import InvalidArgumentError


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
