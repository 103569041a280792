from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from keyfold.errors import FileMissingError, StorageError
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage


def test_listing_is_sorted_and_knows_folders(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"12345")
    (tmp_path / "a").mkdir()
    times = {it.name: it.stat().st_mtime_ns // 1_000_000 for it in tmp_path.iterdir()}
    assert Storage(tmp_path).listing("") == [
        Listed("a", 0, is_folder=True, modified=times["a"]),
        Listed("b", 5, is_folder=False, modified=times["b"]),
    ]
    assert Storage(tmp_path).listing("nowhere") == []


def test_ranges(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    with Storage(tmp_path).open("file") as file:
        assert file.size == 10
        assert file.read(2, 3) == b"234"
        assert file.read(8, 5) == b"89"
        assert file.path == f"{tmp_path}/file"


def test_paths_with_spaces_and_relative_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my data: 100%"
    folder.mkdir()
    (folder / "f").write_text("x", encoding="utf-8")
    assert Storage(folder).text("f") == "x"
    monkeypatch.chdir(tmp_path)
    assert Storage("my data: 100%").text("f") == "x"


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissingError, match=f"{tmp_path}/gone"):
        Storage(tmp_path).text("gone")
    with pytest.raises(FileMissingError, match="gone"), Storage(tmp_path).open("gone"):
        pass


def test_what_is_no_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="folder"):
        Storage(tmp_path).text("folder")


def test_a_pickled_storage_reads_the_same_folder_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path.parent)
    sent = pickle.dumps(Storage(tmp_path.name))
    monkeypatch.chdir("/")
    found = pickle.loads(sent)  # noqa: S301 - made two lines above
    assert found.text("f") == "x"
    assert found.full_path("f") == f"{tmp_path.name}/f"


def test_another_folder_gets_the_options_of_its_kind_of_storage_only(tmp_path: Path) -> None:
    options = {"aws_endpoint_url": "http://localhost:9", "aws_allow_http": "true"}
    storage = Storage("s3a://bucket/cp", options)
    assert storage.elsewhere("s3://bucket/table").options == options
    # A local disk refuses any.
    assert storage.elsewhere(str(tmp_path)).listing("") == []
