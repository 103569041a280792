"""The rules by name, and when they give advice: in the words of docs/doctor.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from keyfold.doctor import (
    attempts,
    checkpoint,
    growth,
    partitions,
    rescaling,
    retention,
    skew,
    snapshots,
)
from keyfold.doctor.exam import Exam
from keyfold.doctor.report import Advice
from keyfold.settings import STRICT_KEY
from keyfold.text.units import plural, size


class Rule(NamedTuple):
    judge: Callable[[Exam], Iterator[Advice]]
    given: str


# In the order of the page.
GIVEN = {
    "unreadable": Rule(
        checkpoint.unreadable,
        "the description of an operator or the head of a partition cannot be read",
    ),
    "too-many-partitions": Rule(
        partitions.too_many,
        f"there are {partitions._TIMES_TOO_MANY} times as many partitions as are enough: with "
        f"{plural(partitions._FEW_ROWS, 'row')} or {size(partitions._FEW_BYTES)} in each, "
        f"{partitions._LEAST_PARTITIONS} at least, not fewer than `--cores` or the subtasks "
        f"of an operator; a batch writes {size(partitions._LITTLE_CHANGED)} of changes in "
        f"each, or less; and starting its tasks, at {partitions._TASK_MS} ms each on "
        f"{partitions._CORES} cores, or less by `--cores`, takes 1/{partitions._OF_INTERVAL} "
        f"of the time from batch to batch, and 1/{partitions._OF_DURATION} of a batch, or "
        "more; not if it is not known how long batches take",
    ),
    "too-few-partitions": Rule(
        partitions.too_few,
        f"half of the partitions or more have over {plural(partitions._MOST_ROWS, 'row')} or "
        f"{size(partitions._MOST_BYTES)}; or there are fewer than `--cores`, batches take "
        f"half of the time or more, and one writes {size(partitions._MUCH_CHANGED)} of "
        "changes in each partition, or more",
    ),
    "skew": Rule(
        skew.skew,
        f"a partition has {size(skew._LEAST_BYTES)} or more, and {skew._TIMES} times the "
        "average of the others",
    ),
    "grows-forever": Rule(
        growth.forever,
        f"a dropDuplicates or a join has {plural(growth._LEAST_ROWS, 'row')} or more; it grew "
        f"over both halves of the retained batches, {growth._LEAST_BATCHES} or more, in the "
        "second at half of the first's rate or more; none of these batches has a watermark; "
        f"and at that rate it doubles in {growth._DAYS} days",
    ),
    "memory-budget": Rule(
        checkpoint.beyond,
        "`--memory` is given, and the state takes more by the formula of "
        "[Sizing](cluster.md#sizing)",
    ),
    "several-actions": Rule(
        attempts.several,
        f"in {attempts._LEAST_VERSIONS} of the last 20 batches or more, and in half of those "
        "that changed state, half of the partitions that changed have deltas of several "
        "attempts; under checkpoint format 2 only",
    ),
    "snapshots-too-rare": Rule(
        snapshots.too_rare,
        f"half of the partitions or more read over {snapshots._MOST_DELTAS} deltas in a load, "
        f"and over {snapshots._INTERVALS} times as many as a minute has batches",
    ),
    "snapshots-too-often": Rule(
        snapshots.too_often,
        f"partitions have {snapshots._LEAST_SNAPSHOTS} snapshots or more after their first, "
        f"one in fewer than {snapshots._CLOSE} versions; together they have "
        f"{size(snapshots._LEAST_WRITTEN)} or more, and {snapshots._TIMES_DELTAS} times the "
        f"bytes of the deltas between, which are less than {size(snapshots._MANY_DELTAS)} for "
        "each of them",
    ),
    "retention-too-long": Rule(
        retention.too_long,
        f"over {retention._MOST_BATCHES} batches are in the commit log, and the files have "
        f"{size(retention._LEAST_BYTES)} or more, and {retention._MOST_TIMES} times what the "
        "last batch needs",
    ),
    "retention-too-short": Rule(
        retention.too_short,
        f"{retention._FEW_BATCHES} batches or fewer of {retention._LEAST_LAST} or more are in "
        "the commit log; not in a copy, nor after a rollback, a sync or a migration",
    ),
    "small-files": Rule(
        snapshots.small_files,
        f"a query writes {snapshots._MOST_PER_SECOND} state files a second or more, of "
        f"{size(snapshots._SMALL)} or less on average; not if it has too many partitions, "
        "which is the cause then",
    ),
    "unreferenced-files": Rule(
        attempts.unreferenced,
        "files of attempts that were not committed, a day older than the newest file, have "
        f"{size(attempts._LEAST_BYTES)} or more and 1/{attempts._SHARE} of all; not if "
        "batches have several actions, which is the cause then, nor where there is a plan of "
        "a rescale",
    ),
    "checkpoint-format-1": Rule(
        checkpoint.format_1,
        "the last commit has no ids of state; not if an operator has one partition only",
    ),
    "not-rescalable": Rule(
        rescaling.not_movable,
        "the files mark a family as one that `keyfold rescale` refuses, or the offset log "
        f"does not have `{STRICT_KEY}=true`",
    ),
    "key-groups": Rule(
        rescaling.few_numbers,
        f"an operator has {size(rescaling._LEAST_BYTES)} of state or more, and none of the "
        f"numbers from 1/{rescaling._TIMES} of its partitions to {rescaling._TIMES} times as "
        "many, but their own, divides its key groups",
    ),
}
