"""Each incident of docs/runbook.md on real damage: its commands are run, and the query goes on."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.errors import IllegalArgumentException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.cli.main import cli
from kit.tables import DeltaTable
from python.tests.jvm.word_queries import by_word, run

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[3] / "docs/runbook.md"
INCIDENTS: dict[str, list[str]] = {
    part.partition("\n")[0]: [
        line
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
        if not language
        for line in block.splitlines()
    ]
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")
}
WORDS = [["a", "b", "a", "c"], ["d", "a"], ["b", "e"]]
NEXT = ["a", "f"]
# What a query writes that finds each word once, also those of its last file.
EXPECTED = ["a", "b", "c", "d", "e", "f", "i"]


class Incident:
    """A checkpoint after three batches, and the commands of a part of the page."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._spark, self.root = spark, root
        self.checkpoint = run(spark, root, by_word, WORDS, name="orders")
        self._commands: Iterator[str] = iter(())

    def of(self, title: str) -> Incident:
        self._commands = iter(INCIDENTS[title])
        return self

    def command(self, code: int = 0) -> Result:
        """Runs the page's next command, with folders of this test."""
        text = next(self._commands).replace("/data/checkpoints", str(self.root))
        text = text.replace("/data/orders", str(self.root / "output"))
        text = text.replace("/data/table", str(self.root / "table"))
        text = text.replace("row.json", str(self.root / "row.json"))
        text, _, file = text.replace('{"customer": 42}', '{"word": "a"}').partition(" > ")
        result = CliRunner().invoke(cli, shlex.split(text)[1:])
        if file:
            Path(file).write_text(result.stdout, encoding="utf-8")
        assert result.exit_code == code, (text, result.output, result.exception)
        return result

    def goes_on(self, name: str = "orders") -> None:
        """All commands were run; the query takes one more file, and has counted each word once."""
        assert list(self._commands) == []
        run(self._spark, self.root, by_word, [NEXT], name)
        rows = keyfold.open_checkpoint(self.root / name)["agg"].only.scan().to_pylist()
        found = {row["key"]["word"]: row["value"]["count"] for row in rows}
        assert found == Counter(word for words in [*WORDS, NEXT] for word in words)

    def newest(self) -> list[Path]:
        return sorted(self.checkpoint.glob("state/0/[0-9]/3_*.delta"))


@pytest.fixture
def incident(spark: SparkSession, tmp_path: Path) -> Incident:
    return Incident(spark, tmp_path)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, flip], ids=["lost", "damaged"])
def test_state_file(
    incident: Incident, spark: SparkSession, damage: Callable[[Path], None]
) -> None:
    incident.of("A state file is lost or damaged")
    damage(incident.newest()[0])
    with pytest.raises(StreamingQueryException, match="KEYFOLD_") as failed:
        run(spark, incident.root, by_word, [NEXT], "orders")
    (incident.root / "in/3.json").unlink()
    # The query's error names the first command, and that names the second one.
    (asked,) = set(re.findall("`(keyfold .*?)`", str(failed.value)))
    assert asked == f"keyfold fsck file:{incident.checkpoint}"
    advised = incident.command(code=1).stdout.splitlines()[-1]
    printed = INCIDENTS["A state file is lost or damaged"][1]
    assert advised == printed.replace("/data/checkpoints", str(incident.root))
    incident.command()
    incident.goes_on()


def test_deployment(incident: Incident) -> None:
    incident.of("A deployment wrote wrong results")
    assert len(incident.command().stdout.splitlines()) == 1 + len(WORDS)
    incident.command()
    incident.command()
    incident.command()
    incident.goes_on("orders-2")


def test_wrong_row(incident: Incident, spark: SparkSession) -> None:
    incident.of("One row of the state is wrong")
    rows = keyfold.open_checkpoint(incident.checkpoint)["agg"].to_spark(spark, where="word == 'a'")
    wrong = rows.selectExpr("key", "named_struct('count', 999L) AS value")
    keyfold.write_state(wrong, incident.checkpoint, dry_run=False)
    run(spark, incident.root, by_word, [NEXT], "orders")
    for name in ("in/3.json", "orders/commits/4", "orders/commits/.4.crc"):
        (incident.root / name).unlink(missing_ok=True)
    incident.command()
    incident.command()
    row = incident.root / "row.json"
    right = json.loads(row.read_text(encoding="utf-8"))
    assert right["value"] == {"count": 999}
    row.write_text(json.dumps(right | {"value": {"count": 3}}), encoding="utf-8")
    assert "updated" in incident.command().stdout
    incident.command()
    incident.goes_on()


