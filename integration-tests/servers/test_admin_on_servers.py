"""What changes a checkpoint, on S3 and HDFS, and the query's next runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import keyfold
from keyfold.admin.copies import clone
from keyfold.admin.rollback import rollback, undo_rollback
from keyfold.admin.vacuum import vacuum
from keyfold.checkpoint import Checkpoint
from keyfold.fsck.finding import Kind
from kit.checkpoint_place import HDFS, LOCAL, S3, CheckpointPlace
from kit.providers import HDFS as HDFS_BACKED
from kit.providers import ROCKSDB
from kit.session import NEEDS_JAR
from servers.application import Application, contents, file_system
from servers.count_query import FORMAT, SNAPSHOTS, CountQuery, state

pytestmark = NEEDS_JAR

PROVIDER = "streaming__stateStore__providerClass"


def checked(place: CheckpointPlace, partitions: int, *orphans: str) -> Checkpoint:
    """It is whole, and its last batch has so many partitions; at most these folders are of none."""
    opened = keyfold.open_checkpoint(place.uri)
    found = opened.fsck(deep=True).findings
    assert {(it.kind, it.path.partition("/state/")[2]) for it in found} <= {
        (Kind.UNREFERENCED, it) for it in orphans
    }
    assert [it.partitions for it in opened.describe().operators] == [partitions]
    return opened


@pytest.mark.parametrize("kind", [S3, HDFS])
def test_a_query_goes_on_after_a_rescale_and_after_it_was_rolled_back(
    app: Application, query: CountQuery, kind: str
) -> None:
    place = app.place(kind)
    query.run(place.url, 3, **SNAPSHOTS)
    done = keyfold.rescale(place.url, 3, dry_run=False)
    assert (done.before, done.after, done.batch) == (2, 3, 3)
    assert query.run(place.url, 1, **SNAPSHOTS) == query.expected(4)
    checked(place, 3)

    rollback(place.url, done.last_batch, dry_run=False)
    assert query.run(place.url, 1, **SNAPSHOTS) == query.expected(5)
    # The third partition's folder may be left, empty.
    checked(place, 2, "0/2")
    assert state(place.uri) == query.expected(5)


@pytest.mark.long
@pytest.mark.parametrize("kind", [S3, HDFS])
def test_a_plan_changes_nothing_and_a_rollback_is_undone(
    app: Application, query: CountQuery, kind: str
) -> None:
    place = app.place(kind)
    query.run(place.url, 3, **SNAPSHOTS)
    before = contents(place)
    planned = keyfold.plan_rescale(place.url, 3)
    assert (planned.refusals, planned.batch) == ((), 3)
    assert contents(place) == before
    keyfold.rescale(place.url, 3, dry_run=False)
    query.run(place.url, 2, **SNAPSHOTS)

    rescaled = contents(place)
    expected = rollback(place.url, 2).files
    assert contents(place) == rescaled
    gone = rollback(place.url, 2, dry_run=False)
    assert gone.files == expected
    checked(place, 2, "0/2")
    assert state(place.uri) == query.expected(3)
    after = contents(place)
    # A new query id, or a sink that goes by it would skip the batches that come again.
    assert after.pop("metadata") != before.pop("metadata")
    assert before.items() <= after.items()

    assert gone.aside is not None
    undo_rollback(place.url, gone.aside)
    checked(place, 3)
    assert state(place.uri) == query.expected(5)
    assert rescaled.items() <= contents(place).items()
    assert query.run(place.url, 1, **SNAPSHOTS) == query.expected(6)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "to", "checkpoint_format"),
    [(LOCAL, S3, 2), (S3, HDFS, 1), (HDFS, LOCAL, 2), (S3, S3, 1)],
)
def test_a_clone_on_another_kind_of_file_system_and_the_original_go_on_apart(
    app: Application, query: CountQuery, kind: str, to: str, checkpoint_format: int
) -> None:
    original, copy, older = app.place(kind), app.place(to), app.place(to)
    settings = {**SNAPSHOTS, FORMAT: checkpoint_format}
    query.run(original.url, 3, **settings)
    # Its references go along, and the files that they refer to.
    keyfold.rescale(original.url, 5, dry_run=False)
    query.run(original.url, 1, **settings)
    before = contents(original)
    planned = clone(original.url, copy.url, dry_run=True)
    assert not copy.files.exists()
    assert clone(original.url, copy.url).files == planned.files
    clone(original.url, older.url, batch=2)
    assert contents(original) == before

    assert checked(copy, 5).query_id != checked(original, 5).query_id
    assert state(copy.uri) == query.expected(4)
    assert query.run(copy.url, 2, **settings) == query.expected(6)
    assert query.run(original.url, 0, **settings) == query.expected(6)
    checked(older, 2)
    assert query.run(older.url, 0, **settings) == query.expected(6)
    for place, partitions in ((original, 5), (copy, 5), (older, 2)):
        checked(place, partitions)
        assert state(place.uri) == query.expected(6)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "provider"), [(S3, ROCKSDB), (HDFS, HDFS_BACKED)])
def test_a_migration_is_undone_and_done_again(
    app: Application, query: CountQuery, kind: str, provider: str
) -> None:
    place, old = app.place(kind), {PROVIDER: provider, FORMAT: 1}
    query.run(place.url, 3, **old)
    before = contents(place)
    assert keyfold.migrate(place.url).refusals == ()
    assert contents(place) == before
    keyfold.migrate(place.url, dry_run=False)
    checked(place, 2)
    assert state(place.uri) == query.expected(3)

    migrated = contents(place)
    planned = keyfold.undo_migration(place.url)
    assert contents(place) == migrated
    assert keyfold.undo_migration(place.url, dry_run=False).files == planned.files
    assert contents(place) == before
    assert query.run(place.url, 1, **old) == query.expected()

    keyfold.migrate(place.url, dry_run=False)
    assert query.run(place.url, 2, **SNAPSHOTS) == query.expected(6)
    checked(place, 2)
    assert state(place.uri) == query.expected()


@pytest.mark.long
@pytest.mark.parametrize("kind", [S3, HDFS])
def test_a_vacuum_deletes_what_the_check_has_found_and_nothing_else(
    app: Application, query: CountQuery, kind: str
) -> None:
    place = app.place(kind)
    query.run(place.url, 3)
    before = contents(place)
    delta = next(it for it in before if it.startswith("state/0/1/2_"))
    other = "state/0/1/2_00000000-0000-4000-8000-000000000000.delta"
    stray = {other, "state/9/0/1.delta", "state/0/77/3.snapshot"}
    for path in stray:
        write(app, f"{place.url}/{path}", before[delta])

    readable = place.uri
    findings = keyfold.open_checkpoint(readable).fsck().findings
    assert {it.kind for it in findings} <= {Kind.UNREFERENCED}
    root = readable.partition("?")[0].rpartition("@")[2]
    paths = [it.path.rpartition(Path(root).name + "/")[2] for it in findings]
    assert {it.path for it in vacuum(place.url, paths, dry_run=False).unreferenced} == set(paths)
    assert contents(place).keys() == before.keys() | stray
    vacuum(place.url, paths, older_than_hours=0)
    assert contents(place).keys() == before.keys() | stray

    vacuum(place.url, paths, older_than_hours=0, dry_run=False)
    assert contents(place) == before
    checked(place, 2)
    assert query.run(place.url) == query.expected()


def write(app: Application, url: str, content: bytes) -> None:
    """Writes a file where Spark finds it."""
    files, path = file_system(app.spark, url)
    out = files.create(path)
    out.write(content)
    out.close()
