"""Cases over one stream, of operators that take no code."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kit.lines import ONE_PARTITION_HAS_IDS
from kit.queries.builtin import GAP, columns, counted, sessions, window_of, windowed
from kit.queries.rows import Row
from kit.queries.streams import Streams
from operators.cases import Answer, Case, not_rescaled, under_format_1
from operators.inputs import FILES_BEFORE, everything, rows_of, settled, timely

SAVE = "stateStoreSave"
# Reached after the restart.
LIMIT = sum(len(rows_of(file)) for file in range(FILES_BEFORE)) + 25


def of_groups(groups: Iterable[tuple[tuple[object, ...], Row]]) -> Answer:
    """Count, sum and greatest id of each group."""
    rows = defaultdict(list)
    for group, row in groups:
        rows[group].append(row)
    for group, its in rows.items():
        yield (*group, len(its), sum(it.value for it in its), max(it.id for it in its))


def per_key() -> Answer:
    return of_groups(((row.key,), row) for row in everything())


def in_all() -> Answer:
    return of_groups(((), row) for row in everything())


def per_window(rows: Callable[[], Iterable[Row]]) -> Callable[[], Answer]:
    return lambda: of_groups(((row.key, window_of(row.minute)), row) for row in rows())


def each_once(rows: Iterable[Row]) -> Answer:
    return {(row.id, row.key, row.value, row.minute) for row in rows}


def per_session() -> Iterator[tuple[str, int, int, int, int]]:
    for key in {row.key for row in settled()}:
        rows = sorted((row for row in settled() if row.key == key), key=lambda row: row.minute)
        begin = 0
        for index, row in enumerate(rows):
            is_last = index + 1 == len(rows)
            if is_last or rows[index + 1].minute - row.minute > GAP:
                its = rows[begin : index + 1]
                total = sum(it.value for it in its)
                yield key, its[0].minute, row.minute + GAP, len(its), total
                begin = index + 1


def limited(streams: Streams) -> DataFrame:
    """Which rows of a batch are taken is Spark's choice; from how many batches, not."""
    return streams.rows.select(f.lit("a row")).limit(LIMIT)


def once_per_window() -> Answer:
    rows = {row.id: row for row in settled()}.values()
    return of_groups(((row.key, window_of(row.minute)), row) for row in rows)


def in_a_format_for_one_partition(case: Case) -> Case:
    """The same case; under checkpoint format 1 where Spark cannot run it under 2."""
    return case if ONE_PARTITION_HAS_IDS else replace(case, settings=under_format_1(case).settings)


PER_KEY = Case(
    "aggregation by key", lambda s: counted(s.rows, "key"), per_key, (SAVE,), mode="update"
)
WINDOWS = Case("windows, append", lambda s: windowed(s.timed), per_window(settled), (SAVE,))
ONCE = Case(
    "dropDuplicates with watermark",
    lambda s: columns(s.timed.dropDuplicates(["id", "at"])),
    lambda: each_once(timely()),
    ("dedupe",),
)
SESSIONS = Case("session_window", sessions, per_session, ("sessionWindowStateStoreSaveExec",))

BUILTIN = (
    PER_KEY,
    in_a_format_for_one_partition(
        Case(
            "aggregation without keys",
            lambda s: counted(s.rows),
            in_all,
            (SAVE,),
            mode="complete",
            alone=True,
        )
    ),
    WINDOWS,
    Case(
        "windows, update",
        lambda s: windowed(s.timed),
        per_window(timely),
        (SAVE,),
        mode="update",
        keys=2,
    ),
    Case(
        "dropDuplicates",
        lambda s: columns(s.rows.dropDuplicates(["id"])),
        lambda: each_once(everything()),
        ("dedupe",),
    ),
    ONCE,
    Case(
        "dropDuplicatesWithinWatermark",
        lambda s: columns(s.timed.dropDuplicatesWithinWatermark(["id"])),
        lambda: each_once(timely()),
        ("dedupeWithinWatermark",),
    ),
    SESSIONS,
    in_a_format_for_one_partition(
        Case("limit", limited, lambda: [("a row",)] * LIMIT, ("globalLimit",), alone=True)
    ),
    Case(
        "dropDuplicatesWithinWatermark, then windows",
        lambda s: windowed(s.timed.dropDuplicatesWithinWatermark(["id"])),
        once_per_window,
        (SAVE, "dedupeWithinWatermark"),
    ),
    *map(under_format_1, (PER_KEY, WINDOWS, ONCE)),
    *map(not_rescaled, (PER_KEY, ONCE, SESSIONS, under_format_1(WINDOWS))),
)
