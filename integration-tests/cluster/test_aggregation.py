"""An aggregation on two executors, configured by the files that Keyfold ships."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark

import keyfold

ROOT = Path(__file__).resolve().parents[2]
JOB = Path(__file__).with_name("aggregation_job.py")
PARTITIONS = 4
FILES = 3
ROWS_PER_FILE = 500
KEYS = 41
TIMEOUT_S = 240


def submit(*arguments: Path) -> str:
    """Runs the job on a local cluster of two executors with one core and 1 GiB each; the log."""
    spark_home = Path(pyspark.__file__).parent
    command = [
        str(spark_home / "bin" / "spark-submit"),
        *("--master", "local-cluster[2,1,1024]"),
        *("--properties-file", str(ROOT / "conf" / "keyfold-defaults.conf")),
        *("--jars", str(keyfold.jar_path())),
        *("--conf", f"spark.sql.shuffle.partitions={PARTITIONS}"),
        *("--conf", "spark.ui.enabled=false"),
        str(JOB),
        *map(str, arguments),
    ]
    environment = {
        **os.environ,
        "SPARK_HOME": str(spark_home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr


def write_input(folder: Path, first: int) -> None:
    folder.mkdir(exist_ok=True)
    for file in range(first, first + FILES):
        values = range(file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE)
        lines = (json.dumps({"key": value % KEYS, "value": value}) for value in values)
        (folder / f"{file:03d}.json").write_text("\n".join(lines))


def expected(files: int) -> list[tuple[int, int, int]]:
    values = range(files * ROWS_PER_FILE)
    per_key = [[v for v in values if v % KEYS == key] for key in range(KEYS)]
    return [(key, len(vs), sum(vs)) for key, vs in enumerate(per_key)]


def rows_of(folder: Path) -> list[tuple[int, int, int]]:
    lines = [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    return sorted((row["key"], row["rows"], row["total"]) for row in rows)


def test_counts_survive_a_restart_on_two_executors(tmp_path: Path) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))

    write_input(source, first=0)
    submit(source, checkpoint, output)
    assert rows_of(output) == expected(FILES)

    write_input(source, first=FILES)
    submit(source, checkpoint, output)
    assert rows_of(output) == expected(2 * FILES)

    [operator] = keyfold.open_checkpoint(checkpoint).describe().operators
    assert operator.partitions == PARTITIONS
    assert operator.rows == KEYS


def test_counts_survive_an_executor_killed_before_its_commit(tmp_path: Path) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))
    marker = tmp_path / "killed"

    write_input(source, first=0)
    log = submit(source, checkpoint, output, marker)
    assert marker.exists()
    assert "ExecutorLostFailure" in log
    assert rows_of(output) == expected(FILES)

    description = keyfold.open_checkpoint(checkpoint).describe()
    assert description.problems == ()
    assert description.rows == KEYS
