"""An operator with state of its subtasks, and checkpoints on S3 and HDFS."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

import keyfold
from keyfold.fsck.finding import Kind
from kit.checkpoint_place import HDFS, S3
from kit.session import NEEDS_JAR
from kit.subtask_states import BUG, Keeps, Raises, State, redistributed, state_of
from servers.application import Application

pytestmark = NEEDS_JAR


@pytest.mark.long
@pytest.mark.parametrize("kind", [S3, HDFS])
def test_subtasks_have_what_the_last_batch_left(app: Application, kind: str) -> None:
    place, source = app.place(kind), app.new_folder()

    def run(parallelism: int, values: Iterable[int], function: Keeps | None = None) -> None:
        lines = "\n".join(json.dumps({"v": v}) for v in values)
        (source / f"{len(list(source.iterdir()))}.json").write_text(lines, encoding="utf-8")
        out = keyfold.with_operator_state(
            app.spark.readStream.schema("v int").json(str(source)),
            function or Keeps(),
            "v int",
            parallelism=parallelism,
            name="op",
        )
        writer = out.writeStream.format("noop").option("checkpointLocation", place.url)
        writer.trigger(availableNow=True).start().awaitTermination()

    def state() -> State:
        return state_of(place.uri, "op")

    run(2, range(7))
    run(2, range(7, 13))
    before = state()
    with pytest.raises(Exception, match=BUG):
        run(3, [-1], Raises())
    run(2, [-1])
    assert state() == before
    run(5, [-1])
    of_five = redistributed(before, 5)
    assert state() == of_five

    keyfold.redistribute(place.url, "op", 3, dry_run=False)
    assert state() == redistributed(of_five, 3)
    keyfold.undo_rescale(place.url, dry_run=False)
    assert state() == of_five
    run(3, [-1])
    assert state() == redistributed(of_five, 3)
    found = keyfold.open_checkpoint(place.uri).fsck(deep=True).findings
    # From HDFS it is a copy, whose schemas are where they were.
    assert {it.kind for it in found} == ({Kind.MOVED} if kind == HDFS else set())
