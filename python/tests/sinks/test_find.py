"""Which version of a table a batch of a query is, from logs written here by the specifications."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from keyfold.sinks.find import find_table
from keyfold.sinks.sink_table import SinkTable
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import QUERY, FakeCheckpoint
from kit.tables import DeltaTable, IcebergTable

OLD, OLDER, OTHER = "old", "older", "other"


@pytest.fixture
def delta(tmp_path: Path) -> DeltaTable:
    return DeltaTable(tmp_path / "delta")


@pytest.fixture
def iceberg(tmp_path: Path) -> IcebergTable:
    return IcebergTable(tmp_path / "iceberg")


@pytest.fixture
def find(fake: FakeCheckpoint) -> Callable[[DeltaTable | IcebergTable, int], SinkTable]:
    def found(table: DeltaTable | IcebergTable, batch: int) -> SinkTable:
        it = find_table(Storage(table.root), Storage(fake.root), batch)
        assert it is not None
        return it

    return found


Find = Callable[[DeltaTable | IcebergTable, int], SinkTable]


def said(table: SinkTable, batch: int) -> str:
    return "\n".join(table.warnings(batch))


def rolled_back(fake: FakeCheckpoint, number: int, to: int, app: str) -> None:
    """What a rollback leaves: the id before it, the offsets that it builds on, and a batch's."""
    folder = f"keyfold/rollback-{to}-{number}"
    fake.write(f"{folder}/metadata", json.dumps({"id": app}))
    fake.write(f"{folder}/base", f"offsets {to}")
    fake.write(f"{folder}/offsets/{to + 1}", f"offsets {to + 1}")


def test_a_folder_without_a_log_is_no_table(fake: FakeCheckpoint, tmp_path: Path) -> None:
    (tmp_path / "out" / "_spark_metadata").mkdir(parents=True)
    (tmp_path / "out" / "_delta_log").mkdir()
    for name in ("out", "none"):
        assert find_table(Storage(tmp_path / name), Storage(fake.root), 1) is None


def test_the_version_of_a_batch_and_the_command_of_delta(delta: DeltaTable, find: Find) -> None:
    delta.commit("CREATE TABLE")
    delta.batches(QUERY, 0, 1, 2, 3)
    found = find(delta, 1)
    assert (found.batch, found.version, found.newest) == (1, 2, 4)
    assert (found.later, found.others) == ((3, 4), ())
    assert found.restore == f"RESTORE TABLE delta.`{delta.root}` TO VERSION AS OF 2"
    assert found.undo == f"RESTORE TABLE delta.`{delta.root}` TO VERSION AS OF 4"
    assert "each row of the later batches comes twice" in said(found, 1)


def test_a_place_with_a_backtick_stays_one_name(tmp_path: Path, find: Find) -> None:
    table = DeltaTable(tmp_path / "a`b")
    table.batches(QUERY, 0, 1)
    assert find(table, 0).restore == f"RESTORE TABLE delta.`{tmp_path}/a``b` TO VERSION AS OF 0"


def test_the_snapshot_of_a_batch_and_the_commands_of_iceberg(
    iceberg: IcebergTable, find: Find
) -> None:
    iceberg.batches(QUERY, 0, 1, 2)
    iceberg.write()
    found = find(iceberg, 1)
    assert (found.batch, found.version, found.newest) == (1, 1001, 1002)
    assert found.restore == "CALL <catalog>.system.rollback_to_snapshot('<table>', 1001)"
    assert found.undo == "CALL <catalog>.system.set_current_snapshot('<table>', 1002)"
    assert "each row of the later batches comes twice" in said(found, 1)


@pytest.mark.parametrize("name", ["{:05}-uuid.metadata.json", "v{}.gz.metadata.json"])
def test_the_newest_metadata_count(iceberg: IcebergTable, find: Find, name: str) -> None:
    for number in range(11):
        iceberg.batches(QUERY, number)
        iceberg.write(name)
    assert find(iceberg, 4).newest == 1010


