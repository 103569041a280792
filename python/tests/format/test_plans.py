"""The reader of plans against files it has no part in writing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyfold.errors import FormatVersionError
from keyfold.format.plan import PlanName, RescalePlan, parse_plan_name, read_plan
from keyfold.wire.cursor import MalformedError
from kit.golden.files import GOLDEN

PLANS = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))["plans"]


def read(file: str) -> RescalePlan:
    name = parse_plan_name(file.rpartition("/")[2])
    assert name is not None
    assert file.endswith(f"/{name}")
    return read_plan(name, (GOLDEN / file).read_bytes())


def text(content: bytes | None) -> str | None:
    return None if content is None else content.decode()


@pytest.mark.parametrize("it", PLANS["valid"], ids=lambda it: it["id"])
def test_plan_is_as_expected(it: dict[str, Any]) -> None:
    plan = read(it["file"])
    assert plan.name.number == (int(it["id"][5:]) if it["id"].startswith("open-") else None)
    assert plan.is_redistribution == (it["from"] == it["to"])
    assert it == {
        "batch": plan.name.batch,
        "id": plan.name.id,
        "from": plan.before,
        "to": plan.after,
        "undone": plan.is_undone,
        "files": [
            {"path": file.path, "before": text(file.before), "after": text(file.after)}
            for file in plan.files
        ],
        "stores": [
            {
                "operator": store.operator,
                "store": store.store,
                "refs": list(store.references),
                "folders": list(store.frozen),
            }
            for store in plan.stores
        ],
        "file": it["file"],
    }


@pytest.mark.parametrize("it", PLANS["broken"], ids=lambda it: it["why"])
def test_broken_plan_is_refused(it: dict[str, Any]) -> None:
    newer = it["why"] == "format 2"
    with pytest.raises(FormatVersionError if newer else MalformedError):
        read(it["file"])


def test_manifest_has_the_batch_of_its_plan() -> None:
    """Its name has the batch whose state the references hold (FORMAT 11)."""
    assert parse_plan_name("rescale-6-open-2.manifest") == PlanName(7, "open-2", is_plan=False)
    assert parse_plan_name("rescale-30-0b9c.manifest") == PlanName(30, "0b9c", is_plan=False)


@pytest.mark.parametrize("name", ["rescale-6-open-2", "rescale-x-a.plan", "x/rescale-6-a.plan"])
def test_other_names_are_no_plans(name: str) -> None:
    assert parse_plan_name(name) is None
