"""Finds damage in Spark's own logs of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import batches, query_id, read_commit, read_offsets
from keyfold.storage.storage import Storage


def committed_batches(storage: Storage, findings: list[Finding]) -> Iterator[Batch]:
    """The batches of the commit log that can be read, ascending."""
    try:
        query_id(storage)
    except KeyfoldError as error:
        findings.append(unreadable(storage, "metadata", error))
    numbers = batches(storage, "commits")
    logs = [f"commits/{it}" for it in numbers]
    storage.fetch(logs + [f"offsets/{it}" for it in batches(storage, "offsets")])
    for before, after in pairwise(numbers):
        if after != before + 1:
            findings.append(
                Finding(
                    Kind.VERSION_GAP,
                    storage.full_path("commits"),
                    f"batch {after} follows batch {before}. Spark writes every batch; restore "
                    "the files between from a copy.",
                )
            )
    offsets = {}
    for number in batches(storage, "offsets"):
        try:
            offsets[number] = read_offsets(storage, number)
        except FileMissingError:
            continue
        except KeyfoldError as error:
            findings.append(unreadable(storage, f"offsets/{number}", error))
    findings += _without_offsets(storage, numbers)
    for number in numbers:
        try:
            yield Batch(read_commit(storage, number), offsets.get(number))
        except FileMissingError:
            continue
        except KeyfoldError as error:
            findings.append(unreadable(storage, f"commits/{number}", error))


def _without_offsets(storage: Storage, committed: list[int]) -> Iterator[Finding]:
    """Committed batches without offsets, but for old ones: Spark deletes these there first."""
    begun = batches(storage, "offsets")
    needed = min(begun[0] if begun else committed[-1], committed[-1]) if committed else 0
    for number in committed:
        if number >= needed and number not in begun:
            yield Finding(
                Kind.METADATA,
                storage.full_path(f"offsets/{number}"),
                f"batch {number} is committed, and is not in the offset log. The query cannot "
                "start if this is its last batch or the one before. Restore the file from a copy.",
            )


def startable(storage: Storage, readable: list[Batch]) -> tuple[list[int], set[int]]:
    """The batches to start from that the logs should have, and those of them that damage took.

    Spark needs a batch in both logs, and the offsets of the one before it; so the oldest one in the
    logs is none, unless it is batch 0. Spark deletes the oldest entries of one log before those of
    the other.
    """
    begun = batches(storage, "offsets")
    oldest = begun[0] if begun else 0
    provider = [it for it in readable if it.offsets is None or it.offsets.is_keyfolds]
    foreign = {it.number for it in readable} - {it.number for it in provider}
    logged = [it for it in batches(storage, "commits") if it not in foreign]
    numbers = [it for it in logged if it > oldest or it == 0] or logged[-1:]
    whole = {it.number for it in provider if it.offsets is not None}
    with_offsets = {number for number in begun if _has_offsets(storage, number)}
    found = {it for it in numbers if it not in whole or (it > 0 and it - 1 not in with_offsets)}
    return numbers, found


def damaged_begin(storage: Storage, numbers: list[int]) -> int | None:
    """The batch after the last of these, if it was begun with offsets that Spark cannot read."""
    last = max(numbers, default=-1)
    later = (it for it in batches(storage, "offsets") if it > last)
    return next((it for it in later if not _has_offsets(storage, it)), None)


def _has_offsets(storage: Storage, number: int) -> bool:
    try:
        read_offsets(storage, number)
    except KeyfoldError:
        return False
    return True


def with_severity(storage: Storage, it: Finding, numbers: list[int], begun: int | None) -> Finding:
    """A finding of Spark's logs.

    An entry of the last batch, the one before, or a batch that was begun stops the query.
    """
    last = numbers[-2:] if begun is None else [*numbers[-2:], begun]
    stops = {
        storage.full_path(f"{log}/{number}") for log in ("commits", "offsets") for number in last
    }
    stops.add(storage.full_path("metadata"))
    return replace(it, severity=Severity.STOPS) if it.path in stops else it


def unreadable(storage: Storage, path: str, error: KeyfoldError) -> Finding:
    """A file of Spark's that cannot be read."""
    return Finding(Kind.METADATA, storage.full_path(path), str(error.args[0]))
