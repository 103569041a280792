"""Commands that change a checkpoint: what they ask of the JVM, print, and end with.

The JVM's answers are given here; that it does what it says is tested with Spark.
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from keyfold.admin import bridge
from keyfold.admin.rollback import rollback
from keyfold.cli.main import cli
from keyfold.errors import JvmError
from keyfold.settings import PROVIDER_CLASS
from kit.fake_checkpoint import QUERY, FakeCheckpoint
from kit.state_writer import StateWriter
from kit.tables import DeltaTable

CHECKPOINT = "file:/c"
PLAN: dict[str, Any] = {
    "checkpoint": CHECKPOINT, "lastBatch": 7, "batch": 8, "isOpen": False, "from": 4, "to": 6,
    "applied": False, "referencedBytes": 2048, "firstLoadBytes": 4096, "firstLoadFiles": 1500,
    "firstLoadBytesMax": 1024, "firstLoadFilesMax": 250, "operators": [], "refusals": [],
    "warnings": ["stop it"],
}  # fmt: skip
ROLLBACK: dict[str, Any] = {
    "checkpoint": CHECKPOINT, "batch": 3, "from": 7, "files": 12, "warnings": [], "applied": False,
    "undone": False,
}  # fmt: skip
MIGRATION: dict[str, Any] = {
    "checkpoint": CHECKPOINT, "lastBatch": 7, "provider": "a.b.RocksDB", "partitions": 4,
    "operators": [{"name": "dedupe"}], "refusals": [], "applied": False,
}  # fmt: skip
UNDO: dict[str, Any] = {
    "checkpoint": CHECKPOINT, "batch": 8, "provider": "a.b.RocksDB", "files": 4, "bytes": 4096,
    "refusals": [], "applied": False,
}  # fmt: skip
COPY: dict[str, Any] = {
    "from": CHECKPOINT, "to": "file:/d", "batch": 7, "files": 3, "bytes": 4096, "applied": True,
}  # fmt: skip

SYNC: dict[str, Any] = {
    "from": CHECKPOINT, "to": "file:/d", "batch": 7, "files": 3, "bytes": 4096, "deleted": 2,
    "durationMs": 1200,
}  # fmt: skip


class Jvm:
    """Answers what it was given, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.asked: list[tuple[object, ...]] = []

    def answer(self, method: str, *arguments: object, **_: object) -> dict[str, Any]:
        self.asked.append((method, *arguments))
        if method not in self.answers:
            raise JvmError("It runs.", condition="KEYFOLD_RESCALE_RUNNING")
        return self.answers[method]


@pytest.fixture
def jvm(monkeypatch: pytest.MonkeyPatch) -> Jvm:
    jvm = Jvm()
    monkeypatch.setattr(bridge, "answer", jvm.answer)
    return jvm


@pytest.fixture
def path(fake: FakeCheckpoint) -> str:
    StateWriter(fake).batch({key: key for key in range(3)})
    return str(fake.root)


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_rescale_plans_until_it_is_told_to_apply(jvm: Jvm, path: str) -> None:
    jvm.answers = {"rescale": PLAN}
    planned = run("rescale", path, "--to", "6").stdout
    assert "4.0 KiB of 1,500 files" in planned
    assert "at most 1.0 KiB of 250 files by one" in planned
    assert "4 -> 6" in planned
    assert "--apply" in planned
    jvm.answers = {"rescale": PLAN | {"applied": True, "durationMs": 900}}
    done = run("rescale", path, "--to", "6", "--apply").stdout
    assert "in 900 ms" in done
    assert f"keyfold rollback {CHECKPOINT} --to-batch 7" in done
    assert jvm.asked == [
        ("rescale", path, 6, True),
        ("rescale", path, 6, False),
    ]


def test_refused_plan_says_why_and_ends_with_1(jvm: Jvm, path: str) -> None:
    jvm.answers = {
        "rescale": PLAN | {"refusals": [{"condition": "X", "reason": "It runs elsewhere."}]}
    }
    result = run("rescale", path, "--to", "6", code=1)
    assert "It runs elsewhere." in result.stdout
    assert jvm.asked == [("rescale", path, 6, True)]


def test_refused_apply_is_a_message_and_ends_with_3(jvm: Jvm, path: str) -> None:
    result = run("rescale", path, "--to", "6", "--apply", code=3)
    assert result.stdout == ""
    assert "[KEYFOLD_RESCALE_RUNNING] It runs." in result.stderr
    assert jvm.asked


