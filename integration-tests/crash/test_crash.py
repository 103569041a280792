"""A few lives of queries; `make crash` runs as many as are wanted."""

import pytest

from crash.admin import ROLLBACK
from crash.runs import runs
from crash.turn import HALT

# From Kafka into files and a function, and from files into a database. Of one decade, so that they
# share a JVM while none is killed.
SEEDS = (2332, 2334, 2337)
# On Spark 4.1: into Delta, with three halts, and into Iceberg, with two rollbacks.
TABLE_SEEDS = (1118, 634)


@pytest.mark.timeout(900)
def test_no_row_is_lost_or_invented_whatever_happens_to_a_query() -> None:
    check(SEEDS)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_table_has_each_row_once_whatever_happens_to_its_query() -> None:
    check(TABLE_SEEDS)


def check(seeds: tuple[int, ...]) -> None:
    with runs() as them:
        for seed in seeds:
            said = them.run(seed)
            assert said is None, said
        assert them.counts[ROLLBACK]
        assert them.counts[HALT]
