"""A few lives of queries; `make crash` runs as many as are wanted."""

import pytest

from crash.runs import runs

# Of one decade, so that they share a JVM while none is killed: into a database, files and, from
# Kafka, files.
SEEDS = (83, 86, 88)
# On Spark 4.1, from Kafka: into Delta and into Iceberg.
TABLE_SEEDS = (33, 38)


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
