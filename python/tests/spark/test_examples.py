"""The examples of operator state do what they say, also when a batch is not committed at first."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession

from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR
EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> ModuleType:
    """The module, whose classes workers get by value, as when it is run as a program."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys  # noqa: PLC0415 - cloudpickle looks there

    sys.modules[name] = module
    spec.loader.exec_module(module)
    register_pickle_by_value(module)
    return module


def add(folder: Path, rows: list[dict[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    name = f"{len(list(folder.iterdir()))}.json"
    (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def run(df: DataFrame, root: Path) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    writer = df.writeStream.foreachBatch(lambda it, _: found.extend(map(tuple, it.collect())))
    writer = writer.option("checkpointLocation", str(root / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    return sorted(found)  # type: ignore[type-var]


def reading(device: str, v: float) -> dict[str, object]:
    return {"device": device, "v": v}


def test_rules_change_while_readings_come(spark: SparkSession, tmp_path: Path) -> None:
    rules = example("broadcast_rules")
    add(tmp_path / "rules", [{"name": "hot", "limit": 30.0}, {"name": "boiling", "limit": 99.0}])
    add(tmp_path / "readings", [reading("a", 20.0), reading("b", 31.0), reading("c", 100.0)])
    assert run(rules.alerts(spark, str(tmp_path)), tmp_path) == [
        ("b", 31.0, "hot"),
        ("c", 100.0, "boiling"),
        ("c", 100.0, "hot"),
    ]
    add(tmp_path / "rules", [{"name": "hot", "limit": None}, {"name": "warm", "limit": 15.0}])
    add(tmp_path / "readings", [reading("a", 20.0), reading("b", 31.0)])
    assert run(rules.alerts(spark, str(tmp_path)), tmp_path) == [
        ("a", 20.0, "warm"),
        ("b", 31.0, "warm"),
    ]


@pytest.mark.parametrize("dies", [False, True])
def test_files_appear_when_their_batch_is_committed(
    spark: SparkSession,
    tmp_path: Path,
    dies: bool,  # noqa: FBT001 - a parameter
) -> None:
    sink = example("two_phase_sink")
    written: list[dict[str, object]] = []

    def visible() -> list[dict[str, object]]:
        files = [it for it in (tmp_path / "out").iterdir() if not it.name.startswith(".")]
        lines = [line for it in files for line in it.read_text(encoding="utf-8").splitlines()]
        return sorted((json.loads(it) for it in lines), key=lambda it: it["v"])

    for batch in range(3):
        rows = [reading(f"d{it}", 10.0 * batch + it) for it in range(5)]
        add(tmp_path / "readings", rows)
        if dies:
            # The driver dies before the commit: the batch runs again, with other names.
            run(sink.copied(spark, str(tmp_path)), tmp_path)
            for name in (str(batch), f".{batch}.crc"):
                (tmp_path / "checkpoint/commits" / name).unlink(missing_ok=True)
        run(sink.copied(spark, str(tmp_path)), tmp_path)
        assert visible() == written
        written += rows
