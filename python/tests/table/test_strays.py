"""Rows that are where Spark put them and not where their hash says (docs/FORMAT.md, 4.3)."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import keyfold
from keyfold.cli.main import cli
from keyfold.fsck.finding import Kind
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter, hash_of

PARTITIONS = 4
# Spark puts this key, and no other, into the partition after that of its hash.
STRAY = 5
PLACED = hash_of(STRAY) % PARTITIONS
KEPT = (PLACED + 1) % PARTITIONS


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    found = StateWriter(fake, partitions=PARTITIONS, strays={STRAY: KEPT})
    found.batch({key: key for key in range(20) if key != STRAY})
    found.batch({STRAY: 50})
    found.batch({STRAY: 51, 1: 10})
    return found


def totals(table: keyfold.StateTable, key: int, batch: int = -1) -> list[int]:
    found = table.get({"id": key}, batch=batch).to_pylist()
    return [row["value"]["total"] for row in found]


def test_a_look_up_finds_every_row_wherever_it_is(writer: StateWriter) -> None:
    table = keyfold.open_checkpoint(writer.fake.root)["agg"].only
    assert {key: totals(table, key) for key in writer.rows} == writer.rows
    assert totals(table, STRAY, batch=1) == [50]
    assert totals(table, STRAY, batch=0) == []
    assert totals(table, 20) == []


def test_the_history_of_such_a_row(writer: StateWriter) -> None:
    writer.batch({STRAY: None})
    table = keyfold.open_checkpoint(writer.fake.root)["agg"].only
    found = table.history({"id": STRAY}).to_pylist()
    assert [(row["batch_id"], row["change"]) for row in found] == [
        (1, "inserted"),
        (2, "updated"),
        (3, "deleted"),
    ]
    assert [row["value"]["total"] for row in found[:2]] == [50, 51]


def test_a_key_of_a_partition_with_strays_is_looked_up_in_all(fake: FakeCheckpoint) -> None:
    """Two input keys, one stored key: Spark has two rows, of which one follows the hash."""
    writer = StateWriter(fake, partitions=PARTITIONS, strays={STRAY: KEPT, 100: PLACED})
    writer.batch({STRAY: 50, 100: 7})
    table = keyfold.open_checkpoint(fake.root)["agg"].only
    assert (totals(table, STRAY), totals(table, 100)) == ([50], [7])


def test_the_command_line(writer: StateWriter) -> None:
    key = json.dumps({"id": STRAY})
    done = CliRunner().invoke(cli, ["get", str(writer.fake.root), "agg", key, "--output", "json"])
    assert json.loads(done.stdout)["value"] == {"total": 51}


@pytest.mark.parametrize("deep", [False, True])
def test_fsck_takes_them_for_what_they_are(writer: StateWriter, *, deep: bool) -> None:
    assert keyfold.open_checkpoint(writer.fake.root).fsck(deep=deep).findings == ()


def test_a_row_elsewhere_is_damage_where_the_file_does_not_say_so(writer: StateWriter) -> None:
    writer.marked.clear()
    writer.batch({STRAY: 52})
    writer.marked.clear()
    path = writer.path(4, "delta", KEPT)
    path.write_bytes(writer.file(4, "delta", KEPT, [writer._put(STRAY)], lineage=[]))
    found = keyfold.open_checkpoint(writer.fake.root).fsck().findings
    assert Kind.WRONG_ROWS in {it.kind for it in found}


def test_a_file_of_another_partition_is_damage_whatever_it_says(writer: StateWriter) -> None:
    moved = writer.path(3, "delta", KEPT)
    writer.path(3, "delta", PLACED).write_bytes(moved.read_bytes())
    found = keyfold.open_checkpoint(writer.fake.root).fsck().findings
    assert Kind.DAMAGED in {it.kind for it in found}


def test_descriptions_say_so(writer: StateWriter) -> None:
    checkpoint = keyfold.open_checkpoint(writer.fake.root)
    described = checkpoint.describe()
    assert [it.strays for it in described.operators[0].stores[0].families] == [True]
    note = "rows are where Spark put them, not where their hash says, in: default"
    assert note in " ".join(str(described).split())
    assert note in described._repr_html_()
    (family,) = checkpoint.inspect.column_families().to_pylist()
    assert family["strays"] is True


def test_descriptions_say_nothing_of_other_state(fake: FakeCheckpoint) -> None:
    StateWriter(fake).batch({1: 1})
    described = keyfold.open_checkpoint(fake.root).describe()
    assert [it.strays for it in described.operators[0].stores[0].families] == [False]
    assert "where Spark put them" not in str(described)
