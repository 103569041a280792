"""A few lives of queries; `make crash` runs as many as are wanted."""

import pytest

from crash.runs import runs

# Of one decade, so that they share a JVM while none is killed.
SEEDS = (1, 2, 4, 5)


@pytest.mark.timeout(900)
def test_no_row_is_lost_or_invented_whatever_happens_to_a_query() -> None:
    with runs() as them:
        for seed in SEEDS:
            assert them.run(seed) is None
