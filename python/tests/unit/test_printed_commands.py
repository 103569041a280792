"""Commands that results print are run as they stand, whatever the path."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from keyfold.admin.migrate import MigrationPlan
from keyfold.admin.rollback import Rollback
from keyfold.cli.main import cli
from kit.fake_checkpoint import FakeCheckpoint


def rollback(checkpoint: str, *, undone: bool) -> Rollback:
    return Rollback(
        checkpoint=checkpoint,
        batch=3,
        before=5,
        files=7,
        aside="rollback-3-a",
        warnings=(),
        applied=True,
        undone=undone,
    )


@pytest.mark.parametrize("place", ["/data/my orders", "/data/it's", "/data/$HOME;a"])
def test_undo_names_the_checkpoint_as_one_word(place: str) -> None:
    back = rollback(place, undone=False)
    migrated = MigrationPlan(place, 4, "a.B", 2, ("agg",), (), applied=True)
    for said, verb in ((str(back), "rollback"), (str(migrated), "migrate")):
        [command] = re.findall(r"keyfold .* --undo", said)
        assert shlex.split(command) == ["keyfold", verb, place, "--undo"]


def test_an_undo_says_what_it_put_back_and_names_no_undo() -> None:
    said = str(rollback("/data/cp", undone=True))
    assert "7 put back" in said
    assert "aside" not in said
    assert "--undo" not in said


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}"])
@pytest.mark.parametrize("name", [
    "my orders", 'a"b', "100%", "100%25", "café", "日本", "a`b", "{a}", "a#b", "a?b=c", "it's",
    "a[b]&c",
])  # fmt: skip
def test_path_is_taken_as_hadoop_prints_it(tmp_path: Path, name: str, form: str) -> None:
    """The JVM does not encode special characters of a path, nor does a user."""
    fake = FakeCheckpoint(tmp_path / name / "checkpoint")
    fake.run(0)
    place = form.format(fake.root)
    printed = f"keyfold fsck {shlex.quote(place)}"
    found = CliRunner().invoke(cli, shlex.split(printed)[1:])
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith(f"{place}: 0 files of 1 batches")
