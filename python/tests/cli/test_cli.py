"""The command line on a small checkpoint: what it prints where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import keyfold
from keyfold.checkpoint import Checkpoint
from keyfold.cli.main import cli
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


@pytest.fixture
def path(fake: FakeCheckpoint) -> str:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(30)})
    writer.batch({1: 11, 2: None, 40: 40})
    return str(fake.root)


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def objects(*arguments: str) -> list[dict[str, Any]]:
    """What a command prints as JSON, an object a line."""
    result = run(*arguments, "--output", "json")
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_describe(path: str) -> None:
    assert "30 rows" in run("describe", path).stdout
    (found,) = objects("describe", path)
    assert found["totals"]["rows"] == 30


def test_get(path: str) -> None:
    assert objects("get", path, "agg", '{"id": 1}') == [
        {"key": {"id": 1}, "value": {"total": 11}, "partition_id": 1}
    ]
    assert objects("get", path, "0", '{"id": 1}', "--batch", "0")[0]["value"] == {"total": 1}
    assert "11" in run("get", path, "agg", '{"id": 1}').stdout


def test_key_that_is_not_there(path: str) -> None:
    result = run("get", path, "agg", '{"id": 2}', code=1)
    assert result.stdout == ""
    assert "no row" in result.stderr


def test_scan(path: str) -> None:
    found = objects("scan", path, "agg", "--where", "key.id > 27 and value.total < 40", "-n", "-1")
    assert sorted(row["key"]["id"] for row in found) == [28, 29]
    found = objects("scan", path, "agg", "-c", "id,value.total", "-n", "3")
    assert [list(row) for row in found] == [["id", "value.total"]] * 3
    result = run("scan", path, "agg", "-n", "3")
    assert len(result.stdout.splitlines()) == 4
    assert "--limit -1" in result.stderr


def test_diff_and_history(path: str) -> None:
    found = {row["key"]["id"]: row["change"] for row in objects("diff", path, "agg", "0")}
    assert found == {1: "updated", 2: "deleted", 40: "inserted"}
    found = objects("history", path, "agg", '{"id": 2}')
    assert [(row["batch_id"], row["change"]) for row in found] == [(0, "present"), (1, "deleted")]
    assert objects("diff", path, "agg", "-2", "-1") == objects("diff", path, "agg", "0", "1")


def test_text_ends_after_a_thousand_rows_and_says_so(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(1001)})
    shown = run("scan", str(fake.root), "agg", "--limit", "-1")
    assert len(shown.stdout.splitlines()) == 1 + 1000
    assert "The first 1,000 rows; -o json prints all." in shown.stderr
    assert len(objects("scan", str(fake.root), "agg", "--limit", "-1")) == 1001
    assert "json" not in run("scan", str(fake.root), "agg", "--limit", "1000").stderr


@pytest.mark.parametrize(
    "what",
    [
        "partitions", "files", "snapshots", "deltas", "merged-deltas", "references", "groups",
        "column-families", "skew", "batches", "operators",
    ],
)  # fmt: skip
def test_inspect(path: str, what: str) -> None:
    found = objects("inspect", path, what)
    assert bool(found) == (what not in {"snapshots", "merged-deltas", "references"})
    run("inspect", path, what)


def test_inspect_merged_deltas(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, partitions=1)
    for number in range(3):
        writer.batch({number: number})
    writer.merge(1, 0)
    (found,) = objects("inspect", str(fake.root), "merged-deltas")
    assert (found["name"], found["base"], found["entries"]) == ("3_id-3-0.1.merged", 1, 2)


def test_fsck(path: str) -> None:
    assert "nothing wrong" in run("fsck", path).stdout
    (delta,) = Path(path).glob("state/0/1/1_*.delta")
    delta.write_bytes(delta.read_bytes()[:-4])
    assert "damaged (" in run("fsck", path, "--deep", code=1).stdout
    result = run("fsck", path, "-o", "json", code=1)
    assert json.loads(result.stdout)["findings"][0]["kind"] == "damaged"


def test_report(path: str, tmp_path: Path) -> None:
    target = tmp_path / "state.html"
    assert str(target) in run("report", path, str(target)).stdout.replace("\n", "")
    assert "<svg" in target.read_text(encoding="utf-8")


def test_version_needs_no_checkpoint() -> None:
    assert run("version").stdout.strip() == keyfold.__version__
    assert objects("version") == [{"version": keyfold.__version__}]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_KEYFOLD_COMPLETE" in run("completion", shell).stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [("keyfold desc", "plain,describe"), ("keyfold describe /da", "file,/da")],
)
def test_completion_offers_commands_and_paths(words: str, offered: str) -> None:
    environment = {
        "_KEYFOLD_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = CliRunner(env=environment).invoke(cli, prog_name="keyfold")
    assert done.stdout.split() == [offered]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("describe", "/nowhere"), 3),
        (("get", "{path}", "agg", '{"id": 1}', "--batch", "77"), 3),
        (("get", "{path}", "agg", "no json"), 2),
        (("get", "{path}", "agg", "[1]"), 2),
        (("get", "{path}", "agg", '{"other": 1}'), 2),
        (("get", "{path}", "agg", '{"id": "x"}'), 2),
        (("get", "{path}", "join", '{"id": 1}'), 2),
        (("get", "{path}", "agg/left", '{"id": 1}'), 2),
        (("scan", "{path}", "agg", "--where", "key.id >"), 2),
        (("scan", "{path}", "agg", "--where", "__import__('os')"), 2),
        (("scan", "{path}", "agg", "--columns", "other"), 2),
        (("inspect", "{path}", "nothing"), 2),
        (("describe",), 2),
    ],
)
def test_what_goes_wrong(path: str, arguments: tuple[str, ...], code: int) -> None:
    result = run(*(it.replace("{path}", path) for it in arguments), code=code)
    assert result.stdout == ""
    assert result.stderr != ""


def test_it_is_installed_as_a_program(path: str) -> None:
    program = Path(sys.executable).parent / "keyfold"
    done = subprocess.run(
        [program, "scan", path, "agg", "-o", "json"], check=True, capture_output=True, text=True
    )
    assert len(done.stdout.splitlines()) == 20


def test_report_that_cannot_be_written(path: str, tmp_path: Path) -> None:
    missing = tmp_path / "none/report.html"
    result = run("report", path, str(missing), code=2)
    assert f"there is no folder {missing.parent}" in result.stderr
    result = run("report", path, "/proc/keyfold.html", code=3)
    assert "KEYFOLD_STORAGE" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def without_java(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("keyfold")), *arguments],
        env={**os.environ, "JAVA_HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_java_that_does_not_start(path: str) -> None:
    pytest.importorskip("pyspark", reason="`make test-reader` has none")
    result = without_java("rescale", path, "--to", "4")
    assert result.returncode == 3
    assert "Set JAVA_HOME to a JDK 17 or 21; it is /nonexistent." in result.stderr
    assert "Traceback" not in result.stderr


def test_hdfs_that_cannot_be_reached() -> None:
    result = without_java("describe", "hdfs://nowhere.invalid:9000/checkpoint")
    assert result.returncode == 3
    (line,) = result.stderr.splitlines()
    assert line.startswith("[KEYFOLD_STORAGE] Cannot reach hdfs://nowhere.invalid:9000/checkpoint")
    assert "CLASSPATH" in line


def test_error_that_nobody_foresaw(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("a\nlong story")

    monkeypatch.setattr(Checkpoint, "describe", broken)
    (line,) = run("describe", path, code=3).stderr.splitlines()
    assert "ZeroDivisionError: a long story" in line
    log = re.search(r"report it with (\S+),", line)
    assert log is not None
    assert "in broken" in Path(log[1]).read_text()
    Path(log[1]).unlink()


def test_heaviest_key_is_one_that_get_and_history_take(path: str) -> None:
    key = objects("inspect", path, "skew")[0]["key"]
    assert objects("get", path, "agg", key)[0]["key"] == json.loads(key)
    assert objects("history", path, "agg", key)[0]["key"] == json.loads(key)


def test_part_of_a_key(path: str) -> None:
    """The columns of a key that are not given match everything."""
    assert len(objects("get", path, "agg", "{}")) == 30
    assert len(objects("get", path, "agg", "{}", "--limit", "3")) == 3
    assert len(objects("history", path, "agg", "{}")) > 30


def test_version() -> None:
    assert run("--version").stdout == run("version").stdout


@pytest.mark.parametrize(("where", "said"), [
    ("key.id = 3", "write == for =."),
    ("key.id == 3 AND key.id == 4", "write and for AND."),
    ("key.id <> 3", "write != for <>."),
    ("key.id like '%=%'", "there is no like."),
    ("key.id == foo(3)", "'foo(3)' is neither a column nor a value."),
    ("3", "'3' is no condition."),
])  # fmt: skip
def test_condition_that_is_not_understood(path: str, where: str, said: str) -> None:
    assert said in run("scan", path, "agg", "--where", where, code=2).stderr


def test_no_difference(path: str) -> None:
    result = run("diff", path, "agg", "1", "1")
    assert "No row differs." in result.stderr


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no such folder" in run("describe", str(tmp_path / "x"), code=3).stderr
    (tmp_path / "notes").touch()
    assert "it has no file `metadata`" in run("describe", str(tmp_path), code=3).stderr


def test_list_of_commands_has_whole_lines() -> None:
    commands = run("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(commands) == len(cli.commands)
    assert not [line for line in commands if line.endswith("...")]
