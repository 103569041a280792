"""Which task of which batch is held until it has a speculative twin, and what becomes of the two.

Attempt 0 of a task is the original, attempt 1 its twin.
"""

PARTITIONS = 4

TWIN_FIRST = "both commit, the twin counts"
ORIGINAL_FIRST = "both commit, the original counts"
ORIGINAL_UNCOMMITTED = "the original is killed before it commits"
KINDS = (TWIN_FIRST, ORIGINAL_FIRST, ORIGINAL_UNCOMMITTED)
BATCHES = 2 * len(KINDS)


def planned(batch: int) -> tuple[str, int]:
    """The kind of a batch, and the partition that is held in it."""
    return KINDS[batch % len(KINDS)], batch % PARTITIONS
