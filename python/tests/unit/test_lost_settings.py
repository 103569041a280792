"""Settings that Spark's client for Spark Connect has dropped."""

from __future__ import annotations

import json
from typing import Any

from keyfold.settings import EXTENSIONS_KEY, FORMAT_KEY, JARS_KEY, MEMORY_KEY, PROVIDER_KEY
from keyfold.setup.check import lost_settings

GIVEN = {FORMAT_KEY: "2", PROVIDER_KEY: "a", JARS_KEY: "b.jar", "spark.app.name": "cli.py"}
NAME = "PYSPARK_REMOTE_INIT_CONF_"
# As PySpark sets it where it starts the server itself.
OWN_SERVER = {"SPARK_LOCAL_REMOTE": "1"}


def variables(*groups: dict[str, str]) -> dict[str, str]:
    found = {f"{NAME}{number}": json.dumps(group) for number, group in enumerate(groups)}
    return found | {f"{NAME}LEN": str(len(groups))}


def lost(session: dict[str, str], environment: dict[str, str], *, has_jar: bool = False) -> Any:
    return lost_settings(session.get, environment, has_jar=has_jar)


def test_what_was_given_and_is_not_set_is_named() -> None:
    first, second = dict([*GIVEN.items()][:2]), dict([*GIVEN.items()][2:])
    environment = variables(first, second) | OWN_SERVER
    found = lost({FORMAT_KEY: "2"}, environment)
    assert not found.ok
    assert found.value == f"{JARS_KEY}, {PROVIDER_KEY}"
    # The jar may be beside Spark's own.
    assert lost({FORMAT_KEY: "2"}, environment, has_jar=True).value == PROVIDER_KEY


def test_what_is_set_is_not_lost_whatever_its_value() -> None:
    assert lost(GIVEN | {FORMAT_KEY: "1"}, variables(GIVEN) | OWN_SERVER) is None


def test_what_a_server_of_its_own_does_not_take_from_clients_is_not_lost() -> None:
    ours = {PROVIDER_KEY: "a", EXTENSIONS_KEY: "b", MEMORY_KEY: "1g"}
    others = {JARS_KEY: "b.jar", "spark.sql.catalogImplementation": "hive"}
    assert lost({}, variables(others)) is None
    assert lost({}, variables(others, ours)).value == ", ".join(sorted(ours))


def test_a_session_that_nobody_gave_settings_has_lost_none() -> None:
    assert lost({}, {}) is None
