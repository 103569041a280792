"""A few incidents; `make incidents` runs as many as are wanted."""

from __future__ import annotations

from pathlib import Path

from incidents.walk import Walk
from kit.session import NEEDS_JAR, session

pytestmark = NEEDS_JAR

# These met, among others: a verdict whose command was refused, since the logs had forgotten the
# batch before (125); a migration from files that cannot be read (151); a torn commit (65).
SEEDS = (*range(1, 21), 65, 125, 151)


def test_messages_lead_to_a_query_that_runs_or_say_that_no_batch_is_left(tmp_path: Path) -> None:
    with session(tmp_path, {}) as spark:
        walk = Walk(spark, tmp_path)
        ends = {seed: walk.run(seed) for seed in SEEDS}
    assert len(ends) == sum(walk.ends.values())
    assert walk.ends.keys() == {"the query runs, rows exact", "no batch is left that can be read"}
