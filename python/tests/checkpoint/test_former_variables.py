"""State variables that a transformWithState query had, and has no more."""

from __future__ import annotations

import json

from keyfold.spark_log.logs import former_variables
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint


def declare(fake: FakeCheckpoint, batch: int, **kinds: str) -> None:
    path = fake.operator_v2(batch)
    content = json.loads(path.read_text().split("\n", 1)[1])
    variables = [{"stateName": name, "stateVariableType": it} for name, it in kinds.items()]
    content["operatorPropertiesJson"] = json.dumps({"stateVariables": variables})
    path.write_text("v2\n" + json.dumps(content))


def test_the_newest_metadata_that_have_a_variable_tell_its_kind(fake: FakeCheckpoint) -> None:
    declare(fake, 0, x="ValueState", y="ValueState")
    declare(fake, 3, x="ListState", m="MapState", y="ValueState")
    declare(fake, 7, y="ValueState")
    storage = Storage(fake.root)
    assert former_variables(storage, 0, ["x", "m"]) == {"x": "ListState", "m": "MapState"}
    assert former_variables(storage, 0, ["x", "unknown"]) == {"x": "ListState"}
    # What cannot be read tells nothing.
    (fake.root / "state/0/_metadata/v2/3").write_text("torn")
    assert former_variables(storage, 0, ["x", "m"]) == {"x": "ValueState"}
