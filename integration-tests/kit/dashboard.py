"""The dashboard for Grafana in `conf/prometheus`."""

from __future__ import annotations

import json
import re
from typing import Any

from kit.servers.prometheus import FOLDER

FILE = FOLDER / "keyfold-dashboard.json"
# What Grafana puts in the place of its variables when everything is chosen.
CHOSEN = {"$application": ".*", "$query": ".*"}

Json = dict[str, Any]


def dashboard() -> Json:
    found: Json = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def panels() -> list[Json]:
    """All but the titles of rows."""
    return [it for it in dashboard()["panels"] if it["type"] != "row"]


def expressions(panel: Json, rate_interval: str) -> list[str]:
    """What a panel asks Prometheus, with the variables of the dashboard set."""
    chosen = {**CHOSEN, "$__rate_interval": rate_interval}
    names = re.compile("|".join(re.escape(it) for it in chosen))
    return [names.sub(lambda it: chosen[it[0]], target["expr"]) for target in panel["targets"]]