def test_an_iceberg_table_that_went_back_has_its_ancestors_alone(
    fake: FakeCheckpoint, iceberg: IcebergTable, find: Find
) -> None:
    rolled_back(fake, 1, 1, OLD)
    iceberg.batches(OLD, 0, 1, 2, 3)
    iceberg.current = 1001
    iceberg.batches(QUERY, 2, 3, 4)
    iceberg.write()
    found = find(iceberg, 2)
    assert (found.batch, found.version, found.later) == (2, 1004, (1005, 1006))
    found = find(iceberg, 0)
    assert (found.batch, found.version, found.later) == (0, 1000, (1001, 1004, 1005, 1006))


def test_versions_of_others_are_named(delta: DeltaTable, iceberg: IcebergTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1)
    delta.commit("OPTIMIZE")
    delta.batches(OTHER, 7)
    delta.batches(QUERY, 2)
    found = find(delta, 0)
    assert [(it.version, it.operation) for it in found.others] == [
        (2, "OPTIMIZE"),
        (3, "STREAMING UPDATE"),
    ]
    assert "taken back as well: versions 2 (OPTIMIZE), 3 (STREAMING UPDATE)" in said(found, 0)
    assert "some of these are of other queries" in said(found, 0)
    iceberg.batches(QUERY, 0, 1)
    iceberg.commit("replace")
    iceberg.batches(QUERY, 2)
    iceberg.write()
    told = said(find(iceberg, 0), 0)
    assert "taken back as well: snapshot 1002 (replace)" in told
    assert "of other queries" not in told


def test_what_others_wrote_before_the_first_later_batch_stays(
    delta: DeltaTable, find: Find
) -> None:
    delta.batches(QUERY, 0)
    delta.commit("DELETE")
    delta.commit("OPTIMIZE")
    delta.batches(QUERY, 1)
    delta.commit("DELETE")
    found = find(delta, 0)
    assert (found.batch, found.version, found.later) == (0, 2, (3,))
    assert [it.version for it in found.kept] == [1, 2]
    assert [it.version for it in found.others] == [4]


def test_later_batches_under_no_id_are_not_called_none(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1)
    delta.commit("MERGE")
    found = find(delta, 1)
    assert (found.version, found.restore) == (1, None)
    assert "If its foreachBatch wrote them, take them back yourself" in said(found, 1)


def test_a_rollback_that_broke_off_after_the_new_id(
    fake: FakeCheckpoint, delta: DeltaTable, find: Find
) -> None:
    """It has taken no batch, so those of the old id count."""
    rolled_back(fake, 1, 1, OLD)
    (fake.root / "keyfold/rollback-1-1/offsets/2").unlink()
    delta.batches(OLD, 0, 1, 2, 3)
    delta.batches(QUERY, 4)
    found = find(delta, 2)
    assert (found.batch, found.version, found.later) == (2, 2, (3, 4))


def test_ends_of_lines_in_values_are_none_of_the_log(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1)
    with delta.path(1).open("a", encoding="utf-8") as log:
        log.write('{"add":{"path":"b","stats":"{\\"min\\":\\"a\u2028b\u0085c\\"}"}}\n')
    assert find(delta, 0).later == (1,)


def test_a_batch_that_wrote_none_is_as_the_one_before(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1, 3)
    found = find(delta, 2)
    assert (found.batch, found.version, found.later) == (1, 1, (2,))
    assert "no version of batch 2; that of batch 1 is the newest before it" in said(found, 2)


def test_batches_that_an_earlier_rollback_took_away_do_not_count(
    fake: FakeCheckpoint, delta: DeltaTable, find: Find
) -> None:
    """Batch 2 of the new id wrote none: that of the old id is another one."""
    rolled_back(fake, 1, 1, OLD)
    delta.batches(OLD, 0, 1, 2, 3)
    delta.commit("RESTORE", version="1")
    delta.batches(QUERY, 3, 4)
    found = find(delta, 2)
    # As RESTORE has left it.
    assert (found.batch, found.version, found.later) == (1, 4, (5, 6))
    found = find(delta, 3)
    assert (found.batch, found.version, found.later) == (3, 5, (6,))


