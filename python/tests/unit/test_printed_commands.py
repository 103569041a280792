"""Commands that results print are run as they stand, whatever the path."""

from __future__ import annotations

import re
import shlex

import pytest

from keyfold.admin.migrate import MigrationPlan
from keyfold.admin.rollback import Rollback


@pytest.mark.parametrize("place", ["/data/my orders", "/data/it's", "/data/$HOME;a"])
def test_undo_names_the_checkpoint_as_one_word(place: str) -> None:
    back = Rollback(place, 3, 5, 7, "rollback-3-a", None, (), applied=True, undone=False)
    migrated = MigrationPlan(place, 4, "a.B", 2, ("agg",), (), applied=True)
    for said, verb in ((str(back), "rollback"), (str(migrated), "migrate")):
        [command] = re.findall(r"keyfold .* --undo", said)
        assert shlex.split(command) == ["keyfold", verb, place, "--undo"]


def test_an_undo_says_what_it_put_back_and_names_no_undo() -> None:
    said = str(Rollback("/data/cp", 5, 3, 7, "rollback-3-a", None, (), applied=True, undone=True))
    assert "7 put back" in said
    assert "aside" not in said
    assert "--undo" not in said
