"""Which batches of a damaged checkpoint could be gone back to, to check the message that none is.

It reads rows, by the Python reader or by Spark's own provider, and knows nothing of fsck.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

import keyfold
from incidents.query import Query
from keyfold.errors import KeyfoldError
from keyfold.settings import FORMAT_KEY, PROVIDER_CLASS, PROVIDER_KEY


def batches_left(query: Query) -> list[int]:
    """Batches from which the query could start again, all of whose rows can be read."""
    copy = query.checkpoint.with_name("read")
    shutil.copytree(query.checkpoint, copy)
    try:
        _describe_again(copy, query.original)
        return [it for it in _startable(copy) if _is_readable(query, copy, it)]
    finally:
        shutil.rmtree(copy)


def _describe_again(copy: Path, original: Path) -> None:
    """Restores what Spark writes again when it starts: the descriptions of operators."""
    for folder in (original / "state").glob("*/**/_metadata"):
        target = copy / folder.relative_to(original)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)


def _startable(copy: Path) -> Iterator[int]:
    """Committed batches of which Spark has all that it starts with, but for the state.

    Of those of another provider only the last, which a migration or its undo goes on from.
    """
    offsets = {
        it: found for it in _numbers(copy / "offsets") if (found := _entry(copy, "offsets", it))
    }
    foreign = [it for it, of in offsets.items() if of["conf"][PROVIDER_KEY] != PROVIDER_CLASS]
    own = [it for it in _numbers(copy / "commits") if it > max(foreign, default=-1)]
    for batch in offsets:
        is_left = batch == max(foreign, default=-1) and len(own) <= 1 if batch in foreign else True
        has_logs = _entry(copy, "commits", batch) and (batch == 0 or batch - 1 in offsets)
        if is_left and has_logs and _has_files(copy, batch):
            yield batch


def _numbers(log: Path) -> list[int]:
    return sorted(int(it.name) for it in log.glob("*") if it.name.isdigit())


def _entry(copy: Path, log: str, batch: int) -> dict[str, Any] | None:
    try:
        version, content, *_ = (copy / log / str(batch)).read_text(encoding="utf-8").splitlines()
        found: dict[str, Any] = json.loads(content)
    except (OSError, ValueError):
        return None
    return found if version in {"v1", "v2"} else None


def _has_files(copy: Path, batch: int) -> bool:
    """Whether the source has an entry for each file that it had read."""
    last = (copy / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[-1]
    try:
        for number in range(json.loads(last)["logOffset"] + 1):
            entry = (copy / "sources/0" / str(number)).read_text(encoding="utf-8")
            json.loads(entry.splitlines()[-1])
    except (OSError, ValueError, IndexError, TypeError, KeyError):
        return False
    return True


def _is_readable(query: Query, copy: Path, batch: int) -> bool:
    entry = _entry(copy, "offsets", batch)
    provider = entry and entry["conf"][PROVIDER_KEY]
    try:
        if provider == PROVIDER_CLASS:
            for operator in keyfold.open_checkpoint(copy).operators:
                for table in operator.tables.values():
                    table.scan(batch=batch).to_arrow()
        else:
            session = query.spark.newSession()
            session.conf.set(PROVIDER_KEY, str(provider))
            session.conf.set(FORMAT_KEY, "1")
            source = session.read.format("statestore").option("batchId", batch)
            source.load(str(copy)).collect()
    except (KeyfoldError, PySparkException, Py4JError):
        return False
    return True