class Sink:
    """A query that finds each word once, and writes it to files."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._spark, self.root, self.output = spark, root, root / "output"
        self._incident = Incident(spark, root / "unused")
        self._incident.root = root
        self.go_on(WORDS)

    def go_on(self, batches: list[list[str]], *, with_sink: bool = True) -> None:
        output = self.output if with_sink else None
        run(self._spark, self.root, _distinct, batches, "orders", files=output)

    def rolls_back(self, title: str, condition: str) -> None:
        """The start is refused, and names the command of the runbook, which mends it."""
        with pytest.raises(IllegalArgumentException, match=condition) as refused:
            self.go_on([NEXT])
        self._incident.of(title)
        (asked,) = set(re.findall("`(keyfold .*?)`", str(refused.value)))
        page = INCIDENTS[title][0].replace("/data/checkpoints", f"file:{self.root}")
        assert asked == page.replace("/data/orders", f"file:{self.output}")
        self._incident.command()
        self.go_on([["b", "i"]])

    def words(self) -> list[str]:
        rows = self._spark.read.schema("word string").json(str(self.output)).collect()
        return sorted(row.word for row in rows)


def _distinct(stream: DataFrame) -> DataFrame:
    return stream.dropDuplicates(["word"])


def test_driver_dies_after_the_sinks_commit(spark: SparkSession, tmp_path: Path) -> None:
    sink = Sink(spark, tmp_path)
    for name in ("2", ".2.crc"):
        (tmp_path / "orders/commits" / name).unlink(missing_ok=True)
    sink.go_on([NEXT])
    sink.go_on([["b", "i"]])
    assert sink.words() == EXPECTED


def test_rollback_beside_a_table(incident: Incident) -> None:
    incident.of("The query writes to a Delta or Iceberg table")
    table = DeltaTable(incident.root / "table")
    query = keyfold.open_checkpoint(incident.checkpoint).query_id
    table.batches(query, 0, 1, 2)
    command = f"to restore   RESTORE TABLE delta.`{table.root}` TO VERSION AS OF 1\n"
    planned = incident.command().stdout
    assert command in planned
    assert "each row of the later batches comes twice" in planned
    done = incident.command().stdout
    assert command in done
    assert "to undo" in done
    incident.goes_on()


def test_rollback_without_file_sink(spark: SparkSession, tmp_path: Path) -> None:
    sink = Sink(spark, tmp_path)
    checkpoint = keyfold.open_checkpoint(tmp_path / "orders")
    checkpoint.rollback(1, dry_run=False)
    sink.rolls_back("The query went back without its file sink", "KEYFOLD_SINK_AHEAD")
    assert sink.words() == EXPECTED


def test_batch_without_file_sink(spark: SparkSession, tmp_path: Path) -> None:
    sink = Sink(spark, tmp_path)
    sink.go_on([["h"]], with_sink=False)
    sink.rolls_back("A batch ran without its file sink", "KEYFOLD_SINK_BEHIND")
    assert sink.words() == sorted([*EXPECTED, "h"])


@pytest.mark.parametrize("is_open", [False, True])
def test_partitions(incident: Incident, is_open: bool) -> None:  # noqa: FBT001
    incident.of("Too few partitions, or too many")
    if is_open:
        for name in ("commits/2", "commits/.2.crc"):
            (incident.checkpoint / name).unlink(missing_ok=True)
    incident.command()
    incident.goes_on()
    (operator,) = keyfold.open_checkpoint(incident.checkpoint).describe().operators
    assert operator.partitions == 8


def test_heavy_key(incident: Incident) -> None:
    incident.of("One key is heavy")
    assert len(incident.command().stdout.splitlines()) == 1 + 2
    assert '{"word": "a"}' in incident.command().stdout
    incident.goes_on()


def test_full_disk(incident: Incident) -> None:
    incident.of("The disk was full")
    left = incident.checkpoint / "state/0/1/.4_x.delta.0a1b2c3d-0000-4000-8000-0123456789ab.tmp"
    left.write_bytes(b"half of a file")
    long_ago = time.time() - 48 * 3600
    os.utime(left, (long_ago, long_ago))
    assert left.name in incident.command().stdout
    assert left.exists()
    incident.command()
    assert not left.exists()
    incident.goes_on()


def test_moved(incident: Incident) -> None:
    incident.of("The checkpoint was moved or copied")
    moved = incident.root / "elsewhere"
    shutil.move(incident.checkpoint, moved)
    shutil.copytree(moved, incident.checkpoint)
    assert "The query can start" in incident.command().stdout
    incident.command()
    incident.goes_on("orders-2")


def test_place_of_a_checkpoint_is_lost(incident: Incident) -> None:
    incident.of("The place of a checkpoint is lost")
    incident.command()
    shutil.move(incident.checkpoint, incident.root / "gone")
    assert "The query can start" in incident.command().stdout
    incident.goes_on("orders-2")


def test_two_drivers(incident: Incident) -> None:
    """What the driver that lost has left: integration-tests/cluster runs two."""
    incident.of("Two drivers ran the same query")
    winner = incident.newest()[0]
    shutil.copy(winner, winner.with_name("3_0000-the-one-that-lost.delta"))
    assert "unreferenced (harmless)" in incident.command().stdout
    incident.goes_on()


def test_upgrade(incident: Incident) -> None:
    incident.of("Before an upgrade of Spark or Keyfold")
    assert "nothing wrong" in incident.command().stdout
    incident.command()
    assert keyfold.open_checkpoint(incident.checkpoint).savepoints() == ("before-upgrade",)
    incident.goes_on()


def test_every_incident_has_a_test() -> None:
    tested = re.findall(r'(?:\.of|rolls_back)\("(.+?)"', Path(__file__).read_text(encoding="utf-8"))
    assert [title for title, commands in INCIDENTS.items() if title in tested] == tested
    assert len(tested) == len(INCIDENTS) - 1


def test_command_is_pasted_whatever_the_path(spark: SparkSession, tmp_path: Path) -> None:
    """The JVM prints a path as Hadoop does, without encoding it, and quotes it for a shell."""
    name = "my 'orders' \"é\" 100% {a} #1 `b` &?c"
    checkpoint = run(spark, tmp_path, by_word, WORDS, name)
    min(checkpoint.glob("state/0/[0-9]/3_*.delta")).unlink()
    with pytest.raises(StreamingQueryException, match="KEYFOLD_") as failed:
        run(spark, tmp_path, by_word, [NEXT], name)
    (asked,) = set(re.findall("`(keyfold fsck .*?&\\?c')`", str(failed.value)))
    found = CliRunner().invoke(cli, shlex.split(asked)[1:])
    (advised,) = re.findall("^keyfold rollback .*$", found.stdout, re.MULTILINE)
    done = CliRunner().invoke(cli, shlex.split(advised)[1:])
    assert done.exit_code == 0, done.output
    run(spark, tmp_path, by_word, [], name)
    run(spark, tmp_path, by_word, [["z"]], name)
    rows = keyfold.open_checkpoint(checkpoint)["agg"].only.scan().to_pylist()
    found_words = {row["key"]["word"]: row["value"]["count"] for row in rows}
    assert found_words == Counter(word for words in [*WORDS, NEXT, ["z"]] for word in words)


def test_batch_that_a_driver_committed_in_spite_of_two_rescales(incident: Incident) -> None:
    """2 -> 3 -> 2: it is built on files of the first layout, which have the rows of the third."""
    commit = incident.checkpoint / "commits/2"
    kept = commit.read_bytes()
    for path in (commit, commit.with_name(".2.crc")):
        path.unlink(missing_ok=True)
    before = len(list(incident.checkpoint.glob("state/0/[0-9]")))
    for partitions in (before + 1, before):
        keyfold.rescale(incident.checkpoint, partitions, dry_run=False)
    commit.write_bytes(kept)
    assert str(keyfold.open_checkpoint(incident.checkpoint).fsck()).endswith("its last, is whole.")
    incident.goes_on()
