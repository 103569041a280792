"""A checkpoint goes from Spark's checkpoint file managers to Keyfold's, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

import keyfold
from keyfold.fsck.finding import Kind
from keyfold.settings import FILE_MANAGER_CLASS
from kit.checkpoint_place import HDFS, LOCAL, S3, CheckpointPlace
from kit.session import NEEDS_JAR
from servers.application import Application, file_system
from servers.count_query import FORMAT, SNAPSHOTS, CountQuery, state

pytestmark = NEEDS_JAR
LONG = pytest.mark.long

SPARKS = "org.apache.spark.sql.execution.streaming.checkpointing"
BY_CONTEXT = f"{SPARKS}.FileContextBasedCheckpointFileManager"
BY_FILE_SYSTEM = f"{SPARKS}.FileSystemBasedCheckpointFileManager"
MANAGER = "streaming__checkpointFileManagerClass"


@pytest.mark.parametrize(("first", "checkpoint_format"), [("Spark's", 1), ("Keyfold's", 2)])
@pytest.mark.parametrize(
    ("kind", "sparks"),
    [
        (LOCAL, None),
        pytest.param(LOCAL, BY_FILE_SYSTEM, marks=LONG),
        pytest.param(S3, None, marks=LONG),
        pytest.param(HDFS, BY_CONTEXT, marks=LONG),
        pytest.param(HDFS, BY_FILE_SYSTEM, marks=LONG),
    ],
)
def test_each_manager_goes_on_where_another_was_and_redoes_its_last_batch(
    app: Application, kind: str, sparks: str | None, first: str, checkpoint_format: int
) -> None:
    place, query = app.place(kind), CountQuery(app.spark, app.new_folder())
    managers = [FILE_MANAGER_CLASS, sparks]
    if first == "Spark's":
        managers.reverse()
    settings = {**SNAPSHOTS, FORMAT: checkpoint_format}
    for number, manager in enumerate(managers * 2):
        copies = copied(app, kind)
        assert query.run(place.url, 2, **settings, **{MANAGER: manager}) == query.expected()
        last = 2 * number + 1
        # It is the manager that was asked for: each has a trace of its own.
        if kind == LOCAL:
            has_checksum = (Path(place.url) / "offsets" / f".{last}.crc").exists()
            assert has_checksum == (manager is not FILE_MANAGER_CLASS)
        elif kind == S3:
            assert (copied(app, kind) > copies) == (manager is not FILE_MANAGER_CLASS)
        forget_commit(app, place, last)
    # Under format v1 each batch that was redone has replaced files of the other manager.
    assert query.run(place.url, 1, **settings, **{MANAGER: managers[0]}) == query.expected()
    # What was redone has left its first attempt's files, or those that HDFS would not replace.
    uri = place.uri
    found = keyfold.open_checkpoint(uri).fsck(deep=True).findings
    assert {it.kind for it in found} <= {Kind.UNREFERENCED}
    assert state(uri) == query.expected(9)
    # Through Hadoop, which refuses a file whose checksums are of other bytes.
    files, path = file_system(app.spark, place.url)
    files.copyToLocalFile(path, file_system(app.spark, str(app.new_folder()))[1])


def copied(app: Application, kind: str) -> int:
    """Objects copied so far: Spark's managers do that where they rename."""
    return sum(app.proxy.counted["COPY", it] for it in ("offsets", "state")) if kind == S3 else 0


def forget_commit(app: Application, place: CheckpointPlace, batch: int) -> None:
    """As if the driver had died before it: the next run does the batch again.

    On a local disk the checksums that Hadoop may have written stay.
    """
    if isinstance(place.files, Path):
        (place.files / "commits" / str(batch)).unlink()
    else:
        files, path = file_system(app.spark, f"{place.url}/commits/{batch}")
        assert files.delete(path)