def test_json_has_all_that_the_jvm_says(jvm: Jvm, path: str) -> None:
    jvm.answers = {"rescale": PLAN}
    found = run("rescale", path, "--to", "6", "-o", "json")
    assert json.loads(found.stdout) == PLAN


def test_rollback_and_its_undo(jvm: Jvm, path: str) -> None:
    undone = {"aside": "a", "applied": True, "undone": True}
    jvm.answers = {"rollback": ROLLBACK, "undoRollback": ROLLBACK | undone}
    assert "12 to set aside" in run("rollback", path, "--to-batch", "0").stdout
    assert "12 put back" in run("rollback", path, "--undo", "rollback-0-a", "--apply").stdout
    run("rollback", path, "--to-batch", "0", "--sink-path", "/s", "--apply")
    assert jvm.asked == [
        ("rollback", path, 0, None, True),
        ("undoRollback", path, "rollback-0-a"),
        ("rollback", path, 0, "/s", False),
    ]
    run("rollback", path, code=2)
    run("rollback", path, "--undo", "rollback-0-a", code=2)


def test_rollback_of_a_query_with_a_table(jvm: Jvm, path: str, tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "table")
    table.batches(QUERY, 0, 1, 2)
    jvm.answers = {"rollback": ROLLBACK | {"batch": 0, "from": 2}}
    place = ("--sink-path", str(table.root))
    back = f"RESTORE TABLE delta.`{table.root}` TO VERSION AS OF 0"
    said = run("rollback", path, "--to-batch", "0", *place).stdout
    assert f"table        Delta, {table.root}: batch 0 is version 0" in said
    assert "later batches have written versions 1, 2" in said
    assert f"to restore   {back}\n" in said
    assert "each row of the later batches comes twice" in said
    assert "--sink-path" not in said
    found = json.loads(run("rollback", path, "--to-batch", "0", *place, "-o", "json").stdout)
    assert found["table"]["restore"] == back
    assert (found["table"]["version"], found["table"]["newest"]) == (0, 2)
    jvm.answers["rollback"] |= {"applied": True, "aside": "rollback-0-a"}
    done = run("rollback", path, "--to-batch", "0", *place, "--apply").stdout
    assert f"to take it forward again: {back.removesuffix('0')}2\n" in done
    # To the JVM it is no file sink.
    assert [asked[3] for asked in jvm.asked] == [None, None, None]


