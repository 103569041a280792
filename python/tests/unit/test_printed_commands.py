"""Commands that results print are run as they stand, whatever the path."""

from __future__ import annotations

import re
import shlex

import pytest

from keyfold.admin.migrate import MigrationPlan
from keyfold.admin.rollback import Rollback


@pytest.mark.parametrize("place", ["/data/my orders", "/data/it's", "/data/$HOME;a"])
def test_undo_names_the_checkpoint_as_one_word(place: str) -> None:
    back = Rollback(place, 3, 5, 7, "rollback-3-a", None, (), applied=True)
    migrated = MigrationPlan(place, 4, "a.B", 2, ("agg",), (), applied=True)
    for said, verb in ((str(back), "rollback"), (str(migrated), "migrate")):
        [command] = re.findall(r"keyfold .* --undo", said)
        assert shlex.split(command) == ["keyfold", verb, place, "--undo"]
