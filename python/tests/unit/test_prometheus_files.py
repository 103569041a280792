"""The files in conf/prometheus: by Prometheus' own checks, and of one mind with the pages."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from kit.dashboard import Json, dashboard, expressions, panels
from kit.metrics_contract import contract
from kit.places import ROOT
from kit.servers.prometheus import CONFIG, FOLDER, RULES, TARGET, promtool

EXAMPLES = FOLDER / "keyfold-rules-test.yml"
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SITE = "https://keyfold.io/"
NAME = re.compile(r"\bkeyfold_[a-z0-9_]+\b")
SEVERITIES = {"critical", "warning", "info"}
# Of Grafana, and not of the schema that it publishes.
UNPUBLISHED = {"definition", "titleFormat", "textFormat", "step"}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alerts() -> dict[str, dict[str, Any]]:
    return {it["alert"]: it for it in rules() if "alert" in it}


def anchors(page: Path) -> set[str]:
    """Of a page's headings, as the site and the places where sources are browsed make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", it.lower()).replace(" ", "-") for it in headings}


def test_prometheus_takes_them() -> None:
    assert promtool("check", "config", CONFIG.name).endswith("exit code 0")
    assert promtool("check", "rules", RULES.name).endswith("exit code 0")


def test_a_wrong_rule_would_be_found(tmp_path: Path) -> None:
    text = RULES.read_text(encoding="utf-8")
    (tmp_path / RULES.name).write_text(text.replace("for: 5m", "four: 5m", 1))
    assert promtool("check", "rules", RULES.name, cwd=tmp_path).endswith("exit code 1")


def test_each_alert_fires_and_keeps_silent_by_its_examples() -> None:
    said = promtool("test", "rules", EXAMPLES.name)
    assert said.endswith("exit code 0"), said
    cases = [
        case
        for test in yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))["tests"]
        for case in test["alert_rule_test"]
    ]
    fires = {it["alertname"] for it in cases if it.get("exp_alerts")}
    silent = {it["alertname"] for it in cases if not it.get("exp_alerts")}
    assert fires == silent == set(alerts())


def test_each_alert_says_what_why_and_what_to_do() -> None:
    text = RULES.read_text(encoding="utf-8")
    for name, alert in alerts().items():
        assert alert["labels"]["severity"] in SEVERITIES
        assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}
        # The reason is above it.
        assert re.search(rf"^ +# .+\n +- alert: {name}$", text, re.MULTILINE), name
        page, _, anchor = alert["annotations"]["runbook_url"].removeprefix(SITE).partition(".html#")
        assert anchor in anchors(ROOT / "docs" / f"{page}.md"), name


def test_the_page_has_a_row_for_each_alert() -> None:
    rows = re.findall(r"^\| `(Keyfold\w+)` \| (\w+) \|.*\]\((.+)\) \|$", PAGE, re.MULTILINE)
    wanted = {
        (name, it["labels"]["severity"], it["annotations"]["runbook_url"].partition("#")[2])
        for name, it in alerts().items()
    }
    assert {(name, severity, to.partition("#")[2]) for name, severity, to in rows} == wanted


def test_rules_and_panels_use_metrics_of_the_contract() -> None:
    asked = [it for panel in panels() for it in expressions(panel, "1m")]
    used = set(NAME.findall(" ".join([*asked, *(it["expr"] for it in rules())])))
    assert used - set(contract()) == set()
    # The dashboard shows each.
    assert set(contract()) - set(NAME.findall(" ".join(asked))) == set()


def test_the_names_of_a_query_are_told_from_those_of_operators() -> None:
    """A query may have a name that looks like an operator's."""
    text = CONFIG.read_text(encoding="utf-8")
    of_query = {it for it in contract() if it.startswith("keyfold_query_")}
    listed = re.findall(r"\((?:\?:)?(batch_id\|.+?)\)$", text, re.MULTILINE)
    assert [{f"keyfold_query_{it}" for it in names.split("|")} for names in listed] == [
        of_query
    ] * 2
    assert text.count(TARGET) == 1


def lost(given: Any, kept: Any, path: str = "") -> list[str]:
    """What one of two texts in JSON has and the other one has not."""
    if isinstance(given, dict) and isinstance(kept, dict):
        its = [(f"{path}/{key}", key in kept, value, kept.get(key)) for key, value in given.items()]
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        its = [(path, True, *pair) for pair in zip(given, kept, strict=True)]
    else:
        return [] if given == kept else [path]
    return [
        it
        for where, is_there, value, other in its
        for it in (lost(value, other, where) if is_there else [where])
    ]


def unknown(board: Json) -> set[str]:
    """Names of fields, or of values, that are not in the schema that Grafana publishes."""
    register_default_plugins()
    kept = json.loads(JSONEncoder().encode(Dashboard.from_json(copy.deepcopy(board))))
    return {it.rpartition("/")[2] for it in lost(board, kept)}


def test_the_dashboard_is_one_by_the_schema_of_grafana() -> None:
    assert unknown(dashboard()) == UNPUBLISHED


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), "titel"),
        (("panels", 1), "gridPosition"),
        (("panels", 1, "fieldConfig", "defaults"), "units"),
        (("panels", 1, "fieldConfig", "defaults", "custom"), "lineWith"),
        (("panels", 1, "options", "legend"), "placment"),
        (("panels", 1, "targets", 0), "expression"),
        (("templating", "list", 1), "includeEvery"),
    ],
)
def test_a_wrong_field_of_the_dashboard_would_be_found(path: tuple[Any, ...], name: str) -> None:
    board = dashboard()
    at: Any = board
    for it in path:
        at = at[it]
    at[name] = "x"
    assert unknown(board) == UNPUBLISHED | {name}


def test_panels_have_their_own_place_and_say_what_they_show() -> None:
    taken: set[tuple[int, int]] = set()
    ids = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
        ids.add(panel["id"])
    assert len(ids) == len(dashboard()["panels"])
    for panel in panels():
        assert panel["description"].endswith(".") or "`" in panel["description"]
        assert all(it["datasource"]["uid"] == "${datasource}" for it in [panel, *panel["targets"]])