def test_a_copy_from_before_a_rollback_does_not_know_the_id_since(
    delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    """The original went back to batch 3, and has run on under another id."""
    delta.batches(QUERY, 0, 1, 2, 3, 4)
    delta.commit("RESTORE", version="3")
    delta.commit("DELETE")
    iceberg.batches(QUERY, 0, 1, 2, 3)
    iceberg.commit("delete")
    for table in (delta, iceberg):
        table.batches(OTHER, 4, 5, 6)
    iceberg.write()
    for table, last in ((delta, "7, 8, 9"), (iceberg, "1005, 1006, 1007")):
        found = find(table, 3)
        assert (found.batch, found.restore) == (3, None)
        told = said(found, 3)
        assert "nothing to restore" not in told
        assert f"written under id other, and left: {found._noun}s {last} (batches 4 to 6)" in told
        # Which may be another query's: no SQL takes them back.
        assert "CALL" not in told
        assert "RESTORE TABLE" not in told
    assert "and left: version 6 (DELETE). If its foreachBatch" in said(find(delta, 3), 3)


def test_what_others_wrote_since_a_restore_stays(
    fake: FakeCheckpoint, delta: DeltaTable, find: Find
) -> None:
    rolled_back(fake, 1, 1, OLD)
    delta.batches(OLD, 0, 1, 2, 3)
    delta.commit("RESTORE", version="1")
    delta.commit("DELETE")
    delta.batches(QUERY, 2, 3)
    found = find(delta, 1)
    assert (found.batch, found.version, found.later, found.others) == (1, 5, (6, 7), ())
    assert [it.version for it in found.kept] == [4, 5]
    assert str(found.restore).endswith("VERSION AS OF 5")
    told = said(found, 1)
    assert "version 5 also has what others wrote after batch 1: version 5 (DELETE), which" in told
    # A RESTORE adds nothing to what was there before.
    delta.commit("RESTORE", version="6")
    delta.batches(QUERY, 4)
    found = find(delta, 1)
    assert [it.version for it in found.others] == [8]
    assert "taken back as well" not in said(found, 1)


def test_a_restore_by_time_does_not_say_what_it_took_back(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1, 2)
    delta.commit("RESTORE", timestamp="2026-11-30")
    assert find(delta, 1).later == (2,)


def test_a_delta_table_that_was_taken_back_behind_the_batch(delta: DeltaTable, find: Find) -> None:
    """The rollback was undone without the table, or somebody has restored it without one."""
    delta.batches(QUERY, 0, 1, 2, 3, 4, 5)
    delta.commit("RESTORE", version="1")
    forward = f"RESTORE TABLE delta.`{delta.root}` TO VERSION AS OF "
    found = find(delta, 4)
    assert (found.batch, found.version, found.later, found.restore) == (1, 1, (), None)
    assert (found.behind, found.forward) == ((2, 3, 4), f"{forward}4")
    told = said(found, 4)
    assert "lacks batches 2 to 4 of this query, which do not run again" in told
    assert told.endswith(f"take the table forward before the query starts: {forward}4")
    assert "go back to batch 1 instead (--to-batch 1, of a clone --batch)" in told
    assert "nothing to restore" not in told
    assert find(delta, 1).behind == ()
    assert "nothing to restore" in said(find(delta, 1), 1)
    delta.batches(QUERY, 6)
    delta.commit("DELETE")
    found = find(delta, 5)
    assert (found.batch, found.version, found.later) == (1, 6, (7,))
    assert (found.behind, found.forward) == ((2, 3, 4, 5), f"{forward}5")
    told = said(found, 5)
    since = ", which loses what others have written since"
    assert f"instead of `to restore` before the query starts{since}: {forward}5\n" in told


def test_an_iceberg_table_that_was_taken_back_behind_the_batch(
    iceberg: IcebergTable, find: Find
) -> None:
    iceberg.batches(QUERY, 0, 1, 2, 3)
    iceberg.current = 1001
    iceberg.write()
    for batch, behind in ((3, (2, 3)), (2, (2,))):
        found = find(iceberg, batch)
        assert (found.batch, found.version, found.behind) == (1, 1001, behind)
        forward = f"CALL <catalog>.system.set_current_snapshot('<table>', {1000 + batch})"
        assert found.forward == forward
        assert said(found, batch).endswith(f"before the query starts: {forward}")
        assert "nothing to restore" not in said(found, batch)


def test_batches_that_run_again_are_not_called_lost(
    fake: FakeCheckpoint, delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    rolled_back(fake, 1, 1, OLD)
    for table in (delta, iceberg):
        table.batches(OLD, 0, 1, 2, 3)
    delta.commit("RESTORE", version="1")
    iceberg.current = 1001
    for table in (delta, iceberg):
        table.batches(QUERY, 3)
    iceberg.write()
    for table in (delta, iceberg):
        for batch in (1, 2, 3):
            assert find(table, batch).behind == ()


def test_a_table_of_complete_mode_that_was_taken_back_lacks_nothing_for_long(
    delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    delta.batches(QUERY, 0, 1, 2, mode="Complete")
    delta.commit("RESTORE", version="1")
    iceberg.batches(QUERY, 0, 1, 2, operation="overwrite")
    iceberg.current = 1001
    iceberg.write()
    assert find(delta, 2).behind == find(iceberg, 2).behind == ()
    assert "in between" not in said(find(delta, 2), 2)


def test_what_was_taken_back_and_is_lost_has_no_command(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1, 2, 3)
    delta.commit("RESTORE", version="1")
    delta.checkpoint({QUERY: 3})
    delta.batches(QUERY, 4)
    delta.forget(0, 1)
    found = find(delta, 3)
    assert (found.version, found.behind, found.forward) == (None, (2, 3), None)
    assert "take the table forward yourself before the query starts" in said(found, 3)
    assert "take the table back yourself" not in said(found, 3)


def test_of_two_queries_that_write_to_one_table_each_has_its_own_way_back(
    delta: DeltaTable, find: Find
) -> None:
    """The other one was rolled back to batch 1, with the SQL of its plan."""
    for batch in range(3):
        delta.batches(OTHER, batch)
        delta.batches(QUERY, batch)
    found = find(delta, 1)
    assert (found.version, found.kept[0].batches, found.others) == (4, {OTHER: 2}, ())
    assert "version 4 also has what others wrote after batch 1: version 4 (STREA" in said(found, 1)
    assert "if one goes back too, make its plan after `to restore` was run" in said(found, 1)
    found = find(delta, 0)
    assert "must go back too or lose rows: make their plans after `to restore`" in said(found, 0)
    delta.commit("RESTORE", version="3")
    found = find(delta, 1)
    assert (found.batch, found.version, found.restore, found.behind) == (1, 3, None, ())
    assert "nothing to restore" in said(found, 1)
    # Its batch 2 was taken back as well, with that of the other one.
    found = find(delta, 2)
    assert (found.behind, found.forward, found.strangers) == ((2,), None, (OTHER,))
    told = said(found, 2)
    assert "TO VERSION" not in told
    assert "go back to batch 1 instead (--to-batch 1, of a clone --batch): going forward" in told
    assert "would bring back or lose batches of other queries (id other)" in told


def test_a_way_forward_does_not_lose_what_another_query_wrote_since(
    delta: DeltaTable, find: Find
) -> None:
    delta.batches(QUERY, 0, 1, 2)
    delta.commit("RESTORE", version="1")
    delta.batches(OTHER, 0)
    found = find(delta, 2)
    assert (found.behind, found.forward, found.strangers) == ((2,), None, (OTHER,))


def test_no_way_forward_lacks_or_doubles_a_batch(
    fake: FakeCheckpoint, delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    rolled_back(fake, 1, 2, OLD)
    # Batch 2 and batch 3 are on two ways that both start at batch 1.
    delta.batches(OLD, 0, 1, 2)
    delta.commit("RESTORE", version="1")
    delta.batches(QUERY, 3)
    delta.commit("RESTORE", version="1")
    iceberg.batches(OLD, 0, 1, 2)
    iceberg.current = 1001
    iceberg.batches(QUERY, 3)
    iceberg.current = 1001
    iceberg.write()
    for table in (delta, iceberg):
        found = find(table, 3)
        assert (found.batch, found.behind, found.forward) == (1, (2, 3), None)
    # Batch 3 came after a batch 3 that a rollback took away.
    twice = DeltaTable(delta.root.with_name("twice"))
    twice.batches(OLD, 0, 1, 2, 3)
    twice.batches(QUERY, 3)
    twice.commit("RESTORE", version="1")
    found = find(twice, 3)
    assert (found.behind, found.forward) == ((2, 3), None)


def test_the_batches_of_a_query_beside_it_are_not_called_later(
    delta: DeltaTable, find: Find
) -> None:
    delta.batches(QUERY, 0, 1, 2)
    delta.batches(OTHER, 1, 2)
    told = said(find(delta, 2), 2)
    assert "nothing to restore" in told
    assert "written under id" not in told


def test_of_two_rollbacks_in_a_row_the_second_counts(
    fake: FakeCheckpoint, delta: DeltaTable, find: Find
) -> None:
    """The first went to batch 3, the second to 1, before the query had run; then batch 4 came."""
    rolled_back(fake, 1, 3, OLDER)
    rolled_back(fake, 2, 1, OLD)
    fake.write("keyfold/rollback-1-2/offsets/3", "offsets 3")
    delta.batches(OLDER, 0, 1, 2, 3, 4)
    delta.batches(QUERY, 4)
    found = find(delta, 3)
    assert (found.batch, found.version, found.later) == (1, 1, (2, 3, 4, 5))


def test_what_the_log_has_lost_is_not_known(
    delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    delta.batches(QUERY, 0, 1, 2)
    delta.checkpoint({QUERY: 2})
    delta.batches(QUERY, 3)
    delta.forget(0, 1)
    iceberg.batches(QUERY, 0, 1, 2)
    iceberg.expire(1000)
    iceberg.write()
    for table in (delta, iceberg):
        found = find(table, 0)
        assert (found.version, found.restore, found.undo) == (None, None, None)
        assert "take the table back yourself, or each row of the later batches comes twice" in said(
            found, 0
        )
    assert find(delta, 2).version == 2
    assert find(iceberg, 1).version == 1001


def test_a_version_needs_a_checkpoint_before_it(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1, 2)
    delta.checkpoint({QUERY: 2})
    delta.batches(QUERY, 3)
    delta.forget(0)
    assert find(delta, 1).version is None
    assert find(delta, 2).version == 2


def test_nothing_later_is_nothing_to_restore(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1)
    delta.commit("OPTIMIZE")
    found = find(delta, 1)
    assert (found.version, found.restore) == (1, None)
    assert "nothing to restore" in said(found, 1)


DAY_MS = 24 * 60 * 60 * 1000


@pytest.mark.parametrize(
    ("kept", "days", "outdated"),
    [
        (None, 6, False),
        (None, 8, True),
        ("interval 30 days", 8, False),
        ("interval 4 weeks 2 days", 31, True),
        ("INTERVAL 24 HOURS", 2, True),
        ("no interval", 6, False),
        ("interval 0 hours", 1, True),
    ],
)
def test_a_version_that_delta_no_longer_restores_by_itself(
    delta: DeltaTable, find: Find, kept: str | None, days: int, *, outdated: bool
) -> None:
    """Whether or not its files are still there: Delta 4.1 goes by the time."""
    now = delta.time
    if kept:
        delta.properties(delta_deletedFileRetentionDuration=kept)
    delta.time -= days * DAY_MS
    delta.batches(QUERY, 0)
    delta.time = now
    delta.batches(QUERY, 1)
    found = find(delta, 0)
    assert (found.version in found.outdated) == outdated
    way = "DeletedFileRetentionDuration=false` first, or give the table a longer delta.deleted"
    assert (way in said(found, 0)) == outdated
    # Nothing is restored.
    assert find(delta, 1).outdated == ()


def test_the_way_forward_again_is_outdated_too_when_the_query_was_stopped_long_ago(
    delta: DeltaTable, find: Find
) -> None:
    delta.time -= 8 * DAY_MS
    delta.batches(QUERY, 0, 1, 2)
    assert find(delta, 0).outdated == (0, 2)


def test_how_long_a_table_keeps_files_is_read_from_its_checkpoint_too(
    delta: DeltaTable, find: Find
) -> None:
    delta.properties(delta_deletedFileRetentionDuration="interval 2 days")
    delta.time -= 3 * DAY_MS
    delta.batches(QUERY, 0, 1, 2)
    delta.commit("RESTORE", version="1")
    delta.checkpoint({QUERY: 2})
    delta.time += 2 * DAY_MS
    delta.batches(OTHER, 0)
    # Nothing is printed that goes to one of them: forward, the other query would lose its batch.
    assert find(delta, 2).outdated == ()
    delta.commit("RESTORE", version="4")
    assert find(delta, 2).outdated == (3,)


def test_the_time_that_is_in_the_commit_counts(delta: DeltaTable, find: Find) -> None:
    """With the feature `inCommitTimestamp`, the other one is when the attempt began."""
    delta.batches(QUERY, 0, 1)
    commit = delta.path(0).read_text()
    delta.path(0).write_text(commit.replace('"timestamp"', '"inCommitTimestamp":1,"timestamp"'))
    assert find(delta, 0).outdated == (0,)


def test_complete_mode_doubles_no_row(delta: DeltaTable, iceberg: IcebergTable, find: Find) -> None:
    delta.batches(QUERY, 0, 1, 2, mode="Complete")
    iceberg.batches(QUERY, 0, 1, 2, operation="overwrite")
    iceberg.write()
    for table in (delta, iceberg):
        found = find(table, 0)
        assert found.restore
        assert "twice" not in said(found, 0)
        assert "readers see the result of a later batch" in said(found, 0)


def test_the_ids_of_another_querys_table_are_named(
    delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    delta.batches(OTHER, 4, 5)
    iceberg.batches(OTHER, 4, 5)
    iceberg.write()
    for table in (delta, iceberg):
        found = find(table, 4)
        assert (found.known, found.applications, found.version) == (False, {OTHER: 5}, None)
        assert f"is of this query, {QUERY}" in said(found, 4)
        assert "its log has id other (newest batch 5)" in said(found, 4)
    assert "of the table's branch main is of" in said(find(iceberg, 4), 4)
    assert "would be lost" in said(find(delta, 4), 4)
    assert "would be lost" not in said(find(iceberg, 4), 4)


def test_an_id_that_the_table_has_forgotten_is_found_in_its_versions(
    delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    """Delta drops it after a time; Iceberg has it only while a snapshot that leads on does."""
    delta.properties(delta_setTransactionRetentionDuration="interval 1 day")
    delta.batches(QUERY, 0, 1, 2)
    delta.checkpoint({})
    delta.commit("DELETE")
    iceberg.batches(QUERY, 0, 1, 2)
    iceberg.current = -1
    iceberg.write()
    found = find(delta, 1)
    assert (found.known, found.version, found.later) == (True, 2, (3,))
    found = find(iceberg, 1)
    assert (found.known, found.version, found.behind) == (True, None, (0, 1))
    delta.checkpoint({})
    delta.forget(0, 1, 2, 3)
    iceberg.expire(1000, 1001, 1002)
    iceberg.write()
    forgets = {"delta": "delta.setTransactionRetentionDuration", "iceberg": "expire_snapshots"}
    for table in (delta, iceberg):
        found = find(table, 1)
        assert not found.known
        assert f"or the table has forgotten the id ({forgets[found.format]})" in said(found, 1)


def test_batches_in_another_branch_of_iceberg_are_named(iceberg: IcebergTable, find: Find) -> None:
    iceberg.batches(QUERY, 0, 1)
    iceberg.batches(QUERY, 2, 3)
    iceberg.branches["audit"], iceberg.current = iceberg.current, 1001
    iceberg.branches["past"] = 1000
    iceberg.write()
    found = find(iceberg, 2)
    assert (found.version, found.branches, found.behind) == (1001, {"audit": (2, 3)}, ())
    told = said(found, 2)
    assert "the table's branch audit has batches 2 to 3 of this query, which main lacks" in told
    assert "no snapshot of batch 2; that of batch 1 is the newest before it\n" in told
    assert "nothing to restore" not in told
    # The branch was published.
    iceberg.current = 1003
    iceberg.write()
    assert find(iceberg, 2).branches == {}
    # All of the query is there.
    iceberg.current = -1
    iceberg.write()
    found = find(iceberg, 2)
    assert (found.known, found.branches["audit"]) == (False, (0, 1, 2, 3))


def test_what_expiry_has_cut_off_from_main_is_not_called_lacking(
    iceberg: IcebergTable, find: Find
) -> None:
    """Batch 2 expired in the middle; a tag keeps batch 1, and a branch batch 0."""
    iceberg.batches(QUERY, 0, 1, 2, 3, 4)
    iceberg.branches["kept"] = 1000
    iceberg.expire(1002)
    iceberg.write()
    for batch in (4, 3):
        found = find(iceberg, batch)
        assert (found.batch, found.behind, found.branches) == (batch, (), {})
    assert "nothing to restore" in said(find(iceberg, 4), 4)
    found = find(iceberg, 2)
    assert (found.version, found.behind, found.forward) == (None, (), None)
    # What was taken back since is.
    iceberg.current = 1003
    iceberg.write()
    found = find(iceberg, 4)
    assert (found.behind, str(found.forward).endswith(", 1004)")) == ((4,), True)


def test_a_snapshot_with_an_id_and_no_batch_is_another_one(
    iceberg: IcebergTable, find: Find
) -> None:
    iceberg.batches(QUERY, 0)
    iceberg.commit(**{"spark.sql.streaming.queryId": QUERY})
    iceberg.current = 1000
    iceberg.write()
    assert (find(iceberg, 0).version, find(iceberg, 0).behind) == (1000, ())


def test_the_versions_of_a_table_that_forgets_no_id_are_not_read_for_one(
    delta: DeltaTable, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    delta.batches(OTHER, *range(50))
    delta.properties()
    delta.checkpoint({OTHER: 49})
    delta.batches(OTHER, 50)
    read: list[str] = []
    whole = Storage.whole

    def counted(self: Storage, path: str) -> bytes:
        read.extend([path] if "_delta_log" in path else [])
        return whole(self, path)

    monkeypatch.setattr(Storage, "whole", counted)
    assert not find(delta, 1).known
    assert len(read) <= 32


def test_a_table_without_ids(delta: DeltaTable, iceberg: IcebergTable, find: Find) -> None:
    delta.commit()
    iceberg.write()
    for table in (delta, iceberg):
        found = find(table, 1)
        assert "no id of a query" in said(found, 1)
        assert "or each row of the later batches comes twice" in said(found, 1)
    assert find(iceberg, 1).newest is None


def test_the_first_batch_of_a_clone_is_what_it_found(
    delta: DeltaTable, iceberg: IcebergTable, find: Find
) -> None:
    """A clone of batch 1 goes on in the original's table, which was taken back to that batch."""
    delta.batches(OTHER, 0, 1, 2)
    delta.commit("RESTORE", version="1")
    delta.batches(QUERY, 2, 3)
    iceberg.batches(OTHER, 0, 1)
    iceberg.batches(QUERY, 2, 3)
    iceberg.write()
    for table, version, later in ((delta, 3, (4, 5)), (iceberg, 1001, (1002, 1003))):
        found = find(table, 1)
        assert (found.batch, found.version, found.later) == (1, version, later)
        assert (found.kept, found.others) == ((), ())
        assert f" {version}" in str(found.restore)
        # What was before it is not known: it may have been the original's, or nobody's.
        assert find(table, 0).version is None


def test_the_first_batch_of_all_has_nothing_before_it(delta: DeltaTable, find: Find) -> None:
    delta.batches(QUERY, 2, 3)
    found = find(delta, 1)
    assert (found.version, found.later) == (None, (0, 1))
