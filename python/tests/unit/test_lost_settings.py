"""Settings that Spark's client for Spark Connect has dropped."""

from __future__ import annotations

import json
from typing import Any

from keyfold.settings import FORMAT_KEY, JARS_KEY, PROVIDER_KEY
from keyfold.setup.check import lost_settings

GIVEN = {FORMAT_KEY: "2", PROVIDER_KEY: "a", JARS_KEY: "b.jar", "spark.app.name": "cli.py"}
NAME = "PYSPARK_REMOTE_INIT_CONF_"


def variables(*groups: dict[str, str]) -> dict[str, str]:
    found = {f"{NAME}{number}": json.dumps(group) for number, group in enumerate(groups)}
    return found | {f"{NAME}LEN": str(len(groups))}


def lost(session: dict[str, str], environment: dict[str, str]) -> Any:
    return lost_settings(session.get, environment)


def test_what_was_given_and_is_not_set_is_named() -> None:
    first, second = dict([*GIVEN.items()][:2]), dict([*GIVEN.items()][2:])
    found = lost({FORMAT_KEY: "2"}, variables(first, second))
    assert not found.ok
    assert found.value == f"{JARS_KEY}, {PROVIDER_KEY}"


def test_what_is_set_is_not_lost_whatever_its_value() -> None:
    assert lost(GIVEN | {FORMAT_KEY: "1"}, variables(GIVEN)) is None


def test_a_session_that_nobody_gave_settings_has_lost_none() -> None:
    assert lost({}, {}) is None
