"""A rollback beside a Delta or an Iceberg table: the plan's SQL makes table and state exact."""

import json
import os
from contextlib import closing
from typing import Any

import pytest

from keyfold.settings import EXTENSIONS_CLASS
from kit.connectors import DELTA, DELTA_SETTINGS, DOWNLOAD_S, EXTENSIONS, ICEBERG, connectors
from kit.installation import installation_of
from kit.lines import EVERY_LINE
from kit.places import INTEGRATION_TESTS, ROOT
from kit.submit import Spark

JOB_S = 600


@pytest.fixture(scope="module", params=["4.0", "4.1"] if EVERY_LINE else ["4.1"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a session with both connectors has seen."""
    line, root = request.param, tmp_path_factory.mktemp("tables")
    conf = {
        "spark.driver.extraClassPath": connectors(line, DELTA, ICEBERG),
        "spark.sql.extensions": ",".join([*EXTENSIONS.values(), EXTENSIONS_CLASS]),
        **DELTA_SETTINGS,
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": f"file://{root}/ice",
        "spark.sql.shuffle.partitions": 2,
    }
    # The job calls the package: this one, whichever is installed there.
    path = os.pathsep.join(map(str, (INTEGRATION_TESTS, ROOT / "python" / "src")))
    installation = installation_of(line)
    with closing(Spark(root, "local[2]", installation, {"PYTHONPATH": path})) as spark:
        answer = root / "answer.json"
        spark.run("lines/lake_tables_job.py", root, answer, conf=conf, timeout_s=JOB_S)
    return json.loads(answer.read_text(encoding="utf-8"))


def numbers(*limits: int) -> list[int]:
    """Those below each limit, sorted."""
    return sorted(number for limit in limits for number in range(limit))


@pytest.mark.long
@pytest.mark.timeout(2 * DOWNLOAD_S + JOB_S)
@pytest.mark.parametrize("kind", [DELTA, ICEBERG])
def test_table_and_state_are_exact_with_the_sql_of_the_plan(found: Any, kind: str) -> None:
    it = found[kind]["restored"]
    assert it["table"]["restore"] in it["plan"]
    assert "each row of the later batches comes twice" in it["plan"]
    assert (it["table"]["batch"], len(it["table"]["later"]), it["table"]["others"]) == (1, 2, [])
    assert it["restored"] == numbers(20)
    assert it["undone"] == numbers(40)
    assert it["again"] == numbers(60)
    assert (it["later"], it["first"]) == (2, 0)
    assert it["between"] == numbers(50)
    assert it["rows"] == it["state"] == numbers(70)


@pytest.mark.long
@pytest.mark.timeout(2 * DOWNLOAD_S + JOB_S)
@pytest.mark.parametrize("kind", [DELTA, ICEBERG])
def test_without_it_the_rows_of_later_batches_come_twice(found: Any, kind: str) -> None:
    it = found[kind]["forgotten"]
    assert it["state"] == numbers(50)
    assert it["rows"] == sorted([*numbers(50), *range(20, 40)])
    assert "each row of the later batches comes twice" in it["plan"]


@pytest.mark.long
@pytest.mark.timeout(2 * DOWNLOAD_S + JOB_S)
@pytest.mark.parametrize("kind", [DELTA, ICEBERG])
def test_what_others_did_since_the_table_went_back_stays(found: Any, kind: str) -> None:
    assert found[kind]["kept"]["rows"] == [it for it in numbers(20) if it != 3]
