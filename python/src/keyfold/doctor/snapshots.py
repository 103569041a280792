"""Files of state: snapshots that come too rarely or too often, and too many small files."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from statistics import median

from keyfold.doctor.exam import Exam
from keyfold.doctor.partitions import too_many
from keyfold.doctor.report import Advice
from keyfold.format.names import FileKind
from keyfold.state.walk import Part
from keyfold.text.units import count, plural, size

_DELTAS_KEY = "spark.sql.streaming.stateStore.minDeltasForSnapshot"
_INTERVAL_KEY = "spark.sql.streaming.stateStore.maintenanceInterval"
_SHARE_KEY = "spark.sql.streaming.stateStore.keyfold.snapshotAfterShare"

_MOST_DELTAS = 100
_INTERVALS = 3
_INTERVAL_MS = 60_000

_LEAST_SNAPSHOTS = 3
_TIMES_DELTAS = 10
_LEAST_WRITTEN = 64 << 20
_CLOSE = 5
# Spark's default, and the most that merged deltas and snapshots had of what commits wrote
# (docs/benchmarks-limits.md).
_DELTAS = 10
_WITH_MERGES = 4
# Half of what leads to a snapshot or a merge, however few deltas they are.
_MANY_DELTAS = 64 << 20

_MOST_PER_SECOND = 100
_GOOD_PER_SECOND = 20
_SMALL = 16 << 10


def too_rare(exam: Exam) -> Iterator[Advice]:
    """Snapshots that come too rarely.

    By default a load reads about ten files, and the deltas since the last maintenance, which comes
    every minute; where runs are shorter than that, 30.
    """
    if exam.pace.median_ms is None:
        return
    most = max(_MOST_DELTAS, _INTERVALS * _INTERVAL_MS / exam.pace.median_ms)
    for it in exam.operators:
        read = [
            sum(step.path.endswith((".delta", ".merged")) for step in steps)
            for _, steps in it.chains
            # After a rescale the files of old partitions are read, until a snapshot comes.
            if all(step.reference is None for step in steps)
        ]
        if read and median(read) > most:
            yield Advice(
                name="snapshots-too-rare",
                measured=f"A load of {it.label} reads {count(int(median(read)))} deltas in each "
                f"partition (median), at most {count(max(read))}.",
                change=f"Set {_DELTAS_KEY}={_DELTAS} and {_INTERVAL_KEY}=60s, Spark's defaults, "
                "if they are set to more. If not, maintenance fails: look for `Cannot maintain` "
                "and `maintenance` in the logs of the executors.",
                brings="a start, or a task on another executor, reads ten files and those of one "
                "interval, and old files are deleted.",
                operator=it.metadata.id,
            )


def too_often(exam: Exam) -> Iterator[Advice]:
    """Snapshots that come too often.

    By default maintenance looks for ten deltas or 128 MiB of them, and a snapshot comes when they
    have half of its bytes; under checkpoint format 1 each time.
    """
    for it in exam.operators:
        found = [written for part in it.parts if (written := _written(part)) is not None]
        number, snapshots, deltas, versions = (
            (sum(column) for column in zip(*found, strict=True)) if found else (0, 0, 0, 0)
        )
        if (
            number < _LEAST_SNAPSHOTS * len(found)
            or snapshots < max(_TIMES_DELTAS * deltas, _LEAST_WRITTEN)
            or versions >= _CLOSE * number
            or deltas >= _MANY_DELTAS * number
        ):
            continue
        is_merged = bool(exam.batch.commit.ids)
        share = f" and {_SHARE_KEY}=0.5" if is_merged else ""
        expected = _WITH_MERGES * deltas if is_merged else snapshots * versions / number / _DELTAS
        yield Advice(
            name="snapshots-too-often",
            measured=f"{it.title} has written {count(number)} snapshots of "
            f"{size(snapshots)} after the first ones, one every {versions / number:.0f} versions, "
            f"for {size(deltas)} of changes.",
            change=f"Set {_DELTAS_KEY}={_DELTAS}{share}, which are the defaults.",
            brings=f"some {size(int(expected))} of {'merged deltas and ' if is_merged else ''}"
            f"snapshots in the place of these {size(snapshots)}.",
            operator=it.metadata.id,
        )


def _written(part: Part) -> tuple[int, int, int, int] | None:
    """Snapshots after the first that has its deltas, their bytes, those of deltas, and versions."""
    deltas: dict[int, int] = {}
    snapshots: dict[int, int] = {}
    for name, length in part.files.sizes.items():
        if name.kind is FileKind.DELTA:
            deltas[name.version] = max(length, deltas.get(name.version, 0))
        elif name.kind is FileKind.SNAPSHOT:
            snapshots[name.version] = max(length, snapshots.get(name.version, 0))
    oldest = min(deltas, default=0)
    first, *later = sorted(it for it in snapshots if it >= oldest) or [0]
    if not later:
        return None
    between = sum(length for it, length in deltas.items() if first < it <= later[-1])
    return len(later), sum(snapshots[it] for it in later), between, later[-1] - first


def small_files(exam: Exam) -> Iterator[Advice]:
    """Too many small files.

    Each is a request to an object store, or a write that waits for the disk; 100 requests a second
    are 260 million a month.
    """
    if exam.pace.mean_ms is None or not exam.recent or any(too_many(exam)):
        return
    sizes = [
        length
        for it in exam.operators
        for _, _, attempts in it.deltas(exam.recent)
        for length in attempts
    ]
    each_batch = len(sizes) / len(exam.recent)
    each_second = each_batch / (exam.pace.mean_ms / 1000)
    average = sum(sizes) / max(len(sizes), 1)
    if each_second < _MOST_PER_SECOND or average > _SMALL:
        return
    interval = ceil(each_batch / _GOOD_PER_SECOND)
    yield Advice(
        name="small-files",
        measured=f"{count(int(each_second))} state files a second, of {size(int(average))} on "
        f"average: a batch writes {count(int(each_batch))}, and one begins every "
        f"{exam.pace.mean_ms / 1000:.2f} s.",
        change=f"If results may come {plural(interval, 'second')} late, start the query with "
        f"trigger(processingTime='{plural(interval, 'second')}').",
        brings=f"{_GOOD_PER_SECOND} files a second or fewer, each a request to an object store or "
        "a write that waits for the disk; and more rows for each task that is started.",
    )