def test_only_the_last_batch_is_called_rolled_back_before(
    fake: FakeCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = DeltaTable(tmp_path / "table")
    table.batches("old", *range(6))
    fake.write("keyfold/rollback-3-1/metadata", json.dumps({"id": "old"}))
    fake.write("keyfold/rollback-3-1/offsets/4", "")

    def refuse(_: str, __: str, batch: int, *___: object, **____: object) -> object:
        what = f"batch {batch} is not before the last one, which is 3."
        raise JvmError(f"Cannot roll back file:/c: {what}", "KEYFOLD_ROLLBACK_REFUSED")

    monkeypatch.setattr(bridge, "answer", refuse)
    said = str(rollback(fake.root, 3, sink_path=str(table.root)))
    assert "none left to set aside" in said
    assert "TO VERSION AS OF 3" in said
    for batch in (7, 33):
        with pytest.raises(JvmError, match=f"batch {batch} is not before the last one"):
            rollback(fake.root, batch, sink_path=str(table.root))
    # The rollback was undone without the table.
    (fake.root / "keyfold/rollback-3-1/metadata").unlink()
    undone = DeltaTable(tmp_path / "undone")
    undone.batches(QUERY, *range(4))
    undone.commit("RESTORE", version="1")
    said = str(rollback(fake.root, 3, sink_path=str(undone.root)))
    assert (
        f"before the query starts: RESTORE TABLE delta.`{undone.root}` TO VERSION AS OF 3" in said
    )


def test_clone_of_a_query_that_goes_on_with_the_table(jvm: Jvm, path: str, tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "table")
    table.batches(QUERY, 0, 1)
    jvm.answers = {"cloneCheckpoint": COPY | {"batch": 0}}
    said = run("clone", path, "/d", "--sink-path", str(table.root)).stdout
    assert f"to restore   RESTORE TABLE delta.`{table.root}` TO VERSION AS OF 0\n" in said
    assert "or each row of the later batches comes twice" in said
    again = f"keyfold clone {path} /d/plan --batch 0 --sink-path {table.root} --dry-run"
    assert "stop the original for good before the clone starts" in said
    assert f"each batch that it writes until then comes twice: {again}\n" in said
    assert jvm.asked == [("cloneCheckpoint", path, "/d", 0, False)]
    # In the same bucket.
    said = run("clone", path, "s3a://b/", "--sink-path", str(table.root)).stdout
    assert f"keyfold clone {path} s3a://b/plan " in said
    jvm.asked.pop()
    refused = run("clone", path, "/d", "--sink-path", str(tmp_path), code=2).stderr
    assert f"no Delta or Iceberg table in {tmp_path}." in refused
    assert len(jvm.asked) == 1


def test_rollback_without_a_sink_says_what_a_sink_does(jvm: Jvm, path: str) -> None:
    jvm.answers = {"rollback": ROLLBACK, "undoRollback": ROLLBACK | {"undone": True}}
    said = run("rollback", path, "--to-batch", "0").stdout
    assert "Delta or Iceberg" in said
    assert "give its folder with --sink-path" in said
    assert (
        "Delta or Iceberg"
        not in run("rollback", path, "--to-batch", "0", "--sink-path", "/s").stdout
    )
    undone = run("rollback", path, "--undo", "rollback-0-a", "--apply").stdout
    assert "take it forward again" in undone
    jvm.answers["undoRollback"] |= {"sink": "/s"}
    assert "take it" not in run("rollback", path, "--undo", "rollback-0-a", "--apply").stdout


def test_a_folder_that_python_cannot_reach_is_left_to_the_jvm(
    jvm: Jvm, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file system may be known to Hadoop alone."""
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    jvm.answers = {"rollback": ROLLBACK}
    run("rollback", path, "--to-batch", "0", "--sink-path", "oss://bucket/out")
    assert jvm.asked == [("rollback", path, 0, "oss://bucket/out", True)]


def test_batches_from_before_a_migration_are_refused_by_name(
    jvm: Jvm, fake: FakeCheckpoint, tmp_path: Path
) -> None:
    fake.provider = "org.example.Other"
    fake.run(0)
    fake.provider = PROVIDER_CLASS
    fake.run(1)
    fake.operator()
    for command in (["rollback", "--to-batch", "0"], ["clone", str(tmp_path / "d"), "-b", "0"]):
        refused = run(command[0], str(fake.root), *command[1:], code=3)
        assert "[KEYFOLD_OTHER_PROVIDER]" in refused.stderr
        assert "org.example.Other" in refused.stderr
        assert "Choose batch 1" in refused.stderr
    assert jvm.asked == []


def test_a_migration_is_undone(jvm: Jvm, path: str) -> None:
    jvm.answers = {"migrate": MIGRATION | {"applied": True}, "undoMigration": UNDO}
    said = run("migrate", path, "--apply").stdout
    assert f"keyfold migrate {CHECKPOINT} --undo" in said
    planned = run("migrate", path, "--undo").stdout
    for part in ("RocksDB", "8 goes", "4 of Keyfold's go, 4.0 KiB", "--apply"):
        assert part in planned
    jvm.answers["undoMigration"] = UNDO | {"batch": -1, "applied": True}
    done = run("migrate", path, "--undo", "--apply").stdout
    assert "none of its own" in done
    assert "--apply" not in done
    jvm.answers["undoMigration"] = UNDO | {"refusals": ["It runs."]}
    assert "It runs." in run("migrate", path, "--undo", code=1).stdout
    assert jvm.asked[1:] == [
        ("undoMigration", path, True),
        ("undoMigration", path, False),
        ("undoMigration", path, True),
    ]


def test_migrate(jvm: Jvm, path: str) -> None:
    jvm.answers = {"migrate": MIGRATION}
    assert "RocksDB -> Keyfold" in run("migrate", path).stdout
    run("migrate", path, "--apply")
    assert [asked[-1] for asked in jvm.asked] == [True, False]


def test_clone_and_savepoints(jvm: Jvm, path: str) -> None:
    jvm.answers = {"cloneCheckpoint": COPY, "savepoint": COPY}
    assert "4.0 KiB" in run("clone", path, "/d", "--batch", "0").stdout
    jvm.answers["cloneCheckpoint"] = COPY | {"applied": False}
    planned = run("clone", path, "/d", "--dry-run").stdout
    assert "this is a plan; leave --dry-run out, or dry_run=False" in planned
    assert "--apply" not in planned
    assert run("savepoint", path).stdout.strip() == ""
    run("savepoint", path, "before")
    savepoints = Path(path) / "keyfold" / "savepoints"
    (savepoints / "before" / "commits").mkdir(parents=True)
    (savepoints / "before" / "commits" / "0").write_text("v1\n{}")
    (savepoints / "broken-off" / "state").mkdir(parents=True)
    assert run("savepoint", path).stdout.strip() == "before"
    assert jvm.asked == [
        ("cloneCheckpoint", path, "/d", 0, False),
        ("cloneCheckpoint", path, "/d", -1, True),
        ("savepoint", path, "before"),
    ]


@pytest.fixture
def one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "session", lambda *_: nullcontext())


@pytest.mark.usefixtures("one_session")
def test_sync(jvm: Jvm, path: str) -> None:
    jvm.answers = {"sync": SYNC}
    line = "batch 7: copied 3 files, 4.0 KiB; deleted 2; 1200 ms\n"
    assert run("sync", path, "/d").stdout == line
    assert json.loads(run("sync", path, "/d", "--output", "json").stdout)["target"] == "file:/d"
    assert jvm.asked == [("sync", path, "/d")] * 2
    run("sync", path, "/d", "--every", "0.5", code=2)


@pytest.mark.usefixtures("one_session")
def test_sync_goes_on_after_what_passes_and_ends_at_what_stays(
    jvm: Jvm, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    then = iter([{}, {"sync": SYNC}, KeyboardInterrupt()])

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        match next(then):
            case KeyboardInterrupt() as stop:
                raise stop
            case answers:
                jvm.answers = answers

    monkeypatch.setattr("keyfold.cli.admin.time.sleep", sleep)
    jvm.answers = {"sync": SYNC}
    result = run("sync", path, "/d", "--every", "30")
    assert result.stdout.count("batch 7") == 2
    assert "It runs. The next sync tries again." in result.stderr
    assert all(29 < it <= 30 for it in waits)

    def refuse(*_: object, **__: object) -> object:
        raise JvmError("A query has run there.", condition="KEYFOLD_SYNC_TARGET")

    monkeypatch.setattr(bridge, "answer", refuse)
    assert "A query has run" in run("sync", path, "/d", "--every", "30", code=3).stderr


@pytest.mark.usefixtures("one_session", "jvm")
def test_a_sync_that_never_succeeds_ends(path: str) -> None:
    assert "It runs." in run("sync", path, "/d", "--every", "30", code=3).stderr


def test_vacuum_names_what_the_check_has_found(jvm: Jvm, path: str) -> None:
    left = "state/0/0/notes.txt"
    (Path(path) / left).write_text("left")
    jvm.answers = {
        "vacuum": {
            "checkpoint": CHECKPOINT, "applied": False,
            "unreferenced": [{"path": left, "bytes": 4, "old": True}],
        }
    }  # fmt: skip
    assert left in run("vacuum", path, "--older-than-hours", "1.5").stdout
    assert jvm.asked == [("vacuum", path, left, 5_400_000, True)]


def test_what_no_query_can_have_is_a_wrong_use(jvm: Jvm, path: str) -> None:
    for command in (
        ["rescale", path, "--to", "3000000000"],
        ["rollback", path, "--undo", "", "--apply"],
        ["rollback", path, "--undo", "..", "--apply"],
        ["vacuum", path, "--older-than-hours", "-1"],
        ["vacuum", path, "--older-than-hours", "nan"],
        ["vacuum", path, "--older-than-hours", "1e30"],
    ):
        refused = run(*command, code=2)
        assert refused.stderr.startswith("[KEYFOLD_INVALID_ARGUMENT] Invalid ")
        assert len(refused.stderr.splitlines()) == 1
    assert jvm.asked == []


@pytest.mark.parametrize("command", [
    ["rescale", "--to", "4"], ["rescale", "--undo"], ["migrate"], ["migrate", "--undo"],
])  # fmt: skip
def test_path_that_is_no_checkpoint(jvm: Jvm, tmp_path: Path, command: list[str]) -> None:
    refused = run(command[0], str(tmp_path / "nope"), *command[1:], code=3)
    assert refused.stderr.startswith("[KEYFOLD_NOT_A_CHECKPOINT]")
    assert "there is no such folder" in refused.stderr
    assert jvm.asked == []
