"""The reader of plans against files it has no part in writing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keyfold.fsck.open_plans import newest_version, torn_plans
from keyfold.storage.storage import Storage
from kit.golden.files import GOLDEN

PLANS = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))["plans"]


def storage_of(file: str) -> Storage:
    return Storage(str(Path(GOLDEN / file).parent.parent))


@pytest.mark.parametrize("it", PLANS["valid"], ids=lambda it: it["id"])
def test_plan_says_up_to_which_version_it_keeps_files(it: dict[str, Any]) -> None:
    storage = storage_of(it["file"])
    assert list(torn_plans(storage)) == []
    assert newest_version(storage) == (it["batch"] if it["id"].startswith("open-") else 0)


@pytest.mark.parametrize("it", PLANS["broken"], ids=lambda it: it["why"])
def test_broken_plan_is_torn_if_its_checksum_says_so(it: dict[str, Any]) -> None:
    assert bool(list(torn_plans(storage_of(it["file"])))) == it["torn"]
