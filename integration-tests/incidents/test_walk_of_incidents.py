"""A few incidents; `make incidents` runs as many as are wanted."""

from __future__ import annotations

from pathlib import Path

from incidents.walk import Walk
from kit.session import NEEDS_JAR, session

pytestmark = NEEDS_JAR

# These met, among others: a rescale whose commits are lost (8); a migrated query with a file sink
# whose state is damaged (26); a sink that is ahead, under another format (30); torn offsets of a
# rescale that was interrupted (60); a schema that a migration cannot read (92); a source's log that
# undoing a migration does not mend (99); a source whose last entry is lost after a rescale (128).
SEEDS = (*range(1, 9), 26, 30, 49, 60, 92, 99, 128, 152)


def test_messages_lead_to_a_query_that_runs_or_say_that_no_batch_is_left(tmp_path: Path) -> None:
    with session(tmp_path, {}) as spark:
        walk = Walk(spark, tmp_path)
        ends = {seed: walk.run(seed) for seed in SEEDS}
    assert len(ends) == sum(walk.ends.values())
    assert walk.ends.keys() == {"the query runs, rows exact", "no batch is left that can be read"}
