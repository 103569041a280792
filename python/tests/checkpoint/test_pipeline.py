"""Storage folders of declarative pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import keyfold
from keyfold.cli.main import cli
from keyfold.errors import NotACheckpointError
from kit.fake_checkpoint import FakeCheckpoint

FLOWS = [
    # Names of Spark's own files, and of numbers, are names of tables as any other.
    "7/load/0",
    "7/load/3",
    "spark_catalog/default/commits/commits/0",
    "spark_catalog/default/counts/early/9",
    "spark_catalog/default/counts/early/10",
    "spark_catalog/default/counts/late/0",
]


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    for path in FLOWS:
        FakeCheckpoint(tmp_path / "_checkpoints" / path).run(0)
    return tmp_path


def test_each_flow_has_the_path_of_its_newest_checkpoint(storage: Path) -> None:
    root = f"{storage}/_checkpoints"
    found = keyfold.pipeline_flows(storage)
    assert [(it.target, it.name, it.checkpoint) for it in found] == [
        ("7", "load", f"{root}/7/load/3"),
        ("spark_catalog.default.commits", "commits", f"{root}/{FLOWS[2]}"),
        ("spark_catalog.default.counts", "early", f"{root}/{FLOWS[4]}"),
        ("spark_catalog.default.counts", "late", f"{root}/{FLOWS[5]}"),
    ]
    assert [keyfold.open_checkpoint(it.checkpoint).last_batch for it in found] == [0] * 4


def test_after_a_full_refresh_the_empty_folder_counts(storage: Path) -> None:
    (storage / "_checkpoints" / "7" / "load" / "4").mkdir()
    assert keyfold.pipeline_flows(storage)[0].checkpoint.endswith("_checkpoints/7/load/4")


def test_the_command_lists_the_flows(storage: Path) -> None:
    shown = CliRunner().invoke(cli, ["describe", str(storage)])
    assert shown.exit_code == 0
    assert [line.split() for line in shown.stdout.splitlines()] == [
        ["target", "name", "checkpoint"],
        *([it.target, it.name, it.checkpoint] for it in keyfold.pipeline_flows(storage)),
    ]


def test_all_else_wants_the_checkpoint_of_a_flow(storage: Path) -> None:
    with pytest.raises(NotACheckpointError, match=r"such as .*/_checkpoints/7/load/3"):
        keyfold.open_checkpoint(storage)
    done = CliRunner().invoke(cli, ["rescale", str(storage), "--to", "5"])
    assert (done.exit_code, "keyfold describe" in done.stderr) == (3, True)


@pytest.mark.parametrize("path", ["_checkpoints", "_checkpoints/0", "_checkpoints/a/b", "a/b/0"])
def test_a_folder_without_flows_is_no_storage_of_a_pipeline(tmp_path: Path, path: str) -> None:
    FakeCheckpoint(tmp_path / path).run(0)
    # As a source's log that has no entry yet.
    (tmp_path / path / "sources" / "0").mkdir(parents=True)
    assert keyfold.pipeline_flows(tmp_path) == ()
    done = CliRunner().invoke(cli, ["describe", str(tmp_path)])
    assert (done.exit_code, "checkpointLocation" in done.stderr) == (3, True)
