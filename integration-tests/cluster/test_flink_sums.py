"""Flink's published walk-through of a change of parallelism, as a query on Keyfold."""

import json
from pathlib import Path

import keyfold
from kit.submit import Spark

VECTORS = json.loads((Path(__file__).parent / "vectors" / "keyed_state.json").read_text())
KEYS = VECTORS["keys"]
BEFORE, AFTER = 12, 6


def test_keys_groups_operators_and_sums_are_those_published(spark: Spark, tmp_path: Path) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))

    def run(parallelism: int) -> list[tuple[int, str, int, float]]:
        write_each_key_once(source)
        spark.run(
            "cluster/flink_sums_job.py",
            *(
                source,
                checkpoint,
                output,
                Path(str(VECTORS["max_parallelism"])),
                Path(str(parallelism)),
            ),
            conf={"spark.sql.shuffle.partitions": parallelism},
        )
        return rows_of(output)

    assert run(BEFORE) == expected(BEFORE, 1.0)

    keyfold.rescale(checkpoint, AFTER, dry_run=False)
    assert run(AFTER) == expected(AFTER, 2.0)
    [operator] = keyfold.open_checkpoint(checkpoint).describe().operators
    assert operator.partitions == AFTER
    assert operator.rows == len(KEYS)


def write_each_key_once(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"key": it["key"], "value": 1.0}) for it in KEYS]
    (folder / f"{len(list(folder.iterdir()))}.json").write_text("\n".join(lines))


def expected(parallelism: int, total: float) -> list[tuple[int, str, int, float]]:
    """Operator, key, key group and sum of each key, by key."""
    rows = [(it[f"operator_at_{parallelism}"], it["key"], it["key_group"], total) for it in KEYS]
    return sorted(rows, key=lambda row: row[1])


def rows_of(folder: Path) -> list[tuple[int, str, int, float]]:
    """The same as the job has written it."""
    lines = [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    found = [(row["operator"], row["key"], row["key_group"], row["sum"]) for row in rows]
    return sorted(found, key=lambda row: row[1])
